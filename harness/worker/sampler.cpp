// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See sampler.h. Reads as: first launch, calibrate, warm up, measure.
#include "harness/worker/sampler.h"

#include <algorithm>
#include <cmath>

#include "harness/base/clock.h"
#include "harness/worker/clock_watch.h"
#include "harness/worker/noise.h"
#include "harness/worker/stop_rule.h"

namespace assay {
namespace {

class Sampler {
 public:
  Sampler(const Work& work, const SamplerSetting& setting, Link& link) : work_(work), setting_(setting), link_(link) {
    const TimerCost timer = timer_cost();
    const double part = std::clamp(setting.part, 0.0, 1.0);
    // A sweep has many short series: its blocks shrink with its share, but never below what the timer can resolve.
    block_s_ =
        std::max(setting.policy.block_s * std::min(1.0, 4 * part), 1000 * std::max(timer.resolution_s, timer.read_s));
    policy_ = setting.policy;
    policy_.warmup_min_s *= part;
    policy_.warmup_max_s *= part;
    policy_.measure_min_s *= part;
    policy_.measure_max_s *= part;
    if (part < 0.5) policy_.samples_min = std::min<std::uint64_t>(policy_.samples_min, 3);
  }

  Sampling run() {
    link_.phase("warmup");
    const std::int64_t begin = monotonic_ns();
    timed(1);  // the first launch pays for code, pages and thread teams: not even warm-up
    const std::uint64_t calibrated = calibrate();
    const double rate = warm_up(calibrated);
    result_.warmup_s = seconds_since(begin);
    result_.series.warmup_iterations = result_.iterations_done;
    link_.phase("measure");
    const std::int64_t measured_from = monotonic_ns();
    measure(rate > 0 ? iterations_for(block_s_, rate) : calibrated);
    result_.measure_s = seconds_since(measured_from);
    return std::move(result_);
  }

 private:
  // Seconds of n iterations, as the sample will count them.
  double timed(std::uint64_t n) {
    const std::int64_t begin = monotonic_ns();
    work_(n);
    if (setting_.slowdown > 1) {
      const auto until =
          begin + static_cast<std::int64_t>(static_cast<double>(monotonic_ns() - begin) * setting_.slowdown);
      while (monotonic_ns() < until) {
      }
    }
    result_.iterations_done += n;
    return seconds_since(begin);
  }

  static std::uint64_t iterations_for(double seconds, double rate) {
    return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::ceil(seconds * rate)));
  }

  // Grows the block until it is long enough to predict from: a tenth of a block.
  std::uint64_t calibrate() {
    std::uint64_t n = 1;
    for (;;) {
      const double seconds = timed(n);
      if (seconds >= 0.1 * block_s_ || link_.stop_requested())
        return iterations_for(block_s_, static_cast<double>(n) / std::max(seconds, 1e-9));
      const double growth = std::clamp(0.15 * block_s_ / std::max(seconds, 1e-9), 2.0, 100.0);
      n = static_cast<std::uint64_t>(static_cast<double>(n) * growth) + 1;
    }
  }

  // Blocks of a quarter of a sample, until their rate is flat. Returns the best rate in iterations per second: a block
  // sized by a disturbed rate would be too short as soon as the disturbance ends.
  double warm_up(std::uint64_t block) {
    WarmUp rule(policy_.warmup_min_s, policy_.warmup_max_s);
    const std::uint64_t n = std::max<std::uint64_t>(1, block / 4);
    double rate = 0;
    do {
      const double seconds = timed(n);
      rate = std::max(rate, static_cast<double>(n) / seconds);
      rule.add(static_cast<double>(n) / seconds, seconds);
    } while (!rule.finished() && !link_.stop_requested());
    result_.series.warmup_flat = rule.flat();
    return rate;
  }

  void measure(std::uint64_t n) {
    StopRule rule(policy_);
    std::string reason;
    int shorts = 0;
    while (reason.empty()) {
      const Sample sample = one_sample(n);
      n = next_block(n, sample.seconds, block_s_);
      if (too_short(sample.seconds, block_s_) && ++shorts <= 10 && !link_.stop_requested()) {
        result_.series.warmup_iterations += sample.iterations;  // no sample, and not forgotten
        continue;
      }
      result_.series.samples.push_back(sample);
      const double rate = static_cast<double>(sample.iterations) / sample.seconds;
      rule.add(rate, sample.seconds);
      link_.window("rate", setting_.unit, rate * setting_.amount_per_iteration, sample.seconds);
      reason = rule.reason();
      if (reason.empty() && link_.stop_requested()) reason = "stopped";
    }
    result_.series.stop_reason = reason;
    result_.series.relative_error = rule.relative_error();
  }

  Sample one_sample(std::uint64_t n) {
    const ClockWatch before = watch_clock(setting_.cpus.size());
    const NoiseReading noise_before = read_noise(setting_.cpus);
    Sample sample;
    sample.iterations = n;
    sample.seconds = timed(n);
    const NoiseReading noise_after = read_noise(setting_.cpus);
    const ClockWatch after = watch_clock(setting_.cpus.size());
    sample.clock_hz = before.hertz > 0 && after.hertz > 0 ? (before.hertz + after.hertz) / 2 : 0;
    sample.issue_ratio = std::min(before.issue_ratio, after.issue_ratio);
    sample.disturbed = disturbances(between(noise_before, noise_after, setting_.cpus.size()), setting_.cpus.size(),
                                    before.hertz, after.hertz, sample.issue_ratio);
    return sample;
  }

  const Work& work_;
  const SamplerSetting& setting_;
  Link& link_;
  Policy policy_;
  double block_s_;
  Sampling result_;
};

}  // namespace

Sampling sample(const Work& work, const SamplerSetting& setting, Link& link) {
  return Sampler(work, setting, link).run();
}

}  // namespace assay
