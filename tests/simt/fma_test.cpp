// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Every version of the CUDA arithmetic chains against the scalar expectation, bit for bit: several blocks, sums
// that add up over runs. Threads of these kernels never meet, so one schedule says all.
#include "kernels/fma.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "device_array.h"
#include "kernels/bits.h"
#include "kernels/philox.h"
#include "runtime/rig.h"
#include "simt/half.h"

namespace assay::kernels {
namespace {

using simt::DeviceArray;
constexpr std::size_t passes = 3, first_from_80 = 3;  // the versions before that one are the same without bf16x2

class SimtFma : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(cuda_versions<FmaOps>.count, first_from_80 + 3);
    simt::reset();
    simt::set_schedule(simt::Schedule::random);
  }
};

// One pass, then the others.
template <class X, class Bits>
std::vector<Bits> sums_of(const FmaRow<X, Bits>& row, int blocks, const std::vector<X>& x, const std::vector<X>& a,
                          const std::vector<X>& b) {
  DeviceArray<X> device_x(x), device_a(a), device_b(b);
  DeviceArray<Bits> sums(std::vector<Bits>(x.size(), 0));
  row.run({blocks, nullptr}, 1, device_x.data(), device_a.data(), device_b.data(), sums.data());
  row.run({blocks, nullptr}, passes - 1, device_x.data(), device_a.data(), device_b.data(), sums.data());
  row.run({blocks, nullptr}, 0, device_x.data(), device_a.data(), device_b.data(), sums.data());
  simt::succeed(cudaGetLastError());
  return sums.values();
}

// x_at(i) and so on give the data.
template <class X, class Bits, class XAt, class AAt, class BAt, class Expected>
void check(const FmaRow<X, Bits>* FmaOps::*which, XAt x_at, AAt a_at, BAt b_at, Expected expected_of) {
  for (std::size_t version = first_from_80; version < cuda_versions<FmaOps>.count; ++version) {
    SCOPED_TRACE(cuda_versions<FmaOps>.first[version].name);
    const FmaRow<X, Bits>& row = *(cuda_versions<FmaOps>.first[version].ops->*which);
    const int blocks = version == first_from_80 ? 3 : 1;
    std::vector<X> x(row.elements * static_cast<std::size_t>(blocks)), a(row.lanes), b(row.lanes);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = x_at(i);
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = a_at(i);
    for (std::size_t i = 0; i < b.size(); ++i) b[i] = b_at(i);
    std::vector<Bits> expected(x.size());
    expected_of(x.size(), row.lanes, x.data(), a.data(), b.data(), expected.data());
    ASSERT_EQ(sums_of(row, blocks, x, a, b), expected);
  }
}

double unit(std::uint64_t stream, std::size_t i) { return u32_at({7, stream}, i) * 0x1p-32; }
const auto scalar = [](std::size_t n, std::size_t lanes, const auto* x, const auto* a, const auto* b, auto* sums) {
  fma_expected({2, nullptr}, n, lanes, passes, x, a, b, sums);
};

TEST_F(SimtFma, TableOldDevicesHaveTheSameRowsButBf16x2) {
  for (std::size_t i = 0; i < first_from_80; ++i) {
    const CudaVersion<FmaOps>& old = cuda_versions<FmaOps>.first[i];
    const CudaVersion<FmaOps>& later = cuda_versions<FmaOps>.first[first_from_80 + i];
    EXPECT_EQ(old.ops->f32, later.ops->f32);
    EXPECT_EQ(old.ops->f64, later.ops->f64);
    EXPECT_EQ(old.ops->i32, later.ops->i32);
    EXPECT_EQ(old.ops->f16x2, later.ops->f16x2);
    EXPECT_EQ(old.ops->rcp, later.ops->rcp);
    EXPECT_EQ(old.ops->bf16x2, nullptr);
    EXPECT_NE(later.ops->bf16x2, nullptr);
  }
  EXPECT_EQ(fma_ops(Backend::cuda, 75), cuda_versions<FmaOps>.first[first_from_80 - 1].ops);
  EXPECT_EQ(fma_ops(Backend::cuda), cuda_versions<FmaOps>.first[first_from_80 + 2].ops);
}

TEST_F(SimtFma, F32) {
  check(
      &FmaOps::f32, [](std::size_t i) { return static_cast<float>(0.5 + unit(1, i) / 2); },
      [](std::size_t i) { return static_cast<float>(-1 + unit(2, i) * 0x1p-12); },
      [](std::size_t i) { return static_cast<float>(0.5 + unit(3, i) / 2); }, scalar);
}

TEST_F(SimtFma, F64) {
  check(
      &FmaOps::f64, [](std::size_t i) { return 0.5 + unit(1, i) / 2; },
      [](std::size_t i) { return -1 + unit(2, i) * 0x1p-12; }, [](std::size_t i) { return 0.5 + unit(3, i) / 2; },
      scalar);
}

TEST_F(SimtFma, I32) {
  check(
      &FmaOps::i32,
      [](std::size_t i) {
        return u32_at({7, 1}, i);
      },
      [](std::size_t i) {
        return u32_at({7, 2}, i) | 1;
      },
      [](std::size_t i) {
        return u32_at({7, 3}, i);
      },
      scalar);
}

// Two numbers k * unit with k in [least, least + count), and a sign.
template <class OfDouble>
auto pairs(std::uint64_t stream, unsigned least, unsigned count, double unit, OfDouble half_of) {
  return [=](std::size_t i) {
    const auto half = [&](std::size_t at) { return half_of((least + u32_at({7, stream}, at) % count) * unit); };
    return half(2 * i) | half(2 * i + 1) << 16;
  };
}

// Numbers of all digits, so that every step rounds; and those of the contract.
TEST_F(SimtFma, F16x2) {
  const auto half_of = [](double x) { return simt::F16::rounded(x); };
  const auto expected = [](std::size_t n, std::size_t lanes, const auto* x, const auto* a, const auto* b, auto* sums) {
    fma_expected_f16x2({2, nullptr}, n, lanes, passes, x, a, b, sums);
  };
  check(&FmaOps::f16x2, pairs(1, 1024, 1024, 0x1p-11, half_of), pairs(2, 1900, 148, -0x1p-11, half_of),
        pairs(3, 1024, 1024, 0x1p-11, half_of), expected);
  check(&FmaOps::f16x2, pairs(1, 1, 127, 0x1p-7, half_of), pairs(2, 1, 1, -1, half_of),
        pairs(3, 1, 127, 0x1p-7, half_of), expected);
}

TEST_F(SimtFma, Bf16x2) {
  const auto half_of = [](double x) { return simt::Bf16::rounded(x); };
  const auto expected = [](std::size_t n, std::size_t lanes, const auto* x, const auto* a, const auto* b, auto* sums) {
    fma_expected_bf16x2({2, nullptr}, n, lanes, passes, x, a, b, sums);
  };
  check(&FmaOps::bf16x2, pairs(1, 128, 128, 0x1p-8, half_of), pairs(2, 230, 26, -0x1p-8, half_of),
        pairs(3, 128, 128, 0x1p-8, half_of), expected);
  check(&FmaOps::bf16x2, pairs(1, 1, 127, 0x1p-7, half_of), pairs(2, 1, 1, -1, half_of),
        pairs(3, 1, 127, 0x1p-7, half_of), expected);
}

TEST_F(SimtFma, ReciprocalsAfterAnOddNumberOfSteps) {
  for (std::size_t version = first_from_80; version < cuda_versions<FmaOps>.count; ++version) {
    const FmaRow<float, std::uint32_t>& row = *cuda_versions<FmaOps>.first[version].ops->rcp;
    std::vector<float> x(2 * row.elements);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(0.5 + unit(1, i));
    DeviceArray<float> device_x(x);
    DeviceArray<std::uint32_t> sums(std::vector<std::uint32_t>(x.size(), 0));
    row.run({2, nullptr}, 1, device_x.data(), nullptr, nullptr, sums.data());
    const std::vector<std::uint32_t> first = sums.values();
    row.run({2, nullptr}, 4, device_x.data(), nullptr, nullptr, sums.data());
    const std::vector<std::uint32_t> all = sums.values();
    for (std::size_t i = 0; i < x.size(); ++i) {
      float v = 0;
      std::memcpy(&v, &first[i], sizeof v);
      ASSERT_LT(std::abs(-v * x[i] - 1), 0x1p-10F) << i;
      ASSERT_EQ(all[i], 5 * first[i]) << i;
    }
  }
}

TEST(SimtHalf, RoundsToTheNearest) {
  using simt::Bf16;
  using simt::F16;
  EXPECT_EQ(F16::rounded(1), 0x3C00u);
  EXPECT_EQ(F16::rounded(-2), 0xC000u);
  EXPECT_EQ(F16::rounded(1 + 0x1p-11), 0x3C00u);      // half a unit: to even
  EXPECT_EQ(F16::rounded(1 + 3 * 0x1p-11), 0x3C02u);  // likewise
  EXPECT_EQ(F16::rounded(1 + 0x1.1p-11), 0x3C01u);
  EXPECT_EQ(F16::rounded(65504), 0x7BFFu);
  EXPECT_EQ(F16::rounded(65519.9), 0x7BFFu);
  EXPECT_EQ(F16::rounded(65520), 0x7C00u);
  EXPECT_EQ(F16::rounded(-0x1p-24), 0x8001u);
  EXPECT_EQ(F16::rounded(0x1p-25), 0u);
  EXPECT_EQ(F16::rounded(0x1.8p-24), 2u);
  EXPECT_EQ(F16::rounded(0x1.FFFp-15), 0x0400u);  // up to the smallest normal number
  EXPECT_EQ(Bf16::rounded(1), 0x3F80u);
  EXPECT_EQ(Bf16::rounded(0x1p-133), 1u);
  EXPECT_EQ(Bf16::rounded(HUGE_VAL), 0x7F80u);
  for (std::uint32_t bits = 0; bits < 0x8000; ++bits) {
    if (bits <= 0x7C00) {
      ASSERT_EQ(F16::rounded(F16::value(bits)), bits);
    }
    if (bits <= 0x7F80) {
      ASSERT_EQ(Bf16::rounded(Bf16::value(bits)), bits);
    }
    if (bits < 0x7F80) {
      const std::uint32_t wide = bits << 16;
      float same = 0;
      std::memcpy(&same, &wide, sizeof same);
      ASSERT_EQ(Bf16::value(bits), static_cast<double>(same));
    }
  }
}

}  // namespace
}  // namespace assay::kernels
