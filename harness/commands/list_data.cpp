// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See list_data.h.
#include "harness/commands/list_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "harness/base/error.h"
#include "harness/base/text.h"
#include "harness/build_info.h"
#include "harness/device/pci.h"
#include "harness/parent/ask_worker.h"
#include "harness/parent/devices.h"
#include "harness/parent/plan.h"
#include "harness/parent/profile.h"
#include "harness/parent/worker_choice.h"
#include "harness/parent/workers.h"

namespace assay {
namespace {

constexpr double probe_limit_s = 20;

ListedWorker listed(const WorkerFile& worker) {
  ListedWorker result{worker.manifest.worker, worker.path.string(),    worker.manifest.version, worker.manifest.commit,
                      worker.problem,         worker.manifest.devices, worker.manifest.built};
  result.benchmarks = worker.manifest.benchmarks.size();
  for (const BenchmarkInfo& benchmark : worker.manifest.benchmarks) result.cases += benchmark.cases.size();
  return result;
}

// A device to judge by: what was named, or everything that is here. A GPU's facts come from the worker that serves it;
// only where there is one is any asked, so a listing of a machine without GPUs starts nothing.
std::vector<FoundDevice> devices_to_judge(const ListOptions& options, const NvmlAnswer& nvml,
                                          const std::vector<WorkerFile>& workers) {
  if (!options.devices.empty()) return find_devices(options.devices);
  std::vector<FoundDevice> devices{{cpu_device(), std::nullopt}};
  std::vector<DeviceInfo> gpus = merge_gpus(nvidia_pci_devices(), nvml);
  if (gpus.empty()) return devices;
  const ServedDevices served = ask_workers("cuda", workers, {});
  for (DeviceInfo& gpu : gpus) {
    FoundDevice found{std::move(gpu), std::nullopt};
    for (const FoundDevice& known : served.devices)
      if (known.info.pci_address == found.info.pci_address) {
        found.worker = known.worker;
        found.info.facts.insert(known.info.facts.begin(), known.info.facts.end());
      }
    devices.push_back(std::move(found));
  }
  return devices;
}

ListedCase judge(const WorkerFile& worker, const BenchmarkInfo& benchmark, const CaseInfo& info,
                 const DeviceInfo& device) {
  ListedCase result{info.name, worker.manifest.worker, device.id, Status::available, ""};
  PlannedCase planned;
  judge_row(planned, benchmark, info, device);
  if (planned.coverage == Coverage::not_applicable) {
    result.status = Status::not_applicable;
    result.reason = planned.text;
  } else if (!worker.problem.empty() || !planned.reason.empty()) {
    result.status = Status::error;
    result.reason = worker.problem.empty() ? planned.text : worker.problem;
  }
  return result;
}

ListedBenchmark& benchmark_of(std::vector<ListedBenchmark>& benchmarks, const BenchmarkInfo& info) {
  for (ListedBenchmark& known : benchmarks)
    if (known.info.name == info.name) return known;
  benchmarks.push_back({info, {}});
  benchmarks.back().info.cases.clear();
  return benchmarks.back();
}

void add_cases(const WorkerFile& worker, const std::vector<FoundDevice>& devices, bool hidden,
               std::vector<ListedBenchmark>& benchmarks) {
  bool served = false;
  const auto add = [&](const Manifest& rows, const DeviceInfo* device) {
    for (const BenchmarkInfo& benchmark : rows.benchmarks) {
      if (benchmark.hidden && !hidden) continue;
      ListedBenchmark& target = benchmark_of(benchmarks, benchmark);
      for (const CaseInfo& info : benchmark.cases)
        if (device != nullptr)
          target.cases.push_back(judge(worker, benchmark, info, *device));
        else
          target.cases.push_back({info.name, worker.manifest.worker, "", Status::not_applicable,
                                  fmt::format("no {} device is here", join(worker.manifest.devices, " or "))});
    }
  };
  for (const FoundDevice& device : devices) {
    if (!may_serve(worker, device)) continue;
    served = true;
    add(rows_of(worker, device), &device.info);
  }
  // Rows of a rehearsal are shown for a device that is named; otherwise they would look like something of this machine.
  const std::vector<std::string>& kinds = worker.manifest.devices;
  if (!served && !std::all_of(kinds.begin(), kinds.end(), is_rehearsal)) add(worker.manifest, nullptr);
}

std::vector<ListedProfile> listed_profiles() {
  std::vector<ListedProfile> profiles;
  for (const std::string& name : profile_names()) try {
      const Profile profile = read_profile(name);
      profiles.push_back({profile.name, profile.summary, profile.sessions, ""});
    } catch (const Error& problem) {  // shown in its place; the others can be used all the same
      profiles.push_back({name, "", 0, problem.what()});
    }
  return profiles;
}

}  // namespace

std::string_view word(Status status) {
  return status == Status::available ? "available" : status == Status::error ? "error" : "not_applicable";
}

Probed probe_worker(const ListedWorker& worker, double limit_s) {
  if (!worker.problem.empty()) return {worker.name, worker.problem, {}};
  WorkerAnswer answer = ask_worker(worker.path, limit_s);
  return {worker.name, std::move(answer.problem), std::move(answer.devices)};
}

Listing gather(const ListOptions& options) {
  Listing listing;
  listing.nvml = ask_nvml();
  std::vector<DamagedManifest> damaged;
  const std::vector<WorkerFile> workers = find_workers(worker_folder(), &damaged);
  const std::vector<FoundDevice> devices = devices_to_judge(options, listing.nvml, workers);
  for (const FoundDevice& device : devices) listing.devices.push_back(device.info);
  for (const WorkerFile& worker : workers) {
    listing.workers.push_back(listed(worker));
    add_cases(worker, devices, options.hidden, listing.benchmarks);
  }
  for (const DamagedManifest& manifest : damaged) {
    ListedWorker& worker = listing.workers.emplace_back();
    worker.name = manifest.worker;
    worker.path = manifest.path.string();
    worker.problem = manifest.problem;
  }
  std::sort(listing.benchmarks.begin(), listing.benchmarks.end(),
            [](const ListedBenchmark& a, const ListedBenchmark& b) { return a.info.name < b.info.name; });
  if (options.probe)
    for (const ListedWorker& worker : listing.workers) listing.probes.push_back(probe_worker(worker, probe_limit_s));
  listing.profiles = listed_profiles();
  listing.judges = gather_judges(listing.devices);
  return listing;
}

}  // namespace assay
