// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Boundaries against published tables (Jennison and Turnbull 2000 and the program ldbounds, three decimals; Reboussin,
// DeMets, Kim and Lan 2000) and against another program's integration: Simpson's rule on 6001 points, numpy 2.4.6.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "harness/base/error.h"
#include "harness/stats/distributions.h"
#include "harness/stats/sequential.h"
#include "harness/stats/session.h"
#include "tests/unit/stats_near.h"

namespace assay::stats {
namespace {

std::vector<double> equal_steps(int looks) {
  std::vector<double> information;
  for (int i = 1; i <= looks; ++i) information.push_back(static_cast<double>(i) / looks);
  return information;
}

void expect_boundaries(const std::vector<Look>& looks, const std::vector<double>& expected, double tolerance) {
  ASSERT_EQ(looks.size(), expected.size());
  for (std::size_t i = 0; i < looks.size(); ++i) EXPECT_NEAR(looks[i].z, expected[i], tolerance) << "look " << i + 1;
}

TEST(StatsSequential, PublishedBoundaries) {
  expect_boundaries(spending_looks(0.025, equal_steps(2)), {2.963, 1.969}, 0.0006);
  expect_boundaries(spending_looks(0.025, equal_steps(3)), {3.710, 2.511, 1.993}, 0.0006);
  expect_boundaries(spending_looks(0.025, equal_steps(4)), {4.333, 2.963, 2.359, 2.014}, 0.0006);
  expect_boundaries(spending_looks(0.025, equal_steps(5)), {4.877, 3.357, 2.680, 2.290, 2.031}, 0.0006);
}

TEST(StatsSequential, BoundariesOfAnotherIntegration) {
  expect_boundaries(spending_looks(0.025, equal_steps(10)),
                    {6.991351707077417, 4.876885152825087, 3.9296822965723006, 3.367079083433734, 2.9893298313366334,
                     2.7148089546665757, 2.504077275006643, 2.335829039026717, 2.1975032888391164, 2.081175752849906},
                    1e-8);
  expect_boundaries(session_looks(0.01, 3, 12),
                    {5.02012247000973, 4.313129197193322, 3.8333323461482434, 3.48279669261409, 3.2130581729580725,
                     2.9974440556930224, 2.8200672775350157, 2.670848585529429, 2.5430608835400017, 2.4320258937659434},
                    1e-8);
  const std::vector<double> uneven{0.25, 0.3, 0.9, 1};
  expect_boundaries(spending_looks(0.01, uneven),
                    {5.02012247000973, 4.566598650887465, 2.477066164952411, 2.402657013574364}, 1e-8);
}

TEST(StatsSequential, OneLookIsAPlainTest) {
  const auto looks = session_looks(0.01, 5, 5);
  ASSERT_EQ(looks.size(), 1U);
  expect_relative(looks[0].z, normal_quantile(0.99));
  expect_relative(looks[0].alpha, 0.01);
}

TEST(StatsSequential, SpendsAlphaAndNoMore) {
  for (double alpha : {0.005, 0.01, 0.025, 0.05})
    for (std::size_t cap = 3; cap <= 14; ++cap) {
      const auto looks = session_looks(alpha, 3, cap);
      ASSERT_EQ(looks.size(), cap - 2);
      expect_relative(looks.back().spent, alpha, 1e-12);
      for (std::size_t i = 1; i < looks.size(); ++i) {
        EXPECT_LT(looks[i].z, looks[i - 1].z);
        EXPECT_GT(looks[i].spent, looks[i - 1].spent);
        EXPECT_GT(looks[i].alpha, 0);
      }
    }
}

TEST(StatsSequential, LaterLooksDontMoveEarlierOnes) {
  const std::vector<double> three{0.3, 0.6, 0.8}, two{0.3, 0.6};
  EXPECT_EQ(spending_looks(0.01, three)[1].z, spending_looks(0.01, two)[1].z);
}

TEST(StatsSequential, AVeryEarlyLookSpendsNothing) {
  const auto looks = spending_looks(0.01, std::vector<double>{0.01, 1});
  EXPECT_EQ(looks[0].z, 8);
  EXPECT_EQ(looks[0].spent, 0);
  EXPECT_NEAR(looks[1].z, normal_quantile(0.99), 1e-6);
}

TEST(StatsSequential, BadPlansAreErrors) {
  EXPECT_THROW(spending_looks(0.01, {}), Error);
  EXPECT_THROW(spending_looks(0, equal_steps(3)), Error);
  EXPECT_THROW(spending_looks(nan, equal_steps(3)), Error);
  EXPECT_THROW(spending_looks(0.01, std::vector<double>{0.5, 0.5}), Error);
  EXPECT_THROW(spending_looks(0.01, std::vector<double>{0.5, 1.1}), Error);
  EXPECT_THROW(spending_looks(0.01, std::vector<double>{0, 1}), Error);
  EXPECT_THROW(spending_looks(0.01, equal_steps(51)), Error);
  EXPECT_THROW(session_looks(0.01, 5, 4), Error);
  EXPECT_THROW(session_looks(0.01, 0, 4), Error);
}

TEST(StatsSequential, TheInformationOfALookKnowsThatTheOtherSideIsFinished) {
  const auto looks = looks_against(5, 0.01, 3, 12);
  ASSERT_EQ(looks.size(), 10U);
  EXPECT_NEAR(looks.front().information, (1.0 / 5 + 1.0 / 12) / (1.0 / 5 + 1.0 / 3), 1e-12);
  EXPECT_DOUBLE_EQ(looks.back().information, 1);
  EXPECT_NEAR(looks.back().spent, 0.01, 1e-9);
  EXPECT_GT(looks.front().alpha, session_looks(0.01, 3, 12).front().alpha);
  ASSERT_EQ(looks_against(5, 0.01, 3, 3).size(), 1U);
  EXPECT_NEAR(looks_against(5, 0.01, 3, 3).front().alpha, 0.01, 1e-9);
  EXPECT_THROW(looks_against(0, 0.01, 3, 12), Error);
  EXPECT_THROW(looks_against(5, 0.01, 13, 12), Error);
}

// The whole design on noise: `before` sessions against 3, 4, ..., 12, the true change exactly at the margin. Counts
// runs that were wrong at some look, in either direction, at the error of each look and (naive) at the full error each
// time.
struct Wrong {
  int worse = 0, better = 0, naive = 0;
};
Wrong wrong_of(std::size_t before, int runs) {
  const auto looks = looks_against(before, 0.01, 3, 12);
  std::mt19937_64 random(1001);
  std::normal_distribution<double> normal;
  const auto session = [&] { return Session{normal(random), 0.1, 1e-9, 20}; };
  Wrong wrong;
  for (int run = 0; run < runs; ++run) {
    std::vector<Session> old(before), fresh;
    for (Session& s : old) s = session();
    bool worse = false, better = false, naive = false;
    for (std::size_t k = 1; k <= 12; ++k) {
      fresh.push_back(session());
      if (k < 3 || worse || better) continue;
      const auto d = moderated_difference(old, fresh, {});
      const double p = t_cdf(-std::fabs(d->mean) / d->error, d->df);
      naive = naive || (d->mean > 0 && p < 0.01);
      (d->mean > 0 ? worse : better) = p < looks[k - 3].alpha;
    }
    wrong.worse += worse;
    wrong.better += better;
    wrong.naive += naive;
  }
  return wrong;
}

TEST(StatsSequential, AllLooksTogetherAreWrongNoMoreOftenThanAlpha) {
  constexpr int runs = 10000;  // a share of 1 % has a standard error of 0.1 %
  for (const std::size_t before : {3, 5, 12}) {
    const Wrong wrong = wrong_of(before, runs);
    EXPECT_LT(wrong.worse, 0.013 * runs) << before << " before";
    EXPECT_LT(wrong.better, 0.013 * runs) << before << " before";
    EXPECT_GT(wrong.naive, 0.015 * runs) << "looks at the full error must fail, or nothing is tested";
  }
}

}  // namespace
}  // namespace assay::stats
