// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// The clock stamps: multiprocessors have some, none is written beyond n, and between two of them no clock goes back.
// Which multiprocessor a block gets is up to the device, so one that is seen twice is enough; but this rig gives each of
// them one, and its cycles are so many to a nanosecond.
#include "kernels/sm_clock.h"

#include <gtest/gtest.h>

#include <vector>

#include "device_array.h"
#include "kernels/launches.h"
#include "runtime/rig.h"
#include "runtime/simulated_time.h"

namespace assay::kernels {
namespace {

using simt::DeviceArray;

std::vector<SmClockStamp> stamps_of(std::size_t n) {
  DeviceArray<SmClockStamp> stamps(std::vector<SmClockStamp>(n, {7, 0}));
  simt::last_version<SmClockOps>()->stamp({1, nullptr}, stamps.data(), n);
  simt::succeed(cudaGetLastError());
  return stamps.values();
}

class SimtSmClock : public testing::Test {
 protected:
  void SetUp() override { simt::reset(); }
  void TearDown() override { simt::set_processors(2); }
};

TEST_F(SimtSmClock, MultiprocessorsHaveStamps) {
  for (const simt::Schedule schedule : simt::all_schedules) {
    simt::set_schedule(schedule);
    simt::set_processors(5);
    constexpr std::size_t room = 256;  // a GPU has more multiprocessors than five, and takes those that it likes
    const std::uint64_t began = simt::simulated_ns;
    const std::vector<SmClockStamp> before = stamps_of(room), after = stamps_of(room);
    const bool is_simt = simt::simulated_ns != began;  // others that run this test have clocks of their own
    int seen_twice = 0;
    for (std::size_t i = 0; i < room; ++i) {
      if (before[i].ns == 0 || after[i].ns == 0) continue;
      ++seen_twice;
      EXPECT_GE(after[i].ns, before[i].ns) << i;
      EXPECT_GE(after[i].cycles, before[i].cycles) << i;
      if (!is_simt) continue;
      EXPECT_GT(before[i].ns, began) << i;
      EXPECT_GT(after[i].ns, before[i].ns) << i;
      // Looked at one after the other, in either order.
      const std::uint64_t cycles = after[i].ns * simt::cycles_per_ns;
      EXPECT_NEAR(static_cast<double>(after[i].cycles), static_cast<double>(cycles), 2 * simt::look_ns) << i;
    }
    EXPECT_GE(seen_twice, is_simt ? 5 : 1);
    EXPECT_EQ(stamps_of(3).size(), 3u);  // a write of the fourth would be a fault
  }
}

TEST_F(SimtSmClock, NothingIsDoneForNoStamps) {
  const std::uint64_t launched = launches();
  simt::last_version<SmClockOps>()->stamp({1, nullptr}, nullptr, 0);
  EXPECT_EQ(launches(), launched);
  EXPECT_EQ(stamps_of(1).size(), 1u);
  EXPECT_EQ(launches(), launched + 1);
  EXPECT_EQ(sm_clock_ops(Backend::cpu), nullptr);
}

}  // namespace
}  // namespace assay::kernels
