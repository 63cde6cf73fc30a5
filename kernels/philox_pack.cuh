// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// The elements of one Philox block, for device code that fills and compares: four of u32, f32 and f64, two of u64
// (kernels/philox.h says which is which).
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <type_traits>

#include "kernels/philox.h"

namespace assay::kernels {

template <typename T>
inline constexpr unsigned stream_pack = std::is_same_v<T, std::uint64_t> ? 2 : 4;

template <typename T>
struct StreamPack {
  T at[stream_pack<T>];

  // Elements [block * stream_pack, (block + 1) * stream_pack) of the stream.
  __device__ __forceinline__ StreamPack(Stream s, std::uint64_t block, int bits) {
    const PhiloxCounter words = block_at(s, block);
#pragma unroll
    for (unsigned k = 0; k < stream_pack<T>; ++k) {
      if constexpr (std::is_same_v<T, std::uint64_t>) at[k] = u64_of(words, k);
      if constexpr (std::is_same_v<T, std::uint32_t>) at[k] = words.word[k];
      if constexpr (std::is_same_v<T, float>) at[k] = f32_of(words.word[k], bits);
      if constexpr (std::is_same_v<T, double>) at[k] = f64_of(words.word[k], bits);
    }
  }
};

}  // namespace assay::kernels
