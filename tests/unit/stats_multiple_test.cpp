// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Adjusted p-values against scipy 1.17.1, false_discovery_control; the p-values are Benjamini and Hochberg's own
// example (1995, section 3.2), where q = 0.05 finds 4.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "harness/base/error.h"
#include "harness/stats/multiple.h"
#include "tests/unit/stats_near.h"

namespace assay::stats {
namespace {

TEST(StatsMultiple, BenjaminiAndHochbergsExample) {
  const std::vector<double> p{.0001, .0004, .0019, .0095, .0201, .0278, .0298, .0344,
                              .0459, .3240, .4262, .5719, .6528, .7590, 1};
  const std::vector<double> expected{0.0015,
                                     0.003,
                                     0.0095,
                                     0.035625,
                                     0.0603,
                                     0.06385714285714286,
                                     0.06385714285714286,
                                     0.0645,
                                     0.07650000000000001,
                                     0.486,
                                     0.5811818181818181,
                                     0.7148749999999999,
                                     0.7532307692307693,
                                     0.8132142857142857,
                                     1.0};
  const std::vector<double> adjusted = benjamini_hochberg(p);
  for (std::size_t i = 0; i < p.size(); ++i) expect_relative(adjusted[i], expected[i]);
  EXPECT_EQ(std::count_if(adjusted.begin(), adjusted.end(), [](double a) { return a <= 0.05; }), 4);
}

TEST(StatsMultiple, AnswersInTheOrderOfTheQuestion) {
  const std::vector<double> adjusted = benjamini_hochberg(std::vector<double>{0.5, 0.001, 0.04});
  expect_relative(adjusted[0], 0.5);
  expect_relative(adjusted[1], 0.003);
  expect_relative(adjusted[2], 0.06);
}

TEST(StatsMultiple, EdgesAndErrors) {
  EXPECT_TRUE(benjamini_hochberg({}).empty());
  EXPECT_EQ(benjamini_hochberg(std::vector<double>{0.2})[0], 0.2);
  EXPECT_EQ(benjamini_hochberg(std::vector<double>{0, 0, 1})[0], 0);
  EXPECT_THROW(benjamini_hochberg(std::vector<double>{0.1, nan}), Error);
  EXPECT_THROW(benjamini_hochberg(std::vector<double>{1.1}), Error);
  EXPECT_EQ(benjamini_hochberg(std::vector<double>(1000000, 0.5))[7], 0.5);
}

}  // namespace
}  // namespace assay::stats
