// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Leaks: what returns, what grows, and what only looks like it.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "harness/base/error.h"
#include "harness/stats/leak.h"
#include "tests/unit/stats_near.h"

namespace assay::stats {
namespace {

constexpr double mib = 1024 * 1024;

template <class Footprint>
WindowLeak judged(Footprint mebibytes, int seconds = 600) {
  std::vector<double> times, bytes;
  for (int t = 0; t < seconds; ++t) {
    times.push_back(t);
    bytes.push_back((1000 + mebibytes(t) + t * 7 % 5) * mib);
  }
  return *leak_in_windows(times, bytes);
}

TEST(StatsLeak, AtQuietPointsItReturnsExactly) {
  const auto found = [](const std::vector<double>& bytes, double granularity = 0) {
    return leak_at_quiet_points(bytes, granularity)->found;
  };
  EXPECT_EQ(found({100, 100, 100}), Leak::none);
  EXPECT_EQ(found({100, 90, 100}), Leak::none);
  EXPECT_EQ(found({100, 100, 101}), Leak::leak);
  EXPECT_EQ(found({100, 100, 101}, 2), Leak::none);
  EXPECT_EQ(found({100, 130, 100}), Leak::returned);
  const auto leak = leak_at_quiet_points(std::vector<double>{100, 100, 116, 132});
  EXPECT_EQ(leak->growth_bytes, 32);
  EXPECT_EQ(leak->first_above, 2U);
}

TEST(StatsLeak, ALeakInAForeignLoad) {
  const WindowLeak leak = judged([](int t) { return 0.2 * t; });
  EXPECT_EQ(leak.found, Leak::leak);
  EXPECT_NEAR(leak.bytes_per_second, 0.2 * mib, 0.01 * mib);
  EXPECT_NEAR(leak.growth_bytes, 0.2 * 427 * mib, 5 * mib);
  EXPECT_EQ(judged([](int t) { return t + 200 * (t % 45) / 45.0; }).found, Leak::leak) << "under a saw-tooth";
}

TEST(StatsLeak, WhatIsNone) {
  EXPECT_EQ(judged([](int) { return 0; }).found, Leak::none);
  EXPECT_EQ(judged([](int t) { return 200 * (1 - std::exp(-t / 40.0)); }).found, Leak::none) << "a ramp at the start";
  EXPECT_EQ(judged([](int t) { return t % 45 * 4.0; }).found, Leak::none) << "a collected pool";
  EXPECT_EQ(judged([](int t) { return t > 400 ? 300.0 : 0; }).found, Leak::none) << "a late step";
  EXPECT_EQ(judged([](int t) { return 0.001 * t + (t > 400 ? 300.0 : 0); }).found, Leak::none)
      << "a late step on a slope";
  EXPECT_EQ(judged([](int t) { return -0.3 * t; }).found, Leak::none);
  EXPECT_EQ(judged([](int t) { return 0.05 * t; }).found, Leak::none) << "21 MiB";
  EXPECT_EQ(judged([](int t) { return 300 * (1 - std::exp(-t / 200.0)); }).found, Leak::slowing)
      << "a cache that fills";
}

TEST(StatsLeak, BadInput) {
  EXPECT_FALSE(leak_at_quiet_points(std::vector<double>{1}));
  EXPECT_THROW(leak_at_quiet_points(std::vector<double>{1, nan}), Error);
  EXPECT_THROW(leak_at_quiet_points(std::vector<double>{1, -1}), Error);
  EXPECT_THROW(leak_at_quiet_points(std::vector<double>{1, 1}, -1), Error);
  const std::vector<double> few(35, 1.0), same(36, 1.0);
  EXPECT_FALSE(leak_in_windows(few, few));
  EXPECT_FALSE(leak_in_windows(same, same)) << "no time passes";
  EXPECT_THROW(leak_in_windows(few, same), Error);
  std::vector<double> back(36, 1.0);
  back[0] = 2;
  EXPECT_THROW(leak_in_windows(back, same), Error);
  EXPECT_EQ(judged([](int) { return 0; }, 1000000).found, Leak::none);
}

}  // namespace
}  // namespace assay::stats
