// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// The CPU as a device: facts from sysfs and /proc only, so that the same answer comes on x86-64 and ARM, as any user,
// in a container. Trap: the last cache's size comes from sysfs index/size (per instance), not from getconf, which
// multiplies.
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "harness/base/error.h"
#include "harness/base/file.h"
#include "harness/base/text.h"
#include "harness/device/device.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

std::string first_line(const fs::path& path) {
  const std::string content = read_file_or(path);
  return trim(content.substr(0, content.find('\n')));
}

// "0-3,8" -> how many
std::size_t list_size(const std::string& text) {
  std::size_t count = 0;
  for (const std::string& part : split(text, ',')) {
    const std::vector<std::string> ends = split(part, '-');
    try {
      if (ends.size() == 2) count += static_cast<std::size_t>(std::stoul(ends[1]) - std::stoul(ends[0]) + 1);
      if (ends.size() == 1 && !ends[0].empty()) count += 1;
    } catch (const std::exception&) {
      return count;  // an unexpected form: what was read so far
    }
  }
  return count;
}

// "48K", "260M" -> bytes
double cache_bytes(const std::string& text) {
  if (text.empty() || std::isdigit(static_cast<unsigned char>(text[0])) == 0) return 0;
  const double value = std::stod(text);
  switch (text.back()) {
    case 'K':
      return value * 1024;
    case 'M':
      return value * 1048576;
    case 'G':
      return value * 1073741824;
    default:
      return value;
  }
}

void read_caches(const fs::path& cpu, DeviceInfo& device) {
  for (int index = 0; index < 8; ++index) {
    const fs::path cache = cpu / "cache" / ("index" + std::to_string(index));
    const std::string level = first_line(cache / "level"), type = first_line(cache / "type");
    const double bytes = cache_bytes(first_line(cache / "size"));
    if (level.empty() || bytes <= 0) continue;
    if (type == "Instruction") continue;
    const std::string name = level == "1" ? "cache.l1d_bytes" : "cache.l" + level + "_bytes";
    device.facts[name] = bytes;
    device.facts["cache.l" + level + "_shared_cpus"] =
        static_cast<double>(list_size(first_line(cache / "shared_cpu_list")));
    const std::string coherency_line = first_line(cache / "coherency_line_size");
    if (!coherency_line.empty()) device.facts["cache.line_bytes"] = std::stod(coherency_line);
  }
  if (device.facts.count("cache.line_bytes") == 0) device.facts["cache.line_bytes"] = 64;
}

void read_topology(const std::vector<int>& cpus, DeviceInfo& device) {
  device.facts["cpus"] = static_cast<double>(cpus.size());
  if (!std::filesystem::exists("/sys/devices/system/cpu")) return;  // no sysfs: what isn't known isn't told
  std::set<std::string> cores, sockets;
  std::size_t siblings = 1;
  for (int cpu : cpus) {
    const fs::path topology = "/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology";
    const std::string socket = first_line(topology / "physical_package_id");
    cores.insert(socket + ":" + first_line(topology / "core_id"));
    sockets.insert(socket);
    siblings = std::max(siblings, list_size(first_line(topology / "thread_siblings_list")));
  }
  device.facts["cores"] = static_cast<double>(cores.size());
  device.facts["sockets"] = static_cast<double>(sockets.size());
  device.facts["smt"] = static_cast<double>(siblings);
  // With sysfs, but without nodes in it, the kernel knows none: one memory for all.
  const std::size_t nodes = list_size(first_line("/sys/devices/system/node/has_memory"));
  device.facts["numa_nodes"] = static_cast<double>(std::max<std::size_t>(nodes, 1));
}

// /proc/cpuinfo of the first CPU: x86 calls them "flags", ARM "Features".
void read_cpuinfo(DeviceInfo& device) {
  std::istringstream lines(read_file_or("/proc/cpuinfo"));
  for (std::string text; std::getline(lines, text) && !trim(text).empty();) {
    const std::size_t colon = text.find(':');
    if (colon == std::string::npos) continue;
    const std::string key = trim(text.substr(0, colon)), value = trim(text.substr(colon + 1));
    if (key == "model name") device.name = value;
    if (key == "microcode" || key == "vendor_id" || key == "stepping" || key == "CPU implementer" || key == "CPU part")
      device.labels[key] = value;
    if (key == "cpu family" || key == "model")
      device.facts["cpu_" + std::string(key == "model" ? "model" : "family")] = std::stod(value);
    if (key == "flags" || key == "Features")
      for (const std::string& flag : split(value, ' '))
        if (!flag.empty()) device.facts["cpu." + flag] = 1;
  }
}

void read_memory(DeviceInfo& device) {
  std::istringstream lines(read_file_or("/proc/meminfo"));
  std::string key, unit;
  double kib = 0;
  while (lines >> key >> kib >> unit) {
    if (key == "MemTotal:") device.facts["memory_bytes"] = kib * 1024;
    if (key == "MemAvailable:") device.facts["available_bytes"] = kib * 1024;
    std::getline(lines, unit);
  }
  device.facts["page_bytes"] = static_cast<double>(sysconf(_SC_PAGESIZE));
  const std::string huge = first_line("/sys/kernel/mm/transparent_hugepage/enabled");
  const std::size_t open = huge.find('['), close = huge.find(']');
  device.labels["transparent_huge_pages"] =
      open == std::string::npos ? "absent" : huge.substr(open + 1, close - open - 1);
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
  std::vector<int> cpus;
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(getpid(), sizeof set, &set) == 0)
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
      if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  if (cpus.empty()) cpus.push_back(0);
  return cpus;
}

DeviceInfo cpu_device() {
  DeviceInfo device;
  device.id = "cpu:0";
  device.kind = "cpu";
  device.name = "CPU";
  const std::vector<int> cpus = allowed_cpus();
  read_cpuinfo(device);
  read_topology(cpus, device);
  read_caches("/sys/devices/system/cpu/cpu" + std::to_string(cpus.front()), device);
  read_memory(device);
  device.labels["governor"] =
      first_line("/sys/devices/system/cpu/cpu" + std::to_string(cpus.front()) + "/cpufreq/scaling_governor");
  if (device.labels["governor"].empty()) device.labels["governor"] = "not readable";
  device.labels["hypervisor"] = device.fact("cpu.hypervisor") > 0 ? "yes" : "no";
  return device;
}

}  // namespace assay
