// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <vector>

#include "kernels/bits.h"
#include "kernels/gemm_bf16.h"
#include "kernels/philox.h"

namespace assay::kernels {
namespace {

std::vector<std::uint16_t> numbers(std::size_t n, std::uint32_t stream) {
  std::vector<std::uint16_t> result(n);
  for (std::size_t i = 0; i < n; ++i) result[i] = to_bf16(static_cast<float>(odd_of(u32_at({9, stream}, i), 6))).bits;
  return result;
}

// In integers, with the index of each operand written out.
TEST(GemmBf16, ProductIsThatOfIntegers) {
  for (const GemmShape s : {GemmShape{1, 1, 1}, {3, 5, 7}, {17, 16, 33}, {2, 40, 129}, {4, 3, 0}}) {
    const auto a = numbers(s.m * s.k, 1), b = numbers(s.n * s.k, 2);
    for (const int threads : {1, 3}) {
      std::vector<float> c(s.m * s.n, -1.0F);
      ASSERT_TRUE(gemm_bf16_ops(Backend::cpu)->run({threads, nullptr}, s, a.data(), b.data(), c.data()));
      for (std::size_t i = 0; i < s.m; ++i) {
        for (std::size_t j = 0; j < s.n; ++j) {
          long sum = 0;
          for (std::size_t p = 0; p < s.k; ++p) {
            sum += static_cast<long>(from_bf16({a[i * s.k + p]})) * static_cast<long>(from_bf16({b[j * s.k + p]}));
          }
          ASSERT_EQ(c[i * s.n + j], static_cast<float>(sum)) << i << ", " << j << ", " << threads << " threads";
        }
      }
    }
  }
}

TEST(GemmBf16, ArgumentsOutsideOfTheContractAreRefused) {
  const GemmBf16Ops& ops = *gemm_bf16_ops(Backend::cpu);
  std::vector<std::uint16_t> a(16), b(16);
  std::vector<float> c(16, -1.0F);
  const auto* in_c = reinterpret_cast<const std::uint16_t*>(c.data());
  EXPECT_TRUE(ops.supports({4, 4, 4}, a.data(), a.data(), c.data()));
  EXPECT_TRUE(ops.supports({0, 4, 4}, nullptr, nullptr, nullptr));
  EXPECT_TRUE(ops.supports({4, 4, 0}, nullptr, nullptr, c.data()));
  EXPECT_FALSE(ops.supports({4, 4, 4}, nullptr, b.data(), c.data()));
  EXPECT_FALSE(ops.supports({4, 4, 4}, a.data(), nullptr, c.data()));
  EXPECT_FALSE(ops.supports({4, 4, 0}, a.data(), b.data(), nullptr));
  EXPECT_FALSE(ops.supports({4, 4, 4}, in_c + 31, b.data(), c.data()));
  EXPECT_TRUE(ops.supports({4, 4, 4}, in_c + 32, b.data(), c.data()));  // right behind it
  EXPECT_FALSE(ops.supports({4, 4, 4}, a.data(), in_c, c.data()));
  EXPECT_FALSE(ops.supports({std::size_t{1} << 33, 1, std::size_t{1} << 31}, a.data(), b.data(), c.data()));
  EXPECT_FALSE(ops.run({1, nullptr}, {4, 4, 4}, in_c, b.data(), c.data()));
  EXPECT_EQ(c, std::vector<float>(16, -1.0F));
}

}  // namespace
}  // namespace assay::kernels
