// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// The only file that knows NVML. Types come from the real nvml.h; functions are looked up by name, one by one, because
// an older driver lacks newer ones: what it lacks is a fact that stays absent. Trap: NVML writes a PCI address with
// eight digits of domain, sysfs with four.
#include "harness/telemetry/nvml.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#if ASSAY_HAVE_NVML
#include <dlfcn.h>
#include <nvml.h>

#include <array>
#include <memory>
#endif

namespace assay {

#if ASSAY_HAVE_NVML
namespace {

class Nvml {
 public:
  explicit Nvml(const char* library) : library_(dlopen(library, RTLD_NOW | RTLD_LOCAL)) {
    if (library_ == nullptr) {
      problem_ = dlerror();
      return;
    }
    const auto init = find<decltype(&nvmlInit_v2)>("nvmlInit_v2");
    if (init == nullptr) {
      problem_ = fmt::format("{} has no nvmlInit_v2", library);
      return;
    }
    const nvmlReturn_t result = init();
    ready_ = result == NVML_SUCCESS;
    if (!ready_) problem_ = fmt::format("nvmlInit: {}", text(result));
  }
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;
  ~Nvml() {
    if (ready_)
      if (const auto shutdown = find<decltype(&nvmlShutdown)>("nvmlShutdown")) shutdown();
    if (library_ != nullptr) dlclose(library_);
  }
  bool ready() const { return ready_; }
  const std::string& problem() const { return problem_; }

  // False when the driver lacks the function or the call fails.
  template <class Function, class... Arguments>
  bool call(const char* name, Arguments... arguments) const {
    const auto function = find<Function>(name);
    return function != nullptr && function(arguments...) == NVML_SUCCESS;
  }

 private:
  template <class Function>
  Function find(const char* name) const {
    return reinterpret_cast<Function>(dlsym(library_, name));
  }
  std::string text(nvmlReturn_t result) const {
    const auto describe = find<decltype(&nvmlErrorString)>("nvmlErrorString");
    return describe == nullptr ? fmt::format("error {}", static_cast<int>(result)) : describe(result);
  }

  void* library_ = nullptr;
  bool ready_ = false;
  std::string problem_;
};

#define ASSAY_NVML(function, ...) call<decltype(&function)>(#function, __VA_ARGS__)

// "00000000:17:00.0" -> "0000:17:00.0", lower case as in sysfs; a domain of more than four digits stays.
std::string sysfs_address(const char* bus_id) {
  std::string address = bus_id;
  std::transform(address.begin(), address.end(), address.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  while (address.find(':') > 4 && address.find(':') != std::string::npos && address[0] == '0') address.erase(0, 1);
  return address;
}

std::string driver(const Nvml& nvml) {
  std::array<char, NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE> version{};
  std::string text = "driver ";
  text += nvml.ASSAY_NVML(nvmlSystemGetDriverVersion, version.data(), static_cast<unsigned>(version.size()))
              ? version.data()
              : "unknown";
  int cuda = 0;
  if (nvml.ASSAY_NVML(nvmlSystemGetCudaDriverVersion_v2, &cuda))
    text += fmt::format(", CUDA {}.{}", cuda / 1000, cuda % 1000 / 10);
  return text;
}

DeviceInfo describe(const Nvml& nvml, unsigned index) {
  DeviceInfo device;
  device.kind = "cuda";
  device.name = fmt::format("NVIDIA device {}", index);
  nvmlDevice_t handle{};
  if (!nvml.ASSAY_NVML(nvmlDeviceGetHandleByIndex_v2, index, &handle)) {
    device.labels["nvml"] = "no access to this device";
    return device;
  }
  std::array<char, 96> text{};
  const auto size = static_cast<unsigned>(text.size());
  if (nvml.ASSAY_NVML(nvmlDeviceGetName, handle, text.data(), size)) device.name = text.data();
  if (nvml.ASSAY_NVML(nvmlDeviceGetUUID, handle, text.data(), size)) device.uuid = text.data();
  nvmlPciInfo_t pci{};
  if (nvml.ASSAY_NVML(nvmlDeviceGetPciInfo_v3, handle, &pci)) device.pci_address = sysfs_address(pci.busId);
  nvmlMemory_t memory{};
  if (nvml.ASSAY_NVML(nvmlDeviceGetMemoryInfo, handle, &memory)) {
    device.facts["memory_bytes"] = static_cast<double>(memory.total);
    device.facts["available_bytes"] = static_cast<double>(memory.free);
  }
  unsigned milliwatts = 0, megahertz = 0;
  if (nvml.ASSAY_NVML(nvmlDeviceGetEnforcedPowerLimit, handle, &milliwatts))
    device.facts["power_limit_w"] = milliwatts * 1e-3;
  if (nvml.ASSAY_NVML(nvmlDeviceGetMaxClockInfo, handle, NVML_CLOCK_SM, &megahertz))
    device.facts["sm_clock_max_hz"] = megahertz * 1e6;
  if (nvml.ASSAY_NVML(nvmlDeviceGetMaxClockInfo, handle, NVML_CLOCK_MEM, &megahertz))
    device.facts["memory_clock_max_hz"] = megahertz * 1e6;
  int major = 0, minor = 0;
  if (nvml.ASSAY_NVML(nvmlDeviceGetCudaComputeCapability, handle, &major, &minor))
    device.facts["compute_capability"] = major + minor * 0.1;
  return device;
}

}  // namespace

NvmlAnswer ask_nvml(const char* library) {
  const Nvml nvml(library);
  if (!nvml.ready()) return {false, "no NVML: " + nvml.problem(), {}};
  NvmlAnswer answer{true, driver(nvml), {}};
  unsigned count = 0;
  if (!nvml.ASSAY_NVML(nvmlDeviceGetCount_v2, &count)) answer.detail += "; the devices could not be counted";
  for (unsigned i = 0; i < count; ++i) answer.devices.push_back(describe(nvml, i));
  return answer;
}

#else

NvmlAnswer ask_nvml(const char*) { return {false, "no NVML: this build was made without nvml.h", {}}; }

#endif

std::vector<DeviceInfo> merge_gpus(std::vector<DeviceInfo> pci, const NvmlAnswer& nvml) {
  for (const DeviceInfo& seen : nvml.devices) {
    const auto same = std::find_if(pci.begin(), pci.end(), [&](const DeviceInfo& d) {
      return !seen.pci_address.empty() && d.pci_address == seen.pci_address;
    });
    if (same == pci.end()) {
      pci.push_back(seen);
      continue;
    }
    same->name = seen.name;
    same->uuid = seen.uuid;
    for (const auto& [fact, value] : seen.facts) same->facts[fact] = value;
    for (const auto& [label, value] : seen.labels) same->labels[label] = value;
  }
  for (std::size_t i = 0; i < pci.size(); ++i) pci[i].id = fmt::format("cuda:{}", i);
  return pci;
}

}  // namespace assay
