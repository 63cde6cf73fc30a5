// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Every load and store of a kernel, one by one. The sources are compiled with -fsanitize=thread, which puts a call
// before each of them, and linked without the thread sanitizer: these calls end in accesses.cpp. There
//   - a random schedule may run other threads first, so that `x = x + 1` loses updates as it does on a GPU;
//   - shared memory is watched: reading what no thread of this block has written, and accesses of two threads, one of
//     them a write, without a barrier in between, are errors in every schedule. Only __syncthreads, inside a warp
//     __syncwarp and in a cluster its barrier count as such: a shuffle orders no memory. With mbarriers, bulk copies or
//     wgmma, also what clocks.h counts.
//   - memory of the device is watched: accesses outside of an allocation, and accesses of two blocks of a launch to the
//     same 4 bytes, one of them a write and not both atomic. What a thread does after its first __threadfence or
//     barrier of its cluster is taken as ordered, because what orders it can't be seen.
#pragma once

#include <cstddef>
#include <cstdint>

#include "block.h"
#include "clocks.h"
#include "cuda_runtime.h"

namespace assay::simt {

// copy: something asynchronous will write at any time from now on, and does so with a `write`; until then what was there
// is gone, and a read of it an error.
enum class Access { read, write, atomic, copy };

void watch_again();  // after a fault, which leaves an atomic operation in its middle
void access(const void* p, std::size_t bytes, Access kind, const void* code);

// What an engine does later for the thread that began it (async.h): ordered behind what that thread knew then, and
// before those who know that `who`, a clock of clocks.h, has reached `clock`.
struct Operation {
  Now begun;
  Knowledge known;
  unsigned who = 0;
  std::uint32_t clock = 0;
  Where where;
  unsigned series = 0;  // of reads, by begin_series()
};
// An engine accesses memory: at the beginning of the operation or at its end, since it may do so at any time between.
void access(const void* p, std::size_t bytes, Access kind, const Operation& operation, bool is_end);
std::uint64_t shared_writes();  // so far: while it stays, shared memory does
// Reads of the same bytes by one engine, over and over: watched once, and each further one only moves the clock on. False:
// somebody else's read has taken the place of one of them, so they must be watched again.
unsigned begin_series(std::uint32_t clock);
bool continue_series(unsigned series, std::uint32_t clock);
void forget_series();  // a block begins

}  // namespace assay::simt
