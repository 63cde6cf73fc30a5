// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// The detectors of a run: on series made by hand, and on one short run of each fault. How often they fire on noise over
// many runs is measured by the experiment in tests/aa_bench.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "harness/base/error.h"
#include "harness/stats/change.h"
#include "tests/unit/stats_near.h"

namespace assay::stats {
namespace {

// 600 samples at 1 Hz: AR(1) noise of .5 %, correlation .8, and a warm-up that is fast at first.
template <class Fault>
std::vector<double> run(unsigned seed, Fault fault) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal(0, 0.005);
  std::vector<double> values;
  double noise = normal(random);
  for (int t = 0; t < 600; ++t) {
    values.push_back(noise + 0.015 * std::exp(-t / 40.0) + fault(t));
    noise = 0.8 * noise + 0.6 * normal(random);
  }
  return values;
}

// Blocks that alternate around 0 by 0.002: median 0.002 or -0.002, scale known.
std::vector<double> blocks(std::size_t n) {
  std::vector<double> values;
  for (std::size_t i = 0; i < n; ++i) values.push_back(i % 4 < 2 ? 0.002 : -0.002);
  return values;
}

TEST(StatsChange, TheSumByHand) {
  std::vector<double> series = blocks(20);
  series.resize(16);
  series.insert(series.end(), 8, -0.0204);
  const auto result = detect_drop(series);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->reference, 0);
  // Scaled MAD .0029652 is above that of the differences: 1.25 * .0029652 = .0037065.
  expect_relative(result->spread, 1.25 * 1.482602218505602 * 0.002);
  ASSERT_TRUE(result->alarm);
  // Each block adds .0204 / s - k, k = .010050 / 2s + 1.25 / sqrt 12 = 1.3558 + .3608: 5.5038 - 1.7166 = 3.7872. The
  // sum is above 8 at the third.
  EXPECT_EQ(result->alarm->start, 16U);
  EXPECT_EQ(result->alarm->alarm, 18U);
  expect_relative(result->alarm->shift, -0.0204);
  EXPECT_TRUE(result->alarm->sudden);
}

TEST(StatsChange, ADropBelowTheSmallestIsNone) {
  std::vector<double> series(12, 0.0);
  series.insert(series.end(), 200, -0.009);
  EXPECT_FALSE(detect_drop(series)->alarm);
  series.insert(series.end(), 200, -0.012);
  EXPECT_TRUE(detect_drop(series)->alarm);
  series.assign(12, 0.0);
  series.insert(series.end(), 200, 0.5);
  EXPECT_FALSE(detect_drop(series)->alarm) << "faster is no fault";
}

TEST(StatsChange, AWiderSpreadNeedsMore) {
  std::vector<double> series = blocks(12);
  series.insert(series.end(), 4, -0.0204);
  ChangeOptions options;
  EXPECT_TRUE(detect_drop(series, options)->alarm);
  options.widening = 3;
  EXPECT_FALSE(detect_drop(series, options)->alarm);
  expect_relative(detect_drop(series, options)->spread, 3 * detect_drop(series)->spread);
  options.widening = 0.9;
  EXPECT_THROW(detect_drop(series, options), Error);
}

TEST(StatsChange, Faults) {
  for (unsigned seed = 1; seed <= 10; ++seed) {
    const auto nothing = watch(run(seed, [](int) { return 0.0; }), 10);
    ASSERT_TRUE(nothing);
    EXPECT_FALSE(nothing->alarm()) << seed;
    const auto step = watch(run(seed, [](int t) { return t >= 300 ? std::log(0.95) : 0; }), 10);
    ASSERT_TRUE(step->means.alarm) << seed;
    EXPECT_NEAR(static_cast<double>(step->means.alarm->start), 30, 2) << seed;
    EXPECT_TRUE(step->means.alarm->sudden) << seed;
    const auto decay = watch(run(seed, [](int t) { return t > 120 ? std::log(1 - 0.08 * (t - 120) / 480.0) : 0; }), 10);
    ASSERT_TRUE(decay->means.alarm) << seed;
    EXPECT_FALSE(decay->means.alarm->sudden) << seed;
  }
}

TEST(StatsChange, TheLowerQuantileSeesDipsThatTheMeanHides) {
  // One second in three slower by 8 %: 2.7 % in the mean, 8 % in the lower quantile; by 5 %: below twice the smallest.
  ChangeOptions coarse;
  coarse.smallest = 0.035;
  for (double dip : {0.08, 0.05}) {
    std::vector<double> series = run(3, [](int) { return 0.0; });
    for (std::size_t t = 300; t < 600; ++t) series[t] -= t % 3 == 0 ? dip : 0;
    const auto result = watch(series, 10, coarse);
    ASSERT_TRUE(result);
    EXPECT_FALSE(result->means.alarm);
    EXPECT_EQ(result->lows.alarm.has_value(), dip > 0.07);
  }
}

TEST(StatsChange, Blocks) {
  const Blocks b = blocks_of(std::vector<double>{1, 2, 3, 4, 5, 60, 7, 8, 9}, 4);
  EXPECT_EQ(b.mean, (std::vector<double>{2.5, 20}));
  ASSERT_EQ(b.low.size(), 2U);
  EXPECT_DOUBLE_EQ(b.low[0], 1.6);
  EXPECT_DOUBLE_EQ(b.low[1], 6.2);
  EXPECT_THROW(blocks_of(std::vector<double>{1}, 0), Error);
  EXPECT_TRUE(blocks_of({}, 4).mean.empty());
}

TEST(StatsChange, WarmUpEndsWhereItIsLevel) {
  std::vector<double> series;
  for (int i = 0; i < 40; ++i) series.push_back(i < 15 ? 0.01 * (15 - i) : 0.0001 * (i % 2));
  const auto start = steady_start(series);
  ASSERT_TRUE(start);
  EXPECT_GE(*start, 18U);
  EXPECT_LE(*start, 25U);
  std::vector<double> falling;
  for (int i = 0; i < 40; ++i) falling.push_back(-0.01 * i);
  EXPECT_FALSE(steady_start(falling));
  EXPECT_FALSE(watch(falling, 1));
  EXPECT_FALSE(steady_start(std::vector<double>(9, 1.0)));
}

TEST(StatsChange, BadInput) {
  EXPECT_FALSE(detect_drop(std::vector<double>(12, 1.0)));
  EXPECT_FALSE(detect_drop({}));
  EXPECT_FALSE(detect_drop(std::vector<double>(100, 1.0))->alarm);
  EXPECT_THROW(detect_drop(std::vector<double>{1, nan}), Error);
  ChangeOptions options;
  options.smallest = 0;
  EXPECT_THROW(detect_drop(blocks(20), options), Error);
  options = {};
  options.reference_blocks = 3;
  EXPECT_THROW(detect_drop(blocks(20), options), Error);
  const auto many = watch(std::vector<double>(1000000, 2.0), 10);
  ASSERT_TRUE(many);
  EXPECT_FALSE(many->alarm());
}

}  // namespace
}  // namespace assay::stats
