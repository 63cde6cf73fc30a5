// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See pci.h.
#include "harness/device/pci.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/base/proc.h"
#include "harness/base/text.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

constexpr const char* nvidia_vendor = "0x10de";
constexpr const char* display_class = "0x03";  // 0x0300 VGA controllers, 0x0302 3D controllers

// "0x10de" -> "10de"
std::string bare(const std::string& hex) { return starts_with(hex, "0x") ? hex.substr(2) : hex; }

DeviceInfo describe(const fs::path& folder) {
  DeviceInfo device;
  device.kind = "cuda";
  device.pci_address = folder.filename().string();
  const std::string id = bare(nvidia_vendor) + ":" + bare(first_line(folder / "device"));
  device.name = "NVIDIA device " + id;
  device.labels["pci_id"] = id;
  if (const std::string vendor = bare(first_line(folder / "subsystem_vendor")); !vendor.empty())
    device.labels["subsystem"] = vendor + ":" + bare(first_line(folder / "subsystem_device"));
  std::error_code failed;
  const fs::path driver = fs::read_symlink(folder / "driver", failed);
  device.labels["driver"] = failed ? "none" : driver.filename().string();
  // -1 stands for "the firmware doesn't say".
  if (const auto node = number_in(folder / "numa_node"); node && *node >= 0) device.facts["numa_node"] = *node;
  return device;
}

}  // namespace

std::vector<DeviceInfo> nvidia_pci_devices(const fs::path& devices) {
  std::vector<DeviceInfo> found;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(devices, failed))
    if (first_line(entry.path() / "vendor") == nvidia_vendor &&
        starts_with(first_line(entry.path() / "class"), display_class))
      found.push_back(describe(entry.path()));
  std::sort(found.begin(), found.end(),
            [](const DeviceInfo& a, const DeviceInfo& b) { return a.pci_address < b.pci_address; });
  for (std::size_t i = 0; i < found.size(); ++i) found[i].id = fmt::format("cuda:{}", i);
  return found;
}

}  // namespace assay
