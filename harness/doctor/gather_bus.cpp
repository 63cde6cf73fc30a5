// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// The PCI bus as sysfs shows it, without rights and without a driver. Traps: a device that is gone may still be listed,
// its registers all ones; the speed of an idle link is lower than it can be; only root reads more than 64 bytes of
// configuration; -1 as NUMA node means that the firmware doesn't say.
#include <algorithm>
#include <cstdlib>

#include "harness/base/parse.h"
#include "harness/base/text.h"
#include "harness/doctor/facts.h"

namespace assay::doctor {
namespace {

const std::string devices = "/sys/bus/pci/devices";

// "0x10de" -> "10de"
std::optional<std::string> bare(const std::string& hex) {
  if (!starts_with(hex, "0x") || hex.size() < 3) return std::nullopt;
  return hex.substr(2);
}

std::optional<int> whole(double value) { return static_cast<int>(value); }

// Lines of "start end flags", one a resource; the first six are BARs. Flag 0x200 is memory; 0x20000000 a size that was
// given no address, which then begins at 0.
std::optional<std::vector<Bar>> parse_resource(const std::string& text) {
  std::vector<Bar> bars;
  const std::vector<std::string> rows = split(text, '\n');
  for (int index = 0; index < 6 && index < static_cast<int>(rows.size()); ++index) {
    const std::vector<std::string> words = split(rows[static_cast<std::size_t>(index)], ' ');
    if (words.size() < 3) continue;
    const std::uint64_t start = std::strtoull(words[0].c_str(), nullptr, 16);
    const std::uint64_t end = std::strtoull(words[1].c_str(), nullptr, 16);
    const std::uint64_t flags = std::strtoull(words[2].c_str(), nullptr, 16);
    const bool placed = end > start && (flags & 0x20000000) == 0;
    if ((flags & 0x200) != 0) bars.push_back({index, placed ? end - start + 1 : 0});
  }
  return bars;
}

// "TOTAL_ERR_FATAL 3" at the end of a list of counters.
std::optional<std::uint64_t> parse_aer(const std::string& text) {
  const std::size_t total = text.find("TOTAL_");
  if (total == std::string::npos) return std::nullopt;
  const std::size_t blank = text.find(' ', total);
  return blank == std::string::npos ? std::nullopt : leading_number<std::uint64_t>(text.substr(blank + 1));
}

// ".../devices/pci0000:3a/0000:3a:00.0/0000:3b:00.0" -> 0000:3a:00.0
std::optional<std::vector<std::string>> bridges_of(const std::string& real) {
  std::vector<std::string> above;
  for (const std::string& name : split(real, '/'))
    if (name.size() >= 12 && std::count(name.begin(), name.end(), ':') == 2) above.push_back(name);
  if (!above.empty()) above.pop_back();
  return above;
}

PciDevice read_device(const Root& root, const std::string& address) {
  const std::string folder = devices + "/" + address;
  const auto hex = [&](const char* name) { return root.line(folder + "/" + name).as(bare); };
  PciDevice device;
  device.address = address;
  device.vendor = hex("vendor");
  device.device = hex("device");
  device.class_code = hex("class");
  device.subvendor = hex("subsystem_vendor");
  device.subdevice = hex("subsystem_device");
  device.driver = root.link(folder + "/driver");
  return device;
}

void read_more(const Root& root, PciDevice& device) {
  const std::string folder = devices + "/" + device.address;
  device.iommu_group = root.link(folder + "/iommu_group");
  device.power_state = root.line(folder + "/power_state");
  device.numa_node = root.number(folder + "/numa_node").as(whole);
  device.bars = root.text(folder + "/resource").as(parse_resource);
  device.speed_now = root.number(folder + "/current_link_speed");
  device.speed_max = root.number(folder + "/max_link_speed");
  device.width_now = root.number(folder + "/current_link_width").as(whole);
  device.width_max = root.number(folder + "/max_link_width").as(whole);
  device.aspm = root.number(folder + "/link/l1_aspm").as([](double on) { return std::optional(on != 0); });
  device.config = root.text(folder + "/config", 4096);
  device.aer_fatal = root.text(folder + "/aer_dev_fatal").as(parse_aer);
  device.aer_nonfatal = root.text(folder + "/aer_dev_nonfatal").as(parse_aer);
  device.aer_correctable = root.text(folder + "/aer_dev_correctable").as(parse_aer);
  device.above = root.resolved(folder).as(bridges_of);
}

}  // namespace

const PciDevice* Facts::bridge(const std::string& address) const {
  for (const PciDevice& bridge : bridges)
    if (bridge.address == address) return &bridge;
  return nullptr;
}

bool is_rdma(const PciDevice& device) {
  return starts_with(*device.class_code, "0207") || (starts_with(*device.class_code, "02") && *device.vendor == "15b3");
}

void gather_bus(const Root& root, Facts& facts) {
  facts.bus = root.list(devices);
  // A kernel without PCI has other buses there; without sysfs nobody can say what it has.
  if (facts.bus.state == Known::absent && !root.list("/sys/bus"))
    facts.bus = Fact<std::vector<std::string>>::not_known(Known::unreadable, "/sys is not mounted: " + devices);
  facts.rdma = {facts.bus.unknown() ? facts.bus.state : Known::value, false, devices};
  std::vector<PciDevice> others;
  Known hidden = Known::value;
  for (const std::string& address : *facts.bus) {
    PciDevice device = read_device(root, address);
    const Known state = device.vendor.unknown() ? device.vendor.state : device.class_code.state;
    const bool foreign = device.vendor && *device.vendor != "10de";
    if (state != Known::value && state != Known::absent) {
      if (!foreign) {
        hidden = state;
        facts.hidden.push_back(address);
      }
      if (!*facts.rdma) facts.rdma = Fact<bool>::not_known(state, devices + "/" + address + "/class");
    }
    if (is_rdma(device)) facts.rdma = Fact<bool>::of(true, devices + "/" + address);
    const std::string& code = *device.class_code;
    const bool nvidia = *device.vendor == "10de", display = starts_with(code, "03");
    std::vector<PciDevice>* kind = nvidia && display                     ? &facts.gpus
                                   : nvidia && starts_with(code, "0680") ? &facts.switches
                                   : display                             ? &facts.displays
                                   : starts_with(code, "02")             ? &facts.nics
                                                                         : &others;
    kind->push_back(std::move(device));
  }
  if (facts.gpus.empty() && hidden != Known::value) facts.bus.state = hidden;
  for (PciDevice& gpu : facts.gpus) read_more(root, gpu);
  for (PciDevice& nic : facts.nics) read_more(root, nic);
  // Of all bridges only those above a GPU are of interest.
  for (PciDevice& other : others) {
    const bool above = std::any_of(facts.gpus.begin(), facts.gpus.end(), [&](const PciDevice& gpu) {
      return std::count(gpu.above->begin(), gpu.above->end(), other.address) > 0;
    });
    if (!above) continue;
    read_more(root, other);
    facts.bridges.push_back(std::move(other));
  }
}

}  // namespace assay::doctor
