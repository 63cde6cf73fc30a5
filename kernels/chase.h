// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Shuffled pointer chase: every 64-byte line holds the address of the next one, so a load can start only when the one
// before has ended, and no prefetcher can guess where it goes. Seconds per step are the load-to-use latency of the
// level in which the lines live; over growing working sets the steps of the curve ("knees") are the sizes of the
// caches.
//
// Time per step = time / steps (per thread). Limit: none from a data sheet; the clock and the cycle counts of the
// processor's manual (L1: 4 or 5 cycles). Traps: small pages add the walk of the page table to every miss, so ask for
// huge pages; first touch on the node that runs; another guest's use of a shared last cache moves that knee.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/backend.h"

namespace assay::kernels {

struct alignas(64) ChaseLine {
  ChaseLine* next;
};

struct ChaseOps {
  // Links lines[order[i]] to lines[order[i + 1]] and the last to the first: `order` (a permutation of 0 .. n-1) is the
  // way that a chase takes. Only the first word of a line is written. n = 0 does nothing; else no pointer is null.
  void (*link)(const Exec&, ChaseLine* lines, const std::uint32_t* order, std::size_t n);

  // Each of exec.threads threads makes `steps` steps from position[t] and leaves there where it has arrived.
  // From lines[order[i]] that is lines[order[(i + steps) % n]], which anyone can compute. Not null, lines linked.
  // CUDA row: as many blocks of one thread; lines, order and position are memory of the device.
  void (*run)(const Exec&, ChaseLine** position, std::uint64_t steps);
};

// Null: this build has no row for the backend.
const ChaseOps* chase_ops(Backend, int capability = newest_capability);

// Fills order[0 .. n-1] with a permutation drawn by `seed` (host memory, n < 2^32, any seed). All cycles through the n
// lines are equally likely: the same as Sattolo's algorithm, with the way itself as the result.
void chase_order(std::uint32_t* order, std::size_t n, std::uint64_t seed);

}  // namespace assay::kernels
