// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// What a CPU's room is compared with, and one real reading.
#include "harness/worker/clock_watch.h"

#include <gtest/gtest.h>

#include "harness/device/device.h"
#include "harness/worker/placement.h"

namespace assay {
namespace {

TEST(BestIssue, EachCpuIsComparedWithItself) {
  BestIssue best;
  EXPECT_DOUBLE_EQ(best.share(0, 2.0), 1);
  EXPECT_DOUBLE_EQ(best.share(7, 1.0), 1) << "a small core is not a shared one";
  EXPECT_DOUBLE_EQ(best.share(0, 1.0), 0.5);
  EXPECT_DOUBLE_EQ(best.share(7, 1.0), 1);
}

TEST(BestIssue, ABetterReadingRaisesTheMeasure) {
  BestIssue best;
  EXPECT_DOUBLE_EQ(best.share(0, 1.0), 1);
  EXPECT_DOUBLE_EQ(best.share(0, 2.0), 1);
  EXPECT_DOUBLE_EQ(best.share(0, 1.0), 0.5);
}

TEST(BestIssue, AMisreadClockDoesNotBecomeTheMeasure) {
  BestIssue best;
  EXPECT_DOUBLE_EQ(best.share(0, 30.0), 0) << "no core does that: all its clock chains were preempted";
  EXPECT_DOUBLE_EQ(best.share(0, 1.9), 1);
}

TEST(BestIssue, NothingSeenIsNothingKnown) {
  BestIssue best;
  EXPECT_DOUBLE_EQ(best.share(0, 0), 0);
}

TEST(ClockWatch, ATeamHasOneClockAndOneRoom) {
  const std::vector<int> cpus = allowed_cpus();
  pin_team(cpus);
  ClockWatch watch(cpus);
  const ClockState state = watch.read();
  if (state.hertz == 0) GTEST_SKIP() << "no clock probe on this architecture";
  EXPECT_GT(state.hertz, 1e8);
  EXPECT_GT(state.issue_ratio, 0);
  EXPECT_LE(state.issue_ratio, 1);
}

// Later and lower readings take nothing back, and each counts for its own CPU.
TEST(ClockWatch, TheMostOfSeveralReadingsIsNoLessThanAnyOfThem) {
  ClockWatch watch({allowed_cpus().front()});
  EXPECT_EQ(watch.most_hertz(), 0);
  double most = 0;
  for (int i = 0; i < 20; ++i) most = std::max(most, watch.read().hertz);
  EXPECT_DOUBLE_EQ(watch.most_hertz(), most);
  EXPECT_EQ(ClockWatch({}).most_hertz(), 0);
}

TEST(ClockWatch, NoCpusNoClock) { EXPECT_EQ(ClockWatch({}).read().hertz, 0); }

}  // namespace
}  // namespace assay
