// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Intensity sweep: y[i] = x[i] after `steps` multiply-adds v = fma(v, a, b). 8 bytes cross the memory bus for each
// element (4 read, 4 written past the caches) and 2 * steps FLOP are done, so the intensity is steps / 4 FLOP per byte:
// 1 step is far on the memory side of the roofline's ridge, 256 steps are far on the arithmetic side of every CPU
// known. Reading: rate = min(peak arithmetic, intensity x memory bandwidth), rounded off at the ridge. Trap: a buffer
// that fits a cache measures the cache.
#pragma once

#include "kernels/backend.h"

namespace assay::kernels {

constexpr std::size_t roofline_bytes_per_element = 8;

inline double roofline_intensity(std::size_t steps) {
  return 2.0 * static_cast<double>(steps) / static_cast<double>(roofline_bytes_per_element);
}

struct RooflineOps {
  // x and y: n elements each, 64-byte aligned, not overlapping. n: any. Threads take share(n, thread, threads,
  // roofline_granule): first touch with the same.
  void (*run)(const Exec&, std::size_t n, std::size_t steps, float a, float b, const float* x, float* y);
};

// Elements: whole pages, and whole blocks of every instruction set. When n is a multiple of it, no share ends in scalar
// code, which would do the arithmetic of a few elements at a fraction of the speed.
constexpr std::size_t roofline_granule = 15 * 1024;

// Null where there is no fused multiply-add.
const RooflineOps* roofline_ops(Backend);

// The expectation for one element, by scalar code. Same result bit for bit.
float roofline_expected(std::size_t steps, float a, float b, float x);

}  // namespace assay::kernels
