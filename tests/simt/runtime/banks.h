// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Bank conflicts. Shared memory has 32 banks of 4 bytes: a warp's access takes one wavefront if its words lie in
// different banks or are the same, one more for each further word of the fullest bank. An access of 8 bytes a lane goes
// by half warps and one of 16 by quarters, so that 2 and 4 wavefronts are the least. Lanes of the rig run one after
// another: the n-th access of each lane at one place of the machine code is taken as one access of the warp, which is
// right while the lanes of a warp loop equally often. Atomics aren't counted.
#pragma once

#include <cstddef>
#include <cstdint>

namespace assay::simt {

bool counts_banks();
// Byte `index` of shared memory, by lane `thread` % 32 of warp `thread` / 32 of all that run together.
void count_banks(unsigned thread, std::size_t index, std::size_t bytes, const void* code);
// All lanes have done what they do: before other blocks have the same numbers.
void end_counted_blocks();
void begin_counted_kernel(const void* kernel);

}  // namespace assay::simt
