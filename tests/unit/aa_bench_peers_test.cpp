// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// The rules of other tools on examples small enough to work out by hand, so that aa-bench is fair to them.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/aa_bench/peers.h"
#include "tests/aa_bench/tools.h"

namespace assay::aa_bench {
namespace {

std::vector<double> ten(double from, double step) {
  std::vector<double> values;
  for (int i = 0; i < 10; ++i) values.push_back(from + step * i);
  return values;
}

// U of 10 + 10 values is significant (0.05, two-sided) up to 23: tables of Mann and Whitney.
TEST(AaBenchPeers, MannWhitneyAtItsCriticalValue) {
  const std::vector<double> a = {1, 2, 3, 4, 5, 6, 7, 12.5, 13.5, 14.5};
  const std::vector<double> b = {6.5, 8, 9, 10, 11, 12, 13, 14, 15, 16};
  // Values of `a` above each of `b`: 6.5: 4; 8..12: 3 each; 13: 2; 14: 1; 15, 16: 0 -> U = 4 + 15 + 2 + 1 = 22.
  EXPECT_EQ(compare_py(a, b), Call::worse);
  EXPECT_EQ(compare_py(b, a), Call::better);
  std::vector<double> less = b;
  less[1] = 5.5;  // 5 above it instead of 3: U = 24
  EXPECT_EQ(compare_py(a, less), Call::same);
  EXPECT_EQ(benchstat(a, b), Call::worse);
}

TEST(AaBenchPeers, ThreeRepetitionsNeverDiffer) {
  const std::vector<double> a = {1, 2, 3}, b = {100, 200, 300};
  EXPECT_EQ(compare_py(a, b), Call::same);
  EXPECT_EQ(benchstat(a, b), Call::same);
}

// The means differ one way, the medians the other: each tool prints its own delta.
TEST(AaBenchPeers, TheSignIsOfTheMeanOrOfTheMedian) {
  std::vector<double> a = ten(1, 0.01), b = ten(2, 0.01);
  b[0] = -100;
  EXPECT_EQ(compare_py(a, b), Call::better);
  EXPECT_EQ(benchstat(a, b), Call::worse);
}

TEST(AaBenchPeers, CriterionNeedsMoreThanItsNoiseThreshold) {
  Random random(7, {1});
  EXPECT_EQ(criterion(ten(1, 0.0001), ten(1.03, 0.0001), random), Call::worse);
  EXPECT_EQ(criterion(ten(1.03, 0.0001), ten(1, 0.0001), random), Call::better);
  EXPECT_EQ(criterion(ten(1, 0.0001), ten(1.005, 0.0001), random), Call::same);  // significant, but within 1 %
  EXPECT_EQ(criterion(ten(1, 0.1), ten(1.03, 0.1), random), Call::same);         // beyond 1 %, but not significant
}

// 1..10: standard deviation 3.03 about 5.5, 55 %.
TEST(AaBenchPeers, OlderNvbenchComparesWithTheQuieterSide) {
  EXPECT_EQ(nvbench_legacy(ten(1, 1), ten(1, 1)), Call::same);
  EXPECT_EQ(nvbench_legacy(ten(100, 0.1), ten(100.2, 0.1)), Call::same);   // 0.2 % against 0.3 %
  EXPECT_EQ(nvbench_legacy(ten(100, 0.1), ten(100.4, 0.1)), Call::worse);  // 0.4 %
  EXPECT_EQ(nvbench_legacy(ten(100.4, 0.1), ten(100, 0.1)), Call::better);
  EXPECT_EQ(nvbench_legacy(ten(100, 0.1), ten(100.4, 1)), Call::worse);  // the noisier side does not count (4.4 %)
}

// Ranks of 10 values by nearest rank: q1 is the third, the median the sixth (4.5 rounds up), q3 the eighth.
TEST(AaBenchPeers, RobustNvbenchWantsAGapInTimeAndInCycles) {
  const std::vector<double> a = ten(100, 0.1);  // [100, 100.7]
  EXPECT_EQ(nvbench_robust(a, a), Call::same);
  EXPECT_EQ(nvbench_robust(a, ten(101.1, 0.1)), Call::unknown);  // apart by 0.40 %
  EXPECT_EQ(nvbench_robust(a, ten(101.3, 0.1)), Call::worse);    // by 0.60 %
  EXPECT_EQ(nvbench_robust(ten(101.3, 0.1), a), Call::better);
  EXPECT_EQ(nvbench_robust(a, ten(101.3, 0.1), 1, 1 / 1.013), Call::unknown);  // the clock explains it
  EXPECT_EQ(nvbench_robust(a, ten(100.2, 0.1)), Call::same);                   // overlap 0.5 of 0.7
  EXPECT_EQ(nvbench_robust(a, ten(100.4, 0.1)), Call::unknown);                // 0.3 of 0.7
  EXPECT_EQ(nvbench_robust(ten(100, 1), ten(100, 1)), Call::unknown);          // spread 4.7 %, above 2 %
}

TEST(AaBenchPeers, FivePercentIsFivePercent) {
  EXPECT_EQ(five_percent(ten(100, 0), ten(104.9, 0)), Call::same);
  EXPECT_EQ(five_percent(ten(100, 0), ten(105.1, 0)), Call::worse);
  EXPECT_EQ(five_percent(ten(100, 0), ten(94.9, 0)), Call::better);
  EXPECT_EQ(superbench(ten(100, 0), ten(105.1, 0)), Call::worse);
  EXPECT_EQ(superbench(ten(100, 0), ten(90, 0)), Call::same);  // one-sided
}

// 100, 100, 100, 120: mean 105, 120 is dropped. With 140, 107 is beside a mean of 109 at first, then 5.2 % above
// 101.75.
TEST(AaBenchPeers, SuperBenchDropsTheSlowUntilNoneIs) {
  EXPECT_DOUBLE_EQ(superbench_baseline({100, 100, 100, 120}), 100);
  EXPECT_DOUBLE_EQ(superbench_baseline({100, 100, 100, 107, 140}), 100);
  EXPECT_DOUBLE_EQ(superbench_baseline({100, 102}), 101);
}

TEST(AaBenchPeers, RulesForSeries) {
  std::vector<double> series(600);
  for (std::size_t i = 0; i < series.size(); ++i) series[i] = i % 2 == 0 ? 0.001 : -0.001;
  EXPECT_FALSE(textbook_cusum(series));
  EXPECT_FALSE(last_below_first(series));
  for (std::size_t i = 540; i < 600; ++i) series[i] += std::log(0.94);
  EXPECT_TRUE(textbook_cusum(series));
  EXPECT_TRUE(last_below_first(series));
}

TEST(AaBenchTools, OnlyAVerdictIsAFlagOrAPass) {
  stats::Comparison c;
  const auto answer = [&](Outcome outcome) {
    c.outcome = outcome;
    return answer_of(c);
  };
  for (Outcome neither : {Outcome::inconclusive, Outcome::mode_switch}) {
    EXPECT_EQ(answer(neither).call, Call::unknown);
    EXPECT_FALSE(answer(neither).passes);
  }
  EXPECT_EQ(answer(Outcome::regressed).call, Call::worse);
  EXPECT_FALSE(answer(Outcome::regressed).passes);
  EXPECT_EQ(answer(Outcome::no_regression).call, Call::same);
  EXPECT_TRUE(answer(Outcome::no_regression).passes);
  EXPECT_TRUE(answer(Outcome::improved).passes);
  EXPECT_EQ(answer(Outcome::variance_worse).call, Call::changed);
  EXPECT_TRUE(answer(Outcome::variance_better).passes);
}

}  // namespace
}  // namespace assay::aa_bench
