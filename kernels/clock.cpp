// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// The chains are assembler, so that no compiler folds them. The additions take their second operand from a register:
// with an immediate, recent Intel cores (Golden Cove) do dependent additions while renaming, three a cycle.
#include "kernels/clock.h"

#include <omp.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>

namespace assay::kernels {
namespace {

constexpr int rounds = 5;                      // of one chain and one probe each
constexpr std::uint64_t chain_adds = 40'960;   // 10 us at 4 GHz
constexpr std::uint64_t probe_blocks = 1'200;  // of 20 multiply-adds: 3 us at 4 GHz and two a cycle
constexpr std::uint64_t probe_block_fmas = 20;

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Blocks of two multiply-adds on each of ten registers. The registers start at 1 and every chain is x = x * 1 + 0: what
// happened to be in them could be a denormal number, which takes the processor a hundred times as long. Returns false
// where there is no code for the processor.
// clang-format off
#if defined(__x86_64__)
#define ASSAY_TEN(OP) OP "xmm0\n\t" OP "xmm1\n\t" OP "xmm2\n\t" OP "xmm3\n\t" OP "xmm4\n\t" \
                      OP "xmm5\n\t" OP "xmm6\n\t" OP "xmm7\n\t" OP "xmm8\n\t" OP "xmm9\n\t"
#define ASSAY_PROBE(SET, OP)                                                                       \
  asm volatile(ASSAY_TEN(SET) "1:\n\t" ASSAY_TEN(OP) ASSAY_TEN(OP) "dec %0\n\tjnz 1b"              \
               : "+r"(blocks) : "x"(one), "x"(zero)                                                \
               : "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9")
bool independent_fmas(std::uint64_t blocks) {
  static const bool has_fma = __builtin_cpu_supports("fma") != 0;
  const double one = 1.0, zero = 0.0;
  if (has_fma)
    ASSAY_PROBE("vmovapd %1, %%", "vfmadd132sd %1, %2, %%");
  else
    ASSAY_PROBE("movapd %1, %%", "mulsd %1, %%");  // a multiplication keeps the same units busy
  return true;
}
#elif defined(__aarch64__)
#define ASSAY_SET(N) "fmov d" N ", %d1\n\t"
#define ASSAY_FMA(N) "fmadd d" N ", d" N ", %d1, %d2\n\t"
#define ASSAY_TEN(OP) OP("16") OP("17") OP("18") OP("19") OP("20") OP("21") OP("22") OP("23") OP("24") OP("25")
bool independent_fmas(std::uint64_t blocks) {
  const double one = 1.0, zero = 0.0;
  asm volatile(ASSAY_TEN(ASSAY_SET) "1:\n\t" ASSAY_TEN(ASSAY_FMA) ASSAY_TEN(ASSAY_FMA) "subs %0, %0, #1\n\tb.ne 1b"
               : "+r"(blocks) : "w"(one), "w"(zero)
               : "cc", "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25");
  return true;
}
#else
bool independent_fmas(std::uint64_t) { return false; }
#endif
// clang-format on

double second_best(std::array<double, rounds> values) {
  std::nth_element(values.begin(), values.begin() + 1, values.end(), std::greater<>());
  return values[1];
}

double chain_hertz() {
  static_assert(clock_chain_unroll == 128, "the chains say .rept 128");
  std::array<double, rounds> hertz{};
  for (double& value : hertz) {
    std::uint64_t sum = 0;
    const double begin = seconds_now();
    if (!dependent_adds(chain_adds, 3, &sum)) return 0;
    value = static_cast<double>(chain_adds) / (seconds_now() - begin);
  }
  return second_best(hertz);
}

double probe_issue_ratio(double hertz) {
  std::array<double, rounds> fmas_per_second{};
  for (double& value : fmas_per_second) {
    const double begin = seconds_now();
    if (!independent_fmas(probe_blocks)) return 0;
    value = static_cast<double>(probe_blocks * probe_block_fmas) / (seconds_now() - begin);
  }
  return hertz > 0 ? second_best(fmas_per_second) / hertz : 0;
}

}  // namespace

bool dependent_adds(std::uint64_t count, std::uint64_t step, std::uint64_t* sum) {
  std::uint64_t x = *sum;
  for (std::uint64_t done = 0; done < count; done += clock_chain_unroll) {
#if defined(__x86_64__)
    asm volatile(".rept 128\n\taddq %1, %0\n\t.endr" : "+r"(x) : "r"(step) : "cc");
#elif defined(__aarch64__)
    asm volatile(".rept 128\n\tadd %0, %0, %1\n\t.endr" : "+r"(x) : "r"(step));
#else
    static_cast<void>(step);
    return false;
#endif
  }
  *sum = x;
  return true;
}

ClockReading read_clock(bool probe) {
  const double hertz = chain_hertz();
  return {hertz, probe ? probe_issue_ratio(hertz) : 0};
}

void read_clocks(ClockReading* readings, int threads, const std::uint8_t* probes) {
#pragma omp parallel num_threads(threads)
  {
    const int t = omp_get_thread_num();
#pragma omp barrier
    readings[t] = read_clock(false);
#pragma omp barrier
    if (probes == nullptr || probes[t] != 0) readings[t].issue_ratio = probe_issue_ratio(readings[t].hertz);
  }
}

}  // namespace assay::kernels
