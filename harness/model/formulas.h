// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// The formulas of the models: pure functions of numbers, each with where it comes from. Nothing here knows a kernel.
//
//   occupancy      CUDA C++ Programming Guide and cuda_occupancy.h: registers are given out in units of 256 for each
//   warp,
//                  in a quarter of the register file; shared memory in units of 128 bytes, with what the driver
//                  reserves.
//   bytes_needed   Little's law: what is under way = rate x latency. With an idle device's latency it is the least.
//   waves          tiles over multiprocessors: the last wave takes as long as a full one.
//   stages_needed  a load that is asked for s - 1 steps ahead must have come when its step begins.
//   bank_conflicts CUDA C++ Programming Guide: 32 banks of 4 bytes; a stride of s words puts lanes into 32 / gcd(s, 32)
//                  banks.
#pragma once

#include <string>

#include "harness/model/hardware.h"

namespace assay::model {

inline constexpr double warp_lanes = 32;

struct BlockNeeds {
  double threads = 0, registers_of_a_thread = 0, shared_bytes = 0;  // shared: static and dynamic, without the reserve
};

struct Occupancy {
  double blocks = 0;          // resident on a multiprocessor
  std::string by = "blocks";  // what allows no more: threads, registers, shared memory or blocks
  double threads = 0;         // resident
};

// blocks = 0: such a block never runs there, `by` says why.
Occupancy occupancy(const Multiprocessor& multiprocessor, const BlockNeeds& needs);

// Bytes that each multiprocessor must have asked for at any time.
double bytes_needed(double latency_s, double bytes_per_second, double multiprocessors);

struct Waves {
  double tiles = 0, waves = 0;  // waves: as a fraction
  double efficiency = 0;        // share of the slots that the waves, rounded up, have work for
};
// A product of m x n in tiles of tile_m x tile_n, `slots` at a time.
Waves waves(double m, double n, double tile_m, double tile_n, double slots);

// Stages of a ring so that no step of `step_s` waits for a load of `latency_s`.
double stages_needed(double latency_s, double step_s);

// In how many turns a warp reads words of 4 bytes at this stride from shared memory.
int bank_turns(unsigned stride_words);

}  // namespace assay::model
