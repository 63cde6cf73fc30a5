// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Modes by hand and by how often chance makes them; Brown-Forsythe against scipy 1.17.1, levene(center='median').
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "harness/base/error.h"
#include "harness/stats/shape.h"
#include "tests/unit/stats_near.h"

namespace assay::stats {
namespace {

TEST(StatsShape, TwoModes) {
  const auto modes = find_modes(std::vector<double>{0.0, 1.5, 0.1, 1.6, 0.05, 0.02, 1.55});
  ASSERT_TRUE(modes);
  EXPECT_EQ(modes->low_count, 4U);
  EXPECT_EQ(modes->high_count, 3U);
  expect_relative(modes->low, 0.0425);
  expect_relative(modes->high, 1.55);
}

TEST(StatsShape, OneModeOrOneOutlierIsNoSecondMode) {
  EXPECT_FALSE(find_modes(std::vector<double>{0, 0.1, 0.2, 0.3, 0.4, 0.5}));
  EXPECT_FALSE(find_modes(std::vector<double>{0, 0.1, 0.2, 0.3, 0.4, 9}));
  EXPECT_FALSE(find_modes(std::vector<double>{1, 1, 1, 1, 1}));
  EXPECT_FALSE(find_modes(std::vector<double>{1, 2, 9}));
  EXPECT_TRUE(find_modes(std::vector<double>{1, 1, 1, 2, 2, 2}));
  EXPECT_THROW(find_modes(std::vector<double>{1, 2, 3, nan}), Error);
}

TEST(StatsShape, ChanceMakesModesOfFewValues) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal;
  const auto share = [&](std::size_t n) {
    int found = 0;
    for (int i = 0; i < 4000; ++i) {
      std::vector<double> values(n);
      for (double& v : values) v = normal(random);
      found += find_modes(values).has_value();
    }
    return found / 4000.0;
  };
  EXPECT_NEAR(share(6), 0.066, 0.02);
  EXPECT_LT(share(10), 0.015);
}

TEST(StatsShape, BrownForsythe) {
  const std::vector<std::vector<double>> groups{
      {1.1, 2.3, 1.9, 2.2, 1.7}, {2.0, 2.9, 1.2, 4.4, 0.3, 2.1}, {1.5, 1.4, 1.6, 1.9}};
  const auto test = brown_forsythe(groups);
  ASSERT_TRUE(test);
  expect_relative(test->f, 2.566446613088404);
  expect_relative(test->p, 0.11806012163111909);
  EXPECT_EQ(test->df1, 2);
  EXPECT_EQ(test->df2, 12);
}

TEST(StatsShape, BrownForsytheOfNothing) {
  EXPECT_FALSE(brown_forsythe({}));
  EXPECT_FALSE(brown_forsythe(std::vector<std::vector<double>>{{1, 2, 3}}));
  EXPECT_FALSE(brown_forsythe(std::vector<std::vector<double>>{{1, 2, 3}, {1}}));
  EXPECT_FALSE(brown_forsythe(std::vector<std::vector<double>>{{1, 1, 1}, {2, 2, 2}}));
  EXPECT_THROW(brown_forsythe(std::vector<std::vector<double>>{{1, nan}, {2, 3}}), Error);
}

std::vector<Session> with_spreads(const std::vector<double>& spreads) {
  std::vector<Session> sessions;
  for (double s : spreads) sessions.push_back({0, s, 1e-6, 20});
  return sessions;
}

TEST(StatsShape, SpreadChange) {
  const auto before = with_spreads({.0020, .0022, .0019, .0021, .0020}),
             after = with_spreads({.0061, .0058, .0060, .0066, .0059});
  const auto change = spread_change(before, after, 0.01);
  ASSERT_TRUE(change);
  EXPECT_NEAR(change->log_ratio, std::log(3.0), 0.02);
  EXPECT_GT(change->low, std::log(2.5));
  EXPECT_LT(change->high, std::log(3.5));
  EXPECT_NEAR(change->larger, 0.00608, 1e-9);
  const auto back = spread_change(after, before, 0.01);
  expect_relative(back->log_ratio, -change->log_ratio);
}

TEST(StatsShape, SpreadNeedsSamplesAndSessions) {
  const auto few = with_spreads({.002, .0021, .0019, .002});
  EXPECT_FALSE(spread_change(few, few, 0.01));
  std::vector<Session> thin = with_spreads({.002, .0021, .0019, .002, .0022});
  thin[2].samples = 7;
  EXPECT_FALSE(spread_change(thin, thin, 0.01));
  EXPECT_THROW(spread_change(with_spreads({nan}), few, 0.01), Error);
  EXPECT_FALSE(spread_change(with_spreads({0, 0, 0, 0, 0}), with_spreads({1, 1, 1, 1, 1}), 0.01));
}

}  // namespace
}  // namespace assay::stats
