// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// The bf16 matrix product for 9.0 against the CPU row, bit by bit, in every schedule: sizes around tiles, stages and
// the ring, tails in each direction, several tiles for a block, groups of tiles.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "device_array.h"
#include "gemm_numbers.h"
#include "kernels/gemm_bf16.h"
#include "runtime/rig.h"

namespace assay::kernels {
namespace {

using simt::DeviceArray;
using simt::GemmNumbers;

class SimtGemmHopper : public testing::Test {
 protected:
  void SetUp() override { simt::reset(); }
  void TearDown() override { simt::set_processors(2); }
};

std::vector<const CudaVersion<GemmBf16Ops>*> versions_of_this_file() {
  std::vector<const CudaVersion<GemmBf16Ops>*> found;
  for (const CudaVersion<GemmBf16Ops>& version : cuda_versions<GemmBf16Ops>) {
    if (version.from == 90) found.push_back(&version);
  }
  EXPECT_EQ(found.size(), 2u);
  return found;
}

void check(GemmShape shape, const std::vector<simt::Schedule>& schedules, std::size_t offset_out = 0) {
  const GemmNumbers numbers(shape);
  for (const simt::Schedule schedule : schedules) {
    simt::set_schedule(schedule, shape.m + shape.k);
    for (const CudaVersion<GemmBf16Ops>* version : versions_of_this_file()) {
      SCOPED_TRACE(std::string(version->name) + ", " + simt::name_of(schedule));
      numbers.check(*version->ops, 0, offset_out);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

const std::vector<simt::Schedule> every(std::begin(simt::all_schedules), std::end(simt::all_schedules));

// A stage is 64 of k; there are four or six of them.
TEST_F(SimtGemmHopper, TheRingInEverySchedule) { check({130, 66, 64 * 9 + 8}, every); }

TEST_F(SimtGemmHopper, TailsInEachDirection) {
  check({1, 1, 8}, every);
  check({65, 257, 72}, {simt::Schedule::reverse});
  check({127, 255, 128}, {simt::Schedule::priority});
  check({128, 256, 64}, {simt::Schedule::random}, 1);  // C off the boundary of two floats
}

TEST_F(SimtGemmHopper, ABlockTakesSeveralTiles) {
  check({200, 520, 136}, {simt::Schedule::random, simt::Schedule::priority});
}

// Eighteen rows of tiles: a group of sixteen, and one of two.
TEST_F(SimtGemmHopper, GroupsOfTiles) {
  simt::set_processors(5);
  check({128 * 17 + 3, 300, 8}, {simt::Schedule::in_order});
}

// Each is refused, and C keeps what it had.
TEST_F(SimtGemmHopper, RefusesWhatTheCopyEngineCannotTake) {
  const GemmNumbers numbers({3, 4, 16});
  DeviceArray<std::uint16_t> a(numbers.a), b(numbers.b);
  DeviceArray<float> c(std::vector<float>(12, -1.0F));
  for (const CudaVersion<GemmBf16Ops>* version : versions_of_this_file()) {
    const auto is_refused = [&](GemmShape s, const std::uint16_t* from_a, const std::uint16_t* from_b) {
      return !version->ops->supports(s, from_a, from_b, c.data()) &&
             !version->ops->run({1, nullptr}, s, from_a, from_b, c.data());
    };
    EXPECT_TRUE(is_refused({3, 4, 12}, a.data(), b.data()));
    EXPECT_TRUE(is_refused({3, 4, 0}, a.data(), b.data()));
    EXPECT_TRUE(is_refused({3, 4, 8}, a.data() + 4, b.data()));
    EXPECT_TRUE(is_refused({3, 4, 8}, a.data(), b.data() + 4));
    EXPECT_TRUE(is_refused({3, 4, 8}, nullptr, b.data()));
    EXPECT_TRUE(is_refused({std::size_t{1} << 31, 1, 8}, a.data(), b.data()));
    EXPECT_TRUE(version->ops->run({1, nullptr}, {0, 4, 8}, nullptr, b.data(), nullptr));
  }
  simt::succeed(cudaGetLastError());
  EXPECT_EQ(c.values(), std::vector<float>(12, -1.0F));
}

TEST_F(SimtGemmHopper, TableIsFor90AndNothingElse) {
  EXPECT_STREQ(cuda_versions<GemmBf16Ops>.find(90)->name, "tiles_256");
  EXPECT_STREQ(cuda_versions<GemmBf16Ops>.find(89)->name, "pipeline");
  EXPECT_STREQ(cuda_versions<GemmBf16Ops>.find(100)->name, "pipeline");
}

}  // namespace
}  // namespace assay::kernels
