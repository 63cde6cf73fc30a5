// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// The closed form of the tensor cores' products against mma_steps steps taken literally.
#include <gtest/gtest.h>

#include <vector>

#include "kernels/bits.h"
#include "kernels/mma.h"

namespace assay::kernels {
namespace {

template <class In, class Out, class Bits, class ToIn, class Expected>
void check(ToIn to_in, Expected expected_of) {
  constexpr std::size_t m = 2, n = 3, k = 4, warps = 2, chains = 3, blocks = 2, passes = 5;
  const MmaRow<In, Out, Bits> row{m, n, k, warps, chains, nullptr};
  ASSERT_EQ(row.elements(blocks), blocks * warps * chains * m * n);
  std::vector<int> a(warps * m * k), b(chains * n * k), c(row.elements(blocks));
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<int>(i * 5 % 31) - 15;
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<int>(i * 7 % 29) - 14;
  for (std::size_t i = 0; i < c.size(); ++i) c[i] = static_cast<int>(i * 11 % 1000) - 500;
  std::vector<In> in_a, in_b;
  for (const int x : a) in_a.push_back(to_in(x));
  for (const int x : b) in_b.push_back(to_in(x));
  const std::vector<Out> in_c(c.begin(), c.end());
  std::vector<Bits> sums(c.size());
  expected_of(row, blocks, passes, in_a.data(), in_b.data(), in_c.data(), sums.data());
  std::size_t at = 0;
  for (std::size_t block = 0; block < blocks; ++block) {
    for (std::size_t warp = 0; warp < warps; ++warp) {
      for (std::size_t chain = 0; chain < chains; ++chain) {
        for (std::size_t i = 0; i < m; ++i) {
          for (std::size_t j = 0; j < n; ++j, ++at) {
            Out d = in_c[at];
            for (std::size_t step = 0; step < mma_steps; ++step) {
              for (std::size_t l = 0; l < k; ++l) {
                d += static_cast<Out>(a[(warp * m + i) * k + l] * b[(chain * n + j) * k + l]);
              }
            }
            ASSERT_EQ(sums[at], static_cast<Bits>(passes * static_cast<Bits>(bits_of(d)))) << at;
          }
        }
      }
    }
  }
}

TEST(KernelsMma, ClosedFormsAreWhatTheStepsGive) {
  check<std::uint16_t, float, std::uint32_t>([](int x) { return to_bf16(static_cast<float>(x)).bits; },
                                             mma_expected_bf16);
  check<float, float, std::uint32_t>([](int x) { return static_cast<float>(x); }, mma_expected_tf32);
  check<double, double, std::uint64_t>([](int x) { return static_cast<double>(x); }, mma_expected_f64);
  check<std::int8_t, std::int32_t, std::uint32_t>([](int x) { return static_cast<std::int8_t>(x); }, mma_expected_int8);
  // f16 of small integers: 1024 + the fraction, scaled.
  const auto f16 = [](int x) {
    unsigned magnitude = static_cast<unsigned>(x < 0 ? -x : x), exponent = 25;
    if (magnitude == 0) return std::uint16_t{0};
    while (magnitude < 1024) magnitude *= 2, --exponent;
    return static_cast<std::uint16_t>((x < 0 ? 0x8000u : 0) | exponent << 10 | (magnitude - 1024));
  };
  check<std::uint16_t, float, std::uint32_t>(f16, mma_expected_f16);
}

TEST(KernelsMma, TheCpuHasNoRow) {
  EXPECT_EQ(mma_ops(Backend::cpu), nullptr);
  EXPECT_EQ(mma_ops(Backend::cuda), nullptr);
}

}  // namespace
}  // namespace assay::kernels
