// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// A profile says how long and how often to measure, and which cases: benchmarks/profiles/NAME.toml, copied beside the
// binaries, or in ASSAY_PROFILE_DIR. Times are in seconds; what a profile doesn't say keeps the value of this header,
// and a key it doesn't know is an Error, so that a typing mistake can't shorten a measurement unseen.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "harness/parent/plan.h"
#include "harness/protocol.h"

namespace assay {

struct Profile {
  std::string name, summary;
  Policy policy;
  int sessions = 1;
  // The profile's own choice of cases (RE2, searched in the case name). A --filter replaces this choice.
  std::vector<std::string> filters, excludes;
  // Keeps the cases that tell most and fit into this time, of one device in `sessions` sessions; part of the same choice.
  std::optional<double> budget_s;
  Patience patience;
  double deadline_factor = 10, deadline_extra_s = 60;  // deadline = factor x longest expected time + extra
};

// ASSAY_PROFILE_DIR, or "profiles" beside this program.
std::filesystem::path profile_folder();
std::vector<std::string> profile_names();
// UsageError (with the nearest names) for an unknown profile, Error for one that can't be read or has an unknown key.
Profile read_profile(const std::string& name);
// Times what ASSAY_PATIENCE says, where everything is slower (an emulator, valgrind): deadlines and time-outs only.
double patience_scale();

}  // namespace assay
