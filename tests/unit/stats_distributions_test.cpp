// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Distributions against scipy 1.17.1 (the call stands beside each number), and the noncentral t against mpmath 1.4.1
// (integral of the normal cdf over the density of chi / sqrt df, 30 digits), because newer scipy uses Boost itself.
#include <gtest/gtest.h>

#include "harness/base/error.h"
#include "harness/stats/distributions.h"
#include "tests/unit/stats_near.h"

namespace assay::stats {
namespace {

TEST(StatsDistributions, Normal) {
  expect_relative(normal_cdf(-10), 7.61985302416047e-24);       // norm.cdf(-10)
  expect_relative(normal_upper(10), 7.61985302416047e-24);      // norm.sf(10)
  expect_relative(normal_quantile(0.99), 2.3263478740408408);   // norm.ppf(.99)
  expect_relative(normal_quantile(1e-12), -7.034483825301131);  // norm.ppf(1e-12)
  EXPECT_DOUBLE_EQ(normal_cdf(0), 0.5);
}

TEST(StatsDistributions, StudentsT) {
  expect_relative(t_quantile(0.99, 8), 2.896459447709622);     // t.ppf(.99, 8)
  expect_relative(t_quantile(0.99, 1), 31.820515953773935);    // t.ppf(.99, 1)
  expect_relative(t_quantile(1e-6, 3), -103.29946778041935);   // t.ppf(1e-6, 3)
  expect_relative(t_quantile(0.975, 1e6), 1.959966356814107);  // t.ppf(.975, 1e6)
  expect_relative(t_quantile(0.9, 7.25), 1.409884895325902);   // t.ppf(.9, 7.25)
  expect_relative(t_cdf(2.5, 8), 0.981528981143188);           // t.cdf(2.5, 8)
  expect_relative(t_cdf(-40, 4), 1.1670081613006339e-06);      // t.cdf(-40, 4)
}

TEST(StatsDistributions, NoncentralT) {
  expect_relative(noncentral_t_cdf(2.896, 8, 4), 0.165504520806246);
  expect_relative(noncentral_t_cdf(3.747, 4, 5), 0.18036006481292688);
  expect_relative(noncentral_t_cdf(2.5, 14, 5), 0.010905448324345387);
  expect_relative(noncentral_t_quantile(0.95, 9, 3), 5.8788324054527755);
  expect_relative(noncentral_t_quantile(0.05, 9, 3), 1.3143003844424864);
}

TEST(StatsDistributions, FAndBinomial) {
  expect_relative(f_upper(4.2, 2, 12), 0.041429192807278956);           // f.sf(4.2, 2, 12)
  expect_relative(binomial_cdf(3, 10, 0.5), 0.171875);                  // 176 / 1024
  expect_relative(binomial_cdf(180, 1000, 0.2), 0.060190049759396236);  // binom.cdf(180, 1000, .2)
  EXPECT_EQ(binomial_cdf(-1, 10, 0.5), 0);
  EXPECT_EQ(binomial_cdf(10, 10, 0.5), 1);
  EXPECT_EQ(binomial_cdf(0, 0, 0.5), 1);
}

TEST(StatsDistributions, OutsideTheDomainIsAnError) {
  for (double p : {0.0, 1.0, -0.1, 2.0, nan}) {
    EXPECT_THROW(normal_quantile(p), Error) << p;
    EXPECT_THROW(t_quantile(p, 5), Error) << p;
    EXPECT_THROW(noncentral_t_quantile(p, 5, 1), Error) << p;
  }
  for (double df : {0.0, -1.0, nan, infinity}) {
    EXPECT_THROW(t_quantile(0.9, df), Error) << df;
    EXPECT_THROW(t_cdf(1, df), Error) << df;
    EXPECT_THROW(noncentral_t_cdf(1, df, 1), Error) << df;
  }
  EXPECT_THROW(normal_cdf(nan), Error);
  EXPECT_THROW(t_cdf(nan, 5), Error);
  EXPECT_THROW(f_upper(-1, 2, 3), Error);
  EXPECT_THROW(binomial_cdf(1, 2, nan), Error);
}

}  // namespace
}  // namespace assay::stats
