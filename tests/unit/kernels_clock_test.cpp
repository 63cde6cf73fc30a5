// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// That the chain really does its additions (their sum), that readings are of the size a processor can have, and that
// every thread of a team gets one. How exact they are is a measurement, not a test: other work runs beside tests.
#include <gtest/gtest.h>

#include <vector>

#include "kernels/clock.h"

namespace assay::kernels {
namespace {

#if defined(__x86_64__) || defined(__aarch64__)
constexpr bool has_chain = true;
#else
constexpr bool has_chain = false;
#endif

TEST(Clock, the_chain_does_every_addition) {
  std::uint64_t sum = 11;
  ASSERT_EQ(dependent_adds(1000 * clock_chain_unroll, 7, &sum), has_chain);
  EXPECT_EQ(sum, has_chain ? 11 + 7 * 1000 * clock_chain_unroll : 11);
  sum = 0;
  ASSERT_EQ(dependent_adds(1, 7, &sum), has_chain);
  EXPECT_EQ(sum, has_chain ? 7 * clock_chain_unroll : 0);  // rounded up
}

void expect_possible(const ClockReading& reading) {
  EXPECT_EQ(reading.known(), has_chain);
  if (!has_chain) return;
  // Wide enough for a machine that takes half the time away, too narrow for a chain that the processor shortened.
  EXPECT_GT(reading.hertz, 1e8);
  EXPECT_LT(reading.hertz, 7e9);
  EXPECT_GT(reading.issue_ratio, 0.0);
  EXPECT_LT(reading.issue_ratio, 100.0);
}

TEST(Clock, a_reading_is_one_a_processor_can_have) { expect_possible(read_clock()); }

TEST(Clock, every_thread_of_a_team_gets_its_own) {
  std::vector<ClockReading> readings(4);
  read_clocks(readings.data(), 3);
  for (std::size_t t = 0; t < 3; ++t) expect_possible(readings[t]);
  EXPECT_FALSE(readings[3].known());
}

TEST(Clock, only_those_that_probe_have_an_issue_ratio) {
  std::vector<ClockReading> readings(2);
  const std::uint8_t probes[] = {1, 0};
  read_clocks(readings.data(), 2, probes);
  expect_possible(readings[0]);
  EXPECT_EQ(readings[1].known(), has_chain);
  EXPECT_EQ(readings[1].issue_ratio, 0.0);
}

}  // namespace
}  // namespace assay::kernels
