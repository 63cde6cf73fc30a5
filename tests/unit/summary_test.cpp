// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Order statistics against values worked out by hand (type 7 of Hyndman and Fan, which is also R's and NumPy's
// default).
#include "harness/stats/summary.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace assay {
namespace {

TEST(Summary, OfFiveNumbersInAnyOrder) {
  const Summary s = summarise({5, 1, 4, 2, 3});
  EXPECT_EQ(s.n, 5U);
  EXPECT_DOUBLE_EQ(s.min, 1);
  EXPECT_DOUBLE_EQ(s.q1, 2);
  EXPECT_DOUBLE_EQ(s.median, 3);
  EXPECT_DOUBLE_EQ(s.q3, 4);
  EXPECT_DOUBLE_EQ(s.max, 5);
  EXPECT_DOUBLE_EQ(s.p5, 1.2);
  EXPECT_DOUBLE_EQ(s.p95, 4.8);
  EXPECT_DOUBLE_EQ(s.p99, 4.96);
  EXPECT_DOUBLE_EQ(s.mean, 3);
  EXPECT_DOUBLE_EQ(s.sd, std::sqrt(2.5));
  EXPECT_DOUBLE_EQ(s.cv, std::sqrt(2.5) / 3);
}

TEST(Summary, OfAnEvenCountInterpolates) { EXPECT_DOUBLE_EQ(summarise({1, 2, 3, 10}).median, 2.5); }

TEST(Summary, OfOneNumberHasNoDeviation) {
  const Summary s = summarise({7});
  EXPECT_DOUBLE_EQ(s.median, 7);
  EXPECT_DOUBLE_EQ(s.p99, 7);
  EXPECT_TRUE(std::isnan(s.sd));
}

TEST(Summary, OfNothingIsNothing) {
  EXPECT_EQ(summarise({}).n, 0U);
  EXPECT_TRUE(std::isnan(summarise({}).median));
}

TEST(Summary, LeavesOutWhatIsNoNumber) {
  const Summary s =
      summarise({1, std::numeric_limits<double>::quiet_NaN(), 3, std::numeric_limits<double>::infinity()});
  EXPECT_EQ(s.n, 2U);
  EXPECT_DOUBLE_EQ(s.median, 2);
}

}  // namespace
}  // namespace assay
