// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Every version of the tensor cores' peak by warps against the closed form: all types, several blocks, sums that add up
// over runs. Numbers differ in each place, so that a fragment in the wrong one shows. Those of 9.0 alone multiply by
// warpgroups and have a test of their own: mma_hopper_test.cpp.
#include "kernels/mma.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "device_array.h"
#include "kernels/bits.h"
#include "kernels/philox.h"
#include "runtime/rig.h"
#include "simt/half.h"

namespace assay::kernels {
namespace {

using simt::DeviceArray;

class SimtMma : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_GE(cuda_versions<MmaOps>.count, 6u);
    simt::reset();
  }
};

// `number(stream, row, k)` of A (stream 1) and B (2); `c_bits` of the odd integers of C.
template <class In, class Out, class Bits, class Number, class Expected>
void check_numbers(const MmaRow<In, Out, Bits>* MmaOps::*which, Number number, int c_bits, Expected expected_of) {
  std::set<const void*> checked;  // versions for several ranges of devices have the same rows
  for (const CudaVersion<MmaOps>& version : cuda_versions<MmaOps>) {
    if (version.from == 90 && version.below == 91) continue;
    if (version.ops->*which == nullptr || !checked.insert(version.ops->*which).second) continue;
    const simt::Schedule schedule = simt::all_schedules[1 + (checked.size() - 1) % 3];
    simt::set_schedule(schedule);
    SCOPED_TRACE(std::string(version.name) + ", " + simt::name_of(schedule));
    const MmaRow<In, Out, Bits>& row = *(version.ops->*which);
    const std::size_t blocks = checked.size() == 1 ? 2 : 1, passes = 2;
    std::vector<In> a(row.warps * row.m * row.k), b(row.chains * row.n * row.k);
    std::vector<Out> c(row.elements(blocks));
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = number(1, i / row.k, i % row.k);
    for (std::size_t i = 0; i < b.size(); ++i) b[i] = number(2, i / row.k, i % row.k);
    for (std::size_t i = 0; i < c.size(); ++i) c[i] = static_cast<Out>(odd_of(u32_at({3, 3}, i), c_bits));
    std::vector<Bits> expected(c.size());
    expected_of(row, blocks, passes, a.data(), b.data(), c.data(), expected.data());

    DeviceArray<In> device_a(a), device_b(b);
    DeviceArray<Out> device_c(c);
    DeviceArray<Bits> sums(std::vector<Bits>(c.size(), 0));
    for (const std::size_t some : {1, 0, 1}) {
      row.run({static_cast<int>(blocks), nullptr}, some, device_a.data(), device_b.data(), device_c.data(),
              sums.data());
    }
    simt::succeed(cudaGetLastError());
    ASSERT_EQ(sums.values(), expected);
  }
  EXPECT_GE(checked.size(), 3u);
}

// Odd integers of `bits` bits in A and B; `number` makes an In of one.
template <class In, class Out, class Bits, class Number, class Expected>
void check(const MmaRow<In, Out, Bits>* MmaOps::*which, int bits, Number number, Expected expected_of) {
  const auto odd = [=](std::uint32_t stream, std::size_t row, std::size_t k) {
    return number(odd_of(u32_at({3, stream}, row * 64 + k), bits));
  };
  check_numbers(which, odd, 16, expected_of);
}

// Ones with signs that nearly cancel, as in mma_hopper_test.cpp: sums stay below 2^13 (mma.h).
auto cancelling(std::uint8_t one) {
  return [one](std::uint32_t stream, std::size_t row, std::size_t k) {
    const std::size_t line = row % 16 + (stream == 1 ? 0 : 16);
    const bool flipped = u32_at({4, stream}, row) % 32 == k;
    const bool negative = (__builtin_popcountll(line & k) % 2 != 0) != flipped;
    return static_cast<std::uint8_t>(one | (negative ? 0x80 : 0));
  };
}

TEST_F(SimtMma, TableNothingRunsBefore80) {
  EXPECT_EQ(mma_ops(Backend::cuda, 75), nullptr);
  EXPECT_EQ(cuda_versions<MmaOps>.describe("mma", 75),
            "mma needs a device of compute capability 8.0 or later; this one has 7.5");
  EXPECT_NE(mma_ops(Backend::cuda, 80), nullptr);
}

TEST_F(SimtMma, Bf16) {
  check(
      &MmaOps::bf16, 6, [](int x) { return to_bf16(static_cast<float>(x)).bits; }, mma_expected_bf16);
}
TEST_F(SimtMma, F16) {
  check(
      &MmaOps::f16, 6, [](int x) { return static_cast<std::uint16_t>(simt::F16::rounded(x)); }, mma_expected_f16);
}
TEST_F(SimtMma, Tf32) {
  check(
      &MmaOps::tf32, 6, [](int x) { return static_cast<float>(x); }, mma_expected_tf32);
}
TEST_F(SimtMma, F64) {
  check(
      &MmaOps::f64, 16, [](int x) { return static_cast<double>(x); }, mma_expected_f64);
}
TEST_F(SimtMma, Int8) {
  check(
      &MmaOps::int8, 8, [](int x) { return static_cast<std::int8_t>(x); }, mma_expected_int8);
}
TEST_F(SimtMma, E4m3) { check_numbers(&MmaOps::e4m3, cancelling(0x38), 9, mma_expected_e4m3); }
TEST_F(SimtMma, E5m2) { check_numbers(&MmaOps::e5m2, cancelling(0x3C), 9, mma_expected_e5m2); }
TEST_F(SimtMma, TableFp8IsFrom89On) {
  EXPECT_EQ(mma_ops(Backend::cuda, 86)->e4m3, nullptr);
  EXPECT_EQ(mma_ops(Backend::cuda, 86)->e5m2, nullptr);
  EXPECT_NE(mma_ops(Backend::cuda, 86)->bf16, nullptr);
  EXPECT_NE(mma_ops(Backend::cuda, 89)->e4m3, nullptr);
  EXPECT_NE(mma_ops(Backend::cuda, 120)->e5m2, nullptr);
}

}  // namespace
}  // namespace assay::kernels
