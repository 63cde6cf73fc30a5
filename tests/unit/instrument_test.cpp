// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// What times a device: a row of the CPU in a device's place is seen, events that tell more than the host's clock are, and
// the clock comes from the multiprocessors that both stamps show.
#include "harness/worker/instrument.h"

#include <gtest/gtest.h>

#include "harness/base/error.h"
#include "kernels/launches.h"
#include "stand_in_device.h"

namespace assay {
namespace {

using testing::StandInDevice;

const Work launching = [](std::uint64_t) { kernels::launch_count += 1; };

std::string problem_of(StandInDevice& device, const Work& work) {
  try {
    device_instrument(device)->seconds_of(work, 1);
  } catch (const Error& problem) {
    return problem.what();
  }
  return {};
}

TEST(DeviceInstrument, WorkThatLaunchesNothingRanElsewhere) {
  StandInDevice device;
  EXPECT_EQ(problem_of(device, launching), "");
  EXPECT_NE(problem_of(device, [](std::uint64_t) {}).find("launched no kernel on cuda:0"), std::string::npos);
}

TEST(DeviceInstrument, EventsCannotTellMoreThanTheHostsClock) {
  StandInDevice device;
  device.seconds = 10;
  EXPECT_NE(problem_of(device, launching).find("the events of cuda:0 tell 10 s"), std::string::npos);
}

TEST(DeviceInstrument, TheClockIsThatOfMultiprocessorsSeenTwice) {
  StandInDevice device;
  const auto instrument = device_instrument(device);
  Sample sample;
  instrument->before_sample();
  instrument->after_sample(sample);
  EXPECT_EQ(sample.clock_hz, 0);  // no stamps: not measured
  device.next_stamps = {{1000, 500}, {50, 10}, {0, 0}};
  instrument->before_sample();
  device.next_stamps = {{3000, 1500}, {0, 0}, {900, 800}};
  instrument->after_sample(sample);
  EXPECT_DOUBLE_EQ(sample.clock_hz, 2e9);
  EXPECT_DOUBLE_EQ(instrument->most_hertz(), 2e9);
  EXPECT_DOUBLE_EQ(instrument->resolvable_s(), 0.5e-3);
}

}  // namespace
}  // namespace assay
