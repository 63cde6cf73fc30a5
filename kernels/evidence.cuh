// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Device side of kernels/evidence.h: many threads find wrong elements at once, and the first few of all must be kept,
// in order. A lock guards the list. Nearly all wrong elements lie behind those that are kept already, and those never
// ask for the lock: the list is read without it, past the cache of the multiprocessor. What is read can be too old, and
// then a thread takes the lock in vain; it can't be too new, since an entry is written before it counts.
#pragma once

#include "kernels/evidence.h"
#include "kernels/ptx.cuh"

namespace assay::kernels {

// One for each file that includes this and each device. Kernels that write to one report run in order on a stream.
static __device__ unsigned report_lock;

// False: certainly not among the first. Of an entry that is just replaced the pass may be old and the index new, or the
// other way round; all that come in during a launch have one pass, so that is harmless.
__device__ inline bool may_be_wanted(const MismatchReport* report, const Mismatch& m) {
  const Mismatch* const last = report->first + MismatchReport::capacity - 1;
  if (load_again(&report->kept) < MismatchReport::capacity) return true;
  __threadfence();
  Mismatch bound;
  bound.pass = load_again(&last->pass);
  bound.index = load_again(&last->index);
  return MismatchReport::before(m, bound);
}

// Keeps `m` if it is among the first; counting is up to the caller.
__device__ inline void keep_mismatch(MismatchReport* report, const Mismatch& m) {
  if (!may_be_wanted(report, m)) return;
  for (bool done = false; !done;) {  // in this form: a lane that has the lock must not wait for one that wants it
    if (atomicCAS(&report_lock, 0u, 1u) == 0) {
      __threadfence();
      report->keep(m);
      __threadfence();
      atomicExch(&report_lock, 0u);
      done = true;
    }
  }
}

// What a thread has looked at: counted where words are compared, so that nobody claims what wasn't. 32 bits, for registers
// are dear here: 2^32 elements of each thread are 2^40 of the smallest block.
struct Tally {
  unsigned compared = 0, wrong = 0;
};

// At the end of a kernel, by all threads of each warp.
__device__ inline void add_tally(MismatchReport* report, const Tally& tally) {
  using Word = unsigned long long;
  constexpr unsigned all_lanes = 0xFFFFFFFFu, warp_threads = 32;
  Word compared = tally.compared;
  for (unsigned d = warp_threads / 2; d > 0; d /= 2) compared += __shfl_down_sync(all_lanes, compared, d);
  if (threadIdx.x % warp_threads == 0 && compared != 0) atomicAdd(reinterpret_cast<Word*>(&report->compared), compared);
  if (tally.wrong != 0) atomicAdd(reinterpret_cast<Word*>(&report->mismatches), static_cast<Word>(tally.wrong));
}

}  // namespace assay::kernels
