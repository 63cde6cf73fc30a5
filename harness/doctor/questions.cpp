// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See questions.h.
#include "harness/doctor/questions.h"

#include <fmt/format.h>

#include <algorithm>

namespace assay::doctor {
namespace {

// Noted as not known where the call failed, or the GPU may not be asked at all.
bool tells(const DeviceInfo& device, const char* fact, Result& result) {
  if (device.facts.count(fact) > 0) return true;
  for (const char* label : {fact, "nvml"})
    if (const auto why = device.labels.find(label); why != device.labels.end()) {
      result.cannot_know(fmt::format("NVML: {}: {}{}", device.pci_address.empty() ? device.name : device.pci_address,
                                     label == std::string("nvml") ? "" : std::string(fact) + ": ", why->second));
      break;
    }
  return false;
}

}  // namespace

const DeviceInfo* seen_by_nvml(const Facts& facts, const std::string& address) {
  for (const DeviceInfo& device : facts.nvml->devices)
    if (device.pci_address == address) return &device;
  return nullptr;
}

std::string capability_of(const DeviceInfo& device) {
  const double value = device.fact("compute_capability");
  return value > 0 ? fmt::format("{:.1f}", value) : "";
}

std::string variable(const Facts& facts, const char* name) {
  const auto set = facts.environment->find(name);
  return set == facts.environment->end() ? "" : set->second;
}

std::string name_of(const Case& one, const PciDevice& gpu) {
  const Card card = one.knowledge.card(gpu);
  return fmt::format("{} ({})", gpu.address, card.product.empty() ? gpu.id() : card.product);
}

Card identify(const Case& one, const PciDevice& gpu) {
  Card card = one.knowledge.card(gpu);
  if (card.exact && !card.capability.empty()) return card;
  const DeviceInfo* seen = seen_by_nvml(one.facts, gpu.address);
  const std::string capability = seen == nullptr ? "" : capability_of(*seen);
  if (capability.empty()) return card;
  card.exact = true;
  card.capability = capability;
  card.row = one.knowledge.capability(capability);
  card.family = card.row == nullptr ? "" : card.row->family;
  card.product = seen->name;
  card.geforce = seen->name.find("GeForce") != std::string::npos;
  return card;
}

Card card_of(const Case& one, const PciDevice& gpu, Result& result) {
  if (!result.have(gpu.device)) return {};
  const Card card = identify(one, gpu);
  if (!card.exact)
    result.cannot_know(fmt::format("{}: the PCI id {} is in no table", gpu.address, gpu.id()));
  else if (card.row == nullptr)
    result.cannot_know(fmt::format("{}: no table says what {} needs", gpu.address,
                                   card.capability.empty() ? card.product : "capability " + card.capability));
  return card;
}

bool has_rdma(const Case& one, Result& result) {
  if (!result.have(one.facts.rdma)) return false;
  if (!*one.facts.rdma) result.not_applicable("no InfiniBand or RDMA network card");
  return *one.facts.rdma;
}

bool know_loader(const Case& one, Result& result) {
  return result.know(one.facts.libraries.all) && result.have(one.facts.system.architecture) &&
         result.have(one.facts.environment);
}

void each_gpu(const Case& one, Result& result, std::initializer_list<const char*> facts, const FoundOnGpu& found) {
  const Fact<NvmlAnswer>& nvml = one.facts.nvml;
  if (!result.know_nvml(nvml)) return;
  std::vector<const DeviceInfo*> silent;
  std::vector<std::string> kinds;  // names of those that tell
  for (const DeviceInfo& device : nvml->devices) {
    bool has = true;
    for (const char* fact : facts) has = tells(device, fact, result) && has;
    if (!has) {
      silent.push_back(&device);
      continue;
    }
    kinds.push_back(device.name);
    const std::string what = found(device);
    if (what.empty()) continue;
    for (const char* fact : facts)
      result.because("NVML", fmt::format("{}: {} {:.10g}", device.pci_address, fact, device.fact(fact)));
    result.found(device.pci_address + " " + what);
  }
  if (kinds.empty()) return result.not_applicable("no GPU tells it");
  for (const DeviceInfo* device : silent)
    if (std::count(kinds.begin(), kinds.end(), device->name) > 0)
      result.cannot_know(
          fmt::format("NVML: {} does not tell {}, others of its kind do", device->pci_address, *facts.begin()));
}

}  // namespace assay::doctor
