// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// What a core can do in a cycle, known from its model and not from measuring: multiply-adds (pipes x lanes) and bytes
// loaded from the first cache (load ports x width), from the optimisation guides of Intel, AMD and ARM. Times cores and
// clock these are the limits of compute/fma, compute/gemm and memory/stream in the first cache. They are upper bounds
// within a model: some Xeon Silver and Bronze parts have one 512-bit pipe where their model has two.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace assay::kernels {

struct CpuPeak {
  int f32_flop_per_cycle;       // of one core; a multiply-add counts two. f64: half of it
  const char* pipes;            // "2 x 512 bits"
  int l1_load_bytes_per_cycle;  // of one core
};

// x86: vendor "GenuineIntel" or "AuthenticAMD" with family and model as in /proc/cpuinfo. ARM: vendor "0x41"
// (implementer), model = part number, family ignored. Null for a CPU that the table doesn't have.
const CpuPeak* cpu_peak(std::string_view vendor, int family, int model);

// The same from what /proc/cpuinfo says: numbers "cpu_family" and "cpu_model", words "vendor_id" or "CPU implementer"
// and "CPU part".
const CpuPeak* cpu_peak(const std::map<std::string, double>& numbers, const std::map<std::string, std::string>& words);

// What a team of threads can do in a cycle, and how that is known; 0 and the reason for a CPU that the table doesn't
// have. Threads that share a core share its pipes.
struct TeamPeak {
  double f32_flop_per_cycle = 0, l1_load_bytes_per_cycle = 0;
  std::string flop_source, load_source;
};
TeamPeak team_peak(const std::map<std::string, double>& numbers, const std::map<std::string, std::string>& words,
                   int threads);

}  // namespace assay::kernels
