// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See devices.h. Where no worker serves GPUs, a `cuda:N` that is named can't be measured; the CPU is the default.
#include "harness/parent/devices.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/base/error.h"
#include "harness/base/text.h"
#include "harness/device/pci.h"
#include "harness/device/scenario.h"
#include "harness/parent/ask_worker.h"
#include "harness/parent/profile.h"

namespace assay {
namespace {

std::vector<FoundDevice> fake_device(const std::string& id) {
  if (id.size() <= 5) throw UsageError("fake: needs the file of a scenario, for example --device fake:scenario.toml");
  const Manifest rows = fake_manifest(read_scenario(id));
  std::vector<FoundDevice> found;
  for (DeviceInfo& device : fake_devices(id)) found.push_back({std::move(device), rows});
  return found;
}

// What there is of a GPU that was named, and why it can't be measured.
[[noreturn]] void absent_gpu(const std::string& id) {
  const std::vector<DeviceInfo> gpus = nvidia_pci_devices();
  const auto found = std::find_if(gpus.begin(), gpus.end(), [&](const DeviceInfo& gpu) { return gpu.id == id; });
  if (found == gpus.end())
    throw Error(
        fmt::format("{} is not here: NVIDIA GPUs on the PCI bus: {}; besides, this version has no CUDA worker; "
                    "`assay run --device cpu:0` measures the host",
                    id, gpus.size()));
  throw Error(
      fmt::format("{} is here ({} at {}, driver {}), but this version has no CUDA worker; "
                  "`assay run --device cpu:0` measures the host",
                  id, found->name, found->pci_address, found->labels.at("driver")));
}

// A device that only a worker can tell of. The first one that knows it is believed; nullopt: no worker serves the kind.
std::optional<FoundDevice> ask_workers(const std::string& kind, const std::string& id) {
  constexpr double limit_s = 20;
  std::string problems;
  for (const WorkerFile& worker : find_workers()) {
    const std::vector<std::string>& kinds = worker.manifest.devices;
    if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) continue;
    WorkerAnswer answer{worker.problem, {}};
    if (answer.problem.empty()) answer = ask_worker(worker.path, limit_s * patience_scale());
    for (DeviceInfo& device : answer.devices)
      if (device.id == id) return FoundDevice{std::move(device), std::nullopt};
    const std::string why = answer.problem.empty() ? fmt::format("it sees {} devices, and not this one",
                                                                 answer.devices.size())
                                                   : answer.problem;
    problems += fmt::format("; assay-worker-{}: {}", worker.manifest.worker, why);
  }
  if (problems.empty()) return std::nullopt;
  throw Error(fmt::format("{} is not here{}", id, problems));
}

std::vector<FoundDevice> find_device(const std::string& id) {
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
  if (std::optional<FoundDevice> device = ask_workers(kind, id)) return {std::move(*device)};
  if (kind == "simt")
    throw Error(fmt::format("{} needs assay-worker-simt, which is not in {}: it is built with the tests "
                            "(-DASSAY_TESTS=ON)",
                            id, worker_folder().string()));
  absent_gpu(id);
}

}  // namespace

std::vector<std::string> device_kinds() { return {"cpu", "cuda", "fake", "simt"}; }

std::vector<FoundDevice> find_devices(const std::vector<std::string>& named) {
  if (named.empty()) return {{cpu_device(), std::nullopt}};
  std::vector<FoundDevice> devices;
  for (const std::string& id : named)
    for (FoundDevice& device : find_device(id)) {
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

std::vector<std::optional<FoundDevice>> find_again(const std::vector<DeviceInfo>& before) {
  // Where no worker measures GPUs, find_device() says why a cuda:N can't be; a scenario has all its devices.
  std::vector<std::string> names;
  for (const DeviceInfo& device : before) {
    const std::string name = device.kind == "fake" ? device.id.substr(0, device.id.rfind('#')) : device.id;
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  const std::vector<FoundDevice> here = find_devices(names);
  const auto same = [](const DeviceInfo& a, const DeviceInfo& b) {
    if (!a.uuid.empty() || !b.uuid.empty()) return a.uuid == b.uuid;
    if (!a.pci_address.empty() || !b.pci_address.empty()) return a.pci_address == b.pci_address;
    return a.id == b.id;
  };
  std::vector<std::optional<FoundDevice>> found;
  for (const DeviceInfo& device : before) {
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
