// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// What times a device: a row of the CPU in a device's place is seen, events that tell more than the host's clock are, and
// the clock comes from the multiprocessors that both stamps show.
#include "harness/worker/instrument.h"

#include <gtest/gtest.h>

#include "harness/base/error.h"
#include "kernels/launches.h"

namespace assay {
namespace {

class StandInDevice : public Accelerator {
 public:
  StandInDevice() { info_.id = "cuda:0"; }
  const DeviceInfo& info() const override { return info_; }
  void* stream() const override { return nullptr; }
  bool is_lost() const override { return false; }
  std::uint64_t free_bytes() const override { return 0; }
  void* allocate(std::size_t) override { return nullptr; }
  void free_all() override {}
  bool owns(const void*) const override { return false; }
  std::uint64_t peak_bytes() const override { return 0; }
  void read(void*, const void*, std::size_t) override {}
  void write(void*, const void*, std::size_t) override {}
  void fill(void*, unsigned char, std::size_t) override {}
  double timed(const std::function<void()>& enqueue) override {
    enqueue();
    return seconds;
  }
  double resolution_s() const override { return 0.5e-6; }
  std::vector<ClockStamp> stamps() override { return next_stamps; }

  double seconds = 0;
  std::vector<ClockStamp> next_stamps;

 private:
  DeviceInfo info_;
};

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
