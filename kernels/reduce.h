// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Sum and maximum of an array with one result, the same bits on every device and for any number of threads: the order
// of all additions is part of the contract. That is what a reproducible training run asks of a reduction, and what lets
// a result be judged bit for bit whatever the data.
//
// The order: every level cuts its input into tiles of 1024 elements, the last one filled up with the identity (0, or
// minus infinity). Lane l of 256 takes the elements 4l to 4l+3 of a tile, ((x0 op x1) op x2) op x3; then lane l takes
// lane l+d for d = 128, 64, ... 1, for l < d. The results of the tiles are the input of the next level, until there is
// one tile. Everything is done in double, to which float is exact.
//
// Bytes: sizeof(T) * n, and below 1/200 of it for the tiles. Limit: DRAM bandwidth; on devices with few f64 units (1/64 of
// f32) about half of the additions there are. Traps: below some million elements the launches of the levels are the
// time.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/backend.h"

namespace assay::kernels {

constexpr std::size_t reduce_tile = 1024, reduce_lanes = 256, reduce_lane_elements = 4;

constexpr std::size_t reduce_tiles(std::size_t n) {
  return n == 0 ? 1 : n / reduce_tile + (n % reduce_tile != 0 ? 1 : 0);
}

// Doubles of `scratch` that an array of n elements needs.
constexpr std::size_t reduce_scratch(std::size_t n) {
  std::size_t all = 0;
  for (std::size_t tiles = reduce_tiles(n); tiles > 1; tiles = reduce_tiles(tiles)) all += tiles;
  return all;
}

// Contract: pointers are aligned to their type, no more; x and scratch may be null if they have no elements; nothing
// overlaps. For the CUDA rows all are memory of the device. maximum: a NaN anywhere gives NaN (with any payload); of
// zeros with different signs it is the right one by the order above.
template <typename T>
struct ReduceArgs {
  const T* x = nullptr;
  std::size_t n = 0;
  double* scratch = nullptr;
  double* result = nullptr;
};

template <typename T>
struct ReduceOps {
  void (*sum)(const Exec&, const ReduceArgs<T>&);
  void (*maximum)(const Exec&, const ReduceArgs<T>&);
};

// T is float or double. Null: this build has no row for the backend.
template <typename T>
const ReduceOps<T>* reduce_ops(Backend, int capability = newest_capability);

}  // namespace assay::kernels
