// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Ranks against scipy 1.17.1. Exact p-values with ties come from mannwhitneyu(method=PermutationMethod) over all
// permutations; without ties from method='exact'.
#include <gtest/gtest.h>

#include <vector>

#include "harness/base/error.h"
#include "harness/stats/rank.h"
#include "tests/unit/stats_near.h"

namespace assay::stats {
namespace {

std::vector<double> counted(int n, double from) {
  std::vector<double> values;
  for (int i = 0; i < n; ++i) values.push_back(from + i);
  return values;
}

void expect_test(const std::vector<double>& a, const std::vector<double>& b, double u, double p, bool exact = true) {
  const auto test = mann_whitney(a, b);
  ASSERT_TRUE(test);
  EXPECT_EQ(test->u, u);
  expect_relative(test->p, p);
  EXPECT_EQ(test->exact, exact);
  expect_relative(mann_whitney(b, a)->p, p);
}

TEST(StatsRank, ExactWithoutTies) {
  expect_test({1.1, 2.2, 3.3, 4.4, 5.5}, {3.4, 6.1, 7.2, 8.3, 9.9, 10.1}, 2.0, 0.017316017316017316);
  expect_test(counted(10, 0), counted(10, 4.5), 15.0, 0.006841455757864427);
  expect_test(counted(50, 0), counted(50, 12.5), 703.0, 0.00012471134365784446);
  expect_test({1, 2, 3}, {4, 5, 6}, 0, 0.1);
}

TEST(StatsRank, ExactWithTies) {
  expect_test({1, 2, 2, 3, 5}, {2, 4, 4, 6, 7, 7}, 5.0, 0.0735930735930736);
  expect_test({1, 1, 1}, {1, 1, 2, 2, 2}, 3.0, 0.35714285714285715);
  expect_test({1, 1, 1}, {1, 1}, 3, 1);
}

TEST(StatsRank, LargeSetsByTheNormalApproximation) {  // mannwhitneyu(method='asymptotic')
  std::vector<double> a, b;
  for (int i = 0; i < 60; ++i) a.push_back(i % 17);
  for (int i = 0; i < 70; ++i) b.push_back(i % 17 + 2);
  expect_test(a, b, 1544.0, 0.00936751659654333, false);
  EXPECT_EQ(mann_whitney(std::vector<double>(600000, 1.0), std::vector<double>(400000, 1.0))->p, 1);
}

TEST(StatsRank, Spearman) {  // spearmanr
  expect_relative(*spearman(std::vector<double>{1, 2, 2, 4, 5, 7}, std::vector<double>{3, 1, 4, 4, 6, 5}),
                  0.8088235294117647);
  EXPECT_EQ(*spearman(counted(5, 0), counted(5, 3)), 1);
  EXPECT_FALSE(spearman(std::vector<double>{1, 2}, std::vector<double>{1, 2}));
  EXPECT_FALSE(spearman(std::vector<double>{1, 1, 1}, std::vector<double>{1, 2, 3}));
  EXPECT_THROW(spearman(counted(3, 0), counted(4, 0)), Error);
}

TEST(StatsRank, BadInput) {
  EXPECT_FALSE(mann_whitney({}, std::vector<double>{1}));
  EXPECT_THROW(mann_whitney(std::vector<double>{nan}, std::vector<double>{1}), Error);
  EXPECT_EQ(average_ranks(std::vector<double>{3, 1, 3}), (std::vector<double>{2.5, 1, 2.5}));
}

}  // namespace
}  // namespace assay::stats
