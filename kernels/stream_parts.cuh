// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// What the CUDA rows of the streaming kernels share (stream.cu, stream_bulk.cu): where 16-byte accesses may begin, and
// what `read` adds up. static: a bug planted here for one of the files must not be lost to the other one's copy.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include "kernels/launch.cuh"

namespace assay::kernels {

template <typename T>
static __device__ __forceinline__ unsigned long long bits_of_one(T x) {
  if constexpr (sizeof(T) == 4) {
    return __float_as_uint(x);
  } else {
    return static_cast<unsigned long long>(__double_as_longlong(x));
  }
}

// read keeps a sum modulo 2^(8 sizeof(T)) in *result: for float only the lower half takes part.
template <typename T>
static __device__ void add_bits(std::uint64_t* result, unsigned long long sum) {
  if constexpr (sizeof(T) == 4) {
    atomicAdd(reinterpret_cast<unsigned*>(result), static_cast<unsigned>(sum));
  } else {
    atomicAdd(reinterpret_cast<unsigned long long*>(result), sum);
  }
}

// Elements before the first 16-byte boundary that all used arrays share; false if there is none.
template <typename T>
static bool common_head(std::initializer_list<const T*> used, std::size_t n, unsigned* head) {
  std::uintptr_t misalignment = 16;
  for (const T* p : used) {
    if (p == nullptr) continue;
    const std::uintptr_t here = reinterpret_cast<std::uintptr_t>(p) % 16;
    if (misalignment != 16 && here != misalignment) return false;
    misalignment = here;
  }
  *head = static_cast<unsigned>(std::min<std::size_t>(n, (16 - misalignment) % 16 / sizeof(T)));
  return true;
}

}  // namespace assay::kernels
