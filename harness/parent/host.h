// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// The machine beside the measurement, from /proc and /sys: a sample a second for telemetry.jsonl, the pre-flight look
// that says whether the machine is quiet, and the environment of run.json from an allow-list. What can't be read is
// null; the variables of the user's environment are never taken as a whole.
#pragma once

#include <string>
#include <vector>

#include "harness/base/json.h"
#include "harness/base/proc.h"
#include "harness/device/device.h"
#include "harness/parent/plan.h"
#include "harness/parent/workers.h"

namespace assay {

// Shares of the time of the CPUs that this process may use, between two looks; all 0 when no time has passed.
struct CpuShares {
  double busy = 0, steal = 0;
};

class HostSampler {
 public:
  HostSampler() : cpus_(allowed_cpus()), before_(cpu_ticks(cpus_)) {}
  // Since the last look (or the construction).
  CpuShares look();
  // One line of telemetry.jsonl without its head: source, cpu_busy, cpu_steal, load_average, available_bytes, clock_hz,
  // temperature_celsius.
  Json sample();

 private:
  std::vector<int> cpus_;
  CpuTicks before_;
};

// Is the machine quiet enough? Looks for `seconds` while nothing of ours runs.
struct Preflight {
  CpuShares others;
  double load_average = 0;
  std::string governor;              // "" where the kernel has none (most virtual machines)
  std::vector<std::string> reasons;  // why it isn't quiet; empty when it is
  std::string text() const;          // one line for people
};
Preflight preflight(double seconds);
Preflight preflight(const CpuShares& others, const DeviceInfo& cpu);  // what was seen, judged
Json to_json(const Preflight& preflight);

// {host, kernel, cpu, memory, caches, numa_nodes, governor, cgroup, libraries, ...}
Json environment(const std::vector<WorkerFile>& workers);
// {version, commit, compiler, build_type, architecture, features}
Json build_json();

}  // namespace assay
