// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// How fast the core that runs the calling thread is right now, without counters or privileges, in under 150 us:
//   hertz        from chains of dependent additions, one per cycle by construction: adds / time, median of the chains.
//   issue_ratio  floating-point multiply-adds per cycle of ten independent chains, in units of that clock.
// A turbo or throttled clock moves `hertz` and leaves `issue_ratio`; a busy hyper-thread sibling leaves `hertz` and
// lowers `issue_ratio` (a dependent chain needs few slots, an independent stream needs them all). So compare
// issue_ratio with its own best on the same machine; its absolute value depends on the processor (2 on most x86-64).
//
// Traps: a preempted chain reads slow, hence medians of several short ones. Both are 0, "unknown", on a processor
// family that this file has no chain for.
#pragma once

#include <cstdint>

namespace assay::kernels {

struct ClockReading {
  double hertz = 0;
  double issue_ratio = 0;

  bool known() const { return hertz > 0; }
};

// The calling thread's core.
ClockReading read_clock();

// All cores of an OpenMP team of `threads` in the same instant: readings[t] is thread t's.
void read_clocks(ClockReading* readings, int threads);

// The chain itself: adds `step` to `start`, `count` times, each addition waiting for the one before, and returns the
// sum. `count` is rounded up to a multiple of clock_chain_unroll. False if there is no chain for this processor family.
inline constexpr std::uint64_t clock_chain_unroll = 128;
bool dependent_adds(std::uint64_t count, std::uint64_t step, std::uint64_t* sum);

}  // namespace assay::kernels
