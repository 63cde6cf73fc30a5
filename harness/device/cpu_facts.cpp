// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// The CPU as a device: facts from sysfs and /proc only, so that the same answer comes on x86-64 and ARM, as any user,
// in a container. Traps: a cache's size comes from sysfs index/size, which is that of one instance, not from getconf,
// which multiplies; core_id is unique neither over sockets nor over dies, the list of a core's siblings is.
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "harness/base/cgroup.h"
#include "harness/base/error.h"
#include "harness/base/file.h"
#include "harness/base/parse.h"
#include "harness/base/proc.h"
#include "harness/base/text.h"
#include "harness/device/arm_cpu.h"
#include "harness/device/device.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

fs::path cpu_folder(const fs::path& root, int cpu) {
  return root / "sys/devices/system/cpu" / ("cpu" + std::to_string(cpu));
}

// "48K", "260M" -> bytes; 0 for what isn't a size.
double cache_bytes(const std::string& text) {
  std::string_view unit;
  const double value = leading_number<double>(text, &unit).value_or(0);
  return value * (unit == "K" ? 1024 : unit == "M" ? 1048576 : unit == "G" ? 1073741824 : 1);
}

void read_caches(const fs::path& cpu, DeviceInfo& device) {
  device.facts["cache.line_bytes"] = 64;  // unless the kernel tells another
  for (int index = 0; index < 8; ++index) {
    const fs::path cache = cpu / "cache" / ("index" + std::to_string(index));
    const std::string level = first_line(cache / "level");
    const double bytes = cache_bytes(first_line(cache / "size"));
    if (level.empty() || bytes <= 0 || first_line(cache / "type") == "Instruction") continue;
    device.facts[level == "1" ? "cache.l1d_bytes" : "cache.l" + level + "_bytes"] = bytes;
    const std::size_t sharing = cpu_list(first_line(cache / "shared_cpu_list")).size();
    if (sharing > 0) device.facts["cache.l" + level + "_shared_cpus"] = static_cast<double>(sharing);
    if (const auto line_bytes = number_in(cache / "coherency_line_size"); line_bytes && *line_bytes > 0)
      device.facts["cache.line_bytes"] = *line_bytes;
  }
}

void read_topology(const fs::path& root, const std::vector<int>& cpus, DeviceInfo& device) {
  device.facts["cpus"] = static_cast<double>(cpus.size());
  if (!fs::exists(root / "sys/devices/system/cpu")) return;  // no sysfs: what isn't known isn't told
  std::set<std::string> cores, sockets;
  std::size_t threads = 1;
  for (const int cpu : cpus) {
    const fs::path topology = cpu_folder(root, cpu) / "topology";
    const std::string siblings = first_line(topology / "thread_siblings_list");
    cores.insert(siblings.empty() ? std::to_string(cpu) : siblings);
    threads = std::max(threads, cpu_list(siblings).size());
    sockets.insert(first_line(topology / "physical_package_id"));
  }
  device.facts["cores"] = static_cast<double>(cores.size());
  device.facts["sockets"] = static_cast<double>(sockets.size());
  device.facts["smt"] = static_cast<double>(threads);
  // With sysfs, but without nodes in it, the kernel knows none: one memory for all.
  const std::size_t nodes = cpu_list(first_line(root / "sys/devices/system/node/has_memory")).size();
  device.facts["numa_nodes"] = static_cast<double>(std::max<std::size_t>(nodes, 1));
}

// What /proc/cpuinfo says of each CPU, as key and value; of CPUs that it numbers, only the allowed ones.
using CpuInfo = std::map<std::string, std::string>;
std::vector<CpuInfo> read_cpuinfo(const fs::path& root, const std::vector<int>& cpus) {
  std::vector<CpuInfo> blocks(1);
  for (const std::string& text : split(read_file_or(root / "proc/cpuinfo"), '\n')) {
    const std::size_t colon = text.find(':');
    if (colon != std::string::npos)
      blocks.back()[trim(text.substr(0, colon))] = trim(text.substr(colon + 1));
    else if (trim(text).empty())
      blocks.emplace_back();
  }
  std::erase_if(blocks, [&](const CpuInfo& block) {
    const auto number = block.find("processor");
    if (number == block.end()) return true;
    const std::optional<int> cpu = only_number<int>(number->second);
    return cpu && std::find(cpus.begin(), cpus.end(), *cpu) == cpus.end();
  });
  return blocks;
}

// On ARM the kinds of cores there are, "Arm Cortex-A76 + Arm Cortex-A55", and what they are built into.
std::string arm_name(const std::vector<CpuInfo>& blocks, const fs::path& root) {
  std::vector<std::string> cores;
  for (const CpuInfo& block : blocks) {
    const auto implementer = block.find("CPU implementer"), part = block.find("CPU part");
    if (implementer == block.end() || part == block.end()) return {};
    const std::string core = arm_core_name(implementer->second, part->second);
    if (std::find(cores.begin(), cores.end(), core) == cores.end()) cores.push_back(core);
  }
  if (cores.empty()) return {};
  const std::string product = arm_product_name(blocks.front().at("CPU part"), root);
  return product.empty() ? join(cores, " + ") : product + " (" + join(cores, " + ") + ")";
}

// x86 calls them "flags", ARM "Features".
void read_identity(const fs::path& root, const std::vector<int>& cpus, DeviceInfo& device) {
  const std::vector<CpuInfo> blocks = read_cpuinfo(root, cpus);
  if (blocks.empty()) return;
  for (const auto& [key, value] : blocks.front()) {
    if (key == "model name") device.name = value;
    if (key == "microcode" || key == "vendor_id" || key == "stepping" || key == "CPU implementer" || key == "CPU part")
      device.labels[key] = value;
    if (key == "cpu family" || key == "model")
      if (const auto number = only_number<double>(value))
        device.facts[key == "model" ? "cpu_model" : "cpu_family"] = *number;
    if (key == "flags" || key == "Features")
      for (const std::string& flag : split(value, ' '))
        if (!flag.empty()) device.facts["cpu." + flag] = 1;
  }
  if (const std::string name = arm_name(blocks, root); !name.empty()) device.name = name;
}

void read_memory(const fs::path& root, DeviceInfo& device) {
  if (const auto bytes = meminfo_bytes("MemTotal", root)) device.facts["memory_bytes"] = static_cast<double>(*bytes);
  const Cgroup group("self", root);
  if (auto bytes = meminfo_bytes("MemAvailable", root)) {
    bytes = std::min(*bytes, group.memory_available().value_or(*bytes));
    device.facts["available_bytes"] = static_cast<double>(*bytes);
  }
  if (const auto cpus = group.cpu_quota()) device.facts["cpu_quota"] = *cpus;
  device.facts["page_bytes"] = static_cast<double>(sysconf(_SC_PAGESIZE));
  const std::string huge = first_line(root / "sys/kernel/mm/transparent_hugepage/enabled");
  const std::size_t open = huge.find('['), close = huge.find(']');
  device.labels["transparent_huge_pages"] =
      open == std::string::npos || close == std::string::npos ? "absent" : huge.substr(open + 1, close - open - 1);
}

void read_clock(const fs::path& root, const std::vector<int>& cpus, DeviceInfo& device) {
  const fs::path all = root / "sys/devices/system/cpu";
  if (const auto off = number_in(all / "intel_pstate/no_turbo"))
    device.facts["turbo_on"] = *off == 0 ? 1 : 0;
  else if (const auto on = number_in(all / "cpufreq/boost"))
    device.facts["turbo_on"] = *on == 0 ? 0 : 1;
  std::set<std::string> governors;
  for (const int cpu : cpus)
    if (const std::string text = first_line(cpu_folder(root, cpu) / "cpufreq/scaling_governor"); !text.empty())
      governors.insert(text);
  device.labels["governor"] = governors.empty() ? "not readable" : join({governors.begin(), governors.end()}, ", ");
}

}  // namespace

double DeviceInfo::fact(const std::string& fact_name, double fallback) const {
  const auto found = facts.find(fact_name);
  return found == facts.end() ? fallback : found->second;
}

Json to_json(const DeviceInfo& device) {
  Json facts = Json::object();
  for (const auto& [fact_name, value] : device.facts) facts[fact_name] = number(value);
  return {{"id", device.id},
          {"kind", device.kind},
          {"name", device.name},
          {"simulated", device.simulated},
          {"pci_address", text_or_null(device.pci_address)},
          {"uuid", text_or_null(device.uuid)},
          {"facts", facts},
          {"labels", device.labels}};
}

DeviceInfo device_from_json(const Json& json) try {
  DeviceInfo device;
  device.id = json.at("id");
  device.kind = json.at("kind");
  device.name = json.at("name");
  device.simulated = json.at("simulated");
  if (!json.at("pci_address").is_null()) device.pci_address = json.at("pci_address");
  if (!json.at("uuid").is_null()) device.uuid = json.at("uuid");
  device.facts = json.at("facts").get<std::map<std::string, double>>();
  device.labels = json.at("labels").get<std::map<std::string, std::string>>();
  return device;
} catch (const Json::exception& problem) {
  throw Error(std::string("not a device description: ") + problem.what());
}

std::vector<int> allowed_cpus() {
  // The kernel refuses a mask that is shorter than its own, which may have more than the 1024 bits of a cpu_set_t.
  for (int bits = CPU_SETSIZE; bits <= 1 << 20; bits *= 2) {
    const std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> set(CPU_ALLOC(bits),
                                                               [](cpu_set_t* mask) { CPU_FREE(mask); });
    const std::size_t bytes = CPU_ALLOC_SIZE(bits);
    if (!set || sched_getaffinity(0, bytes, set.get()) != 0) continue;
    std::vector<int> cpus;
    for (int cpu = 0; cpu < bits; ++cpu)
      if (CPU_ISSET_S(cpu, bytes, set.get())) cpus.push_back(cpu);
    if (!cpus.empty()) return cpus;
  }
  return {0};
}

DeviceInfo cpu_device(const fs::path& root, const std::vector<int>& cpus) {
  DeviceInfo device;
  device.id = "cpu:0";
  device.kind = "cpu";
  device.name = "CPU";
  read_identity(root, cpus, device);
  read_topology(root, cpus, device);
  read_caches(cpu_folder(root, cpus.front()), device);
  read_memory(root, device);
  read_clock(root, cpus, device);
  device.labels["hypervisor"] = device.fact("cpu.hypervisor") > 0 ? "yes" : "no";
  return device;
}

DeviceInfo cpu_device() { return cpu_device("/", allowed_cpus()); }

}  // namespace assay
