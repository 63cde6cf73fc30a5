// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Fills buffers with the elements of a Philox stream (kernels/philox.h says which element has which value), as fast as
// memory allows: set-up of a large case must cost little beside the measurement.
//
// Sizes are in elements. `bits` (2 to 16) is the width of the odd integer behind a float, see f32_of.
// Work is shared by `share(n, thread, threads, fill_granule)`, and stores of large buffers bypass the caches: what was
// filled last isn't in a cache afterwards. The CUDA rows fill memory of the device. Any alignment of the element type
// works; 64 bytes and up is faster. n = 0 does nothing; else `out` is not null.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/backend.h"
#include "kernels/philox.h"

namespace assay::kernels {

// Elements; a share of a thread starts at a multiple of it. (1024 elements: a page of 4-byte, two of 8-byte ones.)
inline constexpr std::size_t fill_granule = 1024;

// From this size on a CPU fill bypasses the caches.
inline constexpr std::size_t fill_non_temporal_bytes = std::size_t{8} << 20;

struct FillOps {
  void (*u32)(std::uint32_t* out, std::size_t n, Stream s, const Exec& exec);
  void (*u64)(std::uint64_t* out, std::size_t n, Stream s, const Exec& exec);
  void (*f32)(float* out, std::size_t n, Stream s, int bits, const Exec& exec);
  void (*f64)(double* out, std::size_t n, Stream s, int bits, const Exec& exec);
};

// Overwrites host memory with 0xA5, which is no benchmark's answer: what is right afterwards was written afterwards.
// Any alignment; bytes = 0 does nothing.
void spoil(void* out, std::size_t bytes, const Exec& exec);

// Null if this build has no code for the backend.
const FillOps* fill_ops(Backend, int capability = newest_capability);

}  // namespace assay::kernels
