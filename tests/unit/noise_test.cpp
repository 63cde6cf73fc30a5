// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Noise between two readings, by made-up readings and by one real disturbance.
#include "harness/worker/noise.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <thread>

#include "harness/device/device.h"

namespace assay {
namespace {

NoiseReading at(double seconds) {
  NoiseReading r;
  r.at_ns = static_cast<std::int64_t>(seconds * 1e9);
  return r;
}

TEST(Noise, DifferencesOfReadings) {
  NoiseReading before = at(1), after = at(2);
  before.involuntary_switches = 5;
  after.involuntary_switches = 8;
  after.run_delay_s = 0.25;
  after.busy_s = 1.5;
  after.own_cpu_s = 1.0;
  after.steal_s = 0.1;
  const Noise noise = between(before, after, 2);
  EXPECT_EQ(noise.involuntary_switches, 3U);
  EXPECT_DOUBLE_EQ(noise.run_delay_s, 0.25);
  EXPECT_DOUBLE_EQ(noise.steal_s, 0.1);
  EXPECT_DOUBLE_EQ(noise.foreign_load, 0.25);  // half a CPU second of two
}

TEST(Noise, EachCauseSetsItsBitAndOnlyThat) {
  Noise quiet;
  quiet.seconds = 1;
  EXPECT_EQ(disturbances(quiet, 2, 3e9, 3e9, 1), 0U);
  Noise n = quiet;
  n.involuntary_switches = 1;
  EXPECT_EQ(disturbances(n, 2, 3e9, 3e9, 1), 0U) << "for no time worth mentioning";
  n.run_delay_known = false;
  EXPECT_EQ(disturbances(n, 2, 3e9, 3e9, 1), disturbed::involuntary_switches) << "for nobody knows how long";
  n.run_delay_known = true;
  n.run_delay_s = 0.003;
  EXPECT_EQ(disturbances(n, 2, 3e9, 3e9, 1), disturbed::involuntary_switches);
  n = quiet;
  n.run_delay_s = 0.03;
  EXPECT_EQ(disturbances(n, 2, 3e9, 3e9, 1), disturbed::run_delay);
  n = quiet;
  n.steal_s = 0.01;
  EXPECT_EQ(disturbances(n, 2, 3e9, 3e9, 1), disturbed::steal);
  n = quiet;
  n.throttled_s = 0.01;
  EXPECT_EQ(disturbances(n, 2, 3e9, 3e9, 1), disturbed::throttled);
  n = quiet;
  n.foreign_load = 0.2;
  EXPECT_EQ(disturbances(n, 2, 3e9, 3e9, 1), disturbed::foreign_load);
  EXPECT_EQ(disturbances(quiet, 2, 3e9, 2.9e9, 1), disturbed::frequency);
  EXPECT_EQ(disturbances(quiet, 2, 3e9, 3e9, 0.5), disturbed::shared_core);
}

TEST(Noise, UnknownClocksAreNoDisturbance) {
  Noise quiet;
  quiet.seconds = 1;
  EXPECT_EQ(disturbances(quiet, 2, 0, 0, 0), 0U);
}

TEST(Noise, RoundingOfTicksIsNotForeignLoad) {
  Noise shortly;
  shortly.seconds = 0.02;
  shortly.foreign_load = 0.4;  // 8 ms on one CPU: less than a tick
  EXPECT_EQ(disturbances(shortly, 1, 3e9, 3e9, 1), 0U);
}

TEST(Noise, RealReadingsSeeOurOwnCpuTime) {
  const std::vector<int> cpus = allowed_cpus();
  const NoiseReading before = read_noise(cpus);
  volatile double sink = 0;
  while (read_noise(cpus).own_cpu_s - before.own_cpu_s < 0.05)
    for (int i = 0; i < 100000; ++i) sink = sink + 1;
  const NoiseReading after = read_noise(cpus);
  EXPECT_GT(after.at_ns, before.at_ns);
  EXPECT_GT(after.busy_s, before.busy_s);
}

TEST(Noise, ABusyNeighbourOnTheSameCpuIsSeen) {
  const int cpu = allowed_cpus().back();
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(cpu), &set);
  const pid_t neighbour = fork();
  ASSERT_GE(neighbour, 0);
  if (neighbour == 0) {
    sched_setaffinity(0, sizeof set, &set);
    for (;;) getppid();  // never leaves: killed below
  }
  Noise noise;
  std::thread([&] {
    sched_setaffinity(0, sizeof set, &set);
    const NoiseReading before = read_noise({cpu});
    for (NoiseReading now = before; now.at_ns - before.at_ns < 400'000'000; now = read_noise({cpu})) {
      volatile unsigned spin = 0;
      for (int i = 0; i < 1'000'000; ++i) spin = spin + 1;
    }
    noise = between(before, read_noise({cpu}), 1);
  }).join();
  kill(neighbour, SIGKILL);
  waitpid(neighbour, nullptr, 0);
  EXPECT_GT(noise.involuntary_switches, 0U);
  EXPECT_GT(noise.run_delay_s, 0.05);
  EXPECT_GT(noise.foreign_load, 0.05);
  EXPECT_NE(disturbances(noise, 1, 3e9, 3e9, 1) & disturbed::foreign_load, 0U);
}

}  // namespace
}  // namespace assay
