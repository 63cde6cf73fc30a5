// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// NVIDIA GPUs as the PCI bus shows them: there also without a driver, which is when somebody needs to know.
#pragma once

#include <filesystem>
#include <vector>

#include "harness/device/device.h"

namespace assay {

// Ordered by address and numbered cuda:0, cuda:1, ... in that order. Facts: numa_node where known. Labels: pci_id
// ("10de:2330"), subsystem, driver ("nvidia", "none", ...). `devices` is a folder like /sys/bus/pci/devices.
std::vector<DeviceInfo> nvidia_pci_devices(const std::filesystem::path& devices = "/sys/bus/pci/devices");

}  // namespace assay
