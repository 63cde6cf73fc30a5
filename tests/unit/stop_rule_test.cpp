// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// WarmUp and StopRule, fed with numbers.
#include "harness/worker/stop_rule.h"

#include <gtest/gtest.h>

#include <cmath>

namespace assay {
namespace {

TEST(WarmUp, ClimbingRateIsNotFlat) {
  WarmUp rule(0, 100);
  for (int i = 0; i < 6; ++i) rule.add(100.0 + 5 * i, 0.1);
  EXPECT_FALSE(rule.flat());
  EXPECT_FALSE(rule.finished());
}

TEST(WarmUp, EndsOnceTheClimbIsOverTheWindow) {
  WarmUp rule(0, 100);
  for (int i = 0; i < 6; ++i) rule.add(50.0 + 10 * i, 0.1);
  for (int i = 0; i < 6; ++i) rule.add(110.0 + (i % 2) * 0.1, 0.1);
  EXPECT_TRUE(rule.flat());
  EXPECT_TRUE(rule.finished());
}

TEST(WarmUp, NoiseWithoutATrendIsFlat) {
  WarmUp rule(0, 100);
  for (const double rate : {100.0, 90.0, 110.0, 108.0, 91.0, 101.0}) rule.add(rate, 0.1);
  EXPECT_TRUE(rule.flat());
}

TEST(WarmUp, TimeLimitEndsItUnflat) {
  WarmUp rule(0, 1);
  for (int i = 0; i < 11; ++i) rule.add(100.0 * (i + 1), 0.1);
  EXPECT_TRUE(rule.finished());
  EXPECT_FALSE(rule.flat());
}

TEST(WarmUp, FlatBeforeTheMinimumGoesOn) {
  WarmUp rule(5, 100);
  for (int i = 0; i < 20; ++i) rule.add(100, 0.1);
  EXPECT_TRUE(rule.flat());
  EXPECT_FALSE(rule.finished());
}

Policy policy() {
  Policy p;
  p.measure_min_s = 1;
  p.measure_max_s = 10;
  p.samples_min = 5;
  p.samples_max = 1000;
  p.relative_error = 0.01;
  return p;
}

TEST(StopRule, ErrorIsStandardErrorOverMean) {
  StopRule rule(policy());
  for (const double rate : {98.0, 102.0, 100.0, 99.0, 101.0}) rule.add(rate, 0.1);
  EXPECT_NEAR(rule.relative_error(), std::sqrt(2.5 / 5) / 100, 1e-12);
}

TEST(StopRule, QuietNumbersStillNeedTheMinimumTimeAndCount) {
  StopRule rule(policy());
  for (int i = 0; i < 9; ++i) {
    rule.add(100, 0.1);
    EXPECT_EQ(rule.reason(), "") << i;
  }
  rule.add(100, 0.2);
  EXPECT_EQ(rule.reason(), "relative_error");
}

TEST(StopRule, NoisyNumbersRunToTheTimeLimit) {
  StopRule rule(policy());
  int n = 0;
  while (rule.reason().empty()) rule.add(n++ % 2 == 0 ? 50 : 150, 0.5);
  EXPECT_EQ(rule.reason(), "max_time");
  EXPECT_EQ(n, 20);
}

TEST(StopRule, CountLimit) {
  Policy p = policy();
  p.samples_max = 7;
  StopRule rule(p);
  int n = 0;
  while (rule.reason().empty()) rule.add(n++ % 2 == 0 ? 50 : 150, 0.01);
  EXPECT_EQ(rule.reason(), "max_samples");
  EXPECT_EQ(n, 7);
}

TEST(StopRule, LongBlocksGiveThreeSamplesPastTheTimeLimit) {
  StopRule rule(policy());
  int n = 0;
  for (; rule.reason().empty(); ++n) rule.add(100 + n, 20);
  EXPECT_EQ(n, 3);
}

TEST(NextBlock, StaysWhileItsLengthIsRight) {
  EXPECT_EQ(next_block(1000, 0.1, 0.1), 1000U);
  EXPECT_EQ(next_block(1000, 0.091, 0.1), 1000U);
  EXPECT_EQ(next_block(1000, 0.399, 0.1), 1000U);
}

TEST(NextBlock, ShrinksAfterOneThatOverranAndNeverToNothing) {
  EXPECT_EQ(next_block(1000, 1.0, 0.1), 105U);
  EXPECT_EQ(next_block(1000, 24.0, 0.001), 1U);
  EXPECT_EQ(next_block(1, 60.0, 0.1), 1U);
}

TEST(NextBlock, GrowsAfterOneThatWasTooShort) {
  EXPECT_TRUE(too_short(0.08, 0.1));
  EXPECT_EQ(next_block(1000, 0.05, 0.1), 2100U);
  EXPECT_GT(next_block(1000, 0, 0.1), 1000U);
}

}  // namespace
}  // namespace assay
