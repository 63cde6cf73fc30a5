// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See devices.h. Where no worker serves GPUs, a `cuda:N` that is named can't be measured.
#include "harness/parent/devices.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/base/error.h"
#include "harness/base/text.h"
#include "harness/device/pci.h"
#include "harness/device/scenario.h"
#include "harness/parent/worker_choice.h"

namespace assay {
namespace {

constexpr const char* no_worker = "; there is no CUDA worker (`assay list` says why)";

std::vector<FoundDevice> fake_device(const std::string& id) {
  if (id.size() <= 5) throw UsageError("fake: needs the file of a scenario, for example --device fake:scenario.toml");
  const Manifest rows = fake_manifest(read_scenario(id));
  std::vector<FoundDevice> found;
  for (DeviceInfo& device : fake_devices(id)) found.push_back({std::move(device), rows});
  return found;
}

// What there is of a GPU that was named, and why it can't be measured.
[[noreturn]] void absent_gpu(const std::string& id, const ServedDevices& served) {
  const std::vector<DeviceInfo> gpus = nvidia_pci_devices();
  const auto found = std::find_if(gpus.begin(), gpus.end(), [&](const DeviceInfo& gpu) { return gpu.id == id; });
  const std::string what = found == gpus.end()
                               ? fmt::format("{} is not here: NVIDIA GPUs on the PCI bus: {}", id, gpus.size())
                               : fmt::format("{} is here ({} at {}, driver {}), but can't be measured", id, found->name,
                                             found->pci_address, found->labels.at("driver"));
  throw Error(fmt::format("{}{}; `assay run --device cpu:0` measures the host", what,
                          served.asked ? served.problems : no_worker));
}

// Is one of the wanted workers for GPUs?
bool serves_gpus(const WorkerWish& wanted) {
  for (const WorkerFile& worker : find_workers()) {
    const Manifest& rows = worker.manifest;
    if (std::find(wanted.names.begin(), wanted.names.end(), rows.worker) == wanted.names.end()) continue;
    if (std::find(rows.devices.begin(), rows.devices.end(), "cuda") != rows.devices.end()) return true;
  }
  return false;
}

// Asks the workers of a kind once.
class Finder {
 public:
  explicit Finder(const WorkerWish& only) : only_(only) {}

  const ServedDevices& served(const std::string& kind) {
    const auto known = by_kind_.find(kind);
    return known != by_kind_.end() ? known->second
                                   : by_kind_.emplace(kind, ask_workers(kind, find_workers(), only_)).first->second;
  }

  // Those of which one may be a device of an earlier run: what workers serve can have another number by now. Error:
  // there is none of its kind.
  std::vector<FoundDevice> candidates(const DeviceInfo& before) {
    if (before.kind == "fake") return find(before.id.substr(0, before.id.rfind('#')));  // with all of its scenario
    if ((before.kind == "cuda" || before.kind == "simt") && !served(before.kind).devices.empty())
      return served(before.kind).devices;
    return find(before.id);
  }

  std::vector<FoundDevice> find(const std::string& id) {
    const std::string kind = id.substr(0, id.find(':'));
    const std::string rest = kind.size() < id.size() ? id.substr(kind.size() + 1) : "";
    const std::vector<std::string> kinds = device_kinds();
    if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end())
      throw UsageError(fmt::format("'{}' is no kind of device, in --device {}{}", kind, id, suggestion(kind, kinds)));
    if (kind == "fake") return fake_device(id);
    if (rest.empty() || rest.find_first_not_of("0123456789") != std::string::npos)
      throw UsageError(fmt::format("'{}' names no device; write for example {}:0", id, kind));
    if (kind == "cpu" && rest == "0") return {{cpu_device(), std::nullopt}};
    if (kind == "cpu") throw Error(fmt::format("{} is not here: the whole CPU of this machine is cpu:0", id));
    const ServedDevices& here = served(kind);
    for (const FoundDevice& device : here.devices)
      if (device.info.id == id) return {device};
    if (kind == "cuda") absent_gpu(id, here);
    if (here.asked) throw Error(fmt::format("{} is not here{}", id, here.problems));
    throw Error(
        fmt::format("{} needs assay-worker-simt, which is not in {}: it is built with the tests "
                    "(-DASSAY_TESTS=ON)",
                    id, worker_folder().string()));
  }

 private:
  WorkerWish only_;
  std::map<std::string, ServedDevices> by_kind_;
};

}  // namespace

std::vector<std::string> device_kinds() { return {"cpu", "cuda", "fake", "simt"}; }

std::vector<FoundDevice> find_devices(const std::vector<std::string>& named, const WorkerWish& only,
                                      std::string* of_gpus) {
  Finder finder(only);
  if (named.empty()) {
    const bool for_others = !only.names.empty() && !serves_gpus(only);
    const ServedDevices gpus = for_others ? ServedDevices{} : finder.served("cuda");
    if (of_gpus != nullptr)
      *of_gpus = for_others   ? fmt::format("; {} {} is no worker for GPUs", only.why, join(only.names, ", "))
                 : gpus.asked ? gpus.problems
                              : no_worker;
    if (!gpus.devices.empty()) return gpus.devices;
    return {{cpu_device(), std::nullopt}};
  }
  std::vector<FoundDevice> devices;
  for (const std::string& id : named)
    for (FoundDevice& device : finder.find(id)) {
      for (const FoundDevice& earlier : devices) {
        if (earlier.info.id == device.info.id)
          throw UsageError(fmt::format("the device {} is named twice", device.info.id));
        if (!device.info.uuid.empty() && earlier.info.uuid == device.info.uuid)
          throw UsageError(fmt::format("the devices {} and {} are one and the same: both have the UUID {}",
                                       earlier.info.id, device.info.id, device.info.uuid));
      }
      devices.push_back(std::move(device));
    }
  return devices;
}

std::vector<std::string> unmeasured_gpus(const std::vector<DeviceInfo>& on_bus,
                                         const std::vector<FoundDevice>& measured, const std::string& of_gpus) {
  std::vector<std::string> sentences;
  for (const DeviceInfo& gpu : on_bus) {
    const bool is_measured = std::any_of(measured.begin(), measured.end(), [&](const FoundDevice& device) {
      return device.info.pci_address == gpu.pci_address;
    });
    if (is_measured) continue;
    const bool only_host = !measured.empty() && measured.front().info.kind == "cpu";
    sentences.push_back(fmt::format("the GPU at {} ({}, driver {}) is not measured{}{}", gpu.pci_address, gpu.name,
                                    gpu.labels.at("driver"), only_host ? ", the host is" : "", of_gpus));
  }
  return sentences;
}

std::vector<std::optional<FoundDevice>> find_again(const std::vector<DeviceInfo>& before, const WorkerWish& only) {
  Finder finder(only);
  const auto same = [](const DeviceInfo& a, const DeviceInfo& b) {
    if (!a.uuid.empty() || !b.uuid.empty()) return a.uuid == b.uuid;
    if (!a.pci_address.empty() || !b.pci_address.empty()) return a.pci_address == b.pci_address;
    return a.id == b.id;
  };
  std::vector<std::optional<FoundDevice>> found;
  for (const DeviceInfo& device : before) {
    const std::vector<FoundDevice> here = finder.candidates(device);
    const auto again =
        std::find_if(here.begin(), here.end(), [&](const FoundDevice& now) { return same(now.info, device); });
    found.push_back(again == here.end() ? std::nullopt : std::optional(*again));
  }
  return found;
}

const Manifest& rows_of(const WorkerFile& worker, const FoundDevice& device) {
  return device.rows && device.rows->worker == worker.manifest.worker ? *device.rows : worker.manifest;
}

DeclaredMetrics declared_metrics(const std::vector<WorkerFile>& workers, const std::vector<FoundDevice>& devices) {
  DeclaredMetrics declared;
  for (const FoundDevice& device : devices)
    for (const WorkerFile& worker : workers)
      for (const BenchmarkInfo& benchmark : rows_of(worker, device).benchmarks)
        declared[{device.info.id, worker.manifest.worker, benchmark.name}] = benchmark.metrics;
  return declared;
}

}  // namespace assay
