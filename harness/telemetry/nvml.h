// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// What NVIDIA's management library (NVML) knows of the GPUs. It comes with the driver and is opened at run time, so
// this program starts without it; an absent library is an answer ("no NVML: ..."), never an error.
#pragma once

#include <string>
#include <vector>

#include "harness/base/json.h"
#include "harness/device/device.h"

namespace assay {

// It was not asked, which says nothing of the machine.
constexpr int nvml_not_asked = -2;

struct NvmlAnswer {
  bool loaded = false;
  std::string detail;  // "driver 580.95.05, CUDA 13.0", or "no NVML: <why>"
  std::vector<DeviceInfo>
      devices;               // with pci_address, uuid, name; facts memory_bytes, power_limit_w, sm_clock_max_hz, ...
  int code = 0;              // of nvmlInit, or of counting the devices; -1: the library could not be used at all
  std::string driver, cuda;  // "580.95.05"; the newest CUDA that this driver knows: "13.0"
};

// `library` as dlopen takes it. `health`: also what changes while a device works, as facts: ecc_on and ecc_pending,
// ecc_uncorrected (since the driver was loaded), remapped_correctable, remapped_uncorrectable, remap_pending,
// remap_failed, retired_pending, persistence_on, mig_on, mig_pending, mig_instances, compute_mode,
// power_limit_default_w, throttle_bits, temperature_c, slowdown_c, pcie_generation, pcie_generation_max, pcie_width,
// pcie_width_max, pcie_replays, fabric_state, fabric_status, recovery_action, confidential_on, confidential_ready. Of
// those, one whose call failed has a label of its name that says why; one without both is nothing that this GPU or this
// driver has.
NvmlAnswer ask_nvml(const char* library = "libnvidia-ml.so.1", bool health = false);

Json to_json(const NvmlAnswer& answer);
NvmlAnswer nvml_from_json(const Json& json);

// Devices of the PCI bus, completed by what NVML says of the same address; one that only NVML sees comes at the end.
std::vector<DeviceInfo> merge_gpus(std::vector<DeviceInfo> pci, const NvmlAnswer& nvml);

}  // namespace assay
