// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Two clocks of a device at one instant, multiprocessor by multiprocessor: the cycles of its own clock and the
// nanoseconds of the timer that all share. Two such stamps, before and after something, tell the mean clock between
// them: cycles / nanoseconds, without privileges and without a library.
//
// Traps: on some devices the timer moves in steps of 1 us, so stamps should lie a millisecond apart; cycle counters of
// different multiprocessors have nothing to do with each other.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/backend.h"

namespace assay::kernels {

struct SmClockStamp {
  std::uint64_t cycles, ns;
};

struct SmClockOps {
  // stamps[i] = those of multiprocessor i, for i below n; where no thread happened to run there, it stays as it is.
  // Memory of the device; n = 0 does nothing.
  void (*stamp)(const Exec&, SmClockStamp* stamps, std::size_t n);
};

// Null for the CPU, whose clock is measured by kernels/clock.h, and where this build has no row for the device.
const SmClockOps* sm_clock_ops(Backend, int capability = newest_capability);

}  // namespace assay::kernels
