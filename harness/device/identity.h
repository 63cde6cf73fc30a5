// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// What stays with a device when it is renumbered. The only notion of it: comparisons, references and fleets all ask
// here.
#pragma once

#include <string>

#include "harness/device/device.h"

namespace assay {

// "0", "cpu:0": a number that every host has.
inline bool is_numbered(const std::string& id) {
  const std::string number = id.substr(id.rfind(':') + 1);
  return !number.empty() && number.find_first_not_of("0123456789") == std::string::npos;
}

// Its UUID; else its machine and PCI address; else its machine and id, for cpu:0 of two hosts are two devices. `host`
// "": the id tells it all, or hosts are what is compared. An imported file names its devices and their hosts itself:
// what is written is the identity, and only a number needs its host.
inline std::string device_identity(const DeviceInfo& device, const std::string& host) {
  if (!device.uuid.empty()) return device.uuid;
  const std::string& place = device.pci_address.empty() ? device.id : device.pci_address;
  const auto told = device.labels.find("host");
  if (device.kind == "imported" && told != device.labels.end() && is_numbered(device.id))
    return told->second + "/" + place;
  return host.empty() ? place : host + "/" + place;
}

}  // namespace assay
