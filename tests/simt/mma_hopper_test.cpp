// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// The tensor cores' peak by warpgroups against the closed form, as mma_test.cpp does it for warps: all types, two
// blocks, sums that add up over runs. Numbers differ in each place.
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "device_array.h"
#include "kernels/bits.h"
#include "kernels/mma.h"
#include "kernels/philox.h"
#include "runtime/rig.h"
#include "runtime/simulated_time.h"
#include "simt/half.h"

namespace assay::kernels {
namespace {

using simt::DeviceArray;

class SimtMmaHopper : public testing::Test {
 protected:
  void SetUp() override { simt::reset(); }
};

const CudaVersion<MmaOps>& version_called(const std::string& name) {
  for (const CudaVersion<MmaOps>& version : cuda_versions<MmaOps>) {
    if (version.name == name) return version;
  }
  ADD_FAILURE() << "no version " << name;
  std::abort();
}

template <class In, class Out, class Bits, class Numbers, class Expected>
void check(const char* version, simt::Schedule schedule, std::size_t blocks,
           const MmaRow<In, Out, Bits>* MmaOps::*which, const Numbers& number, const Expected& expected_of) {
  SCOPED_TRACE(std::string(version) + ", " + simt::name_of(schedule));
  simt::set_schedule(schedule);
  const MmaRow<In, Out, Bits>& row = *(version_called(version).ops->*which);
  std::vector<In> a(row.warps * row.m * row.k), b(row.chains * row.n * row.k);
  std::vector<Out> c(row.elements(blocks));
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = number(1, i / row.k, i % row.k);
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = number(2, i / row.k, i % row.k);
  for (std::size_t i = 0; i < c.size(); ++i) c[i] = static_cast<Out>(odd_of(u32_at({3, 3}, i), 9));
  std::vector<Bits> expected(c.size());
  expected_of(row, blocks, 2, a.data(), b.data(), c.data(), expected.data());
  DeviceArray<In> device_a(a), device_b(b);
  DeviceArray<Out> device_c(c);
  DeviceArray<Bits> sums(std::vector<Bits>(c.size(), 0));
  const std::uint64_t began = simt::simulated_ns;
  for (const std::size_t passes : {2, 0}) {
    row.run({static_cast<int>(blocks), nullptr}, passes, device_a.data(), device_b.data(), device_c.data(),
            sums.data());
  }
  simt::succeed(cudaGetLastError());
  ASSERT_EQ(sums.values(), expected);
  // The simulated clock counts products: without them a run over assay-worker-simt would do too many. It stands still
  // in the PTX rig, which runs this test, too.
  if (simt::simulated_ns == began) return;
  EXPECT_GT(simt::simulated_ns - began, 2 * mma_steps * c.size() * row.k * sizeof(In) / simt::product_bytes_per_ns);
}

// Odd integers of `bits` bits; `make` makes an In of one.
template <class Make>
auto odd(int bits, Make make) {
  return [=](std::uint32_t stream, std::size_t row, std::size_t k) {
    return make(odd_of(u32_at({3, stream}, row * 64 + k), bits));
  };
}

auto odd_bf16() {
  return odd(5, [](int x) { return to_bf16(static_cast<float>(x)).bits; });
}

TEST_F(SimtMmaHopper, Bf16) {
  check("wgmma_64", simt::Schedule::random, 2, &MmaOps::bf16, odd_bf16(), mma_expected_bf16);
}
TEST_F(SimtMmaHopper, LargeProductsOfBf16) {  // tests/ptx can run the small ones only
  check("wgmma_256", simt::Schedule::reverse, 1, &MmaOps::bf16, odd_bf16(), mma_expected_bf16);
}
TEST_F(SimtMmaHopper, F16) {
  const auto number = odd(5, [](int x) { return static_cast<std::uint16_t>(simt::F16::rounded(x)); });
  check("wgmma_64", simt::Schedule::priority, 1, &MmaOps::f16, number, mma_expected_f16);
  check("wgmma_256", simt::Schedule::in_order, 1, &MmaOps::f16, number, mma_expected_f16);
}
TEST_F(SimtMmaHopper, Tf32) {
  const auto number = odd(5, [](int x) { return static_cast<float>(x); });
  check("wgmma_64", simt::Schedule::reverse, 1, &MmaOps::tf32, number, mma_expected_tf32);
  check("wgmma_256", simt::Schedule::priority, 1, &MmaOps::tf32, number, mma_expected_tf32);
}
TEST_F(SimtMmaHopper, Int8) {
  const auto number = odd(8, [](int x) { return static_cast<std::int8_t>(x); });
  check("wgmma_64", simt::Schedule::in_order, 1, &MmaOps::int8, number, mma_expected_int8);
  check("wgmma_256", simt::Schedule::random, 1, &MmaOps::int8, number, mma_expected_int8);
}

// Ones with signs, so that sums stay below 2^13 (mma.h): rows of a Hadamard matrix, of which A has others than B, with
// a place flipped in each row of A and of B. A dot product is then -4, -2, 0, 2 or 4.
TEST_F(SimtMmaHopper, E4m3) {
  const auto number = [](std::uint32_t stream, std::size_t row, std::size_t k) {
    const std::size_t line = row % 16 + (stream == 1 ? 0 : 16);
    const bool flipped = u32_at({4, stream}, row) % 32 == k;
    const bool negative = (__builtin_popcountll(line & k) % 2 != 0) != flipped;
    return static_cast<std::uint8_t>(negative ? 0xB8 : 0x38);
  };
  check("wgmma_64", simt::Schedule::random, 1, &MmaOps::e4m3, number, mma_expected_e4m3);
  check("wgmma_256", simt::Schedule::in_order, 1, &MmaOps::e4m3, number, mma_expected_e4m3);
}

TEST_F(SimtMmaHopper, TableIsFor90AndNothingElse) {
  EXPECT_STREQ(cuda_versions<MmaOps>.find(90)->name, "wgmma_256");
  EXPECT_STREQ(cuda_versions<MmaOps>.find(90, &MmaOps::bf16)->name, "wgmma_256");
  EXPECT_STREQ(cuda_versions<MmaOps>.find(90, &MmaOps::f64)->name, "eight") << "there is no wgmma of f64";
  EXPECT_STREQ(cuda_versions<MmaOps>.find(89)->name, "eight");
  EXPECT_STREQ(cuda_versions<MmaOps>.find(100)->name, "eight");
}

}  // namespace
}  // namespace assay::kernels
