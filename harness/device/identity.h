// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// What stays with a device when it is renumbered. The only notion of it: comparisons, references and fleets all ask here.
#pragma once

#include <string>

#include "harness/device/device.h"

namespace assay {

// Its UUID; else its machine and PCI address; else its machine and id, for cpu:0 of two hosts are two devices. `host` "":
// the id tells it all, as in an imported file, or hosts are what is compared.
inline std::string device_identity(const DeviceInfo& device, const std::string& host) {
  if (!device.uuid.empty()) return device.uuid;
  const std::string& place = device.pci_address.empty() ? device.id : device.pci_address;
  return host.empty() ? place : host + "/" + place;
}

}  // namespace assay
