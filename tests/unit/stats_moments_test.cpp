// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "harness/stats/moments.h"

namespace assay::stats {
namespace {

TEST(StatsMoments, ByHand) {
  const std::vector<double> values{1, 2, 4, 9};
  EXPECT_EQ(mean_of(values), 4);
  EXPECT_EQ(squares_of(values), 9 + 4 + 0 + 25);
  EXPECT_DOUBLE_EQ(sd_of(values), std::sqrt(38.0 / 3));
}

TEST(StatsMoments, OfTooFewNothingIsMadeUp) {
  EXPECT_TRUE(std::isnan(mean_of({})));
  EXPECT_EQ(squares_of({}), 0);
  EXPECT_TRUE(std::isnan(sd_of({})));
  EXPECT_TRUE(std::isnan(sd_of(std::vector<double>{7})));
}

}  // namespace
}  // namespace assay::stats
