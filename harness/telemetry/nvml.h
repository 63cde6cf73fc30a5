// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// What NVIDIA's management library (NVML) knows of the GPUs. It comes with the driver and is opened at run time, so
// this program starts without it; an absent library is an answer ("no NVML: ..."), never an error.
#pragma once

#include <string>
#include <vector>

#include "harness/device/device.h"

namespace assay {

struct NvmlAnswer {
  bool loaded = false;
  std::string detail;  // "driver 580.95.05, CUDA 13.0", or "no NVML: <why>"
  std::vector<DeviceInfo>
      devices;  // with pci_address, uuid, name; facts memory_bytes, power_limit_w, sm_clock_max_hz, ...
};

// `library` as dlopen takes it.
NvmlAnswer ask_nvml(const char* library = "libnvidia-ml.so.1");

// Devices of the PCI bus, completed by what NVML says of the same address; one that only NVML sees comes at the end.
std::vector<DeviceInfo> merge_gpus(std::vector<DeviceInfo> pci, const NvmlAnswer& nvml);

}  // namespace assay
