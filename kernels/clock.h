// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// How fast the core that runs the calling thread is right now, without counters or privileges, in under 150 us:
//   hertz        from chains of dependent additions, one per cycle by construction: adds / time.
//   issue_ratio  floating-point multiply-adds per cycle of ten independent chains, in units of that clock.
// A turbo or throttled clock moves `hertz` and leaves `issue_ratio`; a busy hyper-thread sibling leaves `hertz` and
// lowers `issue_ratio` (a dependent chain needs few slots, an independent stream needs them all). So compare
// issue_ratio with its own best on the same machine; its absolute value depends on the processor (2 on most x86-64).
//
// Traps: a chain that was preempted reads slow and never fast, hence the second best of several short ones. Where all
// chains were disturbed and the probe was not, issue_ratio comes out too high: issue_ratio_most tells that. Both are 0,
// "unknown", on a processor family that this file has no chain for.
#pragma once

#include <cstdint>

namespace assay::kernels {

// Scalar multiply-adds per cycle that no core of this family exceeds: two units on x86-64, four on the largest ARM
// cores. A ratio above it is a misreading of the clock.
#if defined(__aarch64__)
inline constexpr double issue_ratio_most = 4;
#else
inline constexpr double issue_ratio_most = 2;
#endif

struct ClockReading {
  double hertz = 0;
  double issue_ratio = 0;

  bool known() const { return hertz > 0; }
};

// The calling thread's core. Without `probe` only its clock; issue_ratio stays 0.
ClockReading read_clock(bool probe = true);

// All cores of an OpenMP team of `threads` in the same instant: readings[t] is thread t's. First all read their clocks,
// then those with probes[t] != 0 the room on their core, while the others wait. `probes` null: all.
void read_clocks(ClockReading* readings, int threads, const std::uint8_t* probes = nullptr);

// The chain itself: adds `step` to `start`, `count` times, each addition waiting for the one before, and returns the
// sum. `count` is rounded up to a multiple of clock_chain_unroll. False if there is no chain for this processor family.
inline constexpr std::uint64_t clock_chain_unroll = 128;
bool dependent_adds(std::uint64_t count, std::uint64_t step, std::uint64_t* sum);

}  // namespace assay::kernels
