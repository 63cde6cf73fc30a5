// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See host.h.
#include "harness/parent/host.h"

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <sstream>
#include <thread>

#include "harness/base/file.h"
#include "harness/base/text.h"
#include "harness/build_info.h"
#include "harness/device/device.h"
#include "harness/parent/worker_environment.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

constexpr double quiet_busy = 0.05, quiet_steal = 0.01;

std::string first_line(const fs::path& path) {
  const std::string content = read_file_or(path);
  return trim(content.substr(0, content.find('\n')));
}

Json number_in(const fs::path& path, double factor = 1) {
  const std::string text = first_line(path);
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  return end == text.c_str() ? Json(nullptr) : number(value * factor);
}

Json meminfo_bytes(const std::string& key) {
  for (const std::string& entry : split(read_file_or("/proc/meminfo"), '\n'))
    if (starts_with(entry, key + ":")) return std::strtoull(entry.c_str() + key.size() + 1, nullptr, 10) * 1024;
  return nullptr;
}

double load_average() { return std::strtod(first_line("/proc/loadavg").c_str(), nullptr); }

// Mean over the CPUs; what cpufreq says, else what /proc/cpuinfo says.
Json mean_clock_hz() {
  double sum = 0;
  int count = 0;
  for (const int cpu : allowed_cpus()) {
    const Json khz = number_in(fmt::format("/sys/devices/system/cpu/cpu{}/cpufreq/scaling_cur_freq", cpu));
    if (!khz.is_number()) break;
    sum += khz.get<double>() * 1e3;
    ++count;
  }
  if (count == 0)
    for (const std::string& entry : split(read_file_or("/proc/cpuinfo"), '\n'))
      if (starts_with(entry, "cpu MHz")) {
        sum += std::strtod(entry.substr(entry.find(':') + 1).c_str(), nullptr) * 1e6;
        ++count;
      }
  return count == 0 ? Json(nullptr) : number(sum / count);
}

Json hottest_celsius() {
  std::error_code failed;
  Json hottest = nullptr;
  for (const auto& zone : fs::directory_iterator("/sys/class/thermal", failed)) {
    const Json celsius = number_in(zone.path() / "temp", 1e-3);
    if (celsius.is_number() && (hottest.is_null() || celsius > hottest)) hottest = celsius;
  }
  return hottest;
}

std::string governor() { return first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"); }

// "always [madvise] never" -> "madvise"
std::string chosen_word(const std::string& text) {
  const std::size_t begin = text.find('['), end = text.find(']');
  return begin == std::string::npos || end == std::string::npos ? text : text.substr(begin + 1, end - begin - 1);
}

Json cgroup_limits() {
  const auto limit = [](const char* v2, const char* v1) {
    std::string text = first_line(std::string("/sys/fs/cgroup/") + v2);
    if (text.empty()) text = first_line(std::string("/sys/fs/cgroup/") + v1);
    return text_or_null(text);
  };
  return {{"memory_max", limit("memory.max", "memory/memory.limit_in_bytes")},
          {"cpu_max", limit("cpu.max", "cpu/cpu.cfs_quota_us")},
          {"cpuset", limit("cpuset.cpus.effective", "cpuset/cpuset.cpus")}};
}

}  // namespace

CpuShares HostSampler::look() {
  // cpu  user nice system idle iowait irq softirq steal guest guest_nice
  std::istringstream text(first_line("/proc/stat"));
  std::string head;
  std::array<std::uint64_t, 8> ticks{};
  text >> head;
  for (std::uint64_t& value : ticks) text >> value;
  std::uint64_t total = 0;
  for (const std::uint64_t value : ticks) total += value;
  const std::uint64_t steal = ticks[7], busy = total - ticks[3] - ticks[4] - steal;
  CpuShares shares;
  if (total > total_) {
    const auto passed = static_cast<double>(total - total_);
    shares.busy = busy > busy_ ? static_cast<double>(busy - busy_) / passed : 0;
    shares.steal = steal > steal_ ? static_cast<double>(steal - steal_) / passed : 0;
  }
  busy_ = busy;
  steal_ = steal;
  total_ = total;
  return shares;
}

Json HostSampler::sample() {
  const CpuShares shares = look();
  return {{"source", "host"},
          {"cpu_busy", number(shares.busy)},
          {"cpu_steal", number(shares.steal)},
          {"load_average", number(load_average())},
          {"available_bytes", meminfo_bytes("MemAvailable")},
          {"clock_hz", mean_clock_hz()},
          {"temperature_celsius", hottest_celsius()}};
}

Preflight preflight(double seconds) {
  Preflight result;
  HostSampler sampler;
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  result.others = sampler.look();
  result.load_average = load_average();
  result.governor = governor();
  if (result.others.busy > quiet_busy)
    result.reasons.push_back(fmt::format("other programs use {:.0f} % of the CPUs", 100 * result.others.busy));
  if (result.others.steal > quiet_steal)
    result.reasons.push_back(
        fmt::format("the hypervisor takes {:.0f} % of the CPU time away", 100 * result.others.steal));
  if (!result.governor.empty() && result.governor != "performance")
    result.reasons.push_back(fmt::format("the clock governor is {}, not performance", result.governor));
  return result;
}

std::string Preflight::text() const {
  if (reasons.empty()) return "the machine is quiet";
  return "the machine is not quiet: " + join(reasons, "; ") + "; rates may be lower and scatter more";
}

Json to_json(const Preflight& p) {
  return {{"quiet", p.reasons.empty()},           {"foreign_load", number(p.others.busy)},
          {"steal", number(p.others.steal)},      {"load_average", number(p.load_average)},
          {"governor", text_or_null(p.governor)}, {"reasons", p.reasons}};
}

Json environment(const std::vector<WorkerFile>& workers) {
  utsname system{};
  uname(&system);
  const DeviceInfo cpu = cpu_device();
  Json facts = Json::object(), labels = Json::object(), libraries = Json::object();
  for (const auto& [name, value] : cpu.facts)
    if (!starts_with(name, "cpu.")) facts[name] = number(value);
  for (const auto& [name, value] : cpu.labels) labels[name] = value;
  for (const WorkerFile& worker : workers) libraries[worker.manifest.worker] = worker.manifest.built;
  return {
      {"host", system.nodename},
      {"kernel", {{"name", system.sysname}, {"release", system.release}, {"version", system.version}}},
      {"architecture", system.machine},
      {"cpu", {{"name", cpu.name}, {"facts", facts}, {"labels", labels}}},
      {"allowed_cpus", allowed_cpus()},
      {"governor", text_or_null(governor())},
      {"turbo", text_or_null(first_line("/sys/devices/system/cpu/intel_pstate/no_turbo"))},
      {"clock_source", text_or_null(first_line("/sys/devices/system/clocksource/clocksource0/current_clocksource"))},
      {"transparent_huge_pages", text_or_null(chosen_word(first_line("/sys/kernel/mm/transparent_hugepage/enabled")))},
      {"memory_bytes", meminfo_bytes("MemTotal")},
      {"available_bytes", meminfo_bytes("MemAvailable")},
      {"cgroup", cgroup_limits()},
      {"libraries", libraries},
      {"variables", library_variables()}};
}

Json build_json() {
  const BuildInfo& build = build_info();
  Json features = Json::object();
  for (const BuildFeature& feature : build.features) features[feature.name] = feature.on;
  return {{"version", build.version},       {"commit", text_or_null(build.commit)}, {"compiler", build.compiler},
          {"build_type", build.build_type}, {"architecture", build.architecture},   {"features", features}};
}

}  // namespace assay
