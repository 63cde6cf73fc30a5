// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Comparison of outputs: what is found, how it is told, and that a planted bit is always above the bound.
#include "harness/worker/verify.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "harness/base/error.h"

namespace assay {
namespace {

template <class T>
Check<T> ramp(std::vector<T>& data, double absolute = 0, double relative = 0) {
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<T>(i % 200);
  return {"out", data,
          [](std::size_t first, std::span<T> out) {
            for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<T>((first + i) % 200);
          },
          absolute, relative};
}

template <class T>
class VerifyTypes : public ::testing::Test {};
using Types = ::testing::Types<double, float, std::uint64_t, std::uint32_t, std::int32_t, std::uint16_t, std::uint8_t>;
TYPED_TEST_SUITE(VerifyTypes, Types);

TYPED_TEST(VerifyTypes, RightOutputPassesAndEveryElementCounts) {
  for (const std::size_t n : {1UL, 7UL, 8192UL, 8193UL, 100001UL}) {
    std::vector<TypeParam> data(n);
    Verification result;
    compare(ramp(data), 3, result);
    EXPECT_EQ(result.mismatches, 0U);
    EXPECT_EQ(result.elements_compared, n);
    EXPECT_EQ(result.method, "out: bitwise");
  }
}

TYPED_TEST(VerifyTypes, OneWrongElementIsFoundWhereverItIs) {
  for (const std::size_t at : {0UL, 1UL, 8191UL, 8192UL, 20000UL, 30000UL}) {
    std::vector<TypeParam> data(30001);
    const Check<TypeParam> check = ramp(data);
    data[at] = static_cast<TypeParam>(data[at] + 1);
    Verification result;
    compare(check, 2, result);
    ASSERT_EQ(result.mismatches, 1U) << at;
    ASSERT_EQ(result.first_mismatches.size(), 1U);
    EXPECT_EQ(result.first_mismatches[0].index, at);
    EXPECT_EQ(result.first_mismatches[0].actual_bits, result.first_mismatches[0].second_read_bits);
    EXPECT_NE(result.first_mismatches[0].expected_bits, result.first_mismatches[0].actual_bits);
  }
}

TYPED_TEST(VerifyTypes, EveryPlantedBitIsFound) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    std::vector<TypeParam> data(257);
    const Check<TypeParam> check = ramp(data, 0, 0.01);
    const std::uint64_t at = corrupt(check, seed * 7919);
    Verification result;
    compare(check, 1, result);
    ASSERT_EQ(result.mismatches, 1U) << "seed " << seed;
    EXPECT_EQ(result.first_mismatches[0].index, at);
  }
}

TEST(Verify, NanIsCountedOnItsOwnAndNeverPasses) {
  std::vector<double> data(100);
  const Check<double> check = ramp(data, 1e300, 1e300);  // a bound that lets everything else through
  data[42] = std::numeric_limits<double>::quiet_NaN();
  Verification result;
  compare(check, 1, result);
  EXPECT_EQ(result.mismatches, 1U);
  EXPECT_EQ(result.nan_count, 1U);
}

TEST(Verify, BoundsAreHonouredAndTheLargestErrorIsKept) {
  std::vector<double> data(100);
  const Check<double> check = ramp(data, 0, 1e-6);
  data[50] *= 1 + 5e-7;
  Verification inside;
  compare(check, 1, inside);
  EXPECT_EQ(inside.mismatches, 0U);
  EXPECT_NEAR(inside.max_error, 5e-7, 1e-12);
  data[60] *= 1 + 2e-6;
  Verification outside;
  compare(check, 1, outside);
  EXPECT_EQ(outside.mismatches, 1U);
}

TEST(Verify, NegativeZeroIsNotZeroBitForBit) {
  std::vector<float> data(3);
  const Check<float> check = ramp(data);
  data[0] = -0.0F;
  Verification result;
  compare(check, 1, result);
  EXPECT_EQ(result.mismatches, 1U);
  EXPECT_EQ(result.first_mismatches[0].xor_bits, "0x80000000");
}

TEST(Verify, KeepsTheFirstTenOfMany) {
  std::vector<std::uint32_t> data(100000);
  const Check<std::uint32_t> check = ramp(data);
  for (auto& value : data) value ^= 1;
  Verification result;
  compare(check, 4, result);
  EXPECT_EQ(result.mismatches, 100000U);
  ASSERT_EQ(result.first_mismatches.size(), 10U);
  for (std::size_t i = 0; i < 10; ++i) EXPECT_EQ(result.first_mismatches[i].index, i);
}

TEST(Verify, AnExpectationThatThrowsEndsTheCaseNotTheProgram) {
  std::vector<double> data(100000);
  Check<double> check = ramp(data);
  check.expect = [](std::size_t, std::span<double>) { throw Error("no expectation"); };
  Verification result;
  EXPECT_THROW(compare(check, 2, result), Error);
}

TEST(Verify, NothingToCorruptIsAnError) {
  std::vector<double> none;
  EXPECT_THROW(corrupt(Check<double>{"out", none, nullptr}, 1), Error);
  std::vector<double> loose{1.0};
  EXPECT_THROW(corrupt(Check<double>{"out", loose, nullptr, 1e308, 1e308}, 1), Error);
}

}  // namespace
}  // namespace assay
