// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// What stands between GPUs, and between them and the network. Trap: without bridges above the GPUs, or beyond the 64
// bytes that anybody may read of one, nothing was looked at.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "harness/base/text.h"
#include "harness/doctor/pci_config.h"
#include "harness/doctor/questions.h"

namespace assay::doctor {
namespace {

void iommu(const Case& one, Result& result) {
  const System& system = one.facts.system;
  if (one.facts.gpus.size() < 2) return result.not_applicable("one GPU");
  if (system.virtual_machine) return result.not_applicable("a virtual machine: the host decides");
  if (!result.know(system.iommu_type)) return;
  if (!system.iommu_type || starts_with(*system.iommu_type, "identity")) return;
  result.because(system.iommu_type);
  if (system.command_line) result.because(system.command_line);
  result.found("the IOMMU translates between the GPUs");
}

void acs(const Case& one, Result& result) {
  if (one.facts.gpus.size() < 2) return result.not_applicable("one GPU");
  if (one.facts.system.virtual_machine) return result.not_applicable("a virtual machine: the host decides");
  std::set<std::string> bridges;
  for (const PciDevice& gpu : one.facts.gpus)
    if (result.have(gpu.above)) bridges.insert(gpu.above->begin(), gpu.above->end());
  if (bridges.empty()) return result.not_applicable("no bridge is above the GPUs");
  for (const std::string& address : bridges) {
    const PciDevice* bridge = one.facts.bridge(address);
    if (bridge == nullptr) {
      result.cannot_know("/sys/bus/pci/devices/" + address, Known::absent);
      continue;
    }
    if (!result.have(bridge->config)) continue;
    if (all_ones(*bridge->config)) {
      result.cannot_know(bridge->config.source, Known::unreadable);
      continue;
    }
    const std::optional<bool> on = redirects(*bridge->config);
    if (!on) {
      result.cannot_know(bridge->config.source + " beyond 64 bytes", Known::denied);
      return;
    }
    if (!*on) continue;
    result.because(bridge->config.source, "ACS redirects requests between devices");
    result.found(fmt::format("the bridge {} sends traffic between GPUs up to the root", address));
  }
}

void nic(const Case& one, Result& result) {
  if (!has_rdma(one, result) || !result.know(one.facts.system.numa_nodes)) return;
  if (*one.facts.system.numa_nodes < 2) return result.not_applicable("one NUMA node");
  std::set<int> gpu_nodes, nic_nodes;
  const auto add = [&](const PciDevice& device, std::set<int>& nodes) {
    if (!result.have(device.numa_node)) return false;
    if (*device.numa_node < 0) result.cannot_know("the NUMA node of " + device.address, Known::absent);
    nodes.insert(*device.numa_node);
    return *device.numa_node >= 0;
  };
  for (const PciDevice& device : one.facts.nics)
    if (is_rdma(device) && !add(device, nic_nodes)) return;  // it may be near any GPU
  for (const PciDevice& gpu : one.facts.gpus) add(gpu, gpu_nodes);
  gpu_nodes.erase(-1);
  for (const int node : gpu_nodes) {
    if (nic_nodes.count(node) > 0) continue;
    result.because("/sys/bus/pci/devices/*/numa_node", fmt::format("GPUs on node {}, no network card there", node));
    result.found(fmt::format("GPUs of NUMA node {} have no network card near them", node));
  }
}

void same_cards(const Case& one, Result& result) {
  std::set<std::string> ids;
  for (const PciDevice& gpu : one.facts.gpus) {
    if (!result.have(gpu.device)) return;
    ids.insert(gpu.id());
  }
  if (ids.size() < 2) return;
  result.because("/sys/bus/pci/devices/*/device", join({ids.begin(), ids.end()}, ", "));
  result.found("GPUs of different kinds are in this machine");
}

const Registered checks{{
    {.id = "bus.iommu",
     .layer = Layer::bus,
     .title = "the IOMMU does not stand between GPUs",
     .severity = Severity::degraded,
     .why = "peer-to-peer copies hang, give wrong data or go through host memory",
     .fixes = {{"any",
                "on bare metal add iommu=pt to the kernel's command line, or switch the IOMMU off in the firmware"}},
     .run = iommu},
    {.id = "bus.acs",
     .layer = Layer::bus,
     .title = "bridges let GPUs talk directly",
     .severity = Severity::degraded,
     .why = "with ACS redirection each peer-to-peer packet goes up to the processor and back",
     .fixes = {{"any", "on bare metal switch ACS off in the firmware, or per bridge with setpci (as root)"}},
     .run = acs},
    {.id = "bus.nic",
     .layer = Layer::bus,
     .title = "GPUs have a network card near them",
     .severity = Severity::note,
     .why = "GPU Direct RDMA across sockets is several times slower",
     .fixes = {{"any", "move a card to that socket, or pin jobs so that ranks use the near card"}},
     .run = nic},
    {.id = "bus.same_cards",
     .layer = Layer::bus,
     .title = "all GPUs are of one kind",
     .severity = Severity::note,
     .why = "collective work goes at the pace of the slowest; device numbers may be sorted by speed",
     .fixes = {{"any", "set CUDA_DEVICE_ORDER=PCI_BUS_ID, and choose with CUDA_VISIBLE_DEVICES"}},
     .run = same_cards},
}};

}  // namespace
}  // namespace assay::doctor
