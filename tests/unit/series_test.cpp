// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// One series: every fault is found and named, noise is left alone (counted over many series), and what is too short,
// never level or no number is said to be so. The experiment in tests/aa_bench measures the same function on 600 s.
#include "harness/verdict/series.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

#include "harness/record.h"

namespace assay {
namespace {

constexpr std::size_t usual = 240;
using Shift = std::function<double(double)>;  // of the log of the rate, by the share of the series that is over

Shift step_at(double from, double size, double until = 2) {
  return [=](double x) { return x >= from && x < until ? std::log1p(-size) : 0; };
}

// AR(1) noise of `sd`, lag-1 correlation `rho`; a quarter of a second a sample.
TimedSeries made(unsigned seed, const Shift& shift = nullptr, double sd = 0.002, double rho = 0.3,
                 std::size_t n = usual) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal(0, sd);
  TimedSeries series;
  double noise = normal(random);
  for (std::size_t i = 0; i < n; ++i) {
    const double at = static_cast<double>(i) / static_cast<double>(n);
    series.values.push_back(3e12 * std::exp(noise + (shift ? shift(at) : 0)));
    series.at_s.push_back(0.25 * static_cast<double>(i));
    series.flags.push_back(0);
    noise = rho * noise + std::sqrt(1 - rho * rho) * normal(random);
  }
  return series;
}

Change change_of(const TimedSeries& series) {
  const SeriesLook look = look_at(series);
  EXPECT_EQ(look.look, Look::examined);
  EXPECT_TRUE(look.change);
  return look.change.value_or(Change{});
}

// In how many of `runs` series a change is claimed.
int claims(int runs, double sd, double rho, std::size_t n, const Shift& shift = nullptr) {
  int count = 0;
  for (int run = 0; run < runs; ++run)
    count += look_at(made(1000 + static_cast<unsigned>(run), shift, sd, rho, n)).change.has_value();
  return count;
}

TEST(Series, NoiseRaisesNoAlarm) {
  for (const std::size_t n : {shortest_series, std::size_t{120}, usual, std::size_t{600}}) {
    EXPECT_EQ(claims(300, 0.002, 0, n), 0) << n;
    EXPECT_EQ(claims(300, 0.002, 0.3, n), 0) << n;
    EXPECT_LE(claims(1000, 0.005, 0.8, n), 15) << n << ": expected below 1 %";
  }
}

TEST(Series, ADayOfNoiseRaisesNoAlarm) {
  EXPECT_EQ(claims(5, 0.005, 0.8, 86400), 0);
  EXPECT_EQ(claims(5, 0.002, 0.3, 86400), 0);
}

TEST(Series, EveryFaultIsFound) {
  const Shift decay = [](double x) { return std::log1p(-0.05 * std::max(0.0, (x - 0.3) / 0.7)); };
  const Shift saw_tooth = [](double x) { return std::fmod(x * 20, 1) < 1.0 / 3 && x > 0.5 ? std::log1p(-0.05) : 0; };
  EXPECT_EQ(claims(100, 0.002, 0.3, usual, step_at(0.6, 0.03)), 100);
  EXPECT_EQ(claims(100, 0.002, 0.3, usual, step_at(0.6, 0.05, 0.7)), 100) << "a burst";
  EXPECT_EQ(claims(100, 0.002, 0.3, usual, decay), 100);
  EXPECT_GE(claims(100, 0.002, 0.3, usual, saw_tooth), 98);
  EXPECT_GE(claims(200, 0.005, 0.8, 600, step_at(0.5, 0.03)), 198);
  EXPECT_GE(claims(200, 0.005, 0.8, 600, decay), 196);
}

TEST(Series, ADropSaysWhenAndHowMuch) {
  const Change change = change_of(made(1, step_at(0.6, 0.03)));
  EXPECT_TRUE(change.sudden);
  EXPECT_TRUE(change.lasting);
  EXPECT_NEAR(static_cast<double>(change.first), 144, 4);
  EXPECT_NEAR(change.change, -0.03, 0.003);
  ASSERT_TRUE(change.interval);
  EXPECT_LT(change.interval->low, -0.03);
  EXPECT_GT(change.interval->high, -0.03);
  EXPECT_LT(change.interval->high, 0) << "no drop at all is not among what it may be";
  EXPECT_FALSE(change.throttle());
}

TEST(Series, TheIntervalHoldsTheTruth) {
  int held = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    const auto look = look_at(made(seed, step_at(0.6, 0.04)));
    if (look.change && look.change->interval)
      held += look.change->interval->low <= -0.04 && look.change->interval->high >= -0.04;
  }
  EXPECT_GE(held, 186) << "95 % of 200, less three standard errors";
}

TEST(Series, ABurstEnds) {
  const Change change = change_of(made(2, step_at(0.6, 0.05, 0.75)));
  EXPECT_FALSE(change.lasting);
  EXPECT_NEAR(static_cast<double>(change.last), 180, 8);
}

TEST(Series, ADecayIsGradual) {
  const Change change = change_of(made(3, [](double x) { return -0.06 * std::max(0.0, (x - 0.3) / 0.7); }));
  EXPECT_FALSE(change.sudden);
  EXPECT_NEAR(change.change, std::expm1(-0.06), 0.012) << "what was lost by the end";
}

TEST(Series, WorseIsUpForATime) {
  TimedSeries series = made(4, step_at(0.6, 0.03));
  for (double& value : series.values) value = 1 / value;
  EXPECT_FALSE(look_at(series).change) << "a rate of 1/x that rises is an improvement";
  series.better = Better::lower;
  EXPECT_NEAR(change_of(series).change, -0.03, 0.003);
}

TEST(Series, TheClockTellsAThrottleFromADrop) {
  TimedSeries series = made(5, step_at(0.6, 0.1));
  for (std::size_t i = 0; i < usual; ++i) series.clock_hz.push_back(i < 144 ? 1.5e9 : 1.35e9);
  EXPECT_TRUE(change_of(series).throttle());
  EXPECT_NEAR(*change_of(series).clock_change, -0.1, 1e-9);
  series.clock_hz.assign(usual, 1.5e9);
  EXPECT_FALSE(change_of(series).throttle());
}

TEST(Series, TheDeviceSaysThatItThrottles) {
  TimedSeries series = made(6, step_at(0.6, 0.1));
  for (std::size_t i = 144; i < usual; ++i) series.flags[i] = disturbed::throttled;
  EXPECT_TRUE(change_of(series).throttle());
  EXPECT_EQ(change_of(series).disturbed, 0) << "what the device does itself is no disturbance";
}

TEST(Series, HeatCountsOnlyWhereNoClockWasRead) {
  TimedSeries series = made(7, step_at(0.6, 0.1));
  for (std::size_t i = 0; i < usual; ++i) series.celsius.push_back(i < 144 ? 70 : 85);
  EXPECT_TRUE(change_of(series).throttle());
  EXPECT_EQ(change_of(series).celsius_change, 15);
  series.clock_hz.assign(usual, 1.5e9);
  EXPECT_FALSE(change_of(series).throttle());
}

TEST(Series, DisturbedSamplesAreCounted) {
  TimedSeries series = made(8, step_at(0.6, 0.05));
  for (std::size_t i = 150; i < usual; i += 2) series.flags[i] = disturbed::steal;
  const Change change = change_of(series);
  EXPECT_NEAR(change.disturbed, 0.47, 0.05);
  EXPECT_EQ(change.disturbances, disturbed::steal);
}

TEST(Series, AClockThatFallsAloneIsNothing) {
  TimedSeries series = made(9);
  for (std::size_t i = 0; i < usual; ++i) series.clock_hz.push_back(i < 144 ? 1.5e9 : 1.2e9);
  EXPECT_FALSE(look_at(series).change);
}

TEST(Series, WhatCannotBeExaminedIsSaidToBeSo) {
  EXPECT_EQ(look_at({}).look, Look::too_short);
  EXPECT_EQ(look_at(made(1, step_at(0.6, 0.5), 0.002, 0.3, shortest_series - 1)).look, Look::too_short);
  EXPECT_EQ(look_at(made(1, nullptr, 0.002, 0.3, shortest_series)).look, Look::examined);
  EXPECT_EQ(look_at(made(
                        1, [](double x) { return -2 * x; }, 0.0005))
                .look,
            Look::unsteady)
      << "always falling";
  TimedSeries zero = made(1);
  zero.values[7] = 0;
  EXPECT_EQ(look_at(zero).look, Look::unusable);
  // Level only near its end: what follows is too short to tell.
  const SeriesLook late = look_at(made(
      1, [](double x) { return x < 0.8 ? -2 * (0.8 - x) : 0; }, 0.0005));
  EXPECT_EQ(late.look, Look::too_short);
  EXPECT_FALSE(late.change);
}

TEST(Series, LongBlocksAreTenSeconds) {
  EXPECT_EQ(look_at(made(1, nullptr, 0.002, 0.3, 120)).per_block, 2U);
  EXPECT_EQ(look_at(made(1, nullptr, 0.002, 0.3, 1200)).per_block, 20U) << "60 blocks";
  EXPECT_EQ(look_at(made(1, nullptr, 0.002, 0.3, 12000)).per_block, 40U) << "10 s of 0.25 s";
}

// What falls before the watch begins is no fall that the watch could see: then nothing was examined.
TEST(Series, AFallBeforeTheReferenceIsOverIsNotSteady) {
  for (const double at : {0.06, 0.1, 0.15, 0.2, 0.25, 0.3})
    for (const std::size_t samples : {usual, usual * 3}) {
      const SeriesLook look = look_at(made(3, step_at(at, 0.2), 0.002, 0.3, samples));
      EXPECT_TRUE(look.change || look.look == Look::unsteady) << at << " of " << samples;
    }
  const SeriesLook steady = look_at(made(3));
  EXPECT_EQ(steady.look, Look::examined);
  EXPECT_GT(steady.watched, 0.4);
  EXPECT_LT(steady.watched, 0.9);
  // A warm-up rises: that is no fall.
  EXPECT_EQ(look_at(made(
                        3, [](double x) { return x < 0.1 ? -0.5 * (0.1 - x) : 0; }, 0.002))
                .look,
            Look::examined);
}

}  // namespace
}  // namespace assay
