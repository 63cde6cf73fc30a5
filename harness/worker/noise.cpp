// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See noise.h.
#include "harness/worker/noise.h"

#include <dirent.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "harness/base/cgroup.h"
#include "harness/base/clock.h"
#include "harness/base/file.h"
#include "harness/base/text.h"

namespace assay {
namespace {

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

// Second number of schedstat: nanoseconds spent runnable on a queue. Summed over all threads, so a thread that ended
// in between would lower it; OpenMP keeps its threads.
void read_run_delay(NoiseReading& reading) {
  DIR* tasks = opendir("/proc/self/task");
  if (tasks == nullptr) return;
  while (const dirent* entry = readdir(tasks)) {
    if (entry->d_name[0] == '.') continue;
    const std::string text = read_file_or(std::string("/proc/self/task/") + entry->d_name + "/schedstat");
    const std::size_t space = text.find(' ');
    if (space == std::string::npos) continue;
    reading.run_delay_s += std::strtod(text.c_str() + space, nullptr) * 1e-9;
    reading.run_delay_known = true;
  }
  closedir(tasks);
}

// Adds up busy (user, nice, system, irq, softirq) and steal of the CPUs named, from /proc/stat.
void read_ticks(const std::vector<int>& cpus, NoiseReading& reading) {
  const double tick_s = 1.0 / static_cast<double>(sysconf(_SC_CLK_TCK));
  const std::string text = read_file_or("/proc/stat");
  for (const std::string& row : split(text, '\n')) {
    int cpu = 0;
    double user = 0, nice = 0, system = 0, idle = 0, wait = 0, irq = 0, softirq = 0, steal = 0;
    if (std::sscanf(row.c_str(), "cpu%d %lf %lf %lf %lf %lf %lf %lf %lf", &cpu, &user, &nice, &system, &idle, &wait,
                    &irq, &softirq, &steal) != 9)
      continue;
    if (std::find(cpus.begin(), cpus.end(), cpu) == cpus.end()) continue;
    reading.busy_s += (user + nice + system + irq + softirq) * tick_s;
    reading.steal_s += steal * tick_s;
  }
}

}  // namespace

NoiseReading read_noise(const std::vector<int>& cpus) {
  NoiseReading reading;
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  reading.involuntary_switches = static_cast<std::uint64_t>(usage.ru_nivcsw);
  reading.own_cpu_s = seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
  read_run_delay(reading);
  read_ticks(cpus, reading);
  static const Cgroup cgroup;
  reading.throttled_s = cgroup.cpu_throttled().seconds;
  reading.at_ns = monotonic_ns();
  return reading;
}

Noise between(const NoiseReading& before, const NoiseReading& after, std::size_t cpu_count) {
  Noise noise;
  noise.seconds = static_cast<double>(after.at_ns - before.at_ns) * 1e-9;
  noise.involuntary_switches = after.involuntary_switches - before.involuntary_switches;
  noise.run_delay_known = before.run_delay_known && after.run_delay_known;
  noise.run_delay_s = std::max(0.0, after.run_delay_s - before.run_delay_s);
  noise.throttled_s = std::max(0.0, after.throttled_s - before.throttled_s);
  noise.steal_s = std::max(0.0, after.steal_s - before.steal_s);
  const double foreign_s = (after.busy_s - before.busy_s) - (after.own_cpu_s - before.own_cpu_s);
  const double available_s = noise.seconds * static_cast<double>(std::max<std::size_t>(cpu_count, 1));
  noise.foreign_load = available_s > 0 ? std::clamp(foreign_s / available_s, 0.0, 1.0) : 0;
  return noise;
}

std::uint32_t disturbances(const Noise& noise, std::size_t cpu_count, double clock_before_hz, double clock_after_hz,
                           double issue_ratio) {
  const auto cpus = static_cast<double>(std::max<std::size_t>(cpu_count, 1));
  const double tick_s = 1.0 / static_cast<double>(sysconf(_SC_CLK_TCK));
  std::uint32_t bits = 0;
  // The kernel takes the CPU for some microseconds now and then, everywhere: that is not what a result suffers from.
  const bool lost_time = !noise.run_delay_known || noise.run_delay_s > 0.001 * noise.seconds * cpus;
  if (noise.involuntary_switches > 0 && lost_time) bits |= disturbed::involuntary_switches;
  if (noise.run_delay_s > 0.01 * noise.seconds * cpus) bits |= disturbed::run_delay;
  if (noise.steal_s > 0) bits |= disturbed::steal;
  if (noise.throttled_s > 0) bits |= disturbed::throttled;
  // Each CPU's busy time is rounded to a tick, so below one tick and a half per CPU nothing can be told.
  const double foreign_s = noise.foreign_load * noise.seconds * cpus;
  if (noise.foreign_load > 0.05 && foreign_s > 1.5 * tick_s * cpus) bits |= disturbed::foreign_load;
  if (clock_before_hz > 0 && clock_after_hz > 0 && std::fabs(clock_after_hz / clock_before_hz - 1) > 0.02)
    bits |= disturbed::frequency;
  if (issue_ratio > 0 && issue_ratio < 0.85) bits |= disturbed::shared_core;
  return bits;
}

}  // namespace assay
