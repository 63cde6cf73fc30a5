// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// The records of a run as the judges take them (verdict/): one value for each metric, device and session, with the
// identity and the class of the device, and what keeps the run from being a reference.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "harness/device/device.h"
#include "harness/verdict/classes.h"
#include "harness/verdict/learn.h"

namespace assay {

struct RunDevice {
  DeviceInfo info;
  std::string identity;  // device_identity
  ClassMatch match;
};

struct RunValues {
  std::string run_id;
  std::vector<RunDevice> devices;
  std::vector<SessionValue> values;    // of MEASURED records only
  std::vector<Refusal> not_reference;  // simulated, knobbed, cut, wrong results: each a reason why it can't be one
  std::vector<std::string> names;      // by which the run can be known again: its id, the hashes of imported files
  std::vector<std::string> left_out;   // cases of devices that ended in ERROR or INVALID once, each a sentence
};

// Error (exit 3) as read_run() for a folder that isn't a run.
// `pool` of all runs that are looked at together.
RunValues read_run_values(const std::filesystem::path& folder, const ClassTable& table, ConditionsPool& pool);

}  // namespace assay
