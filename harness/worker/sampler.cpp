// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See sampler.h. Reads as: first launch, calibrate, warm up, measure.
#include "harness/worker/sampler.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "harness/base/clock.h"
#include "harness/base/error.h"
#include "harness/worker/stop_rule.h"

namespace assay {
namespace {

// No iteration is shorter than 100 ms / 2^50.
constexpr std::uint64_t most = std::uint64_t{1} << 50;
constexpr const char* no_time = "the timed work takes no time: it does nothing, or the compiler removed it";

class Sampler {
 public:
  Sampler(const Work& work, const SamplerSetting& setting, Link& link)
      : work_(work),
        setting_(setting),
        link_(link),
        own_(setting.instrument == nullptr ? host_instrument(setting.cpus) : nullptr),
        instrument_(setting.instrument == nullptr ? *own_ : *setting.instrument),
        resolvable_s_(instrument_.resolvable_s()) {
    const double part = std::clamp(setting.part, 0.0, 1.0);
    // A sweep has many short series: its blocks shrink with its share, but never below what the timer can resolve.
    block_s_ = std::max(setting.policy.block_s * std::min(1.0, 4 * part), resolvable_s_);
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
    call(1);  // the first launch pays for code, pages and thread teams: not even warm-up
    const std::uint64_t calibrated = calibrate();
    const double rate = warm_up(calibrated);
    result_.warmup_s = seconds_since(begin);
    result_.series.warmup_iterations = result_.iterations_done;
    result_.series.block_s = block_s_;
    if (setting_.before_measuring) {
      setting_.before_measuring();
      result_.iterations_done = 0;
    }
    link_.phase("measure");
    measure(rate > 0 ? iterations_for(block_s_, rate) : calibrated);
    if (result_.iterations_done % 2 == 0) call(1);
    return std::move(result_);
  }

 private:
  // Seconds of n iterations, as the sample will count them.
  double timed(std::uint64_t n) {
    double seconds = instrument_.seconds_of(work_, n);
    if (setting_.slowdown > 1) {
      const std::int64_t begin = monotonic_ns();
      while (seconds_since(begin) < seconds * (setting_.slowdown - 1)) {
      }
      seconds *= setting_.slowdown;
    }
    result_.iterations_done += n;
    return seconds;
  }
  // What the call left is gathered when all that is read beside its time was read: gathering takes time of its own.
  void gather() const {
    if (setting_.after_each_call) setting_.after_each_call();
  }
  double call(std::uint64_t n) {
    const double seconds = timed(n);
    gather();
    return seconds;
  }

  static std::uint64_t iterations_for(double seconds, double rate) {
    return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::ceil(seconds * rate)));
  }

  // Grows the block until it is long enough to predict from: a tenth of a block.
  std::uint64_t calibrate() {
    for (std::uint64_t n = 1;;) {
      const double seconds = call(n);
      if (seconds >= 0.1 * block_s_ || link_.stop_requested())
        return iterations_for(block_s_, static_cast<double>(n) / std::max(seconds, 1e-9));
      if (n > most) throw Error(no_time);
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
      const double seconds = call(n);
      rate = std::max(rate, static_cast<double>(n) / seconds);
      rule.add(static_cast<double>(n) / seconds, seconds);
    } while (!rule.finished() && !link_.stop_requested());
    result_.series.warmup_flat = rule.flat();
    return rate;
  }

  void measure(std::uint64_t n) {
    StopRule rule(policy_);
    std::string reason;
    int unresolved = 0;
    while (reason.empty()) {
      const Sample sample = one_sample(n);
      n = next_block(n, sample.seconds, block_s_);
      if (n > most) throw Error(no_time);
      if (sample.seconds < resolvable_s_) {
        if (++unresolved > 10) throw Error(no_time);
        result_.series.warmup_iterations += sample.iterations;  // no sample, and not forgotten
        continue;
      }
      result_.series.samples.push_back(sample);
      result_.measure_s += sample.seconds;
      const double rate = static_cast<double>(sample.iterations) / sample.seconds;
      rule.add(rate, sample.seconds);
      link_.window("rate", setting_.unit, rate * setting_.amount_per_iteration, sample.seconds);
      reason = rule.reason();
      if (reason.empty() && link_.stop_requested()) reason = "stopped";
    }
    result_.series.stop_reason = reason;
    result_.most_clock_hz = instrument_.most_hertz();
    result_.series.relative_error = rule.relative_error();
  }

  Sample one_sample(std::uint64_t n) {
    Sample sample;
    sample.iterations = n;
    instrument_.before_sample();
    sample.seconds = timed(n);
    instrument_.after_sample(sample);
    gather();
    if (too_short(sample.seconds, block_s_)) sample.disturbed |= disturbed::short_block;
    return sample;
  }

  const Work& work_;
  const SamplerSetting& setting_;
  Link& link_;
  const std::unique_ptr<Instrument> own_;
  Instrument& instrument_;
  const double resolvable_s_;
  Policy policy_;
  double block_s_ = 0;
  Sampling result_;
};

}  // namespace

Sampling sample(const Work& work, const SamplerSetting& setting, Link& link) {
  return Sampler(work, setting, link).run();
}

}  // namespace assay
