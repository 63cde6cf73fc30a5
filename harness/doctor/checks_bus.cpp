// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// The card on the PCI bus, before any driver.
#include <fmt/format.h>

#include <algorithm>

#include "harness/base/text.h"
#include "harness/doctor/pci_config.h"
#include "harness/doctor/questions.h"

namespace assay::doctor {
namespace {

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
    if (!result.have(gpu.config)) continue;
    if (gpu.config->size() < 4) {
      result.cannot_know(gpu.config.source, Known::unreadable);
    } else if (all_ones(*gpu.config)) {
      result.because(gpu.config.source, "all ones");
      result.found(fmt::format("{} does not answer: it has fallen off the bus", name_of(one, gpu)));
    }
  }
}

void bars(const Case& one, Result& result) {
  for (const PciDevice& gpu : one.facts.gpus) {
    if (!result.have(gpu.bars)) continue;
    // Registers are region 0; the window on memory is the next, or the one after where 0 takes two places. One that is
    // missing has a line of zeros.
    const auto has = [&](int index) {
      return std::any_of(gpu.bars->begin(), gpu.bars->end(), [&](const Bar& bar) { return bar.index == index; });
    };
    std::size_t without = !has(0) + !(has(1) || has(2));
    for (const Bar& bar : *gpu.bars) without += bar.bytes == 0;
    if (without == 0) continue;
    result.because(gpu.bars.source, fmt::format("{} without addresses", counted(without, "memory region")));
    result.found(fmt::format("{}: the firmware gave it no addresses for its memory (BAR)", name_of(one, gpu)));
  }
}

void rebar(const Case& one, Result& result) {
  for (const PciDevice& gpu : one.facts.gpus) {
    if (!result.have(gpu.bars)) continue;
    std::uint64_t largest = 0;
    for (const Bar& bar : *gpu.bars) largest = std::max(largest, bar.bytes);
    if (largest == 0) result.cannot_know(gpu.bars.source, Known::unreadable);
    if (largest == 0 || largest > std::uint64_t{256} << 20) continue;
    result.because(gpu.bars.source, fmt::format("the largest region has {} MiB", largest >> 20));
    result.found(fmt::format("{}: only a window of its memory can be reached by others", name_of(one, gpu)));
  }
}

void width(const Case& one, Result& result) {
  for (const PciDevice& gpu : one.facts.gpus) {
    if (!result.have(gpu.width_now) || !result.have(gpu.width_max)) continue;
    // 0, and 63 or 255, which are ones, stand for a link that doesn't say.
    if (*gpu.width_now <= 0 || *gpu.width_max <= 0 || *gpu.width_max >= 63) {
      result.cannot_know(gpu.width_now.source, Known::absent);
    } else if (*gpu.width_now < *gpu.width_max) {
      result.because(gpu.width_now);
      result.because(gpu.width_max);
      result.found(fmt::format("{} runs on {} of {} lanes", name_of(one, gpu), *gpu.width_now, *gpu.width_max));
    }
  }
}

void slot(const Case& one, Result& result) {
  for (const PciDevice& gpu : one.facts.gpus) {
    if (!result.have(gpu.speed_max) || !result.have(gpu.above)) continue;
    if (gpu.above->empty()) {
      result.not_applicable("no bridge is above the GPU, as in a virtual machine");
      continue;
    }
    const PciDevice* port = one.facts.bridge(gpu.above->back());
    if (port == nullptr) {
      result.cannot_know("/sys/bus/pci/devices/" + gpu.above->back(), Known::absent);
      continue;
    }
    if (!result.have(port->speed_max)) continue;
    if (*port->speed_max <= 0 || *gpu.speed_max <= 0) {
      result.cannot_know(port->speed_max.source, Known::absent);
      continue;
    }
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

void aspm(const Case& one, Result& result) {
  if (one.facts.system.virtual_machine) return result.not_applicable("a virtual machine: the host decides");
  for (const PciDevice& gpu : one.facts.gpus) {
    // The kernel shows it of links that can sleep; without it only the policy may say that none does.
    if (gpu.aspm.state == Known::absent && *one.facts.system.aspm_policy == "performance") continue;
    if (!result.have(gpu.aspm) || !*gpu.aspm) continue;
    result.because(gpu.aspm);
    result.because(one.facts.system.aspm_policy);
    result.found(fmt::format("{}: its link goes to sleep when idle (ASPM)", name_of(one, gpu)));
  }
}

// A guest's kernel has no counters: the host's has them.
bool counts_errors(const Case& one, Result& result) {
  if (one.facts.system.virtual_machine) result.not_applicable("a virtual machine: the host counts");
  return !one.facts.system.virtual_machine;
}

void aer(const Case& one, Result& result) {
  if (!counts_errors(one, result)) return;
  for (const PciDevice& gpu : one.facts.gpus)
    for (const Fact<std::uint64_t>* count : {&gpu.aer_fatal, &gpu.aer_nonfatal}) {
      if (!result.have(*count) || **count == 0) continue;
      result.because(*count);
      result.found(fmt::format("{} had {} on its PCIe link that were not corrected", name_of(one, gpu),
                               counted(**count, "error")));
    }
}

void aer_corrected(const Case& one, Result& result) {
  if (!counts_errors(one, result)) return;
  constexpr std::uint64_t many = 1000;
  for (const PciDevice& gpu : one.facts.gpus) {
    if (!result.have(gpu.aer_correctable) || *gpu.aer_correctable < many) continue;
    result.because(gpu.aer_correctable);
    result.found(fmt::format("{} had {} corrected errors on its PCIe link", name_of(one, gpu), *gpu.aer_correctable));
  }
}

void known(const Case& one, Result& result) {
  for (const std::string& address : one.facts.hidden)
    result.cannot_know(address + " does not say what it is, and may be a GPU");
  for (const PciDevice& gpu : one.facts.gpus) {
    if (!result.have(gpu.device)) continue;
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
    if (!result.have(gpu.power_state)) continue;
    if (*gpu.power_state == "unknown" || *gpu.power_state == "error")
      result.cannot_know(gpu.power_state.source, Known::absent);
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
    {.id = "bus.aspm",
     .layer = Layer::bus,
     .title = "links to the GPUs do not sleep",
     .severity = Severity::note,
     .why = "each first transfer waits until the link is awake, and some platforms lose the card meanwhile (Xid 79)",
     .fixes = {{"any",
                "add pcie_aspm.policy=performance to the kernel's command line, or switch ASPM off in the "
                "firmware"}},
     .after = {"bus.answers"},
     .run = aspm},
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
    {.id = "bus.rebar",
     .layer = Layer::bus,
     .title = "all of a GPU's memory can be reached over the bus",
     .severity = Severity::note,
     .why = "peer-to-peer copies and RDMA need a large region; small ones use a window of 256 MiB",
     .fixes = {{"any",
                "switch on 'Above 4G decoding' and Resizable BAR in the firmware, where card and platform have it"}},
     .after = {"bus.bars", "bus.answers"},
     .run = rebar},
}};

}  // namespace
}  // namespace assay::doctor
