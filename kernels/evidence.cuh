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

// What a thread has counted, at its end.
__device__ inline void add_mismatches(MismatchReport* report, std::uint64_t mismatches) {
  using Word = unsigned long long;
  if (mismatches != 0) atomicAdd(reinterpret_cast<Word*>(&report->mismatches), static_cast<Word>(mismatches));
}

}  // namespace assay::kernels
