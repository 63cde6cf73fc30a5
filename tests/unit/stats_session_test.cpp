// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Values of sessions against scipy 1.17.1 and numpy; moderated variance against the formula written out in numpy, its
// unmoderated case against scipy's ttest_ind, and the unequal case against ttest_ind(equal_var=False).
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "harness/base/error.h"
#include "harness/stats/session.h"
#include "tests/unit/stats_near.h"

namespace assay::stats {
namespace {

std::vector<Session> sessions(const std::vector<double>& logs) {
  std::vector<Session> out;
  for (double v : logs) out.push_back({v, 0, 0, 1});
  return out;
}
const std::vector<double> before{.001, .003, -.002, .0005, .0015}, after{.031, .029, .033, .030, .0335};

TEST(StatsSession, ItsValueIsTheMeanOfTheMiddleHalf) {
  // 8 samples: the mean of the 4 in the middle, of logs; the wild one has no say.
  const auto session = session_of(std::vector<double>{1, 8, 2, 4, 3, 6, 5, 1e6});
  ASSERT_TRUE(session);
  expect_relative(session->log_value, std::log(3.0 * 4 * 5 * 6) / 4);
  EXPECT_EQ(session->samples, 8U);
  // 5 samples: ranks 1.25 to 3.75, so three quarters of the second and fourth.
  expect_relative(session_of(std::vector<double>{1, 2, 3, 4, 5})->log_value,
                  (0.75 * std::log(2.0) + std::log(3.0) + 0.75 * std::log(4.0)) / 2.5);
  expect_relative(session_of(std::vector<double>{7})->log_value, std::log(7.0));
}

TEST(StatsSession, ItsSpreadAndStep) {
  const auto session = session_of(std::vector<double>{std::exp(1.0), std::exp(2.0), std::exp(2.0), std::exp(4.0)});
  expect_relative(session->log_spread, (1 + 0 + 0 + 2) / 4.0);
  expect_relative(session->log_step, 1);
  EXPECT_EQ(session_of(std::vector<double>{7, 7, 7})->log_step, 0);
}

TEST(StatsSession, SamplesThatAreNoRateOrTimeAreErrors) {
  for (double bad : {0.0, -1.0, nan, infinity}) EXPECT_THROW(session_of(std::vector<double>{1, bad}), Error) << bad;
  EXPECT_FALSE(session_of({}));
  std::vector<double> many(1000000, 2.0);
  many[3] = 3;
  expect_relative(session_of(many)->log_value, std::log(2.0));
}

TEST(StatsSession, WithoutAPriorItIsStudentsTest) {
  const auto d = moderated_difference(sessions(before), sessions(after), {});
  ASSERT_TRUE(d);
  EXPECT_EQ(d->df, 8);
  expect_relative(d->mean / d->error, 25.731296977185462);  // ttest_ind(after, before).statistic
  expect_relative(d->sd, 0.0018741664813991315);
}

TEST(StatsSession, APriorPullsTheVariance) {
  const auto d = moderated_difference(sessions(before), sessions(after), {8, 0.003});
  EXPECT_EQ(d->df, 16);
  expect_relative(d->sd, 0.0025012496876561526);  // sqrt((8 * .003**2 + SS_A + SS_B) / (8 + 8))
}

TEST(StatsSession, ANoisySmallGroupIsNotPooledAway) {
  const std::vector<Session> quiet = sessions({.001, .002, .0015, .0005, .001, .0012, .0018}),
                             noisy = sessions({.02, .05, -.01});
  const auto d = moderated_difference(quiet, noisy, {});
  expect_relative(d->mean / d->error, 1.0804008273231753);  // ttest_ind(quiet, noisy, equal_var=False).statistic
  expect_relative(d->df, 2.0005106793245293);
  // The other way round pooling is the cautious choice.
  const auto wide =
      moderated_difference(sessions({.02, .05, -.01, .01, .03, .02, .04}), sessions({.001, .002, .0015}), {});
  EXPECT_EQ(wide->df, 8);
}

TEST(StatsSession, OneGroup) {
  const auto m = moderated_mean(sessions(before), {});
  expect_relative(m->mean, 0.0008);
  expect_relative(m->error, 0.0008154753215150046);  // sem(before)
  EXPECT_EQ(m->df, 4);
  EXPECT_EQ(moderated_mean(sessions({1.0}), {8, 0.01})->df, 8);
}

TEST(StatsSession, NothingVariesIsNoMeasurement) {
  const std::vector<Session> frozen = sessions({0.1, 0.1, 0.1, 0.1, 0.1});
  EXPECT_FALSE(moderated_mean(frozen, {}));
  EXPECT_FALSE(moderated_mean(frozen, {8, 0.003}));
  EXPECT_FALSE(moderated_difference(frozen, frozen, {8, 0.003}));
  EXPECT_FALSE(moderated_difference(sessions({1}), sessions({2}), {}));
  EXPECT_FALSE(moderated_difference({}, frozen, {8, 0.003}));
  EXPECT_FALSE(moderated_mean({}, {8, 0.003}));
}

TEST(StatsSession, TheTimersStepIsTheLeastSpread) {
  std::vector<Session> ticking(5, Session{0.1, 0.0005, 0.0015, 20});
  const auto m = moderated_mean(ticking, {});
  ASSERT_TRUE(m);
  expect_relative(m->sd, 0.0015 / std::sqrt(12.0));
}

TEST(StatsSession, BadPriorsAreErrors) {
  for (const Prior& prior : {Prior{-1, 0.1}, Prior{8, 0}, Prior{8, -0.1}, Prior{nan, 0.1}, Prior{8, nan}})
    EXPECT_THROW(moderated_mean(sessions(before), prior), Error);
  EXPECT_THROW(moderated_mean(sessions({1, nan}), {}), Error);
}

TEST(StatsSession, SessionsOfANode) {
  const std::vector<std::vector<Session>> devices{{{1, 0.1, 0.01, 20}, {2, 0.1, 0, 20}},
                                                  {{3, 0.3, 0.002, 20}, {5, 0.1, 0, 20}}};
  const std::vector<Session> node = mean_over_devices(devices);
  ASSERT_EQ(node.size(), 2U);
  expect_relative(node[0].log_value, 2);
  expect_relative(node[1].log_value, 3.5);
  expect_relative(node[0].log_spread, 0.2);
  expect_relative(node[0].log_step, 0.002);
  EXPECT_EQ(node[0].samples, 40U);
  const std::vector<std::vector<Session>> uneven{{{}, {}}, {{}}};
  EXPECT_THROW(mean_over_devices(uneven), Error);
  EXPECT_THROW(mean_over_devices({}), Error);
}

}  // namespace
}  // namespace assay::stats
