// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Autocorrelation and errors of means against statsmodels 0.15.0 (acf; OLS on a constant with HAC covariance and its
// small-sample correction) and against what AR(1) theory says of long series.
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "harness/base/error.h"
#include "harness/stats/serial.h"
#include "tests/unit/stats_near.h"

namespace assay::stats {
namespace {

const std::vector<double> series{.2, .5, .4, .9, .7, .3, .1, -.2, -.4, -.1, .3, .6, .8, .7, .2, -.3, -.5, -.2, .1, .4};

std::vector<double> ar1(double rho, std::size_t n, unsigned seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::vector<double> values(n);
  double value = normal(random);
  for (double& v : values) {
    v = value;
    value = rho * value + std::sqrt(1 - rho * rho) * normal(random);
  }
  return values;
}

TEST(StatsSerial, Autocorrelation) {  // acf(series, fft=False)
  expect_relative(*autocorrelation(series, 0), 1);
  expect_relative(*autocorrelation(series, 1), 0.6967754467754467);
  expect_relative(*autocorrelation(series, 3), -0.4007381507381507);
}

TEST(StatsSerial, BartlettIsNeweyWest) {  // OLS(series, 1).fit(cov_type='HAC', maxlags=2, use_correction=True).bse
  const auto mean = mean_bartlett(series);
  ASSERT_TRUE(mean);
  expect_relative(mean->mean, 0.225);
  expect_relative(mean->error, 0.13109692410110896);
}

TEST(StatsSerial, Ar1) {
  const auto mean = mean_ar1(series);
  const double n = 20, rho = mean->rho + (1 + 3 * mean->rho) / n;
  expect_relative(mean->effective_n, n * (1 - rho) / (1 + rho));
}

TEST(StatsSerial, CorrelatedSamplesAreWorthLess) {
  const std::vector<double> correlated = ar1(0.8, 100000, 1);
  // n (1 - 0.8) / (1 + 0.8) = n / 9
  EXPECT_NEAR(mean_ar1(correlated)->effective_n, 100000 / 9.0, 300);
  EXPECT_NEAR(mean_ar1(correlated)->error, 3 / std::sqrt(100000.0), 0.0002);
  // 18 lags see most of it, not all.
  EXPECT_GT(mean_bartlett(correlated)->effective_n, 100000 / 9.0);
  EXPECT_LT(mean_bartlett(correlated)->effective_n, 100000 / 6.0);
}

TEST(StatsSerial, NegativeCorrelationIsNoBonus) {
  const std::vector<double> alternating = ar1(-0.6, 1000, 2);
  EXPECT_EQ(mean_ar1(alternating)->effective_n, 1000);
  EXPECT_EQ(mean_bartlett(alternating)->effective_n, 1000);
}

TEST(StatsSerial, BlocksGrowUntilNeighboursAreStrangers) {
  EXPECT_EQ(block_length(ar1(0, 2000, 3)), 1U);
  const auto length = block_length(ar1(0.8, 500000, 4));
  ASSERT_TRUE(length);
  EXPECT_EQ(*length, 16U);  // theory: 0.32 at 8, 0.16 at 16
  std::vector<double> drifting(2000);
  for (std::size_t i = 0; i < drifting.size(); ++i) drifting[i] = static_cast<double>(i);
  EXPECT_FALSE(block_length(drifting));
  EXPECT_FALSE(block_length(ar1(0, 15, 5)));
}

TEST(StatsSerial, BadInput) {
  EXPECT_FALSE(autocorrelation(std::vector<double>{1, 2}, 1));
  EXPECT_FALSE(autocorrelation(series, 20));
  EXPECT_FALSE(mean_ar1(std::vector<double>{1, 2}));
  EXPECT_FALSE(mean_bartlett({}));
  EXPECT_THROW(mean_ar1(std::vector<double>{1, 2, nan}), Error);
  EXPECT_THROW(block_length(std::vector<double>{1, 2, infinity}), Error);
  const std::vector<double> equal(50, 0.1);
  EXPECT_EQ(*autocorrelation(equal, 1), 0);
  EXPECT_EQ(mean_ar1(equal)->error, 0);
  EXPECT_EQ(mean_bartlett(equal)->error, 0);
  EXPECT_EQ(block_length(equal), 1U);
  EXPECT_GT(mean_bartlett(ar1(0.5, 1000000, 6))->error, 0);
}

}  // namespace
}  // namespace assay::stats
