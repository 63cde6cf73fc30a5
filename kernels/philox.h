// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Test data from a counter-based generator: Philox 4x32 with 10 rounds (Salmon, Moraes, Dror, Shaw, "Parallel random
// numbers: as easy as 1, 2, 3", SC 2011; constants as in their Random123 library). Any element can be recomputed alone,
// anywhere, in any order, with the same bits on host and device; that is what lets a verifier judge a whole buffer
// without keeping a second one.
//
// A Stream is a sequence of 32-bit words: word i is word i mod 4 of the block at counter i/4. The seed is the key and
// the stream id is the upper half of the counter, so streams of one seed never overlap. Typed elements:
//   u32, f32, f64, i8   element i is made from word i       (so f64 element i has the value of f32 element i)
//   u64                 element i is words 2i (low half) and 2i+1 (high half)
// Floats are k * 2^-15 with k an odd signed 16-bit number: exact in every format from 16 significant bits up, never
// zero, so a store that was lost over zeroed memory always shows. `bits` narrows k for shorter formats or exact sums.
//
// Trap: `u32_at` and its kin compute a whole block of four words for one. A loop over many elements is four times as
// fast with `for_each_word` or `for_each_u64`; to fill a buffer take kernels/fill.h, which is vectorised.
#pragma once

#include <cstdint>

#include "kernels/host_device.h"

namespace assay::kernels {

struct PhiloxCounter {
  std::uint32_t word[4];
};
struct PhiloxKey {
  std::uint32_t word[2];
};

inline constexpr int philox_rounds = 10;
inline constexpr std::uint32_t philox_multiplier_0 = 0xD2511F53u, philox_multiplier_1 = 0xCD9E8D57u;
inline constexpr std::uint32_t philox_weyl_0 = 0x9E3779B9u, philox_weyl_1 = 0xBB67AE85u;  // golden ratio, sqrt(3) - 1

// The generator itself: four random words for a counter and a key.
ASSAY_HOST_DEVICE constexpr PhiloxCounter philox4x32(PhiloxCounter counter, PhiloxKey key) {
  std::uint32_t x0 = counter.word[0], x1 = counter.word[1], x2 = counter.word[2], x3 = counter.word[3];
  std::uint32_t k0 = key.word[0], k1 = key.word[1];
  for (int round = 0; round < philox_rounds; ++round) {
    const std::uint64_t p0 = static_cast<std::uint64_t>(x0) * philox_multiplier_0;
    const std::uint64_t p1 = static_cast<std::uint64_t>(x2) * philox_multiplier_1;
    x0 = static_cast<std::uint32_t>(p1 >> 32) ^ x1 ^ k0;
    x1 = static_cast<std::uint32_t>(p1);
    x2 = static_cast<std::uint32_t>(p0 >> 32) ^ x3 ^ k1;
    x3 = static_cast<std::uint32_t>(p0);
    k0 += philox_weyl_0;
    k1 += philox_weyl_1;
  }
  return {{x0, x1, x2, x3}};
}

// A reproducible sequence. Use one id per buffer of a case (source, destination, index list ...).
struct Stream {
  std::uint64_t seed = 0;
  std::uint64_t id = 0;
};

ASSAY_HOST_DEVICE constexpr PhiloxKey key_of(Stream s) {
  return {{static_cast<std::uint32_t>(s.seed), static_cast<std::uint32_t>(s.seed >> 32)}};
}

// Words 4 * block .. 4 * block + 3 of the stream.
ASSAY_HOST_DEVICE constexpr PhiloxCounter block_at(Stream s, std::uint64_t block) {
  return philox4x32({{static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(block >> 32),
                      static_cast<std::uint32_t>(s.id), static_cast<std::uint32_t>(s.id >> 32)}},
                    key_of(s));
}

// A finaliser that spreads every bit of z over all 64 (splitmix64: Steele, Lea, Flood, OOPSLA 2014, variant 13 of
// Stafford): for digests, seeds and shuffles.
ASSAY_HOST_DEVICE constexpr std::uint64_t mix64(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

// From one word to one value ----------------------------------------------------------------------------------------

// An odd signed integer of `bits` bits (2 to 16): never zero, symmetric, |value| < 2^(bits-1).
ASSAY_HOST_DEVICE constexpr std::int32_t odd_of(std::uint32_t word, int bits = 16) {
  return (static_cast<std::int32_t>(word) >> (32 - bits)) | 1;  // arithmetic shift: every compiler we build with
}
// odd_of(word, bits) * 2^-(bits-1), so in (-1, 1) and exact in f32. bf16 and f16 hold it exactly for bits <= 8 and 11.
ASSAY_HOST_DEVICE constexpr float f32_of(std::uint32_t word, int bits = 16) {
  return static_cast<float>(odd_of(word, bits)) / static_cast<float>(1u << (bits - 1));
}
ASSAY_HOST_DEVICE constexpr double f64_of(std::uint32_t word, int bits = 16) {
  return static_cast<double>(odd_of(word, bits)) / static_cast<double>(1u << (bits - 1));
}
// bits = 8: odd numbers from -127 to 127; fewer bits keep integer sums small.
ASSAY_HOST_DEVICE constexpr std::int8_t i8_of(std::uint32_t word, int bits = 8) {
  return static_cast<std::int8_t>(odd_of(word, bits));
}
// Odd numbers below 2^bits: bits = 8 gives 1 to 255, bits = 7 stays in the range where oneDNN without VNNI is right.
ASSAY_HOST_DEVICE constexpr std::uint8_t u8_of(std::uint32_t word, int bits = 8) {
  return static_cast<std::uint8_t>((word >> (32 - bits)) | 1u);
}
// Uniform in [0, n) for n > 0, by the high half of a product; the bias is below n / 2^32.
ASSAY_HOST_DEVICE constexpr std::uint32_t below_of(std::uint32_t word, std::uint32_t n) {
  return static_cast<std::uint32_t>((static_cast<std::uint64_t>(word) * n) >> 32);
}

// Element i of a stream ---------------------------------------------------------------------------------------------

ASSAY_HOST_DEVICE constexpr std::uint32_t u32_at(Stream s, std::uint64_t i) { return block_at(s, i / 4).word[i % 4]; }
// `half`: 0 for the first two words of a block, 1 for the last two.
ASSAY_HOST_DEVICE constexpr std::uint64_t u64_of(const PhiloxCounter& block, std::uint64_t half) {
  return block.word[2 * half] | (static_cast<std::uint64_t>(block.word[2 * half + 1]) << 32);
}
ASSAY_HOST_DEVICE constexpr std::uint64_t u64_at(Stream s, std::uint64_t i) {
  return u64_of(block_at(s, i / 2), i % 2);
}
ASSAY_HOST_DEVICE constexpr float f32_at(Stream s, std::uint64_t i, int bits = 16) {
  return f32_of(u32_at(s, i), bits);
}
ASSAY_HOST_DEVICE constexpr double f64_at(Stream s, std::uint64_t i, int bits = 16) {
  return f64_of(u32_at(s, i), bits);
}
ASSAY_HOST_DEVICE constexpr std::int8_t i8_at(Stream s, std::uint64_t i, int bits = 8) {
  return i8_of(u32_at(s, i), bits);
}

// Calls visit(i, word i) for words [first, first + n): one block for four words. What a verifier's loop should use.
template <class Visit>
void for_each_word(Stream s, std::uint64_t first, std::uint64_t n, const Visit& visit) {
  for (std::uint64_t i = first; i < first + n;) {
    const PhiloxCounter block = block_at(s, i / 4);
    do visit(i, block.word[i % 4]);
    while (++i % 4 != 0 && i < first + n);
  }
}

// The same for the 64-bit elements [first, first + n): visit(i, u64 i), one block for two.
template <class Visit>
void for_each_u64(Stream s, std::uint64_t first, std::uint64_t n, const Visit& visit) {
  for (std::uint64_t i = first; i < first + n;) {
    const PhiloxCounter block = block_at(s, i / 2);
    do visit(i, u64_of(block, i % 2));
    while (++i % 2 != 0 && i < first + n);
  }
}

}  // namespace assay::kernels
