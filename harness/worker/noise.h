// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// What disturbed a sample: readings before and after, from getrusage, /proc/self/task/*/schedstat, /proc/stat and the
// control group, as any user. Trap: steal and busy times count in ticks of 10 ms, so short samples see them coarsely;
// the record's totals don't.
#pragma once

#include <cstdint>
#include <vector>

#include "harness/record.h"

namespace assay {

struct NoiseReading {
  std::int64_t at_ns = 0;
  std::uint64_t involuntary_switches = 0;  // of all our threads
  double run_delay_s = 0;                  // time our threads were ready but had no CPU
  bool run_delay_known = false;            // false: this kernel doesn't count it
  double own_cpu_s = 0;                    // CPU time we used
  double busy_s = 0, steal_s = 0;          // of the CPUs named
  double throttled_s = 0;                  // our control group had used up its CPU time
};

// `cpus`: the ones this case runs on.
NoiseReading read_noise(const std::vector<int>& cpus);

struct Noise {
  std::uint64_t involuntary_switches = 0;
  double run_delay_s = 0, steal_s = 0, throttled_s = 0;
  bool run_delay_known = true;
  double foreign_load = 0;  // share of the named CPUs used by others, 0..1
  double seconds = 0;
};
Noise between(const NoiseReading& before, const NoiseReading& after, std::size_t cpu_count);

// The `disturbed` bits of a sample; clocks in hertz, issue ratios as share of the quiet value, 0 where not measured.
std::uint32_t disturbances(const Noise& noise, std::size_t cpu_count, double clock_before_hz, double clock_after_hz,
                           double issue_ratio);

}  // namespace assay
