// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Copies are found however they were exported; honest sessions are none, however coarse their timer.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "harness/base/error.h"
#include "harness/stats/copies.h"

namespace assay::stats {
namespace {

using Sessions = std::vector<std::vector<double>>;

std::vector<SessionSamples> of(const Sessions& sessions) {
  std::vector<SessionSamples> all;
  for (const std::vector<double>& samples : sessions) all.push_back(of_one_metric(samples));
  return all;
}

// Sessions of `samples` normal samples around 100, in steps of `tick` (0: none).
Sessions honest(std::mt19937_64& random, std::size_t sessions, std::size_t samples, double sd, double tick) {
  std::normal_distribution<double> normal;
  Sessions all(sessions);
  for (std::vector<double>& session : all) {
    const double middle = 100 + 0.3 * sd * normal(random);
    for (std::size_t i = 0; i < samples; ++i) {
      const double value = middle + sd * normal(random);
      session.push_back(tick > 0 ? tick * std::round(value / tick) : value);
    }
  }
  return all;
}

std::vector<double> rounded(std::vector<double> samples, double step) {
  for (double& sample : samples) sample = step * std::round(sample / step);
  return samples;
}

TEST(Copies, ExactRoundedConvertedAndShuffledOnesAreFound) {
  std::mt19937_64 random(1001);
  for (const std::size_t samples : {5U, 8U, 30U})
    for (int trial = 0; trial < 300; ++trial) {
      Sessions sessions = honest(random, 6, samples, 0.2, 0);
      EXPECT_FALSE(find_copy(of(sessions)));
      const std::vector<double> original = sessions[2];
      std::vector<double> converted = original, shuffled = original;
      for (double& sample : converted) sample = sample * 1e9 / 1e9;
      std::shuffle(shuffled.begin(), shuffled.end(), random);
      std::vector<std::vector<double>> copies{original, converted, shuffled};
      if (samples > 5) copies.push_back(rounded(original, 0.002));  // few rounded ones may agree by chance
      for (const std::vector<double>& copy : copies) {
        sessions.back() = copy;
        const auto found = find_copy(of(sessions));
        ASSERT_TRUE(found) << samples << " samples";
        EXPECT_EQ(*found, std::pair(std::size_t{2}, std::size_t{5}));
      }
    }
}

// Six rounded samples that agree are a copy among six sessions, and bound to be there by chance sooner or later among
// 5000; six that are the same stay one.
TEST(Copies, WhatIsSureOfAPairIsNotSureOfMillions) {
  std::mt19937_64 random(1001);
  Sessions many = honest(random, 5000, 6, 0.2, 0);
  many[5] = rounded(many[2], 0.002);
  EXPECT_TRUE(find_copy(of({many.begin(), many.begin() + 6})));
  EXPECT_FALSE(find_copy(of(many)));
  many[5] = many[2];
  EXPECT_TRUE(find_copy(of(many)));
}

TEST(Copies, AllSessionsMayBeCopies) {
  std::mt19937_64 random(1002);
  const std::vector<double> one = honest(random, 1, 5, 0.2, 0).front();
  EXPECT_TRUE(find_copy(of(Sessions(8, one))));
  EXPECT_TRUE(find_copy(of({{1, 2, 9}, {1, 2, 9}}))) << "three are enough where none agree otherwise";
  EXPECT_FALSE(find_copy(of({{1, 9}, {1, 9}}))) << "two can be chance";
}

// Ticks of a timer from "three values" to "never the same": 10^7 pairs of honest sessions, and none is a copy.
TEST(Copies, HonestSessionsAreNone) {
  std::mt19937_64 random(1003);
  int alarms = 0;
  for (const std::size_t samples : {1U, 2U, 3U, 5U, 8U, 30U})
    for (const double tick_in_sd : {2.0, 1.0, 0.3, 0.1, 0.03, 0.01, 0.0})
      for (int trial = 0; trial < 6; ++trial) {
        const Sessions sessions = honest(random, 300, samples, 0.2, 0.2 * tick_in_sd);
        if (find_copy(of(sessions))) ++alarms;
      }
  EXPECT_EQ(alarms, 0);
  for (int trial = 0; trial < 3000; ++trial) {  // 41, 42, 43 us: both sides, as a comparison has them
    const Sessions before = honest(random, 8, 8, 0.7, 1), after = honest(random, 8, 8, 0.7, 1);
    if (find_copy(of(before)) || holds_copies(of(before), of(after))) ++alarms;
    const Sessions single = honest(random, 8, 1, 0.7, 1), other = honest(random, 8, 1, 0.7, 1);
    if (holds_copies(of(single), of(other))) ++alarms;
  }
  EXPECT_EQ(alarms, 0);
  for (const double tick : {0.05, 0.1, 0.2, 0.4})  // few pairs don't tell how coarse single samples are
    for (int trial = 0; trial < 2500; ++trial) {
      const Sessions single = honest(random, 8, 1, 0.7, tick), other = honest(random, 8, 1, 0.7, tick);
      if (holds_copies(of(single), of(other))) ++alarms;
    }
  EXPECT_LE(alarms, 2) << "of 10000";
}

TEST(Copies, ConstantsAreNoCopies) {
  EXPECT_FALSE(find_copy(of(Sessions(5, std::vector<double>(20, 7.5)))));
  EXPECT_FALSE(holds_copies(of(Sessions(5, std::vector<double>(20, 7.5))), of(Sessions(5, {7.5, 7.5}))));
}

TEST(Copies, SessionsOfSeveralMetricsAgreeInAllOfThem) {
  const std::vector<double> a{5.01}, b{17.3}, c{900.5}, other{901.7}, none;
  EXPECT_TRUE(find_copy(std::vector<SessionSamples>{{a, b, c}, {a, b, c}}));
  EXPECT_FALSE(find_copy(std::vector<SessionSamples>{{a, b, c}, {a, b, other}}));
  EXPECT_FALSE(find_copy(std::vector<SessionSamples>{{a, b, c}, {a, b, none}}));
  EXPECT_FALSE(find_copy(std::vector<SessionSamples>{{a, b, none}, {a, b, none}}));
  // Ten processes, three coarse benchmarks: equal ones are to be expected.
  std::mt19937_64 random(1004);
  int alarms = 0;
  for (int trial = 0; trial < 500; ++trial) {
    const Sessions x = honest(random, 10, 1, 0.7, 1), y = honest(random, 10, 1, 0.7, 1),
                   z = honest(random, 10, 1, 0.7, 1);
    std::vector<SessionSamples> sessions;
    for (std::size_t i = 0; i < 10; ++i) sessions.push_back({x[i], y[i], z[i]});
    if (find_copy(sessions)) ++alarms;
  }
  EXPECT_EQ(alarms, 0);
}

TEST(Copies, ASideThatHoldsTheOther) {
  std::mt19937_64 random(1005);
  const Sessions before = honest(random, 6, 5, 0.2, 0), fresh = honest(random, 6, 5, 0.2, 0);
  EXPECT_FALSE(holds_copies(of(before), of(fresh)));
  Sessions after = fresh;
  for (std::size_t i = 0; i < 3; ++i) after[5 - i] = rounded(before[i], 0.001);
  EXPECT_TRUE(holds_copies(of(before), of(after))) << "half of them, in another order and rounded";
  after[5] = fresh[5];
  EXPECT_FALSE(holds_copies(of(before), of(after))) << "less than half";
  const Sessions single = honest(random, 5, 1, 0.2, 0);
  EXPECT_TRUE(holds_copies(of(single), of(single))) << "one sample a session";
  EXPECT_TRUE(holds_copies(of({{1}, {2}, {4}}), of({{1}, {2}, {4}})));
  EXPECT_FALSE(holds_copies(of({{1}, {2}}), of({{1}, {2}}))) << "two can be chance";
  EXPECT_FALSE(holds_copies({}, of(single)));
}

TEST(Copies, WhatIsNoNumberIsAnError) { EXPECT_THROW(find_copy(of({{1, 2, std::nan("")}, {1, 2, 3}})), Error); }

}  // namespace
}  // namespace assay::stats
