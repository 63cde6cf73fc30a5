// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Tolerance factors against published tables (Natrella 1963, table A-7; Owen 1963) and against mpmath 1.4.1 (the
// integral of the noncentral t, 30 digits); limits and verdicts by hand.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "harness/base/error.h"
#include "harness/stats/tolerance.h"
#include "tests/unit/stats_near.h"

namespace assay::stats {
namespace {

TEST(StatsTolerance, PublishedFactors) {  // confidence .95
  EXPECT_NEAR(tolerance_factor(3, 0.99), 10.553, 0.0006);
  EXPECT_NEAR(tolerance_factor(5, 0.99), 5.741, 0.0006);
  EXPECT_NEAR(tolerance_factor(10, 0.99), 3.981, 0.0006);
  EXPECT_NEAR(tolerance_factor(20, 0.99), 3.295, 0.0006);
  EXPECT_NEAR(tolerance_factor(50, 0.99), 2.862, 0.0016);
  EXPECT_NEAR(tolerance_factor(10, 0.90), 2.355, 0.0006);
  EXPECT_NEAR(tolerance_factor(10, 0.95), 2.911, 0.0006);
}

TEST(StatsTolerance, FactorsToTenDigits) {
  expect_relative(tolerance_factor(3), 10.552730123706523);
  expect_relative(tolerance_factor(8), 4.3538558092293307);
  expect_relative(tolerance_factor(16), 3.4639416343885494);
  expect_relative(tolerance_factor(32), 3.0338446266474674);
  expect_relative(tolerance_factor(100), 2.6839578556912783);
  expect_relative(tolerance_factor(1000), 2.4301401532416942);
  expect_relative(tolerance_factor(16, 0.999), 4.5350856384679574);
  expect_relative(tolerance_factor(8, 0.999, 0.99), 7.5641604202442755);
}

TEST(StatsTolerance, LargeReferencesJoinUp) {
  EXPECT_NEAR(tolerance_factor(10001), tolerance_factor(10000), 1e-4);
  EXPECT_NEAR(tolerance_factor(1000000), 2.32952, 0.00001);  // z = 2.3263 and 1.645 standard errors of it
  EXPECT_THROW(tolerance_factor(1), Error);
  EXPECT_THROW(tolerance_factor(8, 1), Error);
  EXPECT_THROW(tolerance_factor(8, 0.99, nan), Error);
  EXPECT_THROW(tolerance_factor(8, 0.3), Error);
}

TEST(StatsTolerance, ReferencesAreCleanedOnceAndOnBothSides) {
  std::vector<double> logs{0.001, -0.002, 0.003, 0, -0.001, 0.002, 0.10, -0.1};
  EXPECT_EQ(outlying_references(logs), (std::vector<std::size_t>{6, 7}));
  logs.resize(6);
  EXPECT_TRUE(outlying_references(logs).empty());
  EXPECT_TRUE(outlying_references(std::vector<double>{1, 1, 1, 1, 5}).empty());
  EXPECT_TRUE(outlying_references(std::vector<double>{0, 0.001, 5}).empty()) << "3 have no majority to speak of";
  EXPECT_THROW(outlying_references(std::vector<double>{0, 1, 2, nan}), Error);
}

TEST(StatsTolerance, LimitOfAClass) {
  const auto rate = class_limit({16, std::log(100.0), 0.01}, Better::higher);
  ASSERT_TRUE(rate);
  expect_relative(rate->log_limit, std::log(100.0) - 0.01 * tolerance_factor(16));
  EXPECT_FALSE(rate->by_floor);
  EXPECT_FALSE(rate->provisional);
  const auto time = class_limit({16, std::log(100.0), 0.001}, Better::lower);
  expect_relative(time->log_limit, std::log(102.0));
  EXPECT_TRUE(time->by_floor);
  EXPECT_TRUE(class_limit({7, 0, 0.01}, Better::lower)->provisional);
  EXPECT_FALSE(class_limit({8, 0, 0.01}, Better::lower)->provisional);
  EXPECT_FALSE(class_limit({2, 0, 0.01}, Better::lower));
  EXPECT_FALSE(class_limit({}, Better::lower));
  EXPECT_THROW(class_limit({8, nan, 0.01}, Better::lower), Error);
  EXPECT_THROW(class_limit({8, 0, -0.01}, Better::lower), Error);
  EXPECT_THROW(class_limit({8, 0, 0.01}, Better::lower, {0, 0.99, 0.95}), Error);
}

TEST(StatsTolerance, ADeviceAgainstItsLimit) {
  const std::vector<Session> sessions{{0.001, 0, 0, 1}, {0.002, 0, 0, 1}, {0, 0, 0, 1}};
  const auto device = device_interval(sessions, {});
  ASSERT_TRUE(device);
  expect_relative(device->high, 0.001 + 6.9645567342832715 * 0.001 / std::sqrt(3.0));  // t.ppf(.99, 2)
  const auto limit = class_limit({16, 0, 0.001}, Better::lower);                       // log 1.02
  EXPECT_EQ(against_limit(*device, *limit, Better::lower), Outcome::pass);
  EXPECT_EQ(against_limit({0.015, 0.025}, *limit, Better::lower), Outcome::inconclusive);
  EXPECT_EQ(against_limit({0.021, 0.025}, *limit, Better::lower), Outcome::fail);
  const auto rate = class_limit({16, 0, 0.001}, Better::higher);
  EXPECT_EQ(against_limit({-0.001, 0.5}, *rate, Better::higher), Outcome::pass);
  EXPECT_EQ(against_limit({-0.025, 0.5}, *rate, Better::higher), Outcome::inconclusive);
  EXPECT_EQ(against_limit({-0.025, -0.022}, *rate, Better::higher), Outcome::fail);
  EXPECT_THROW(against_limit({nan, nan}, *rate, Better::higher), Error);
}

TEST(StatsTolerance, OneSessionNeedsThePriorOfItsClass) {
  const std::vector<Session> one{{0.001, 0, 0, 1}};
  EXPECT_FALSE(device_interval(one, {}));
  EXPECT_TRUE(device_interval(one, {8, 0.002}));
  EXPECT_FALSE(device_interval({}, {8, 0.002}));
}

}  // namespace
}  // namespace assay::stats
