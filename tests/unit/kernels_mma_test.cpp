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
void check(ToIn to_in, Expected expected_of, int largest = 15) {
  constexpr std::size_t m = 2, n = 3, k = 4, warps = 2, chains = 3, blocks = 2, passes = 5;
  const MmaRow<In, Out, Bits> row{m, n, k, warps, chains, nullptr};
  ASSERT_EQ(row.elements(blocks), blocks * warps * chains * m * n);
  const auto odd = static_cast<std::size_t>(2 * largest + 1);
  std::vector<int> a(warps * m * k), b(chains * n * k), c(row.elements(blocks));
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<int>(i * 5 % 31 % odd) - largest;
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<int>(i * 7 % 29 % odd) - largest;
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
  // Integers up to 7 in fp8: 8, 4, 2 or 1 and the fraction.
  const auto fp8 = [](unsigned fraction_bits, unsigned bias) {
    return [=](int x) {
      unsigned magnitude = static_cast<unsigned>(x < 0 ? -x : x), exponent = bias + fraction_bits;
      if (magnitude == 0) return std::uint8_t{0};
      while (magnitude < 1u << fraction_bits) magnitude *= 2, --exponent;
      while (magnitude >= 2u << fraction_bits) magnitude /= 2, ++exponent;
      return static_cast<std::uint8_t>((x < 0 ? 0x80u : 0) | exponent << fraction_bits |
                                       (magnitude - (1u << fraction_bits)));
    };
  };
  check<std::uint8_t, float, std::uint32_t>(fp8(3, 7), mma_expected_e4m3, 7);
  check<std::uint8_t, float, std::uint32_t>(fp8(2, 15), mma_expected_e5m2, 7);
}

TEST(KernelsMma, Fp4IsTwoToAByteFirstInTheLowHalf) {
  // 1 row and 1 column of 4 numbers: (1, 2, 3, -4) * (6, -1, 0, 2) = 6 - 2 + 0 - 8.
  const std::uint8_t a[] = {0x42, 0xE5}, b[] = {0xA7, 0x40};
  const float c[] = {5};
  std::uint32_t sums[1];
  mma_expected_e2m1({1, 1, 4, 1, 1, nullptr}, 1, 3, a, b, c, sums);
  EXPECT_EQ(sums[0], 3 * bits_of(5.0F + static_cast<float>(mma_steps) * -4));
}

TEST(KernelsMma, BitsOfFewBits) {  // from the tables of the OCP specifications: FP8, microscaling formats
  EXPECT_EQ(from_e4m3(0x7E), 448);
  EXPECT_EQ(from_e4m3(0x08), 0x1p-6);
  EXPECT_EQ(from_e4m3(0x01), 0x1p-9);
  EXPECT_EQ(from_e4m3(0xB8), -1);
  EXPECT_EQ(from_e5m2(0x7B), 57344);
  EXPECT_EQ(from_e5m2(0x04), 0x1p-14);
  EXPECT_EQ(from_e5m2(0x03), 3 * 0x1p-16);
  const double e2m1[] = {0, .5, 1, 1.5, 2, 3, 4, 6};
  for (unsigned i = 0; i < 8; ++i) {
    EXPECT_EQ(from_e2m1(i), e2m1[i]);
    EXPECT_EQ(from_e2m1(i + 8), -e2m1[i]);
  }
  EXPECT_EQ(from_f16(0x3C00), 1);
  EXPECT_EQ(from_f16(0x0001), 0x1p-24);
  EXPECT_EQ(from_f16(0xFBFF), -65504);
}

TEST(KernelsMma, TheCpuHasNoRow) {
  EXPECT_EQ(mma_ops(Backend::cpu), nullptr);
  EXPECT_EQ(mma_ops(Backend::cuda), nullptr);
}

}  // namespace
}  // namespace assay::kernels
