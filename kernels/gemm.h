// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Own f32 matrix multiplication C = A * B, in versions from naive to packed SIMD. Row major and contiguous:
// A is m x k, B is k x n, C is m x n; C is overwritten. 2 m n k FLOP. Any size from 1 on; pointers need the alignment
// of float only, except the workspace. The result is exact (all versions agree bitwise with an integer product) when
// all inputs are integers and every partial sum stays within 2^24; otherwise versions differ by rounding, since they
// add in different orders.
#pragma once

#include "kernels/backend.h"

namespace assay::kernels {

struct GemmShape {
  std::size_t m;
  std::size_t n;
  std::size_t k;
};

inline double gemm_flop(GemmShape s) {
  return 2.0 * static_cast<double>(s.m) * static_cast<double>(s.n) * static_cast<double>(s.k);
}

struct GemmVersion {
  const char* name;
  // Bytes of scratch memory that run() needs for this shape and Exec; may be 0. 64-byte aligned; huge pages help.
  std::size_t (*workspace_bytes)(const Exec&, GemmShape);
  void (*run)(const Exec&, GemmShape, const float* a, const float* b, float* c, void* workspace);
};

// The versions in rising order of speed, last one best.
struct GemmOps {
  const GemmVersion* versions;
  int count;
};

const GemmOps* gemm_ops(Backend);

}  // namespace assay::kernels
