// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See resume.h.
#include "harness/parent/resume.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/base/error.h"
#include "harness/base/text.h"
#include "harness/parent/workers.h"

namespace assay {
namespace {

[[noreturn]] void refuse(const std::filesystem::path& folder, const std::string& what) {
  throw Error(fmt::format("{} can't be resumed: {}; begin a new run", folder.string(), what));
}

Json lasting(DeviceInfo device) {
  device.facts.erase("available_bytes");
  return to_json(device);
}

// The path of the first difference, for people: "labels.governor".
std::string difference(const Json& before, const Json& now) {
  const Json changes = Json::diff(before, now);
  if (changes.empty()) return {};
  std::string path = changes[0].value("path", "");
  std::replace(path.begin(), path.end(), '/', '.');
  return path.empty() ? "it" : path.substr(1);
}

}  // namespace

void refuse_if_changed(const std::filesystem::path& folder, const Plan& plan, const std::vector<FoundDevice>& devices) {
  for (const PlannedWorker& worker : plan.workers)
    if (file_xxh3(worker.path) != worker.binary_xxh3)
      refuse(folder, fmt::format("{} is not the program it began with", worker.path.string()));
  if (devices.size() != plan.devices.size()) refuse(folder, "it had other devices");
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const std::string what = difference(lasting(plan.devices[i]), lasting(devices[i].info));
    if (!what.empty()) refuse(folder, fmt::format("{} of the device {} has changed", what, plan.devices[i].id));
  }
  if (test_knobs() != plan.test_knobs) refuse(folder, "the test variables (ASSAY_TEST_...) differ");
}

void refuse_if_records_changed(const RunData& run, const CoverageCounts& counts) {
  if (!run.run.is_null() && !run_word(run.run).agrees(counts))
    refuse(run.folder, "its run.json and its records.jsonl don't say the same, so one of them was changed");
}

}  // namespace assay
