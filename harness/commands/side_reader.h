// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// From run folders (or files that `assay import` reads) to one side of a comparison.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "harness/base/json.h"
#include "harness/device/identity.h"
#include "harness/parent/run_data.h"
#include "harness/verdict/side.h"

namespace assay {

struct ReadSide {
  Side side;
  std::map<std::string, DeviceInfo> devices;  // by identity
  Json environment;                           // for environment_changes()
  std::vector<std::string> warnings;          // a damaged last line, a run that was cut
  std::string title;                          // which runs they are and of when, for people
};

// Why a run can't be judged at all; "" when it can. An import that was cut holds a part of the files, and which one
// nobody knows: it has no sessions of its own that would tell.
std::string why_unfit(const RunData& run);

// Where it was measured, as device_identity() takes it: "" for an import, whose files say what a device is.
std::string host_of(const RunData& run);

// `paths` with each folder of runs (no run itself, but with runs in it) replaced by these, by name.
std::vector<std::string> with_runs_inside(const std::vector<std::string>& paths);

// Several paths are several boots of the same machine. Error (exit 3) for a path that
// is neither a run nor a file that can be imported, for a run that is damaged, and for runs that differ among
// themselves in what must be equal; `name` is "BEFORE" or "AFTER". `across_hosts`: what a host calls a device is its
// identity, as the hosts are what is compared.
ReadSide read_side(const std::string& name, const std::vector<std::string>& paths, bool across_hosts = false);

// What the first `sessions` sessions of a run measured.
Side side_through(const RunData& run, int sessions, bool across_hosts = false);

// What environment_changes() compares, of a run with its run.json (or at least `environment` and `build` of it).
Json environment_of(const RunData& run, bool across_hosts = false);

}  // namespace assay
