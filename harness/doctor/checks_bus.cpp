// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// The card on the PCI bus, before any driver.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "harness/base/text.h"
#include "harness/doctor/check.h"
#include "harness/doctor/pci_config.h"

namespace assay::doctor {
namespace {

std::string name_of(const Case& one, const PciDevice& gpu) {
  const Card card = one.knowledge.card(gpu);
  return fmt::format("{} ({})", gpu.address, card.product.empty() ? gpu.id() : card.product);
}

void gpu_there(const Case& one, Result& result) {
  const Facts& facts = one.facts;
  if (!result.know(facts.bus)) return;
  if (facts.has_gpu()) return;
  result.because(facts.bus.source,
                 facts.bus ? counted(facts.bus->size(), "device") + ", none an NVIDIA GPU" : "no bus");
  if (facts.system.wsl) {
    result.because(facts.nodes.dxg);
    result.found("WSL has no /dev/dxg, so Windows gives it no GPU");
    result.fix("any", "in Windows: install NVIDIA's driver, run `wsl --update` and `wsl --shutdown`");
    return;
  }
  result.found("no NVIDIA GPU is on the bus");
  if (!facts.system.cloud.empty()) {
    result.because("/sys/class/dmi/id", facts.system.cloud + " " + *facts.system.product);
    result.fix("cloud", "choose an instance type with a GPU; this one shows none");
  } else if (facts.system.virtual_machine) {
    result.fix("cloud", "the hypervisor must pass a GPU through to this guest");
  }
}

void answers(const Case& one, Result& result) {
  for (const PciDevice& gpu : one.facts.gpus) {
    if (!result.know(gpu.config)) continue;
    if (!gpu.config) {
      result.cannot_know(gpu.config.source, Known::absent);
    } else if (all_ones(*gpu.config)) {
      result.because(gpu.config.source, "all ones");
      result.found(fmt::format("{} does not answer: it has fallen off the bus", name_of(one, gpu)));
    }
  }
}

void bars(const Case& one, Result& result) {
  for (const PciDevice& gpu : one.facts.gpus) {
    if (!result.know(gpu.bars)) continue;
    if (!gpu.bars) {
      result.cannot_know(gpu.bars.source, Known::absent);
      continue;
    }
    std::size_t without = gpu.bars->empty() ? 1 : 0;
    for (const Bar& bar : *gpu.bars) without += bar.bytes == 0;
    if (without == 0) continue;
    result.because(gpu.bars.source, fmt::format("{} without addresses", counted(without, "memory region")));
    result.found(fmt::format("{}: the firmware gave it no addresses for its memory (BAR)", name_of(one, gpu)));
  }
}

void rebar(const Case& one, Result& result) {
  for (const PciDevice& gpu : one.facts.gpus) {
    if (!result.know(gpu.bars)) continue;
    std::uint64_t largest = 0;
    for (const Bar& bar : *gpu.bars) largest = std::max(largest, bar.bytes);
    if (largest == 0 || largest > std::uint64_t{256} << 20) continue;
    result.because(gpu.bars.source, fmt::format("the largest region has {} MiB", largest >> 20));
    result.found(fmt::format("{}: only a window of its memory can be reached by others", name_of(one, gpu)));
  }
}

void width(const Case& one, Result& result) {
  for (const PciDevice& gpu : one.facts.gpus) {
    if (!result.know(gpu.width_now) || !result.know(gpu.width_max)) continue;
    if (!gpu.width_now || !gpu.width_max || *gpu.width_now <= 0) {
      result.cannot_know(gpu.width_now.source, Known::absent);
    } else if (*gpu.width_now < *gpu.width_max && *gpu.width_max < 63) {
      result.because(gpu.width_now);
      result.because(gpu.width_max);
      result.found(fmt::format("{} runs on {} of {} lanes", name_of(one, gpu), *gpu.width_now, *gpu.width_max));
    }
  }
}

void slot(const Case& one, Result& result) {
  for (const PciDevice& gpu : one.facts.gpus) {
    if (!result.know(gpu.speed_max)) continue;
    const auto port = std::find_if(one.facts.bridges.begin(), one.facts.bridges.end(), [&](const PciDevice& bridge) {
      return !gpu.above.empty() && bridge.address == gpu.above.back();
    });
    if (port == one.facts.bridges.end()) {
      result.not_applicable("no bridge is seen above the GPU, as in a virtual machine");
      continue;
    }
    if (!result.know(port->speed_max) || !port->speed_max || !gpu.speed_max || *port->speed_max <= 0) continue;
    if (*port->speed_max >= *gpu.speed_max) continue;
    result.because(port->speed_max);
    result.because(gpu.speed_max);
    result.found(
        fmt::format("{} can do {} GT/s, the port above it {}", name_of(one, gpu), *gpu.speed_max, *port->speed_max));
  }
}

void numa(const Case& one, Result& result) {
  if (!result.know(one.facts.system.numa_nodes)) return;
  if (*one.facts.system.numa_nodes < 2) return result.not_applicable("one NUMA node");
  for (const PciDevice& gpu : one.facts.gpus) {
    if (!result.know(gpu.numa_node)) continue;
    if (gpu.numa_node && *gpu.numa_node >= 0) continue;
    result.because(gpu.numa_node);
    result.found(fmt::format("{}: the firmware doesn't say which NUMA node is near", name_of(one, gpu)));
  }
}

void aer(const Case& one, Result& result) {
  for (const PciDevice& gpu : one.facts.gpus)
    for (const Fact<std::uint64_t>* count : {&gpu.aer_fatal, &gpu.aer_nonfatal}) {
      if (!result.know(*count) || !*count || **count == 0) continue;
      result.because(*count);
      result.found(fmt::format("{} had {} on its PCIe link that were not corrected", name_of(one, gpu),
                               counted(**count, "error")));
    }
}

void aer_corrected(const Case& one, Result& result) {
  constexpr std::uint64_t many = 1000;
  for (const PciDevice& gpu : one.facts.gpus) {
    if (!result.know(gpu.aer_correctable) || !gpu.aer_correctable || *gpu.aer_correctable < many) continue;
    result.because(gpu.aer_correctable);
    result.found(fmt::format("{} had {} corrected errors on its PCIe link", name_of(one, gpu), *gpu.aer_correctable));
  }
}

void known(const Case& one, Result& result) {
  for (const PciDevice& gpu : one.facts.gpus) {
    if (!result.know(gpu.device)) continue;
    const Card card = one.knowledge.card(gpu);
    if (card.exact) continue;
    result.because(gpu.device);
    result.found(card.family.empty()
                     ? fmt::format("{}: this PCI id is in no table, and lies in the range of no known family", gpu.id())
                     : fmt::format("{}: this PCI id is in no table; by its range it is of the family {}", gpu.id(),
                                   card.family));
  }
}

void power(const Case& one, Result& result) {
  for (const PciDevice& gpu : one.facts.gpus) {
    if (!result.know(gpu.power_state) || !gpu.power_state) continue;
    if (*gpu.power_state != "D3cold") continue;
    result.because(gpu.power_state);
    result.because("/sys/bus/pci/devices",
                   one.facts.displays.empty() ? "no other display device" : "another display device");
    result.found(Severity::note, fmt::format("{} is switched off to save power", name_of(one, gpu)));
    if (!one.facts.modules.find("nvidia"))
      result.found(Severity::degraded, "and no module is loaded that would switch it on");
  }
}

void vfio(const Case& one, Result& result) {
  for (const PciDevice& gpu : one.facts.gpus) {
    if (!result.know(gpu.driver)) continue;
    if (*gpu.driver != "vfio-pci" && *gpu.driver != "pci-stub" && *gpu.driver != "xen-pciback") continue;
    result.because(gpu.driver);
    result.found(fmt::format("{} is held by {} for a virtual machine", name_of(one, gpu), *gpu.driver));
  }
}

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
  for (const PciDevice& bridge : one.facts.bridges) {
    if (!result.know(bridge.config)) continue;
    const std::optional<bool> on = redirects(*bridge.config);
    if (!on) {
      result.cannot_know(bridge.config.source + " beyond 64 bytes", Known::denied);
      return;
    }
    if (!*on) continue;
    result.because(bridge.config.source, "ACS redirects requests between devices");
    result.found(fmt::format("the bridge {} sends traffic between GPUs up to the root", bridge.address));
  }
}

void nic(const Case& one, Result& result) {
  std::set<int> gpu_nodes, nic_nodes;
  for (const PciDevice& device : one.facts.nics)
    if (starts_with(*device.class_code, "0207") || *device.vendor == "15b3") {
      if (!result.know(device.numa_node)) return;
      nic_nodes.insert(*device.numa_node);
    }
  if (nic_nodes.empty()) return result.not_applicable("no InfiniBand or RDMA network card");
  for (const PciDevice& gpu : one.facts.gpus)
    if (gpu.numa_node && *gpu.numa_node >= 0) gpu_nodes.insert(*gpu.numa_node);
  for (const int node : gpu_nodes) {
    if (nic_nodes.count(node) > 0) continue;
    result.because("/sys/bus/pci/devices/*/numa_node", fmt::format("GPUs on node {}, no network card there", node));
    result.found(fmt::format("GPUs of NUMA node {} have no network card near them", node));
  }
}

void same_cards(const Case& one, Result& result) {
  std::set<std::string> ids;
  for (const PciDevice& gpu : one.facts.gpus) {
    if (!result.know(gpu.device)) return;
    ids.insert(gpu.id());
  }
  if (ids.size() < 2) return;
  result.because("/sys/bus/pci/devices/*/device", join({ids.begin(), ids.end()}, ", "));
  result.found("GPUs of different kinds are in this machine");
}

const Registered checks{{
    {.id = "bus.gpu",
     .layer = Layer::bus,
     .title = "an NVIDIA GPU is on the PCI bus",
     .needs = Needs::nothing,
     .chain = true,
     .why = "without a device nothing above it can work, whatever is installed",
     .fixes = {{"any", "check that the card is seated and powered, and that slot and hot-plug are on in the firmware"},
               {"container", "a container sees the bus of its host: look there"}},
     .run = gpu_there},
    {.id = "bus.answers",
     .layer = Layer::bus,
     .title = "every GPU answers on the bus",
     .chain = true,
     .why = "a card that is gone takes every program on it with it, and often the driver's tools as well",
     .fixes = {{"any",
                "read the kernel's log for Xid 79 and AER; restart the machine; if it comes back, check power, "
                "seating and riser, then swap slot and card"}},
     .run = answers},
    {.id = "bus.bars",
     .layer = Layer::bus,
     .title = "every GPU has its memory regions (BARs)",
     .chain = true,
     .why = "the driver refuses a GPU without them: RmInitAdapter failed, no devices were found",
     .fixes = {{"any", "in the firmware switch on 'Above 4G decoding' and Resizable BAR, update it; try pci=realloc"},
               {"cloud", "in a virtual machine give the guest a 64-bit MMIO window that is large enough"}},
     .after = {"bus.answers"},
     .run = bars},
    {.id = "bus.power",
     .layer = Layer::bus,
     .title = "no GPU is switched off",
     .severity = Severity::note,
     .why = "hybrid graphics switch the card off; a driver must be loaded to switch it on",
     .fixes = {{"debian", "prime-select nvidia (Ubuntu), then restart; or choose 'discrete graphics' in the firmware"}},
     .run = power},
    {.id = "bus.vfio",
     .layer = Layer::bus,
     .title = "no GPU is reserved for a virtual machine",
     .why = "while vfio-pci holds it, the driver of this system can't have it",
     .fixes = {{"any",
                "if it should work here: remove vfio-pci.ids=... from the kernel's command line and from "
                "/etc/modprobe.d, and restart"}},
     .run = vfio},
    {.id = "bus.link_width",
     .layer = Layer::bus,
     .title = "every link has all its lanes",
     .severity = Severity::degraded,
     .why = "copies between host and GPU lose speed in proportion; unlike its speed the width does not fall at idle",
     .fixes = {{"any", "reseat card and riser; check that the slot has all lanes and isn't split in the firmware"}},
     .after = {"bus.answers"},
     .run = width},
    {.id = "bus.slot",
     .layer = Layer::bus,
     .title = "the slot is as fast as the card",
     .severity = Severity::note,
     .why = "the card can't use its own speed; fine where the platform has no faster slot",
     .fixes = {{"any", "use a faster slot, or set the slot's generation to 'auto' in the firmware"}},
     .run = slot},
    {.id = "bus.numa",
     .layer = Layer::bus,
     .title = "it is known which CPUs are near each GPU",
     .severity = Severity::degraded,
     .why = "buffers and threads may end up on the far socket, at a fraction of the bandwidth",
     .fixes = {{"any",
                "update the firmware, or switch its NUMA options (NPS, sub-NUMA clustering) so that PCIe has a node"}},
     .run = numa},
    {.id = "bus.aer",
     .layer = Layer::bus,
     .title = "no link had errors that were not corrected",
     .severity = Severity::degraded,
     .why = "such errors stop jobs (Xid 79, 32, 80) and come from signal, slot or power",
     .fixes = {{"any", "compare slot and card by swapping; reseat; update the firmware"}},
     .run = aer},
    {.id = "bus.aer_corrected",
     .layer = Layer::bus,
     .title = "links need few corrections",
     .severity = Severity::note,
     .why = "each one repeats a packet; many cost bandwidth and announce a link that will fail",
     .fixes = {{"any", "watch the counters under load; reseat the card if they rise"}},
     .run = aer_corrected},
    {.id = "bus.known",
     .layer = Layer::bus,
     .title = "every GPU's PCI id is known",
     .severity = Severity::note,
     .why = "what is said of driver, CUDA and wheels is then that of its family, or nothing",
     .fixes = {{"any", "update Assay's tables: results/identities.csv"}},
     .run = known},
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
    {.id = "bus.rebar",
     .layer = Layer::bus,
     .title = "all of a GPU's memory can be reached over the bus",
     .severity = Severity::note,
     .why = "peer-to-peer copies and RDMA need a large region; small ones use a window of 256 MiB",
     .fixes = {{"any",
                "switch on 'Above 4G decoding' and Resizable BAR in the firmware, where card and platform have it"}},
     .after = {"bus.bars", "bus.answers"},
     .run = rebar},
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
