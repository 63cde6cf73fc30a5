// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// What a run needs before its first process starts: a new run, one that goes on, one that is measured against another.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/commands/against.h"
#include "harness/commands/run.h"
#include "harness/parent/devices.h"
#include "harness/parent/plan.h"
#include "harness/parent/workers.h"
#include "harness/record.h"

namespace assay {

struct Prepared {
  std::vector<WorkerFile> workers;
  std::vector<FoundDevice> devices;
  Plan plan;
  std::filesystem::path folder;
  std::uint64_t good_bytes = 0, next_sequence = 1;
  std::vector<std::string> warnings;
  std::vector<std::string> unmeasured;  // of them those about GPUs: whoever names no device may think that they were
  std::optional<BeforeRun> before;      // that it is measured against
};

// By what the options name: resume, against, or neither. `seen_before` is called with each record that a run that goes
// on has. Errors as of find_devices, make_plan and read_run.
Prepared prepare(const RunOptions& options, const std::function<void(const Record&)>& seen_before);

}  // namespace assay
