// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Reads that are not in order: gathers of single 8-byte words, by a table of indices or by computed ones, and reads at
// a fixed stride. They show how many misses a core keeps under way at once, and how much of each line a program uses.
//
// Bytes per iteration that the program asked for: 8 per read (gather: 8m, plus 4m of table; strided: 8 ceil(n /
// stride)). DRAM moves a whole line for each: 64 bytes for a stride of 8 words and more, so 8 useful bytes in 64.
// Limit: DRAM bandwidth * useful share, and misses in flight * 64 / latency per core (Little's law).
// Traps: without huge pages a gather measures the page table; a stride that is a multiple of 4096 bytes hits few sets.
// Contract: pointers are aligned to their type; data and index may be null if nothing is read.
// Every operation gives a sum modulo 2^64 of what it read, added up over `iterations` passes: exact and free of order.
// An odd count keeps every bit of a pass visible in the sum. For the CUDA rows all pointers are memory of the device.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/backend.h"
#include "kernels/philox.h"

namespace assay::kernels {

struct RandomOps {
  // *sum = iterations * (data[index[0]] + ... + data[index[m - 1]]). Each index is below the size of data.
  void (*gather)(const Exec&, const std::uint64_t* data, const std::uint32_t* index, std::size_t m,
                 std::uint64_t iterations, std::uint64_t* sum);

  // The same with index[i] = random_index(i, n, seed), computed on the way: no table is read. 0 < n < 2^32 unless m =
  // 0.
  void (*gather_computed)(const Exec&, const std::uint64_t* data, std::size_t n, std::uint64_t seed, std::size_t m,
                          std::uint64_t iterations, std::uint64_t* sum);

  // *sum = iterations * (data[0] + data[stride] + data[2 stride] + ...), all indices below n. stride > 0.
  void (*strided)(const Exec&, const std::uint64_t* data, std::size_t n, std::size_t stride, std::uint64_t iterations,
                  std::uint64_t* sum);
};

// Null: this build has no row for the backend.
const RandomOps* random_ops(Backend, int capability = newest_capability);

// Index i of the computed gather, below n (0 < n < 2^32): a mixed counter, scaled by multiplication. One multiplication
// short of a good generator on purpose: it must cost less than the miss that it causes.
ASSAY_HOST_DEVICE inline std::uint64_t random_index(std::uint64_t i, std::uint64_t n, std::uint64_t seed) {
  std::uint64_t z = (i + 1) * 0x9E3779B97F4A7C15u + seed;
  z = (z ^ (z >> 32)) * 0xD6E8FEB86659FD93u;
  return (((z ^ (z >> 32)) & 0xFFFFFFFFu) * n) >> 32;
}

}  // namespace assay::kernels
