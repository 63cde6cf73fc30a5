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

void refuse_other_origin(const std::filesystem::path& folder, const Origin& before, const Origin& now) {
  const auto same = [&](const char* what, const std::string& was, const std::string& is) {
    if (was != is) refuse(folder, fmt::format("{} was '{}' and is '{}'", what, was, is));
  };
  same("the version of assay", before.version, now.version);
  same("the commit of assay", before.commit, now.commit);
  same("the hash of the program assay", before.binary_xxh3, now.binary_xxh3);
  same("the machine", before.host, now.host);
  same("the kernel", before.kernel, now.kernel);
  same("the architecture", before.architecture, now.architecture);
}

}  // namespace

void refuse_if_changed(const std::filesystem::path& folder, const Plan& plan, const std::vector<FoundDevice>& devices) {
  refuse_other_origin(folder, plan.origin, origin());
  for (const PlannedWorker& worker : plan.workers)
    if (file_xxh3(worker.path) != worker.binary_xxh3)
      refuse(folder, fmt::format("{} is not the program it began with", worker.path.string()));
    else if (const std::filesystem::path manifest = manifest_of(worker.path);
             file_xxh3(manifest) != worker.manifest_xxh3)
      refuse(folder, fmt::format("{} is not the manifest it began with", manifest.string()));
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
  if (const std::string unlike = unlike_its_end(run, counts); !unlike.empty()) refuse(run.folder, unlike);
}

}  // namespace assay
