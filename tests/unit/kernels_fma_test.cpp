// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// The arithmetic chains against their scalar expectation, bit for bit, and the expectation against the definition taken
// literally (for i32, whose expectation jumps ahead).
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "kernels/bits.h"
#include "kernels/fma.h"

namespace assay::kernels {
namespace {

std::uint32_t noise(std::uint64_t i) {
  i = (i + 1) * 0x9E3779B97F4A7C15u;
  return static_cast<std::uint32_t>((i ^ (i >> 29)) * 0xBF58476D1CE4E5B9u >> 32);
}
double unit(std::uint64_t i) { return noise(i) * 0x1p-32; }

template <class X, class Bits>
void check_float(const FmaRow<X, Bits>* row, int threads, std::size_t passes) {
  if (row == nullptr) GTEST_SKIP() << "this CPU has no fused multiply-add";
  const std::size_t n = row->elements * static_cast<std::size_t>(threads);
  std::vector<X> x(n), a(row->lanes), b(row->lanes);
  for (std::size_t i = 0; i < n; ++i) x[i] = static_cast<X>(0.5 + unit(i) / 2);
  for (std::size_t i = 0; i < row->lanes; ++i) {
    a[i] = static_cast<X>(-1 + unit(1000 + i) * 0x1p-12);
    b[i] = static_cast<X>(0.5 + unit(2000 + i) / 2);
  }
  std::vector<Bits> sums(n), expected(n);
  const Exec exec{threads, nullptr};
  row->run(exec, 1, x.data(), a.data(), b.data(), sums.data());  // runs add up
  row->run(exec, passes - 1, x.data(), a.data(), b.data(), sums.data());
  fma_expected(exec, n, row->lanes, passes, x.data(), a.data(), b.data(), expected.data());
  EXPECT_EQ(sums, expected);
  // One pass of one element, by hand.
  X v = x[n - 1];
  for (std::size_t step = 0; step < fma_steps; ++step) v = std::fma(v, a[row->lanes - 1], b[row->lanes - 1]);
  EXPECT_TRUE(std::isfinite(v) && std::abs(v) < 4) << v;
  Bits bits;
  std::memcpy(&bits, &v, sizeof v);
  EXPECT_EQ(sums[n - 1], static_cast<Bits>(bits * passes));
  // An error in the middle of a pass must reach the sum.
  v = x[0];
  for (std::size_t step = 0; step < fma_steps; ++step) {
    v = std::fma(v, a[0], b[0]);
    if (step == 10) v *= static_cast<X>(1.001);
  }
  std::memcpy(&bits, &v, sizeof v);
  EXPECT_NE(sums[0], static_cast<Bits>(bits * passes));
}

TEST(Fma, F32) { check_float(fma_ops(Backend::cpu)->f32, 1, 3); }
TEST(Fma, F32Threads) { check_float(fma_ops(Backend::cpu)->f32, 3, 2); }
TEST(Fma, F64) { check_float(fma_ops(Backend::cpu)->f64, 1, 2); }
TEST(Fma, F64Threads) { check_float(fma_ops(Backend::cpu)->f64, 2, 5); }

TEST(Fma, I32) {
  const auto* row = fma_ops(Backend::cpu)->i32;
  ASSERT_NE(row, nullptr);
  for (const int threads : {1, 3}) {
    const std::size_t n = row->elements * static_cast<std::size_t>(threads), passes = 7;
    std::vector<std::uint32_t> x(n), a(row->lanes), b(row->lanes), sums(n), expected(n);
    for (std::size_t i = 0; i < n; ++i) x[i] = noise(i);
    for (std::size_t i = 0; i < row->lanes; ++i) a[i] = noise(500 + i) | 1, b[i] = noise(900 + i);
    const Exec exec{threads, nullptr};
    row->run(exec, passes, x.data(), a.data(), b.data(), sums.data());
    fma_expected(exec, n, row->lanes, passes, x.data(), a.data(), b.data(), expected.data());
    EXPECT_EQ(sums, expected);
    for (const std::size_t i : {std::size_t{0}, n - 1}) {
      std::uint32_t v = x[i];
      for (std::size_t step = 0; step < fma_steps; ++step) v = v * a[i % row->lanes] + b[i % row->lanes];
      EXPECT_EQ(expected[i], v * static_cast<std::uint32_t>(passes));
    }
  }
}

TEST(Fma, Bf16) {
  const auto* row = fma_ops(Backend::cpu)->bf16;
  if (row == nullptr) GTEST_SKIP() << "this CPU has no AVX512-BF16";
  const auto bf16 = [](int value) { return to_bf16(static_cast<float>(value)).bits; };
  for (const int threads : {1, 2}) {
    const std::size_t n = row->elements * static_cast<std::size_t>(threads), passes = 3;
    std::vector<float> x(n);
    std::vector<std::uint16_t> a(4 * row->lanes), b(4 * row->lanes);
    for (std::size_t i = 0; i < n; ++i) x[i] = static_cast<float>(noise(i) % 4096);
    for (std::size_t i = 0; i < a.size(); ++i) {
      a[i] = bf16(static_cast<int>(noise(i + 77) % 61) - 30);
      b[i] = bf16(static_cast<int>(noise(i + 99) % 61) - 30);
    }
    std::vector<std::uint32_t> sums(n), expected(n);
    const Exec exec{threads, nullptr};
    row->run(exec, passes, x.data(), a.data(), b.data(), sums.data());
    fma_expected_bf16(exec, n, row->lanes, passes, x.data(), a.data(), b.data(), expected.data());
    EXPECT_EQ(sums, expected);
  }
}

TEST(Fma, OtherBackendsHaveNoRow) { EXPECT_EQ(fma_ops(Backend::cuda), nullptr); }

}  // namespace
}  // namespace assay::kernels
