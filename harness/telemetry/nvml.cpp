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
#include <initializer_list>
#include <memory>
// Names that older drivers have, too; newer headers call some of them deprecated.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
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
    code_ = static_cast<int>(result);
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
  int code() const { return code_; }

  // False when the driver lacks the function or the call fails.
  template <class Function, class... Arguments>
  bool call(const char* name, Arguments... arguments) const {
    return result_of<Function>(name, arguments...) == NVML_SUCCESS;
  }
  template <class Function, class... Arguments>
  nvmlReturn_t result_of(const char* name, Arguments... arguments) const {
    const auto function = find<Function>(name);
    return function == nullptr ? NVML_ERROR_FUNCTION_NOT_FOUND : function(arguments...);
  }
  // "" for success, and for what this GPU or this driver does not have.
  std::string failure(nvmlReturn_t result) const {
    const bool has_none = result == NVML_SUCCESS || result == NVML_ERROR_NOT_SUPPORTED ||
                          result == NVML_ERROR_FUNCTION_NOT_FOUND || result == NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    return has_none ? "" : text(result);
  }
  std::string text(nvmlReturn_t result) const {
    const auto describe = find<decltype(&nvmlErrorString)>("nvmlErrorString");
    return describe == nullptr ? fmt::format("error {}", static_cast<int>(result)) : describe(result);
  }

 private:
  template <class Function>
  Function find(const char* name) const {
    return reinterpret_cast<Function>(dlsym(library_, name));
  }

  void* library_ = nullptr;
  bool ready_ = false;
  int code_ = -1;
  std::string problem_;
};

#define ASSAY_NVML(function, ...) call<decltype(&function)>(#function, __VA_ARGS__)
#define ASSAY_NVML_RESULT(function, ...) result_of<decltype(&function)>(#function, __VA_ARGS__)

// "00000000:17:00.0" -> "0000:17:00.0", lower case as in sysfs; a domain of more than four digits stays.
std::string sysfs_address(const char* bus_id) {
  std::string address = bus_id;
  std::transform(address.begin(), address.end(), address.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  while (address.find(':') > 4 && address.find(':') != std::string::npos && address[0] == '0') address.erase(0, 1);
  return address;
}

void add_driver(const Nvml& nvml, NvmlAnswer& answer) {
  std::array<char, NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE> version{};
  if (nvml.ASSAY_NVML(nvmlSystemGetDriverVersion, version.data(), static_cast<unsigned>(version.size())))
    answer.driver = version.data();
  answer.detail = "driver " + (answer.driver.empty() ? "unknown" : answer.driver);
  int cuda = 0;
  if (!nvml.ASSAY_NVML(nvmlSystemGetCudaDriverVersion_v2, &cuda)) return;
  answer.cuda = fmt::format("{}.{}", cuda / 1000, cuda % 1000 / 10);
  answer.detail += ", CUDA " + answer.cuda;
}

// True for success; else the names have a label that says why, unless there is no such thing here.
bool told(const Nvml& nvml, nvmlReturn_t result, DeviceInfo& device, std::initializer_list<const char*> names) {
  if (const std::string why = nvml.failure(result); !why.empty())
    for (const char* name : names) device.labels[name] = why;
  return result == NVML_SUCCESS;
}

// A number that a function of one device gives, as a fact of this name.
#define ASSAY_FACT(name, type, function, ...)                                                                    \
  do {                                                                                                           \
    type value{};                                                                                                \
    if (told(nvml, nvml.ASSAY_NVML_RESULT(function, handle __VA_OPT__(, ) __VA_ARGS__, &value), device, {name})) \
      device.facts[name] = static_cast<double>(value);                                                           \
  } while (false)

void add_memory_health(const Nvml& nvml, nvmlDevice_t handle, DeviceInfo& device) {
  nvmlEnableState_t now{}, later{};
  if (told(nvml, nvml.ASSAY_NVML_RESULT(nvmlDeviceGetEccMode, handle, &now, &later), device,
           {"ecc_on", "ecc_pending"})) {
    device.facts["ecc_on"] = now == NVML_FEATURE_ENABLED;
    device.facts["ecc_pending"] = later == NVML_FEATURE_ENABLED;
  }
  ASSAY_FACT("ecc_uncorrected", unsigned long long, nvmlDeviceGetTotalEccErrors, NVML_MEMORY_ERROR_TYPE_UNCORRECTED,
             NVML_VOLATILE_ECC);
  unsigned correctable = 0, uncorrectable = 0, pending = 0, failed = 0;
  if (told(nvml,
           nvml.ASSAY_NVML_RESULT(nvmlDeviceGetRemappedRows, handle, &correctable, &uncorrectable, &pending, &failed),
           device, {"remapped_correctable", "remapped_uncorrectable", "remap_pending", "remap_failed"})) {
    device.facts["remapped_correctable"] = correctable;
    device.facts["remapped_uncorrectable"] = uncorrectable;
    device.facts["remap_pending"] = pending;
    device.facts["remap_failed"] = failed;
  }
  nvmlEnableState_t retired{};
  if (told(nvml, nvml.ASSAY_NVML_RESULT(nvmlDeviceGetRetiredPagesPendingStatus, handle, &retired), device,
           {"retired_pending"}))
    device.facts["retired_pending"] = retired == NVML_FEATURE_ENABLED;
}

// Places without an instance answer "not found"; any other failure leaves the number open.
void count_instances(const Nvml& nvml, nvmlDevice_t handle, DeviceInfo& device) {
  unsigned most = 0, instances = 0;
  if (!told(nvml, nvml.ASSAY_NVML_RESULT(nvmlDeviceGetMaxMigDeviceCount, handle, &most), device, {"mig_instances"}))
    return;
  for (unsigned i = 0; i < most; ++i) {
    nvmlDevice_t instance{};
    const nvmlReturn_t result = nvml.ASSAY_NVML_RESULT(nvmlDeviceGetMigDeviceHandleByIndex, handle, i, &instance);
    instances += result == NVML_SUCCESS;
    if (result == NVML_SUCCESS || result == NVML_ERROR_NOT_FOUND) continue;
    device.labels["mig_instances"] = nvml.text(result);
    return;
  }
  device.facts["mig_instances"] = instances;
}

// Of the system, and so the same of each GPU.
void add_confidential(const Nvml& nvml, DeviceInfo& device) {
  nvmlConfComputeSystemState_t state{};
  if (!told(nvml, nvml.ASSAY_NVML_RESULT(nvmlSystemGetConfComputeState, &state), device, {"confidential_on"})) return;
  device.facts["confidential_on"] = state.ccFeature;
  unsigned ready = 0;
  if (state.ccFeature != NVML_CC_SYSTEM_FEATURE_DISABLED &&
      told(nvml, nvml.ASSAY_NVML_RESULT(nvmlSystemGetConfComputeGpusReadyState, &ready), device,
           {"confidential_ready"}))
    device.facts["confidential_ready"] = ready;
}

void add_modes(const Nvml& nvml, nvmlDevice_t handle, DeviceInfo& device) {
  ASSAY_FACT("persistence_on", nvmlEnableState_t, nvmlDeviceGetPersistenceMode);
  unsigned now = 0, later = 0;
  if (told(nvml, nvml.ASSAY_NVML_RESULT(nvmlDeviceGetMigMode, handle, &now, &later), device,
           {"mig_on", "mig_pending", "mig_instances"})) {
    device.facts["mig_on"] = now;
    device.facts["mig_pending"] = later;
    if (now == NVML_DEVICE_MIG_ENABLE)
      count_instances(nvml, handle, device);
    else
      device.facts["mig_instances"] = 0;
  }
  ASSAY_FACT("compute_mode", nvmlComputeMode_t, nvmlDeviceGetComputeMode);
  nvmlGpuFabricInfo_t fabric{};
  if (told(nvml, nvml.ASSAY_NVML_RESULT(nvmlDeviceGetGpuFabricInfo, handle, &fabric), device,
           {"fabric_state", "fabric_status"})) {
    device.facts["fabric_state"] = fabric.state;
    device.facts["fabric_status"] = static_cast<double>(fabric.status);
  }
  nvmlFieldValue_t recovery{};
  recovery.fieldId = 230;  // NVML_FI_DEV_GET_GPU_RECOVERY_ACTION, which older headers do not have
  if (told(nvml, nvml.ASSAY_NVML_RESULT(nvmlDeviceGetFieldValues, handle, 1, &recovery), device, {"recovery_action"}) &&
      told(nvml, recovery.nvmlReturn, device, {"recovery_action"}))
    device.facts["recovery_action"] = recovery.value.uiVal;
}

void add_health(const Nvml& nvml, nvmlDevice_t handle, DeviceInfo& device) {
  add_memory_health(nvml, handle, device);
  add_modes(nvml, handle, device);
  add_confidential(nvml, device);
  unsigned milliwatts = 0;
  if (told(nvml, nvml.ASSAY_NVML_RESULT(nvmlDeviceGetPowerManagementDefaultLimit, handle, &milliwatts), device,
           {"power_limit_default_w"}))
    device.facts["power_limit_default_w"] = milliwatts * 1e-3;
  ASSAY_FACT("throttle_bits", unsigned long long, nvmlDeviceGetCurrentClocksThrottleReasons);
  ASSAY_FACT("temperature_c", unsigned, nvmlDeviceGetTemperature, NVML_TEMPERATURE_GPU);
  ASSAY_FACT("slowdown_c", unsigned, nvmlDeviceGetTemperatureThreshold, NVML_TEMPERATURE_THRESHOLD_SLOWDOWN);
  ASSAY_FACT("pcie_generation", unsigned, nvmlDeviceGetCurrPcieLinkGeneration);
  ASSAY_FACT("pcie_generation_max", unsigned, nvmlDeviceGetMaxPcieLinkGeneration);
  ASSAY_FACT("pcie_width", unsigned, nvmlDeviceGetCurrPcieLinkWidth);
  ASSAY_FACT("pcie_width_max", unsigned, nvmlDeviceGetMaxPcieLinkWidth);
  ASSAY_FACT("pcie_replays", unsigned, nvmlDeviceGetPcieReplayCounter);
}

DeviceInfo describe(const Nvml& nvml, unsigned index, bool health) {
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
  if (told(nvml, nvml.ASSAY_NVML_RESULT(nvmlDeviceGetEnforcedPowerLimit, handle, &milliwatts), device,
           {"power_limit_w"}))
    device.facts["power_limit_w"] = milliwatts * 1e-3;
  if (told(nvml, nvml.ASSAY_NVML_RESULT(nvmlDeviceGetMaxClockInfo, handle, NVML_CLOCK_SM, &megahertz), device,
           {"sm_clock_max_hz"}))
    device.facts["sm_clock_max_hz"] = megahertz * 1e6;
  if (nvml.ASSAY_NVML(nvmlDeviceGetMaxClockInfo, handle, NVML_CLOCK_MEM, &megahertz))
    device.facts["memory_clock_max_hz"] = megahertz * 1e6;
  int major = 0, minor = 0;
  if (nvml.ASSAY_NVML(nvmlDeviceGetCudaComputeCapability, handle, &major, &minor))
    device.facts["compute_capability"] = major + minor * 0.1;
  if (health) add_health(nvml, handle, device);
  return device;
}

}  // namespace

NvmlAnswer ask_nvml(const char* library, bool health) {
  const Nvml nvml(library);
  NvmlAnswer answer;
  answer.code = nvml.code();
  if (!nvml.ready()) {
    answer.detail = "no NVML: " + nvml.problem();
    return answer;
  }
  answer.loaded = true;
  add_driver(nvml, answer);
  unsigned count = 0;
  const nvmlReturn_t counted = nvml.ASSAY_NVML_RESULT(nvmlDeviceGetCount_v2, &count);
  answer.code = static_cast<int>(counted);
  if (counted != NVML_SUCCESS) {
    answer.detail += "; NVML starts and can't count the devices: " + nvml.text(counted);
    return answer;
  }
  for (unsigned i = 0; i < count; ++i) answer.devices.push_back(describe(nvml, i, health));
  return answer;
}

#else

NvmlAnswer ask_nvml(const char*, bool) {
  NvmlAnswer answer;
  answer.code = nvml_not_asked;
  answer.detail = "no NVML: this build was made without nvml.h";
  return answer;
}

#endif

Json to_json(const NvmlAnswer& answer) {
  Json devices = Json::array();
  for (const DeviceInfo& device : answer.devices) devices.push_back(to_json(device));
  return {{"loaded", answer.loaded}, {"code", answer.code}, {"detail", answer.detail},
          {"driver", answer.driver}, {"cuda", answer.cuda}, {"devices", devices}};
}

NvmlAnswer nvml_from_json(const Json& json) {
  NvmlAnswer answer;
  answer.loaded = json.at("loaded");
  answer.code = json.at("code");
  answer.detail = json.at("detail");
  answer.driver = json.at("driver");
  answer.cuda = json.at("cuda");
  for (const Json& device : json.at("devices")) answer.devices.push_back(device_from_json(device));
  return answer;
}

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
