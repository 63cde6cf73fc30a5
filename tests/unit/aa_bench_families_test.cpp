// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// The families of aa-bench have the moments that they are said to have, and the same seed gives the same numbers.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "tests/aa_bench/cells.h"
#include "tests/aa_bench/families.h"
#include "tests/aa_bench/series.h"

namespace assay::aa_bench {
namespace {

const Family& family(std::string_view name) {
  return *std::find_if(families.begin(), families.end(), [&](const Family& f) { return f.name == name; });
}

struct Moments {
  double mean = 0, between = 0, within = 0;  // of logs: mean, sd of session means, sd inside sessions
  double lag1 = 0;                           // correlation of neighbours inside sessions
};
Moments moments(const Family& f, std::size_t sessions, std::size_t samples) {
  Random random(7, {1});
  const Side side = make_side(f, {sessions, samples, true}, Place::before, 0, random);
  std::vector<double> means;
  double squares = 0, neighbours = 0, mean = 0;
  for (const std::vector<double>& times : side.times) {
    double session = 0;
    for (double t : times) session += std::log(t) / static_cast<double>(samples);
    for (std::size_t i = 0; i < samples; ++i) {
      const double d = std::log(times[i]) - session;
      squares += d * d;
      if (i > 0) neighbours += d * (std::log(times[i - 1]) - session);
    }
    means.push_back(session);
    mean += session / static_cast<double>(sessions);
  }
  double between = 0;
  for (double m : means) between += (m - mean) * (m - mean);
  return {mean, std::sqrt(between / static_cast<double>(sessions - 1)),
          std::sqrt(squares / static_cast<double>(sessions * (samples - 1))), neighbours / squares};
}

TEST(AaBenchFamilies, ThereAreElevenWithNamesOfTheirOwn) {
  EXPECT_EQ(families.size(), 11U);
  for (const Family& f : families) EXPECT_EQ(&family(f.name), &f);
}

TEST(AaBenchFamilies, SpreadBetweenAndInsideSessions) {
  for (const char* name : {"iid", "session", "noisy"}) {
    const Family& f = family(name);
    const Moments m = moments(f, 2000, 50);
    EXPECT_NEAR(m.within, f.sample_sd, 0.02 * f.sample_sd) << name;
    const double between = std::hypot(f.session_sd, f.sample_sd / std::sqrt(50));
    EXPECT_NEAR(m.between, between, 0.06 * between) << name;
    EXPECT_NEAR(m.mean, 0, 4 * between / std::sqrt(2000)) << name;
    EXPECT_NEAR(m.lag1, 0, 0.03) << name;
  }
}

TEST(AaBenchFamilies, Ar1HasItsSpreadFromTheFirstSampleAndResemblesItself) {
  Random random(7, {2});
  const Side side = make_side(family("ar1"), {20000, 2, true}, Place::before, 0, random);
  double first = 0, second = 0, product = 0;
  for (const std::vector<double>& t : side.times) {
    first += std::log(t[0]) * std::log(t[0]);
    second += std::log(t[1]) * std::log(t[1]);
    product += std::log(t[0]) * std::log(t[1]);
  }
  EXPECT_NEAR(std::sqrt(first / 20000), 0.005, 0.0001);
  EXPECT_NEAR(std::sqrt(second / 20000), 0.005, 0.0001);
  EXPECT_NEAR(product / std::sqrt(first * second), 0.8, 0.01);
}

TEST(AaBenchFamilies, SpikesAreFivePercentOfSamplesAndFivePercentLong) {
  const Moments m = moments(family("spiky"), 2000, 50);
  EXPECT_NEAR(m.mean, 0.05 * 0.05, 0.0003);
  // E spike^2 = 0.05 x 2 x 0.05^2
  EXPECT_NEAR(m.within, std::sqrt(0.002 * 0.002 + 0.05 * 2 * 0.0025 - 0.0025 * 0.0025), 0.001);
}

TEST(AaBenchFamilies, ModesComeThreeTimesInTen) {
  const Moments inside = moments(family("bimodal_within"), 2000, 50);
  EXPECT_NEAR(inside.mean, 0.3 * 0.015, 0.0002);
  EXPECT_NEAR(inside.within, std::hypot(0.002, 0.015 * std::sqrt(0.21)), 0.0002);
  const Moments between = moments(family("bimodal_session"), 5000, 50);
  EXPECT_NEAR(between.mean, 0.3 * 0.015, 0.0004);
  EXPECT_NEAR(between.between, 0.015 * std::sqrt(0.21), 0.0002);
  EXPECT_NEAR(between.within, 0.002, 0.0001);
}

TEST(AaBenchFamilies, HeavyTailsReachFurtherThanNormalOnes) {
  const auto beyond = [](const Family& f) {
    Random random(7, {3});
    const Side side = make_side(f, {1, 100000, true}, Place::before, 0, random);
    return std::count_if(side.times[0].begin(), side.times[0].end(),
                         [](double t) { return std::fabs(std::log(t)) > 4 * 0.002; });
  };
  EXPECT_LT(beyond(family("iid")), 30);
  EXPECT_NEAR(static_cast<double>(beyond(family("heavy"))), 2800, 200);  // P(|t3| > 4) = 0.0280
}

TEST(AaBenchFamilies, TiesLieOnTheTimersTicks) {
  Random random(7, {4});
  const Side side = make_side(family("ties"), {5, 20, true}, Place::after, 0.02, random);
  for (double t : side.times[0]) EXPECT_NEAR(t / 0.0015, std::round(t / 0.0015), 1e-9);
}

TEST(AaBenchFamilies, AColdMachineWarmsUpOverBothSides) {
  Random random(7, {5});
  const auto level = [&](bool warm, Place place, std::size_t from) {
    double sum = 0;
    for (int i = 0; i < 500; ++i) {
      const Side side = make_side(family("thermal"), {1, 40, warm}, place, 0, random);
      for (std::size_t s = from; s < from + 4; ++s) sum += std::log(side.times[0][s]) / (500 * 4);
    }
    return sum;
  };
  EXPECT_NEAR(level(true, Place::before, 0), 0.015, 0.0003);
  EXPECT_NEAR(level(false, Place::before, 0), 0.015 * (1 - std::exp(-0.08)), 0.0004);
  EXPECT_NEAR(level(false, Place::before, 36), 0.015 * (1 - std::exp(-1.92)), 0.0004);
  EXPECT_NEAR(level(false, Place::after, 36), 0.015 * (1 - std::exp(-3.92)), 0.0004);
}

TEST(AaBenchFamilies, EpochShiftsAWholeSide) {
  double squares = 0;
  for (std::uint64_t i = 0; i < 4000; ++i) {
    Random random(7, {6, i});
    const Side side = make_side(family("epoch"), {20, 4, true}, Place::before, 0, random);
    double mean = 0;
    for (const auto& times : side.times)
      for (double t : times) mean += std::log(t) / 80;
    squares += mean * mean;
  }
  EXPECT_NEAR(std::sqrt(squares / 4000), 0.004, 0.0002);
}

TEST(AaBenchFamilies, CyclesDoNotFollowTheClock) {
  Random random(7, {7});
  const Side side = make_side(clock_family, {4000, 2, true}, Place::before, 0, random);
  double times = 0, cycles = 0;
  for (std::size_t s = 0; s < side.times.size(); ++s) {
    times += std::pow(std::log(side.times[s][0]), 2) / 4000;
    cycles += std::pow(std::log(side.times[s][0] * side.clocks[s][0]), 2) / 4000;
  }
  EXPECT_NEAR(std::sqrt(times), std::hypot(0.01, 0.002, 0.002), 0.0006);
  EXPECT_NEAR(std::sqrt(cycles), std::hypot(0.002, 0.002, 0.0002), 0.0002);
}

TEST(AaBenchFamilies, AnEffectMultipliesTheSecondSide) {
  Random one(7, {8}), two(7, {8});
  const Side plain = make_side(family("session"), {5, 20, true}, Place::after, 0, one);
  const Side slow = make_side(family("session"), {5, 20, true}, Place::after, 0.03, two);
  for (std::size_t s = 0; s < 5; ++s)
    for (std::size_t i = 0; i < 20; ++i) EXPECT_NEAR(slow.times[s][i] / plain.times[s][i], 1.03, 1e-12);
}

TEST(AaBenchRandom, MomentsAndIndependentStreams) {
  Random random(7, {9}), other(7, {10});
  double sum = 0, squares = 0, exponential = 0, product = 0;
  constexpr int n = 200000;
  for (int i = 0; i < n; ++i) {
    const double z = random.normal();
    sum += z / n;
    squares += z * z / n;
    exponential += random.exponential(3) / n;
    product += z * other.normal() / n;
  }
  EXPECT_NEAR(sum, 0, 0.01);
  EXPECT_NEAR(squares, 1, 0.02);
  EXPECT_NEAR(exponential, 3, 0.04);
  EXPECT_NEAR(product, 0, 0.01);
}

TEST(AaBenchSeries, FaultsAreWhereTheyShouldBe) {
  const SeriesNoise silent{0.5, 0};
  Random random(7, {11});
  const auto at = [&](Fault fault, std::size_t t) {
    return std::exp(make_series(silent, false, fault, 0.05, random)[t]);
  };
  EXPECT_NEAR(at(Fault::none, 599), 1, 1e-12);
  EXPECT_NEAR(at(Fault::step, 299), 1, 1e-12);
  EXPECT_NEAR(at(Fault::step, 300), 0.95, 1e-12);
  EXPECT_NEAR(at(Fault::burst, 329), 0.95, 1e-12);
  EXPECT_NEAR(at(Fault::burst, 330), 1, 1e-12);
  EXPECT_NEAR(at(Fault::decay, 120), 1, 1e-12);
  EXPECT_NEAR(at(Fault::decay, 599), 0.95, 1e-12);
  EXPECT_NEAR(at(Fault::saw_tooth, 209), 0.95, 1e-12);
  EXPECT_NEAR(at(Fault::saw_tooth, 210), 1, 1e-12);
  EXPECT_NEAR(make_series(silent, true, Fault::none, 0, random)[40], 0.015 / std::exp(1), 1e-12);
}

// Same counts whatever the number of threads, others with another seed.
TEST(AaBenchCells, DependOnTheSeedAlone) {
  const auto counts = [](std::uint64_t seed, std::size_t threads) {
    std::vector<std::size_t> all;
    for (const Cells& cells : judge_pairs({ours(), peers().front()}, {seed, 20, threads}))
      for (const auto& family : cells.by_family)
        for (const Tally& tally : family) all.push_back(100 * tally.worse + tally.unknown);
    return all;
  };
  const auto once = counts(1, 1);
  EXPECT_EQ(once, counts(1, 3));
  EXPECT_NE(once, counts(2, 1));
}

TEST(AaBenchCells, AFailureOnAnyThreadIsTold) {
  EXPECT_THROW(parallel_for(100, 3,
                            [](std::size_t i) {
                              if (i == 57) throw std::runtime_error("57");
                            }),
               std::runtime_error);
}

}  // namespace
}  // namespace assay::aa_bench
