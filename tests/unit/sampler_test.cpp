// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// The sampler against work whose speed is scripted: it sleeps or spins for as long as the script says.
#include "harness/worker/sampler.h"

#include <gtest/gtest.h>

#include "harness/base/clock.h"
#include "harness/base/error.h"
#include "harness/device/device.h"

namespace assay {
namespace {

void spin(double seconds) {
  const auto until = monotonic_ns() + static_cast<std::int64_t>(seconds * 1e9);
  while (monotonic_ns() < until) {
  }
}

SamplerSetting setting() {
  SamplerSetting s;
  s.policy.block_s = 0.002;
  s.policy.warmup_max_s = 0.02;
  s.policy.measure_min_s = 0.02;
  s.policy.measure_max_s = 0.06;
  s.policy.samples_min = 5;
  s.cpus = {allowed_cpus().front()};
  return s;
}

TEST(Sampler, BlocksAreAsLongAsThePolicySays) {
  Link nobody;
  const Sampling sampling = sample([](std::uint64_t n) { spin(1e-5 * static_cast<double>(n)); }, setting(), nobody);
  ASSERT_GE(sampling.series.samples.size(), 3U);
  std::uint64_t measured = 0;
  for (const Sample& s : sampling.series.samples) {
    EXPECT_EQ((s.disturbed & disturbed::short_block) != 0, s.seconds < 0.9 * 0.002);
    measured += s.iterations;
  }
  EXPECT_DOUBLE_EQ(sampling.series.block_s, 0.002);
  const std::uint64_t counted = measured + sampling.series.warmup_iterations;
  EXPECT_LE(sampling.iterations_done - counted, 1U) << "one more to make the total odd";
  EXPECT_EQ(sampling.iterations_done % 2, 1U);
  EXPECT_FALSE(sampling.series.stop_reason.empty());
}

TEST(Sampler, EveryIterationIsAccountedFor) {
  std::uint64_t done = 0;
  Link nobody;
  const Sampling sampling =
      sample([&](std::uint64_t n) { spin(1e-6 * static_cast<double>(n)), done += n; }, setting(), nobody);
  EXPECT_EQ(sampling.iterations_done, done);
}

TEST(Sampler, TheTotalIsOddHoweverManyThereAre) {
  Link nobody;
  for (const double seconds : {1e-5, 1.3e-5, 3e-3}) {
    std::uint64_t done = 0;
    bool swapped = false;
    const auto work = [&](std::uint64_t n) {
      for (std::uint64_t i = 0; i < n; ++i, ++done) spin(seconds), swapped = !swapped;
    };
    const Sampling sampling = sample(work, setting(), nobody);
    EXPECT_EQ(sampling.iterations_done, done);
    EXPECT_TRUE(swapped) << "work that undoes itself must not end as it began";
  }
}

TEST(Sampler, BeforeMeasuringComesOnceAndAfterTheWarmUp) {
  std::uint64_t done = 0, spoiled_at = 0;
  int spoils = 0;
  SamplerSetting s = setting();
  s.before_measuring = [&] { spoiled_at = done, ++spoils; };
  Link nobody;
  const Sampling sampling = sample([&](std::uint64_t n) { spin(1e-5 * static_cast<double>(n)), done += n; }, s, nobody);
  EXPECT_EQ(spoils, 1);
  EXPECT_EQ(spoiled_at, sampling.series.warmup_iterations);
  EXPECT_EQ(sampling.iterations_done, done - spoiled_at);
  EXPECT_EQ(sampling.iterations_done % 2, 1U);
}

// What happens around a block of work, in order: a letter each.
class Watched final : public Instrument {
 public:
  double resolvable_s() const override { return 1e-6; }
  double seconds_of(const Work& work, std::uint64_t n) override {
    work(n);
    return 1e-5 * static_cast<double>(n);
  }
  void before_sample() override { order += 'b'; }
  void after_sample(Sample&) override { order += 'a'; }
  double most_hertz() const override { return 0; }
  std::string order;
};

TEST(Sampler, WhatACallLeftIsGatheredAfterAllThatIsReadBesideItsTime) {
  Watched watched;
  SamplerSetting s = setting();
  s.instrument = &watched;
  s.before_measuring = [&] { watched.order.clear(); };
  s.after_each_call = [&] { watched.order += 'g'; };
  Link nobody;
  const Sampling sampling = sample([&](std::uint64_t) { watched.order += 'w'; }, s, nobody);
  std::string expected;
  for (std::size_t i = 0; i < sampling.series.samples.size(); ++i) expected += "bwag";
  if (watched.order.size() > expected.size()) expected += "wg";  // one more, to make the total odd
  EXPECT_EQ(watched.order, expected);
}

TEST(Sampler, TheHighestClockIsBesideTheSamples) {
  Link nobody;
  SamplerSetting s = setting();
  s.cpus = {0};
  const Sampling sampling = sample([](std::uint64_t n) { spin(1e-5 * static_cast<double>(n)); }, s, nobody);
  for (const Sample& one : sampling.series.samples) EXPECT_LE(one.clock_hz, sampling.most_clock_hz);
  EXPECT_GT(sampling.most_clock_hz, 0);
}

TEST(Sampler, MeasuringIsTheTimeOfTheSamples) {
  Link nobody;
  const Sampling sampling = sample([](std::uint64_t n) { spin(1e-5 * static_cast<double>(n)); }, setting(), nobody);
  double seconds = 0;
  for (const Sample& s : sampling.series.samples) seconds += s.seconds;
  EXPECT_DOUBLE_EQ(sampling.measure_s, seconds);
}

TEST(Sampler, WorkThatTakesNoTimeIsAnError) {
  Link nobody;
  EXPECT_THROW(sample([](std::uint64_t) {}, setting(), nobody), Error);
}

TEST(Sampler, WorkThatStopsWorkingAfterItsWarmUpIsAnError) {
  Link nobody;
  bool measuring = false;
  SamplerSetting s = setting();
  s.policy.measure_max_s = 60;  // however long something else has the CPU
  s.policy.relative_error = 0;
  s.before_measuring = [&] { measuring = true; };
  EXPECT_THROW(sample([&](std::uint64_t n) { spin(measuring ? 1e-6 : 1e-5 * static_cast<double>(n)); }, s, nobody),
               Error);
  measuring = false;
  EXPECT_THROW(sample([&](std::uint64_t n) { spin(measuring ? 0 : 1e-5 * static_cast<double>(n)); }, s, nobody), Error);
}

TEST(Sampler, ShortBlocksAfterASlowStartAreKeptAndFlagged) {
  std::uint64_t done = 0;
  Link nobody;
  const Sampling sampling = sample(
      [&](std::uint64_t n) {
        for (std::uint64_t i = 0; i < n; ++i) spin(++done < 300 ? 1e-4 : 1e-6);
      },
      setting(), nobody);
  for (const Sample& s : sampling.series.samples)
    EXPECT_EQ((s.disturbed & disturbed::short_block) != 0, s.seconds < 0.9 * 0.002);
  EXPECT_GE(sampling.series.samples.size(), 3U);
}

TEST(Sampler, PartsShortenASweepsSeries) {
  Link nobody;
  SamplerSetting s = setting();
  s.part = 0.1;
  s.policy.relative_error = 0;
  const Sampling sampling = sample([](std::uint64_t n) { spin(1e-5 * static_cast<double>(n)); }, s, nobody);
  EXPECT_GE(sampling.series.samples.size(), 3U);
  EXPECT_LE(sampling.series.samples.size(), 10U);
}

class Stopper final : public Link {
 public:
  void window(const std::string&, const std::string&, double, double) override { ++windows; }
  bool stop_requested() const override { return windows >= 2; }
  int windows = 0;
};

TEST(Sampler, StopEndsWithWhatThereIs) {
  Stopper stopper;
  SamplerSetting s = setting();
  s.policy.measure_min_s = s.policy.measure_max_s = 60;
  s.policy.relative_error = 0;
  const Sampling sampling = sample([](std::uint64_t n) { spin(1e-5 * static_cast<double>(n)); }, s, stopper);
  EXPECT_EQ(sampling.series.samples.size(), 2U);
  EXPECT_EQ(sampling.series.stop_reason, "stopped");
}

}  // namespace
}  // namespace assay
