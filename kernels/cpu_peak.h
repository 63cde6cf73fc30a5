// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// How many multiply-adds a core can do in a cycle, known from its model and not from measuring: pipes x lanes, from the
// optimisation guides of Intel, AMD and ARM. Times cores and clock this is the limit of compute/fma and compute/gemm.
// It is an upper bound within a model: some Xeon Silver and Bronze parts have one 512-bit pipe where their model has
// two.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace assay::kernels {

struct CpuPeak {
  int f32_flop_per_cycle;  // of one core; a multiply-add counts two. f64: half of it
  const char* pipes;       // "2 x 512 bits"
};

// x86: vendor "GenuineIntel" or "AuthenticAMD" with family and model as in /proc/cpuinfo. ARM: vendor "0x41"
// (implementer), model = part number, family ignored. Null for a CPU that the table doesn't have.
const CpuPeak* cpu_peak(std::string_view vendor, int family, int model);

// The same from what /proc/cpuinfo says: numbers "cpu_family" and "cpu_model", words "vendor_id" or "CPU implementer"
// and "CPU part".
const CpuPeak* cpu_peak(const std::map<std::string, double>& numbers, const std::map<std::string, std::string>& words);

}  // namespace assay::kernels
