// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See prepare_run.h.
#include "harness/commands/prepare_run.h"

#include <fmt/format.h>
#include <unistd.h>

#include <utility>

#include "harness/base/clock.h"
#include "harness/base/error.h"
#include "harness/base/text.h"
#include "harness/device/pci.h"
#include "harness/parent/coverage.h"
#include "harness/parent/plan_against.h"
#include "harness/parent/profile.h"
#include "harness/parent/resume.h"
#include "harness/parent/run_data.h"

namespace assay {
namespace {

std::filesystem::path folder_of(const RunOptions& options) {
  return options.out.empty() ? fmt::format("assay-run-{}-{}", utc_compact(), getpid()) : options.out;
}

// Another worker than the newest measures: its numbers can be held against its own only.
void warn_of_older_workers(const Prepared& run, std::vector<std::string>& warnings) {
  for (const FoundDevice& device : run.devices)
    if (starts_with(device.why, "the newest that can"))
      warnings.push_back(
          fmt::format("{} is measured by assay-worker-{}, {}", device.info.id, device.worker, device.why));
}

WorkerWish workers_of(const Plan& plan, const char* why) {
  WorkerWish wish{{}, why};
  for (const PlannedWorker& worker : plan.workers) wish.names.push_back(worker.name);
  return wish;
}

Prepared prepare_new(const RunOptions& options) {
  Prepared run;
  const Profile profile = read_profile(options.profile);
  run.workers = find_workers();
  WorkerWish wish;
  if (!options.worker.empty()) wish = {{options.worker}, "--worker"};
  std::string of_gpus;
  run.devices = find_devices(options.devices, wish, &of_gpus);
  if (options.devices.empty()) run.unmeasured = unmeasured_gpus(nvidia_pci_devices(), run.devices, of_gpus);
  run.warnings = run.unmeasured;
  warn_of_older_workers(run, run.warnings);
  run.plan = make_plan(options, profile, run.workers, run.devices);
  run.folder = folder_of(options);
  return run;
}

Prepared prepare_against(const RunOptions& options) {
  Prepared run;
  run.before = read_before(options.against, options.changed);
  const Plan& before = run.before->run.plan;
  run.workers = find_workers();
  const std::vector<std::optional<FoundDevice>> devices =
      find_again(before.devices, workers_of(before, "BEFORE was measured by it"));
  PlanAgainst made = make_plan_against(before, run.before->measured, options.max_sessions, run.workers, devices);
  run.plan = std::move(made.plan);
  run.plan.against = against_of(*run.before, options.margins, options.changed);
  for (const std::optional<FoundDevice>& device : devices)
    if (device) run.devices.push_back(*device);
  run.folder = folder_of(options);
  run.warnings = run.before->side.warnings;
  if (!made.lost.empty())
    run.warnings.push_back(fmt::format("{} of BEFORE can't be measured now and will be NOT_RUN: {}{}",
                                       counted(made.lost.size(), "case"), made.lost.front(),
                                       made.lost.size() > 1 ? "; ..." : ""));
  return run;
}

Prepared prepare_resumed(const RunOptions& options, const std::function<void(const Record&)>& seen_before) {
  Prepared run;
  run.folder = options.resume;
  const RunData before = read_run(run.folder);
  run.plan = before.plan;
  if (run.plan.imported)
    throw Error(
        fmt::format("{} was imported, so there is nothing to go on with; import the files again into another "
                    "folder",
                    run.folder.string()));
  std::vector<std::string> ids;
  for (const DeviceInfo& device : run.plan.devices) ids.push_back(device.id);
  run.devices = find_devices(ids, workers_of(run.plan, "the run began with it"));
  refuse_if_changed(run.folder, run.plan, run.devices);
  std::vector<std::filesystem::path> programs;  // those it began with, wherever ASSAY_WORKER_DIR points now
  for (const PlannedWorker& worker : run.plan.workers) programs.push_back(worker.path);
  run.workers = workers_at(programs);
  CoverageTally tally(before.plan);
  const RecordsEnd end = tally_records(before, tally, [&](std::int64_t, Record&& record) { seen_before(record); });
  refuse_if_records_changed(before, tally.counts());
  if (run.plan.against) run.before = read_before_again(*run.plan.against);
  run.next_sequence = tally.size() + 1;
  run.good_bytes = end.good_bytes;
  if (!end.warning.empty()) run.warnings.push_back(end.warning);
  return run;
}

}  // namespace

Prepared prepare(const RunOptions& options, const std::function<void(const Record&)>& seen_before) {
  if (!options.resume.empty()) return prepare_resumed(options, seen_before);
  return options.against.empty() ? prepare_new(options) : prepare_against(options);
}

}  // namespace assay
