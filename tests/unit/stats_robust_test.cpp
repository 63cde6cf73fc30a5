// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Robust summaries against numpy 2.4.6 and scipy 1.17.1; intervals of quantiles also by their coverage.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "harness/base/error.h"
#include "harness/stats/distributions.h"
#include "harness/stats/robust.h"
#include "tests/unit/stats_near.h"

namespace assay::stats {
namespace {

const std::vector<double> values{9.8, 10.4, 10.1, 12.9, 9.9, 10.0, 10.2, 10.7, 9.7, 10.3, 10.05};

TEST(StatsRobust, QuantilesAndScale) {
  for (double q : {0.0, 0.2, 0.5, 0.77, 1.0}) {
    std::vector<double> sorted = values;
    std::sort(sorted.begin(), sorted.end());
    EXPECT_DOUBLE_EQ(quantile(values, q), sorted_quantile(sorted, q)) << q;
  }
  expect_relative(quantile(values, 0.77), 10.370000000000001);  // numpy.quantile(values, .77)
  EXPECT_EQ(median(values), 10.1);
  EXPECT_EQ(median(std::vector<double>{4, 1, 3, 2}), 2.5);
  expect_relative(scaled_mad(values), 0.29652044370112196);  // median_abs_deviation(values, scale='normal')
}

TEST(StatsRobust, OneWildValueMovesNothingMuch) {
  std::vector<double> wild = values;
  wild[3] = 1e9;
  EXPECT_EQ(median(wild), median(values));
  EXPECT_EQ(scaled_mad(wild), scaled_mad(values));
}

// scipy.stats.quantile_test(1..30, q=1, p=.2).confidence_interval(.95) and so on.
TEST(StatsRobust, IntervalOfAQuantileIsTwoOrderStatistics) {
  std::vector<double> ranks(30);
  std::iota(ranks.begin(), ranks.end(), 1);
  std::reverse(ranks.begin(), ranks.end());
  const auto check = [&](double q, double confidence, double low, double high) {
    const auto interval = quantile_interval(ranks, q, confidence);
    ASSERT_TRUE(interval) << q;
    EXPECT_EQ(interval->low, low) << q;
    EXPECT_EQ(interval->high, high) << q;
  };
  check(0.2, 0.95, 2.0, 12.0);
  check(0.5, 0.99, 8.0, 23.0);
  check(0.9, 0.9, 24.0, 30.0);
}

TEST(StatsRobust, IntervalsKeepTheirCoverage) {
  for (std::size_t n : {8U, 9U, 50U, 500U})
    for (double q : {0.3, 0.5}) {
      std::vector<double> ranks(n);
      std::iota(ranks.begin(), ranks.end(), 1);
      const auto interval = quantile_interval(ranks, q, 0.9);
      if (!interval) continue;
      const auto below = static_cast<std::ptrdiff_t>(interval->low),
                 above = static_cast<std::ptrdiff_t>(interval->high);
      EXPECT_GE(binomial_cdf(above - 1, n, q) - binomial_cdf(below - 1, n, q), 0.9) << n << " " << q;
      // One rank closer on either side would leave too much outside.
      EXPECT_GT(binomial_cdf(below, n, q), 0.05) << n << " " << q;
      EXPECT_GT(1 - binomial_cdf(above - 2, n, q), 0.05) << n << " " << q;
    }
}

TEST(StatsRobust, TheMedianNeedsSixValuesForNinetyFivePercent) {
  EXPECT_FALSE(quantile_interval(std::vector<double>{1, 2, 3, 4, 5}, 0.5, 0.95));
  EXPECT_TRUE(quantile_interval(std::vector<double>{1, 2, 3, 4, 5, 6}, 0.5, 0.95));
  EXPECT_FALSE(quantile_interval({}, 0.5, 0.95));
}

TEST(StatsRobust, BadInputIsAnError) {
  EXPECT_THROW(median({}), Error);
  EXPECT_THROW(median(std::vector<double>{1, nan}), Error);
  EXPECT_THROW(quantile(values, 1.1), Error);
  EXPECT_THROW(quantile(values, nan), Error);
  EXPECT_THROW(scaled_mad(std::vector<double>{infinity}), Error);
  EXPECT_THROW(quantile_interval(values, 0.5, 1), Error);
  EXPECT_EQ(scaled_mad(std::vector<double>{7, 7, 7, 9}), 0);
}

TEST(StatsRobust, AMillionValues) {
  std::vector<double> many(1000000);
  for (std::size_t i = 0; i < many.size(); ++i) many[i] = static_cast<double>(i * 7919 % many.size());
  EXPECT_EQ(median(many), 499999.5);
  const auto interval = quantile_interval(many, 0.5, 0.95);
  ASSERT_TRUE(interval);
  EXPECT_NEAR(interval->low, 499019, 2);  // 500000 - 1.96 * 500
  EXPECT_NEAR(interval->high, 500980, 2);
}

}  // namespace
}  // namespace assay::stats
