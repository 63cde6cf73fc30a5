// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Device side of kernels/evidence.h: many threads find wrong elements at once, and the first few of all must be kept,
// in order. A lock guards the list. Nearly all wrong elements lie behind those that are kept already, and those never
// ask for the lock; what is read without it can only be too old, and then a thread takes the lock in vain.
#pragma once

#include "kernels/evidence.h"
#include "kernels/ptx.cuh"

namespace assay::kernels {

// One for each file that includes this and each device. Kernels that write to one report run in order on a stream.
static __device__ unsigned report_lock;

// Keeps `m` if it is among the first; counting is up to the caller.
__device__ inline void keep_mismatch(MismatchReport* report, const Mismatch& m) {
  if (!report->wants(m)) return;
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
