// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See host.h.
#include "harness/parent/host.h"

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <thread>

#include "harness/base/cgroup.h"
#include "harness/base/file.h"
#include "harness/base/parse.h"
#include "harness/base/proc.h"
#include "harness/base/text.h"
#include "harness/base/units.h"
#include "harness/build_info.h"
#include "harness/device/device.h"
#include "harness/parent/worker_environment.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

constexpr double quiet_busy = 0.05, quiet_steal = 0.01;

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

double load_average() { return number_in("/proc/loadavg").value_or(0); }

fs::path cpufreq(int cpu) { return fmt::format("/sys/devices/system/cpu/cpu{}/cpufreq", cpu); }

// Mean over the allowed CPUs; what cpufreq says, else what /proc/cpuinfo says (of all).
Json mean_clock_hz() {
  double sum = 0;
  int count = 0;
  for (const int cpu : allowed_cpus()) {
    const std::optional<double> khz = number_in(cpufreq(cpu) / "scaling_cur_freq");
    if (!khz) break;
    sum += *khz * 1e3;
    ++count;
  }
  if (count == 0)
    for (const std::string& entry : split(read_file_or("/proc/cpuinfo"), '\n'))
      if (starts_with(entry, "cpu MHz")) {
        const std::size_t colon = entry.find(':');
        sum +=
            leading_number<double>(std::string_view(entry).substr(std::min(colon, entry.size() - 1) + 1)).value_or(0) *
            1e6;
        ++count;
      }
  return count == 0 || sum <= 0 ? Json(nullptr) : number(sum / count);
}

Json hottest_celsius() {
  std::error_code failed;
  std::optional<double> hottest;
  for (const auto& zone : fs::directory_iterator("/sys/class/thermal", failed))
    if (const std::optional<double> milli = number_in(zone.path() / "temp"))
      hottest = std::max(hottest.value_or(*milli * 1e-3), *milli * 1e-3);
  return or_null(hottest);
}

// Of the allowed CPUs, "powersave, performance" when they differ; "" where the kernel has none.
std::string governor(const DeviceInfo& cpu) {
  const std::string text = cpu.labels.at("governor");
  return text == "not readable" ? "" : text;
}

Json cgroup_limits() {
  const Cgroup group;
  return {{"memory_limit_bytes", or_null(group.memory_limit())},
          {"cpu_quota", or_null(group.cpu_quota())},
          {"cpuset", text_or_null(group.cpuset())}};
}

}  // namespace

CpuShares HostSampler::look() {
  const CpuTicks now = cpu_ticks(cpus_);
  const auto since = [](std::uint64_t later, std::uint64_t earlier) {  // some kernels count back a little
    return later > earlier ? static_cast<double>(later - earlier) : 0;
  };
  const double busy = since(now.busy, before_.busy), steal = since(now.steal, before_.steal);
  const double passed = busy + steal + since(now.idle, before_.idle);
  before_ = now;
  return passed > 0 ? CpuShares{busy / passed, steal / passed} : CpuShares{};
}

Json HostSampler::sample() {
  const CpuShares shares = look();
  return {{"source", "host"},
          {"cpu_busy", number(shares.busy)},
          {"cpu_steal", number(shares.steal)},
          {"load_average", number(load_average())},
          {"available_bytes", or_null(meminfo_bytes("MemAvailable"))},
          {"clock_hz", mean_clock_hz()},
          {"temperature_celsius", hottest_celsius()}};
}

Preflight preflight(double seconds) {
  HostSampler sampler;
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  return preflight(sampler.look(), cpu_device());
}

Preflight preflight(const CpuShares& others, const DeviceInfo& cpu) {
  Preflight result;
  result.others = others;
  result.load_average = load_average();
  result.governor = governor(cpu);
  if (result.others.busy > quiet_busy)
    result.reasons.push_back(fmt::format("other programs use {} of the CPUs", format_percent(result.others.busy)));
  if (result.others.steal > quiet_steal)
    result.reasons.push_back(
        fmt::format("the hypervisor takes {} of the CPU time away", format_percent(result.others.steal)));
  if (const double quota = cpu.fact("cpu_quota"); quota > 0 && quota < cpu.fact("cpus"))
    result.reasons.push_back(fmt::format("its control group allows the time of {:.3g} CPUs where {:.0f} may be used",
                                         quota, cpu.fact("cpus")));
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
  const std::string huge_pages = cpu.labels.at("transparent_huge_pages");
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
      {"governor", text_or_null(governor(cpu))},
      {"turbo", cpu.facts.count("turbo_on") == 0 ? Json(nullptr) : Json(cpu.fact("turbo_on") > 0)},
      {"clock_source", text_or_null(first_line("/sys/devices/system/clocksource/clocksource0/current_clocksource"))},
      {"transparent_huge_pages", text_or_null(huge_pages == "absent" ? "" : huge_pages)},
      {"memory_bytes", or_null(meminfo_bytes("MemTotal"))},
      {"available_bytes", or_null(meminfo_bytes("MemAvailable"))},
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
