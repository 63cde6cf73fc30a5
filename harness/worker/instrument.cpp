// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See instrument.h. Trap: on a device the host's noise is no disturbance, for the work is queued before it begins; the
// record's totals tell of it all the same.
#include "harness/worker/instrument.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/base/clock.h"
#include "harness/base/error.h"
#include "harness/worker/clock_watch.h"
#include "harness/worker/noise.h"
#include "kernels/launches.h"

namespace assay {
namespace {

class HostInstrument final : public Instrument {
 public:
  explicit HostInstrument(const std::vector<int>& cpus) : cpus_(cpus), clock_(cpus) {}

  double resolvable_s() const override {
    const TimerCost timer = timer_cost();
    return 1000 * std::max(timer.resolution_s, timer.read_s);
  }
  double seconds_of(const Work& work, std::uint64_t n) override {
    const std::int64_t begin = monotonic_ns();
    work(n);
    return seconds_since(begin);
  }
  void before_sample() override {
    before_ = clock_.read();
    noise_before_ = read_noise(cpus_);
  }
  void after_sample(Sample& sample) override {
    const NoiseReading noise_after = read_noise(cpus_);
    const ClockState after = clock_.read();
    sample.clock_hz = before_.hertz > 0 && after.hertz > 0 ? (before_.hertz + after.hertz) / 2 : 0;
    const auto [lower, higher] = std::minmax(before_.issue_ratio, after.issue_ratio);
    sample.issue_ratio = lower > 0 ? lower : higher;
    sample.disturbed = disturbances(between(noise_before_, noise_after, cpus_.size()), cpus_.size(), before_.hertz,
                                    after.hertz, sample.issue_ratio);
  }
  double most_hertz() const override { return clock_.most_hertz(); }

 private:
  std::vector<int> cpus_;
  ClockWatch clock_;
  ClockState before_;
  NoiseReading noise_before_;
};

// Cycles per second between two stamps, the mean over the multiprocessors that both show; 0: none.
double hertz_between(const std::vector<ClockStamp>& before, const std::vector<ClockStamp>& after) {
  double sum = 0;
  int seen = 0;
  for (std::size_t i = 0; i < std::min(before.size(), after.size()); ++i) {
    if (before[i].ns == 0 || after[i].ns <= before[i].ns || after[i].cycles <= before[i].cycles) continue;
    sum += static_cast<double>(after[i].cycles - before[i].cycles) / static_cast<double>(after[i].ns - before[i].ns);
    ++seen;
  }
  return seen > 0 ? sum / seen * 1e9 : 0;
}

class DeviceInstrument final : public Instrument {
 public:
  explicit DeviceInstrument(Accelerator& device) : device_(device) {}

  double resolvable_s() const override { return 1000 * device_.resolution_s(); }
  double seconds_of(const Work& work, std::uint64_t n) override {
    const std::uint64_t launched = kernels::launches();
    const std::int64_t begin = monotonic_ns();
    const double seconds = device_.timed([&] { work(n); });
    const double host_seconds = seconds_since(begin);
    // Rows of the CPU in its place would be the wrong machine's time.
    if (kernels::launches() == launched)
      throw Error(fmt::format("the timed work launched no kernel on {}: it ran elsewhere", device_.info().id));
    // A simulated device has a time of its own.
    if (!device_.info().simulated && seconds > 1.01 * host_seconds + device_.resolution_s())
      throw Error(fmt::format("the events of {} tell {:.6g} s of work that took {:.6g} s by the host's clock",
                              device_.info().id, seconds, host_seconds));
    return seconds;
  }
  void before_sample() override { before_ = device_.stamps(); }
  void after_sample(Sample& sample) override {
    sample.clock_hz = hertz_between(before_, device_.stamps());
    most_hertz_ = std::max(most_hertz_, sample.clock_hz);
  }
  double most_hertz() const override { return most_hertz_; }

 private:
  Accelerator& device_;
  std::vector<ClockStamp> before_;
  double most_hertz_ = 0;
};

}  // namespace

std::unique_ptr<Instrument> host_instrument(const std::vector<int>& cpus) {
  return std::make_unique<HostInstrument>(cpus);
}
std::unique_ptr<Instrument> device_instrument(Accelerator& device) {
  return std::make_unique<DeviceInstrument>(device);
}

}  // namespace assay
