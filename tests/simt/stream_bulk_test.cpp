// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Streaming by bulk copies against the CPU row in every schedule: sizes around tiles, the ring and the grid, arrays off
// the 16-byte boundary by the same and by different amounts.
#include <gtest/gtest.h>

#include <string>

#include "runtime/rig.h"
#include "stream_checks.h"

namespace assay::kernels {
namespace {

template <typename T>
class SimtStreamBulk : public testing::Test {
 protected:
  void SetUp() override { simt::reset(); }

  static const StreamOps<T>& ops() {
    for (const auto& version : cuda_versions<StreamOps<T>>) {
      if (std::string(version.name) == "bulk") return *version.ops;
    }
    ADD_FAILURE() << "no version bulk";
    std::abort();
  }
};

using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(SimtStreamBulk, Types);

// Six blocks are the grid; a tile is 16 KiB, or 8 of each array where there are two.
TYPED_TEST(SimtStreamBulk, EqualsTheCpuRowInEverySchedule) {
  constexpr std::size_t tile = (16 << 10) / sizeof(TypeParam);
  for (const simt::Schedule schedule : simt::all_schedules) {
    simt::set_schedule(schedule);
    SCOPED_TRACE(simt::name_of(schedule));
    for (const std::size_t n : {std::size_t{1}, std::size_t{5}, tile - 1, 2 * tile + 3}) {
      ASSERT_NO_FATAL_FAILURE(check_stream(this->ops(), {n, {0, 0, 0}, Stores::regular, 1}));
      ASSERT_NO_FATAL_FAILURE(check_stream(this->ops(), {n, {1, 1, 1}, Stores::non_temporal, 6}));
    }
    ASSERT_NO_FATAL_FAILURE(check_stream(this->ops(), {31 * tile + 5, {0, 0, 0}, Stores::regular, 1}));
    ASSERT_NO_FATAL_FAILURE(check_stream(this->ops(), {tile, {0, 1, 1}, Stores::regular, 2}));
    ASSERT_NO_FATAL_FAILURE(check_stream(this->ops(), {tile, {1, 1, 0}, Stores::regular, 2}));
  }
}

TYPED_TEST(SimtStreamBulk, DoesNothingForNoElementsAndNoIterations) { check_that_nothing_is_done(this->ops()); }
TYPED_TEST(SimtStreamBulk, CopyKeepsNanPayloads) { check_nan_payloads(this->ops()); }
TYPED_TEST(SimtStreamBulk, ReadSeesEveryElement) { check_that_read_sees_every_element(this->ops()); }

TYPED_TEST(SimtStreamBulk, TableIsTheRowFrom90On) {
  const auto& versions = cuda_versions<StreamOps<TypeParam>>;
  EXPECT_STREQ(versions.find(89)->name, "deep");
  EXPECT_STREQ(versions.find(90)->name, "bulk");
  EXPECT_STREQ(versions.find(120)->name, "bulk");
}

}  // namespace
}  // namespace assay::kernels
