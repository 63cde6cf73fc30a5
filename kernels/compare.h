// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Judges whole buffers. The comparisons regenerate the Philox stream that kernels/fill.h writes and check every
// element, bit for bit (so -0 is not 0, and a NaN is simply wrong); the report names the first wrong ones. The digest
// is one number for a buffer that no stream describes.
//
// digest = sum modulo 2^64 over the 64-bit words w_i of mix64(w_i XOR i * 0x9E3779B97F4A7C15), the last word padded
// with zero bytes.
// A sum has no order, so threads and devices can share the work; the index inside makes a swap of two words visible.
// Trap: it is no signature (it isn't meant against an adversary), and trailing zero bytes within the last word don't
// count. Buffers are aligned to their elements, for a digest to nothing, and not null unless they have none.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/backend.h"
#include "kernels/evidence.h"
#include "kernels/philox.h"

namespace assay::kernels {

inline constexpr std::uint64_t digest_stride = 0x9E3779B97F4A7C15u;

// One term of the digest.
ASSAY_HOST_DEVICE constexpr std::uint64_t digest_term(std::uint64_t word, std::uint64_t index) {
  return mix64(word ^ (index * digest_stride));
}

// Sizes in elements; results are merged into *report (or added to *digest, modulo 2^64), which lives where the buffer
// does: of many calls each one counts.
struct CompareOps {
  void (*u32)(const std::uint32_t* buffer, std::size_t n, Stream s, MismatchReport* report, const Exec& exec);
  void (*u64)(const std::uint64_t* buffer, std::size_t n, Stream s, MismatchReport* report, const Exec& exec);
  void (*f32)(const float* buffer, std::size_t n, Stream s, int bits, MismatchReport* report, const Exec& exec);
  void (*f64)(const double* buffer, std::size_t n, Stream s, int bits, MismatchReport* report, const Exec& exec);
  void (*digest)(const void* buffer, std::size_t bytes, std::uint64_t* digest, const Exec& exec);
};

// Null if this build has no code for the backend.
const CompareOps* compare_ops(Backend, int capability = newest_capability);

}  // namespace assay::kernels
