// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Slopes against scipy 1.17.1 (theilslopes), trends against pymannkendall 1.4.3 (original_test).
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "harness/base/error.h"
#include "harness/stats/trend.h"
#include "tests/unit/stats_near.h"

namespace assay::stats {
namespace {

std::vector<double> counted(std::size_t n) {
  std::vector<double> x(n);
  std::iota(x.begin(), x.end(), 0);
  return x;
}
const std::vector<double> y{1.0, 1.2, 0.9, 1.5, 1.7, 1.7, 1.6, 2.1, 2.0, 2.6, 2.2, 2.9};

void expect_trend(const std::optional<Trend>& trend, double slope, double intercept, double low, double high) {
  ASSERT_TRUE(trend);
  EXPECT_NEAR(trend->slope, slope, 1e-12);
  EXPECT_NEAR(trend->intercept, intercept, 1e-12);
  EXPECT_NEAR(trend->low, low, 1e-12);
  EXPECT_NEAR(trend->high, high, 1e-12);
}

TEST(StatsTrend, TheilSen) {  // theilslopes(y, x, level)
  expect_trend(theil_sen(counted(12), y, 0.95), 0.16458333333333336, 0.7947916666666665, 0.10000000000000009,
               0.19999999999999996);
  expect_trend(theil_sen(counted(12), y, 0.99), 0.16458333333333336, 0.7947916666666665, 0.1, 0.2222222222222222);
}

TEST(StatsTrend, TheilSenWithTies) {
  const std::vector<double> tied_x{0, 0, 1, 2, 2, 3, 5, 8}, tied_y{1, 2, 2, 3, 1, 5, 6, 9};
  expect_trend(theil_sen(tied_x, tied_y, 0.9), 1.0, 0.5, 0.8, 1.0);
}

TEST(StatsTrend, ManyPointsAreThinnedAndSaySo) {
  std::vector<double> x = counted(1000000), line(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) line[i] = 3 + 0.5 * x[i] + (i % 100 == 7 ? 1e6 : 0);  // 1 % wild
  const auto trend = theil_sen(x, line);
  ASSERT_TRUE(trend);
  EXPECT_EQ(trend->points, 1000U);
  expect_relative(trend->slope, 0.5);
  EXPECT_NEAR(trend->intercept, 3, 5);
  EXPECT_LE(trend->low, trend->slope);
  EXPECT_GE(trend->high, trend->slope);
}

TEST(StatsTrend, NotEnoughOrNothingToSee) {
  EXPECT_FALSE(theil_sen(std::vector<double>{1, 2}, std::vector<double>{1, 2}));
  EXPECT_FALSE(theil_sen(std::vector<double>{1, 1, 1}, std::vector<double>{1, 2, 3}));
  EXPECT_EQ(theil_sen(counted(5), std::vector<double>(5, 2.0))->slope, 0);
  EXPECT_THROW(theil_sen(std::vector<double>{3, 2, 1}, std::vector<double>{1, 2, 3}), Error);
  EXPECT_THROW(theil_sen(counted(3), counted(4)), Error);
  EXPECT_THROW(theil_sen(counted(3), std::vector<double>{1, nan, 3}), Error);
  EXPECT_THROW(theil_sen(counted(3), std::vector<double>{-1e308, 1e308, 1e308}), Error);  // slopes overflow
  EXPECT_THROW(theil_sen(counted(3), counted(3), 1), Error);
}

TEST(StatsTrend, MannKendall) {
  const auto rising = mann_kendall(y);  // original_test(y): s, z, p
  ASSERT_TRUE(rising);
  EXPECT_EQ(rising->s, 53.0);
  expect_relative(rising->z, 3.574185662442048);
  expect_relative(rising->p, 0.0003513195861587747);
  const auto tied = mann_kendall(std::vector<double>{5, 5, 5, 4, 6, 5, 5, 7, 3, 5});
  EXPECT_EQ(tied->s, 0.0);
  expect_relative(tied->z, 0.0);
  expect_relative(tied->p, 1.0);
  EXPECT_EQ(mann_kendall(std::vector<double>(8, 1.0))->p, 1);
  EXPECT_EQ(mann_kendall(std::vector<double>{4, 3, 2, 1})->s, -6);
  EXPECT_FALSE(mann_kendall(std::vector<double>{1, 2, 3}));
  EXPECT_THROW(mann_kendall(std::vector<double>{1, 2, 3, nan}), Error);
  EXPECT_EQ(mann_kendall(counted(1000000))->s, 1e6 * (1e6 - 1) / 2);
}

}  // namespace
}  // namespace assay::stats
