// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Transposition of a matrix of 4- or 8-byte words: reads in order and writes at a stride, or the other way round. It
// shows what it costs to touch memory across the grain, and what a detour through fast memory saves.
//
// Bytes: 2 * size of a word * rows * columns. Limit: DRAM bandwidth, as for copy. Traps: a row whose size is a large
// power of two puts a column into few sets of a cache and few channels of the memory; sizes that are no multiple of a
// tile leave part of each access unused at the edges.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/backend.h"

namespace assay::kernels {

// out[c * rows + r] = in[r * columns + c]: rows and columns are those of `in`, both matrices are dense. Bits are kept.
// Contract: pointers are aligned to their type and not null unless there are no elements; `out` does not overlap `in`;
// rows * columns words fit into memory. For the CUDA rows both are memory of the device.
struct TransposeOps {
  void (*u32)(const Exec&, std::uint32_t* out, const std::uint32_t* in, std::size_t rows, std::size_t columns);
  void (*u64)(const Exec&, std::uint64_t* out, const std::uint64_t* in, std::size_t rows, std::size_t columns);
};

// Null: this build has no row for the backend.
const TransposeOps* transpose_ops(Backend, int capability = newest_capability);

}  // namespace assay::kernels
