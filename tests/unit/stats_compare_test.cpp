// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Verdicts: the interval against formulas written out with scipy 1.17.1 (t.ppf, t.sf, nct.sf), every word and every
// reason for no word, and how often each word comes up on data where the truth is known.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <vector>

#include "harness/base/error.h"
#include "harness/stats/compare.h"
#include "harness/stats/distributions.h"
#include "tests/unit/stats_near.h"

namespace assay::stats {
namespace {

std::vector<Session> sessions(const std::vector<double>& logs, double shift = 0) {
  std::vector<Session> out;
  for (double v : logs) out.push_back({v + shift, 0, 0, 1});
  return out;
}
const std::vector<double> quiet{.001, .003, -.002, .0005, .0015};
const std::vector<double> slower{.031, .029, .033, .030, .0335};

TEST(StatsCompare, TheIntervalAndWhatItCouldHaveSeen) {
  CompareOptions options;
  options.margin = 0.02;
  for (double df : {0.0, 8.0}) {
    options.prior = {df, 0.003};
    const auto c = compare(sessions(quiet), sessions(slower), options);
    ASSERT_TRUE(c.estimate);
    const Estimate& e = *c.estimate;
    expect_relative(e.worse, 0.030500000000000003);
    expect_relative(e.low, df > 0 ? 0.02641310617873374 : 0.027066748530652322);
    expect_relative(e.high, df > 0 ? 0.03458689382126627 : 0.03393325146934768);
    expect_relative(e.p_regressed, df > 0 ? 2.2815339364345177e-06 : 9.079776530485573e-06);
    expect_relative(e.detectable, df > 0 ? 0.026054406265513225 : 0.025004082896649255);
    EXPECT_TRUE(e.differs);
    EXPECT_EQ(c.outcome, Outcome::regressed);
    EXPECT_EQ(c.sessions[0], 5U);
  }
}

TEST(StatsCompare, Words) {
  const auto outcome = [](double shift, Better better, double margin = 0.01) {
    CompareOptions options;
    options.margin = margin;
    options.better = better;
    return compare(sessions(quiet), sessions(quiet, shift), options).outcome;
  };
  EXPECT_EQ(outcome(0.03, Better::lower), Outcome::regressed);
  EXPECT_EQ(outcome(-0.03, Better::lower), Outcome::improved);
  EXPECT_EQ(outcome(0, Better::lower), Outcome::no_regression);
  EXPECT_EQ(outcome(-0.008, Better::lower), Outcome::no_regression);
  EXPECT_EQ(outcome(0.009, Better::lower), Outcome::inconclusive);
  EXPECT_EQ(outcome(-0.03, Better::higher), Outcome::regressed);
  EXPECT_EQ(outcome(0.03, Better::higher), Outcome::improved);
  EXPECT_EQ(outcome(0, Better::higher), Outcome::no_regression);
  EXPECT_EQ(outcome(0.03, Better::lower, 0.05), Outcome::no_regression);
}

TEST(StatsCompare, AChangeBelowTheMarginIsSaidButIsNoRegression) {
  const auto c = compare(sessions(quiet), sessions(quiet, 0.006), {});
  EXPECT_EQ(c.outcome, Outcome::no_regression);
  EXPECT_TRUE(c.estimate->differs);
  EXPECT_FALSE(c.sessions_asked);
}

TEST(StatsCompare, TooFewSessionsIsNeverAPass) {
  for (std::size_t n = 0; n < 5; ++n) {
    const std::vector<double> few(quiet.begin(), quiet.begin() + static_cast<std::ptrdiff_t>(n));
    const auto c = compare(sessions(few), sessions(quiet), {});
    EXPECT_EQ(c.outcome, Outcome::inconclusive) << n;
    EXPECT_EQ(c.because, Because::too_few_sessions) << n;
    EXPECT_EQ(c.sessions_asked, 5U) << n;
    EXPECT_EQ(c.estimate.has_value(), n > 0) << n;
  }
  CompareOptions with_prior;
  with_prior.prior = {8, 0.002};
  const std::vector<double> three(quiet.begin(), quiet.begin() + 3);
  EXPECT_EQ(compare(sessions(three), sessions(three), with_prior).outcome, Outcome::no_regression);
}

TEST(StatsCompare, NoSpreadIsNeverAPass) {
  const std::vector<Session> frozen = sessions({2, 2, 2, 2, 2});
  CompareOptions with_prior;
  with_prior.prior = {8, 0.002};
  for (const CompareOptions& options : {CompareOptions{}, with_prior}) {
    const auto c = compare(frozen, frozen, options);
    EXPECT_EQ(c.outcome, Outcome::inconclusive);
    EXPECT_EQ(c.because, Because::no_spread);
    EXPECT_FALSE(c.estimate);
  }
}

TEST(StatsCompare, EpochAndControlWidenTheInterval) {
  CompareOptions options;
  const auto plain = compare(sessions(quiet), sessions(slower), options);
  options.epoch_sd = 0.004;
  options.control_error = 0.003;
  options.control_shift = 0.01;
  const auto wide = compare(sessions(quiet), sessions(slower), options);
  expect_relative(wide.estimate->worse, plain.estimate->worse - 0.01);
  expect_relative(wide.estimate->error * wide.estimate->error,
                  plain.estimate->error * plain.estimate->error + 2 * 0.004 * 0.004 + 0.003 * 0.003);
  EXPECT_EQ(wide.outcome, Outcome::inconclusive);
  // A rate that fell together with its control: the shift is taken off in the direction of the metric.
  options = {};
  options.better = Better::higher;
  options.control_shift = -0.03;
  EXPECT_NEAR(compare(sessions(quiet), sessions(quiet, -0.03), options).estimate->worse, 0, 1e-15);
}

const std::vector<double> two_modes{0, .015, .0004, -.0005, .0156, .0147, .0002, -.0003, .0152, .0001};
const std::vector<double> one_mode{.0003, -.0004, .0001, .0005, -.0002, .0002, -.0001, .0004, 0, -.0003};

TEST(StatsCompare, ModesGiveAWordOnlyFromTenSessions) {
  CompareOptions options;
  options.margin = 0.01;
  auto c = compare(sessions(one_mode), sessions(two_modes), options);
  EXPECT_EQ(c.outcome, Outcome::mode_switch);
  EXPECT_EQ(c.because, Because::modes);
  EXPECT_FALSE(c.modes[0]);
  ASSERT_TRUE(c.modes[1]);
  EXPECT_EQ(c.modes[1]->high_count, 4U);
  EXPECT_NEAR(c.modes[1]->gap(), 0.0151, 0.0002);

  const std::vector<double> five(two_modes.begin(), two_modes.begin() + 5);
  c = compare(sessions({one_mode.begin(), one_mode.begin() + 5}), sessions(five), options);
  EXPECT_EQ(c.outcome, Outcome::inconclusive);
  EXPECT_EQ(c.because, Because::interval);
  EXPECT_TRUE(c.modes[1]);
  EXPECT_GE(*c.sessions_asked, 10U);
}

TEST(StatsCompare, ModesDontHideWhatTheyCantExplain) {
  CompareOptions options;
  options.margin = 0.01;
  EXPECT_EQ(compare(sessions(two_modes), sessions(two_modes, 0.08), options).outcome, Outcome::regressed);
  EXPECT_EQ(compare(sessions(two_modes), sessions(two_modes, -0.08), options).outcome, Outcome::improved);
  EXPECT_EQ(compare(sessions(two_modes), sessions(two_modes, 0.02), options).outcome, Outcome::mode_switch);
  // Both sides have the same two modes: nothing is new, and the interval decides.
  std::vector<double> twice = two_modes;
  for (int i = 0; i < 3; ++i) twice.insert(twice.end(), two_modes.begin(), two_modes.end());
  EXPECT_EQ(compare(sessions(twice), sessions(twice), options).outcome, Outcome::no_regression);
  // One side has gained a mode, though its mean is still within the margin.
  std::vector<double> before, after;
  for (int i = 0; i < 4; ++i) before.insert(before.end(), one_mode.begin(), one_mode.end());
  after = before;
  for (std::size_t i = 0; i < 5; ++i) after[8 * i] += 0.015;
  EXPECT_EQ(compare(sessions(before), sessions(after), options).outcome, Outcome::mode_switch);
  // Modes closer together than the margin can't make a verdict.
  options.margin = 0.02;
  EXPECT_EQ(compare(sessions(one_mode), sessions(two_modes), options).outcome, Outcome::no_regression);
}

std::vector<Session> with_spread(const std::vector<double>& logs, double spread) {
  std::vector<Session> out;
  for (std::size_t i = 0; i < logs.size(); ++i)
    out.push_back({logs[i], spread * (1 + 0.05 * static_cast<double>(i % 3)), 1e-6, 20});
  return out;
}

TEST(StatsCompare, VarianceChanged) {
  const auto outcome = [](double before, double after, double shift, std::vector<double> logs = quiet) {
    CompareOptions options;
    options.margin = 0.01;
    std::vector<double> moved = logs;
    for (double& v : moved) v += shift;
    return compare(with_spread(logs, before), with_spread(moved, after), options).outcome;
  };
  EXPECT_EQ(outcome(.002, .008, 0), Outcome::variance_worse);
  EXPECT_EQ(outcome(.008, .002, 0), Outcome::variance_better);
  EXPECT_EQ(outcome(.002, .0025, 0), Outcome::no_regression);   // within the ratio
  EXPECT_EQ(outcome(.0002, .0008, 0), Outcome::no_regression);  // 4 times of nearly nothing
  EXPECT_EQ(outcome(.002, .008, .03), Outcome::regressed);
  EXPECT_EQ(outcome(.002, .008, -.03), Outcome::improved);
  const std::vector<double> noisy{.01, -.03, .02, .04, -.02};
  EXPECT_EQ(outcome(.002, .008, 0, noisy), Outcome::variance_worse);
  EXPECT_EQ(outcome(.008, .002, 0, noisy), Outcome::inconclusive) << "a smaller spread is no pass";
}

TEST(StatsCompare, DetectableChange) {
  // Computed independently (numpy) for a margin of 1 % and 8 prior degrees of freedom, in %: sd .1 % and 3 sessions,
  // ...
  const auto percent = [](double sd, double s) {
    return 100 * detectable_change(0.01, sd * std::sqrt(2 / s), 8 + 2 * s - 2, 0.01, 0.9);
  };
  EXPECT_NEAR(percent(0.001, 3), 1.33, 0.006);
  EXPECT_NEAR(percent(0.002, 5), 1.50, 0.006);
  EXPECT_NEAR(percent(0.003, 10), 1.51, 0.006);
  EXPECT_NEAR(percent(0.005, 5), 2.24, 0.016);
  EXPECT_NEAR(percent(0.01, 10), 2.7, 0.06);
  EXPECT_NEAR(percent(0.02, 20), 3.4, 0.06);
  // Against the noncentral t: the true power of that change.
  for (double df : {4.0, 8.0, 16.0, 30.0}) {
    const double power = 1 - noncentral_t_cdf(t_quantile(0.99, df), df, detectable_change(0, 1, df, 0.01, 0.9));
    EXPECT_NEAR(power, 0.9, 0.0002) << df;
  }
}

TEST(StatsCompare, SessionsNeeded) {
  CompareOptions options;
  const auto needed = sessions_needed(0.003, 0.01, options);
  ASSERT_TRUE(needed);
  const auto half = [&](std::size_t s) {
    const auto n = static_cast<double>(s);
    return detectable_change(0, 0.003 * std::sqrt(2 / n), 2 * n - 2, 0.01, 0.9);
  };
  EXPECT_LE(half(*needed), 0.01);
  EXPECT_GT(half(*needed - 1), 0.01);
  EXPECT_EQ(sessions_needed(0, 0.01, options), 2U);
  EXPECT_FALSE(sessions_needed(10, 0.001, options));
  options.epoch_sd = 0.01;
  EXPECT_FALSE(sessions_needed(0.0001, 0.01, options)) << "no number of sessions averages an epoch out";
}

TEST(StatsCompare, AskingForSessionsComesTrue) {
  CompareOptions options;
  options.margin = 0.01;
  const std::vector<double> noisy{.01, -.006, .008, .002, -.009};
  const auto c = compare(sessions(noisy), sessions(noisy, 0.001), options);
  EXPECT_EQ(c.outcome, Outcome::inconclusive);
  ASSERT_TRUE(c.sessions_asked);
  std::vector<double> more;
  while (more.size() < *c.sessions_asked) more.insert(more.end(), noisy.begin(), noisy.end());
  EXPECT_EQ(compare(sessions(more), sessions(more, 0.001), options).outcome, Outcome::no_regression);
}

TEST(StatsCompare, BadInputIsAnError) {
  const auto with = [](auto change) {
    CompareOptions options;
    change(options);
    return [=] { compare(sessions(quiet), sessions(quiet), options); };
  };
  for (double bad : {0.0, -0.01, 1.5, nan}) EXPECT_THROW(with([=](auto& o) { o.margin = bad; })(), Error) << bad;
  for (double bad : {0.0, 0.5, nan}) EXPECT_THROW(with([=](auto& o) { o.alpha = bad; })(), Error) << bad;
  for (double bad : {0.4, 1.0, nan}) EXPECT_THROW(with([=](auto& o) { o.power = bad; })(), Error) << bad;
  for (double bad : {-1.0, nan, infinity}) {
    EXPECT_THROW(with([=](auto& o) { o.epoch_sd = bad; })(), Error) << bad;
    EXPECT_THROW(with([=](auto& o) { o.control_error = bad; })(), Error) << bad;
  }
  EXPECT_THROW(with([=](auto& o) { o.control_shift = nan; })(), Error);
  EXPECT_THROW(compare(sessions(quiet), sessions({1, 2, nan, 3, 4}), {}), Error);
  EXPECT_THROW(sessions_needed(nan, 0.01, {}), Error);
  EXPECT_THROW(sessions_needed(0.01, 0, {}), Error);
}

TEST(StatsCompare, RelativeChange) {
  EXPECT_NEAR(relative_change(std::log(1.03), Better::lower), 0.03, 1e-15);
  EXPECT_NEAR(relative_change(std::log(1.03), Better::higher), 1 / 1.03 - 1, 1e-15);
}

// The guarantee: at the margin itself, neither word beyond alpha. 4000 pairs, standard error .0016 at .01.
TEST(StatsCompare, ErrorsAtTheMarginStayBelowAlpha) {
  std::mt19937_64 random(11);
  std::normal_distribution<double> normal(0, 0.003);
  CompareOptions options;
  options.margin = 0.01;
  std::map<Outcome, int> counts;
  for (int i = 0; i < 4000; ++i) {
    std::vector<double> a(5), b(5);
    for (double& v : a) v = normal(random);
    for (double& v : b) v = std::log1p(0.01) + normal(random);
    ++counts[compare(sessions(a), sessions(b), options).outcome];
  }
  EXPECT_LT(counts[Outcome::regressed], 60);
  EXPECT_GT(counts[Outcome::regressed], 20);
  EXPECT_LT(counts[Outcome::no_regression], 60);
  EXPECT_EQ(counts[Outcome::improved], 0);
}

}  // namespace
}  // namespace assay::stats
