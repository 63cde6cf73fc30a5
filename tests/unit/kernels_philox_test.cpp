// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Philox 4x32-10 against the known answers published with Random123 (tests/kat_vectors), and the promises that
// verifiers build on: where element i comes from, that floats are exact and never zero, that streams differ.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <set>

#include "kernels/philox.h"

namespace assay::kernels {
namespace {

struct KnownAnswer {
  PhiloxCounter counter;
  PhiloxKey key;
  PhiloxCounter expected;
};

constexpr KnownAnswer known_answers[] = {
    {{{0, 0, 0, 0}}, {{0, 0}}, {{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}}},
    {{{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}},
     {{0xffffffff, 0xffffffff}},
     {{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}}},
    {{{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}},
     {{0xa4093822, 0x299f31d0}},
     {{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}}},
};

TEST(Philox, matches_the_published_vectors) {
  for (const auto& k : known_answers) {
    const PhiloxCounter got = philox4x32(k.counter, k.key);
    for (int w = 0; w < 4; ++w) EXPECT_EQ(got.word[w], k.expected.word[w]) << "word " << w;
  }
}

TEST(Philox, element_i_is_word_i_mod_4_of_counter_i_div_4) {
  // Every one of the six 32-bit inputs is non-zero and different, so a swapped half would show.
  constexpr Stream s{0x299f31d0'a4093822u, 0x03707344'13198a2eu};
  constexpr std::uint64_t block = 0x05a308d3'243f6a88u;
  const PhiloxCounter direct =
      philox4x32({{0x243f6a88, 0x05a308d3, 0x13198a2e, 0x03707344}}, {{0xa4093822, 0x299f31d0}});
  for (unsigned w = 0; w < 4; ++w) EXPECT_EQ(u32_at(s, 4 * block + w), direct.word[w]);
  EXPECT_EQ(u64_at(s, 2 * block), direct.word[0] | std::uint64_t{direct.word[1]} << 32);
  EXPECT_EQ(u64_at(s, 2 * block + 1), direct.word[2] | std::uint64_t{direct.word[3]} << 32);
}

TEST(Philox, floats_are_exact_in_range_and_never_zero) {
  constexpr Stream s{42, 7};
  for (std::uint64_t i = 0; i < 100'000; ++i) {
    const float f = f32_at(s, i);
    const double k = static_cast<double>(f) * 32768.0;
    ASSERT_EQ(k, std::trunc(k)) << i;
    ASSERT_NE(f, 0.0F) << i;
    ASSERT_LT(std::fabs(f), 1.0F) << i;
    ASSERT_EQ(f64_at(s, i), static_cast<double>(f)) << i;
  }
}

TEST(Philox, odd_numbers_keep_their_bits_at_the_ends_of_the_range) {
  EXPECT_EQ(odd_of(0x00000000u), 1);
  EXPECT_EQ(odd_of(0x7fffffffu), 32767);
  EXPECT_EQ(odd_of(0x80000000u), -32767);
  EXPECT_EQ(odd_of(0xffffffffu), -1);
  EXPECT_EQ(i8_of(0x80000000u), -127);
  EXPECT_EQ(i8_of(0x7fffffffu), 127);
  EXPECT_EQ(u8_of(0xffffffffu), 255);
  EXPECT_EQ(u8_of(0xffffffffu, 7), 127);
  EXPECT_EQ(odd_of(0x80000000u, 2), -1);
  EXPECT_EQ(f32_of(0x7fffffffu, 8), 127.0F / 128.0F);
  EXPECT_EQ(below_of(0xffffffffu, 10), 9u);
  EXPECT_EQ(below_of(0u, 10), 0u);
}

TEST(Philox, int8_takes_every_odd_value) {
  std::set<int> seen;
  for (std::uint64_t i = 0; i < 10'000; ++i) seen.insert(i8_at({1, 1}, i));
  EXPECT_EQ(seen.size(), 128u);
  EXPECT_EQ(*seen.begin(), -127);
  EXPECT_EQ(*seen.rbegin(), 127);
}

TEST(Philox, for_each_word_visits_every_word_once_and_in_order) {
  constexpr Stream s{3, 4};
  for (const std::uint64_t first : {0u, 1u, 2u, 3u, 4u, 7u, 1000u})
    for (const std::uint64_t n : {0u, 1u, 2u, 3u, 4u, 5u, 9u, 100u}) {
      std::uint64_t next = first;
      for_each_word(s, first, n, [&](std::uint64_t i, std::uint32_t word) {
        ASSERT_EQ(i, next++);
        ASSERT_EQ(word, u32_at(s, i)) << i;
      });
      EXPECT_EQ(next, first + n);
    }
}

TEST(Philox, for_each_u64_visits_every_element_once_and_in_order) {
  constexpr Stream s{3, 4};
  for (const std::uint64_t first : {0u, 1u, 2u, 1001u})
    for (const std::uint64_t n : {0u, 1u, 2u, 3u, 100u}) {
      std::uint64_t next = first;
      for_each_u64(s, first, n, [&](std::uint64_t i, std::uint64_t element) {
        ASSERT_EQ(i, next++);
        ASSERT_EQ(element, u32_at(s, 2 * i) | std::uint64_t{u32_at(s, 2 * i + 1)} << 32) << i;
      });
      EXPECT_EQ(next, first + n);
    }
}

TEST(Philox, mix64_is_the_finaliser_of_splitmix64) {  // the generator's first numbers from state 0
  EXPECT_EQ(mix64(0x9E3779B97F4A7C15u), 0xE220A8397B1DCDAFu);
  EXPECT_EQ(mix64(2 * 0x9E3779B97F4A7C15u), 0x6E789E6AA1B965F4u);
}

TEST(Philox, streams_and_seeds_differ_and_the_high_halves_count) {
  std::set<std::uint64_t> seen;
  for (const Stream s :
       {Stream{1, 1}, Stream{2, 1}, Stream{1, 2}, Stream{1, 1ull << 32 | 1}, Stream{1ull << 32 | 1, 1}})
    seen.insert(u64_at(s, 0));
  seen.insert(u64_at({1, 1}, 1ull << 33));  // same low counter word, high one differs
  EXPECT_EQ(seen.size(), 6u);
}

}  // namespace
}  // namespace assay::kernels
