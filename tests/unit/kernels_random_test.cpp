// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Gathers and strided reads against plain loops; the computed index against numbers that another program made from its
// formula, since an index that is wrong everywhere would agree with itself.
#include <gtest/gtest.h>

#include <iterator>
#include <vector>

#include "kernels/random.h"

namespace assay::kernels {
namespace {

std::vector<std::uint64_t> words(std::size_t n) {
  std::vector<std::uint64_t> data(n);
  for (std::size_t i = 0; i < n; ++i) data[i] = (i + 1) * 0x9E3779B97F4A7C15u;
  return data;
}

TEST(KernelsRandom, GatherAddsTheIndexedWords) {
  const auto data = words(1000);
  for (const std::size_t m : {0, 1, 3, 4, 5, 15, 16, 17, 1001}) {
    std::vector<std::uint32_t> index(m);
    for (std::size_t i = 0; i < m; ++i) index[i] = static_cast<std::uint32_t>(i * i * 31 % 1000);
    for (const int threads : {1, 2, 3}) {
      for (const std::uint64_t iterations : {0, 1, 3}) {
        std::uint64_t expected = 0, sum = 99;
        for (const auto i : index) expected += data[i];
        random_ops(Backend::cpu)->gather({threads, nullptr}, data.data(), index.data(), m, iterations, &sum);
        EXPECT_EQ(sum, expected * iterations) << "m " << m << " threads " << threads;
      }
    }
  }
}

// By integers of any size in Python: z = ((i + 1) * 0x9E3779B97F4A7C15 + seed) mod 2^64, z = (z ^ z >> 32) *
// 0xD6E8FEB86659FD93 mod 2^64, ((z ^ z >> 32) mod 2^32) * n >> 32.
TEST(KernelsRandom, ComputedIndicesAreTheseNumbers) {
  constexpr std::uint64_t few[] = {412, 776, 992, 193, 379, 984, 687, 395};
  for (std::size_t i = 0; i < std::size(few); ++i) EXPECT_EQ(random_index(i, 1000, 42), few[i]);
  EXPECT_EQ(random_index(0, 1u << 25, 42), 13852742u);
  EXPECT_EQ(random_index(1'000'000, 1u << 25, 42), 29560431u);
  EXPECT_EQ(random_index((std::uint64_t{1} << 33) + 5, 1u << 25, 42), 16488893u);
  constexpr std::uint64_t large[] = {3117734564, 1515428888, 1465640216, 3782987513};
  for (std::size_t i = 0; i < std::size(large); ++i)
    EXPECT_EQ(random_index(i, 0xFFFFFFFFu, (std::uint64_t{1} << 63) + 7), large[i]);

  const auto data = words(1000);
  std::uint64_t expected = 0, sum = 0;
  for (const std::uint64_t index : few) expected += data[index];
  random_ops(Backend::cpu)->gather_computed({1, nullptr}, data.data(), 1000, 42, std::size(few), 1, &sum);
  EXPECT_EQ(sum, expected);
}

TEST(KernelsRandom, ComputedGatherAddsTheWordsOfItsFormula) {
  for (const std::size_t n : {1, 2, 999, 4096}) {
    const auto data = words(n);
    for (const std::size_t m : {0, 1, 17, 1001}) {
      for (const int threads : {1, 3}) {
        std::uint64_t expected = 0, sum = 99;
        for (std::size_t i = 0; i < m; ++i) {
          const std::uint64_t index = random_index(i, n, 42);
          ASSERT_LT(index, n);
          expected += data[index];
        }
        random_ops(Backend::cpu)->gather_computed({threads, nullptr}, data.data(), n, 42, m, 3, &sum);
        EXPECT_EQ(sum, expected * 3) << "n " << n << " m " << m;
      }
    }
  }
}

// 64 bins, 64,000 draws: 1,000 each, standard deviation 31; another seed is another sequence.
TEST(KernelsRandom, ComputedIndicesAreSpreadEvenly) {
  for (const std::uint64_t seed : {0u, 1u, 12345u}) {
    std::vector<int> count(64, 0);
    int same = 0;
    for (std::uint64_t i = 0; i < 64'000; ++i) {
      ++count[random_index(i, 64, seed)];
      same += random_index(i, 64, seed) == random_index(i, 64, seed + 1) ? 1 : 0;
    }
    for (const int c : count) EXPECT_NEAR(c, 1000, 200);
    EXPECT_NEAR(same, 1000, 200);
  }
  EXPECT_LT(random_index(5, 0xFFFFFFFFu, 9), 0xFFFFFFFFu);
}

TEST(KernelsRandom, StridedAddsEveryStrideThWord) {
  for (const std::size_t n : {0, 1, 2, 127, 128, 129, 5000}) {
    const auto data = words(n);
    for (const std::size_t stride : {1, 2, 3, 8, 128, 6000}) {
      for (const int threads : {1, 2, 3}) {
        std::uint64_t expected = 0, sum = 99;
        for (std::size_t i = 0; i < n; i += stride) expected += data[i];
        random_ops(Backend::cpu)->strided({threads, nullptr}, data.data(), n, stride, 3, &sum);
        EXPECT_EQ(sum, expected * 3) << "n " << n << " stride " << stride;
      }
    }
  }
  EXPECT_EQ(random_ops(Backend::cuda), nullptr);
}

}  // namespace
}  // namespace assay::kernels
