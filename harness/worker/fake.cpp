// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See fake.h. Reads as: random numbers, the device in virtual time, the sampler on it, the record.
#include "harness/worker/fake.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <numbers>
#include <thread>

#include "harness/base/clock.h"
#include "harness/base/cycle_unit.h"
#include "harness/base/error.h"
#include "harness/base/units.h"
#include "harness/build_info.h"
#include "harness/worker/stop_rule.h"
#include "kernels/philox.h"

namespace assay {
namespace {

// --- random numbers: functions of (seed, what for, which one), so that adding a draw never moves the others
// ------------

std::uint64_t mix(std::uint64_t a, std::uint64_t b) { return kernels::u64_at({a, 0x66616b65}, b); }
std::uint64_t mix(std::uint64_t a, const std::string& text) {
  std::uint64_t h = a;
  for (const char c : text) h = mix(h, static_cast<unsigned char>(c));
  return h;
}

enum class Draw : std::uint64_t {
  session,
  session_mode,
  epoch,
  device,
  noise,
  outlier,
  outlier_size,
  sample_mode,
  clock,
  disturbed
};

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : seed_(seed) {}
  // In (0, 1).
  double uniform(Draw what, std::uint64_t i) const {
    const std::uint64_t bits = kernels::u64_at({seed_, static_cast<std::uint64_t>(what)}, i) >> 12;
    return (static_cast<double>(bits) + 0.5) * 0x1p-52;
  }
  // Box and Muller 1958.
  double normal(Draw what, std::uint64_t i) const {
    return std::sqrt(-2 * std::log(uniform(what, 2 * i))) * std::cos(2 * std::numbers::pi * uniform(what, 2 * i + 1));
  }
  // Student's t with `degrees` degrees of freedom; normal for 0.
  double student(Draw what, std::uint64_t i, int degrees) const {
    constexpr std::uint64_t stride = 128;  // above the largest number of degrees
    double squares = 0;
    for (int k = 1; k <= degrees; ++k) squares += std::pow(normal(what, i * stride + static_cast<std::uint64_t>(k)), 2);
    const double z = normal(what, i * stride);
    return degrees == 0 ? z : z / std::sqrt(squares / degrees);
  }

 private:
  std::uint64_t seed_;
};

// --- the device in virtual time
// ----------------------------------------------------------------------------------------

class Device {
 public:
  Device(const Scenario& scenario, const FakeCase& played, const CaseRequest& request, const DeviceInfo& info,
         double slowdown)
      : m_(played.model), nominal_hz_(scenario.clock_hz), slowdown_(slowdown), dice_(seed_of(scenario, request, info)) {
    const std::uint64_t run = mix(scenario.seed, request.policy.seed);
    const std::uint64_t card = mix(mix(0, info.uuid), request.case_name);
    shift_ = m_.session_sd * dice_.normal(Draw::session, 0) + m_.epoch_sd * Dice(run).normal(Draw::epoch, 0) +
             m_.device_sd * Dice(card).normal(Draw::device, 0);
    if (dice_.uniform(Draw::session_mode, 0) < m_.session_mode_probability) shift_ += m_.session_mode_shift;
  }

  // Runs n iterations: the next block. Advances the virtual clock.
  Sample run(std::uint64_t n) {
    const std::uint64_t i = block_++;
    Sample sample;
    sample.iterations = n;
    const double rough_s = static_cast<double>(n) * m_.iteration_s / m_.speed;
    const double jitter = m_.clock_sd > 0 ? std::exp(m_.clock_sd * dice_.normal(Draw::clock, i)) : 1;
    const double before_hz = clock_at(now_s_) * jitter, after_hz = clock_at(now_s_ + rough_s) * jitter;
    const double clock_hz = (before_hz + after_hz) / 2;
    double log_time = shift_ + noise(i) + drift(now_s_) - m_.clock_elasticity * std::log(clock_hz / nominal_hz_);
    if (dice_.uniform(Draw::disturbed, i) < m_.disturbed_probability) {
      log_time += m_.disturbed_shift;
      sample.disturbed |= disturbed::involuntary_switches;
    }
    double iteration_s = m_.iteration_s / m_.speed * std::exp(log_time) * slowdown_;
    const double tick_s = m_.tick * m_.iteration_s;
    if (tick_s > 0) iteration_s = std::max(tick_s, std::round(iteration_s / tick_s) * tick_s);
    sample.seconds = static_cast<double>(n) * iteration_s;
    flag(sample, before_hz, after_hz, clock_hz);
    now_s_ += sample.seconds;
    return sample;
  }

 private:
  static std::uint64_t seed_of(const Scenario& scenario, const CaseRequest& request, const DeviceInfo& info) {
    const std::uint64_t run = mix(mix(scenario.seed, request.policy.seed), static_cast<std::uint64_t>(request.session));
    return mix(mix(run, info.uuid), request.case_name);
  }

  double clock_at(double t) const {
    return nominal_hz_ * (t >= m_.clock_from_s && t < m_.clock_until_s ? m_.clock_factor : 1);
  }

  // Stationary AR(1) between blocks, then what hits single blocks.
  double noise(std::uint64_t i) {
    const double fresh = m_.noise_sd * dice_.student(Draw::noise, i, static_cast<int>(m_.tail_degrees));
    correlated_ = i == 0 ? fresh : m_.rho * correlated_ + std::sqrt(1 - m_.rho * m_.rho) * fresh;
    double result = correlated_;
    if (dice_.uniform(Draw::outlier, i) < m_.outlier_probability)
      result -= m_.outlier_mean * std::log(dice_.uniform(Draw::outlier_size, i));
    if (dice_.uniform(Draw::sample_mode, i) < m_.sample_mode_probability) result += m_.sample_mode_shift;
    return result;
  }

  double drift(double t) const {
    double result = m_.warmup_shift * std::exp(-t / m_.warmup_tau_s);
    if (t >= m_.step_from_s && t < m_.step_until_s) result += m_.step;
    const double span = std::max(m_.decay_until_s - m_.decay_from_s, 1e-9);
    return result + m_.decay * std::clamp((t - m_.decay_from_s) / span, 0.0, 1.0);
  }

  void flag(Sample& sample, double before_hz, double after_hz, double clock_hz) const {
    if (m_.clock_measured > 0) {
      sample.clock_hz = clock_hz;
      sample.issue_ratio = m_.issue_ratio;
      if (std::fabs(before_hz - after_hz) > 0.02 * clock_hz) sample.disturbed |= disturbed::frequency;
      if (m_.issue_ratio < 0.85) sample.disturbed |= disturbed::shared_core;
    }
    const double end_s = now_s_ + sample.seconds;
    if (m_.throttled > 0 && end_s >= m_.clock_from_s && now_s_ < m_.clock_until_s)
      sample.disturbed |= disturbed::throttled;
  }

  const FakeModel& m_;
  double nominal_hz_, slowdown_;
  Dice dice_;
  double shift_ = 0, correlated_ = 0, now_s_ = 0;
  std::uint64_t block_ = 0;
};

// --- the sampler on it: as sampler.cpp, with the device's clock
// -----------------------------------------------------------

class VirtualSampler {
 public:
  VirtualSampler(Device& device, const CaseRequest& request, double pace, Link& link)
      : device_(device), policy_(request.policy), pace_(pace), link_(link) {}

  void warm_up() {
    const Sample first = timed(1);
    const std::uint64_t n = iterations_for(policy_.block_s / 4, first.seconds);
    WarmUp rule(policy_.warmup_min_s, policy_.warmup_max_s);
    do {
      const Sample block = timed(n);
      rate_ = static_cast<double>(n) / block.seconds;
      rule.add(rate_, block.seconds);
    } while (!rule.finished() && !link_.stop_requested());
    series.warmup_flat = rule.flat();
    series.warmup_iterations = iterations_done_;
    warmup_s = elapsed_s_;
  }

  void measure(const FakeMetric& shown, double iteration_s) {
    StopRule rule(policy_);
    const std::uint64_t n = iterations_for(policy_.block_s, 1 / rate_);
    while (series.stop_reason.empty()) {
      Sample sample = timed(n);
      if (too_short(sample.seconds, policy_.block_s)) sample.disturbed |= disturbed::short_block;
      series.samples.push_back(sample);
      const double per_iteration_s = sample.seconds / static_cast<double>(n);
      rule.add(1 / per_iteration_s, sample.seconds);
      const double ratio = per_iteration_s / iteration_s;
      link_.window(shown.metric.name, shown.metric.unit,
                   shown.metric.better == Better::lower ? shown.median * ratio : shown.median / ratio, sample.seconds);
      series.stop_reason = rule.reason();
      if (series.stop_reason.empty() && link_.stop_requested()) series.stop_reason = "stopped";
    }
    series.relative_error = rule.relative_error();
    series.block_s = policy_.block_s;
    measure_s = elapsed_s_ - warmup_s;
  }

  Series series;
  double warmup_s = 0, measure_s = 0;

 private:
  static std::uint64_t iterations_for(double seconds, double iteration_s) {
    return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::ceil(seconds / iteration_s)));
  }
  Sample timed(std::uint64_t n);

  Device& device_;
  Policy policy_;
  double pace_, rate_ = 1, elapsed_s_ = 0;
  std::uint64_t iterations_done_ = 0;
  Link& link_;
};

// Lets real time pass for virtual time, in slices, so that `stop` is heard.
void pace(double seconds, const Link& link) {
  const std::int64_t begin = monotonic_ns();
  for (double left = seconds; left > 0 && !link.stop_requested(); left = seconds - seconds_since(begin))
    std::this_thread::sleep_for(std::chrono::duration<double>(std::min(left, 0.02)));
}

Sample VirtualSampler::timed(std::uint64_t n) {
  const Sample sample = device_.run(n);
  iterations_done_ += n;
  elapsed_s_ += sample.seconds;
  pace(sample.seconds * pace_, link_);
  return sample;
}

// --- the record
// -----------------------------------------------------------------------------------------------------------

// A time (better lower) is median x how much longer an iteration took; anything else is median / that.
MetricResult metric_result(const FakeMetric& fake, const FakeModel& model, const std::vector<Sample>& samples) {
  MetricResult result;
  result.metric = fake.metric;
  result.limit = {fake.limit, fake.limit ? "spec" : "none", fake.limit_source};
  if (model.clock_measured > 0) result.cycle_unit = cycle_unit_of(fake.metric.unit);
  for (const Sample& s : samples) {
    const double ratio = s.seconds / (static_cast<double>(s.iterations) * model.iteration_s);
    const bool lower = fake.metric.better == Better::lower;
    result.samples.push_back(lower ? fake.median * ratio : fake.median / ratio);
    if (!result.cycle_unit.empty())
      result.cycle_samples.push_back(lower ? result.samples.back() * s.clock_hz : result.samples.back() / s.clock_hz);
  }
  return result;
}

// What one iteration does, such that metric = amount x iterations / seconds.
void prove_work(Record& record, const FakeCase& played) {
  Series& series = record.series.back();
  for (const FakeMetric& m : played.benchmark->metrics) {
    if (m.metric.better == Better::lower) continue;
    const double amount = m.median * played.model.iteration_s;
    if (m.metric.unit == "B/s" && series.bytes_per_iteration == 0) {
      series.bytes_per_iteration = amount;
      record.bytes_formula = "scripted: median x iteration_s";
    } else if (series.operations_per_iteration == 0) {
      series.operations_per_iteration = amount;
      record.operations_formula = "scripted: median x iteration_s";
    }
  }
  if (series.bytes_per_iteration == 0 && series.operations_per_iteration == 0) {
    series.operations_per_iteration = 1;
    record.operations_formula = "one iteration";
  }
  record.bytes = series.bytes_per_iteration * static_cast<double>(record.iterations);
  record.operations = series.operations_per_iteration * static_cast<double>(record.iterations);
}

void verify_fake(Record& record, const FakeCase& played, const FakeStage& stage) {
  Verification& v = record.verification;
  v.method = "bitwise";
  v.elements_compared = static_cast<std::uint64_t>(played.model.elements);
  const bool wrong = played.fault.kind == FakeFaultKind::wrong_result;
  const bool corrupted = stage.corrupt == record.benchmark || stage.corrupt == record.case_name;
  v.mismatches = wrong ? played.fault.mismatches : corrupted ? 1 : 0;
  const std::uint64_t elements = std::max<std::uint64_t>(v.elements_compared, 1);
  for (std::uint64_t k = 0; k < std::min<std::uint64_t>(v.mismatches, 10); ++k) {
    const std::uint64_t index = mix(record.seed, k) % elements;
    const std::uint64_t expected = mix(record.seed, index), flipped = expected ^ (1ULL << (k % 64));
    v.first_mismatches.push_back({"output", index, fmt::format("{}", expected), fmt::format("{}", flipped),
                                  fmt::format("{:#018x}", expected), fmt::format("{:#018x}", flipped),
                                  fmt::format("{:#018x}", expected ^ flipped), fmt::format("{:#018x}", flipped)});
  }
}

// Whether a rate is beyond its limit, and whether there is proof of work, is judged by the parent, as for every worker.
void conclude(Record& record) {
  record.outcome = Outcome::measured;
  if (record.verification.mismatches == 0) return;
  record.outcome = Outcome::fail;
  record.reason =
      fmt::format("{} of {} elements are wrong", record.verification.mismatches, record.verification.elements_compared);
}

Record identify(const FakeCase& played, const CaseRequest& request) {
  Record record;
  record.case_name = request.case_name;
  record.benchmark = played.benchmark->info.name;
  record.params = played.info->params;
  record.worker = "fake";
  record.worker_version = build_info().version;
  record.device_set = request.device_set;
  record.simulated = true;
  record.session = request.session;
  record.started_at = utc_now();
  record.seed = request.policy.seed;
  record.block_s = request.policy.block_s;
  record.data = "none: scripted";
  record.threads = 1;
  for (const auto& [name, value] : played.facts) record.facts.push_back({name, value});
  return record;
}

// More memory than there is: NOT_RUN with the numbers, before it is tried.
bool has_room(Record& record, const FakeModel& model, const DeviceInfo& device, const Policy& policy) {
  record.requested_bytes = static_cast<std::uint64_t>(model.requested_bytes);
  double room = device.fact("memory_bytes", std::numeric_limits<double>::infinity());
  if (policy.max_memory_bytes > 0) room = std::min(room, static_cast<double>(policy.max_memory_bytes));
  if (model.requested_bytes <= room) return true;
  record.outcome = Outcome::not_run;
  record.reason =
      fmt::format("needs {} of memory, {} may be used", format_bytes(model.requested_bytes), format_bytes(room));
  return false;
}

// What the sampler saw and what stands in the scenario, into the record.
void describe(Record& record, const FakeCase& played, VirtualSampler& sampler, const FakeStage& stage) {
  const FakeModel& model = played.model;
  record.setup_s = model.setup_s;
  record.warmup_s = sampler.warmup_s;
  record.measure_s = sampler.measure_s;
  record.verify_s = model.verify_s;
  record.wall_s = record.setup_s + record.warmup_s + record.measure_s + record.verify_s;
  for (const Sample& s : sampler.series.samples) record.iterations += s.iterations;
  for (const FakeMetric& m : played.benchmark->metrics)
    if (played.fault.kind != FakeFaultKind::missing_metric || played.fault.metric != m.metric.name)
      record.metrics.push_back(metric_result(m, model, sampler.series.samples));
  record.series.push_back(std::move(sampler.series));
  prove_work(record, played);
  const double leaked = model.leak_bytes * static_cast<double>(stage.cases_before);
  record.host_resident_peak_bytes = static_cast<std::uint64_t>(model.host_bytes + leaked);
  record.device_peak_bytes = static_cast<std::uint64_t>(model.device_bytes + leaked);
  const double kept = leaked + model.leak_bytes;
  record.host_resident_rest_bytes = static_cast<std::uint64_t>(model.host_bytes + kept);
  record.device_rest_bytes = static_cast<std::uint64_t>(kept);
  verify_fake(record, played, stage);
  conclude(record);
  if (played.fault.kind == FakeFaultKind::foreign_record) record.case_name += "/of:another";
}

void perform(Record& record, const Scenario& scenario, const FakeCase& played, const DeviceInfo& info,
             const CaseRequest& request, Link& link, const FakeStage& stage) {
  const FakeFault& fault = played.fault;
  const auto enter = [&](const char* phase) {
    link.phase(phase);
    if (fault.kind == FakeFaultKind::none || fault.phase != phase) return;
    if (stage.strike) stage.strike(fault);
    if (fault.kind == FakeFaultKind::exception) throw Error(fault.text.empty() ? "a scripted exception" : fault.text);
    if (fault.kind == FakeFaultKind::slow_start)
      std::this_thread::sleep_for(std::chrono::duration<double>(fault.delay_s));
  };
  enter("setup");
  if (!has_room(record, played.model, info, request.policy)) return;
  pace(played.model.setup_s * scenario.real_time_factor, link);
  if (fault.kind == FakeFaultKind::skip) {
    record.outcome = Outcome::not_run;
    record.reason = fault.text.empty() ? "a scripted skip" : fault.text;
    return;
  }
  record.go_ns = link.ready();
  Device device(scenario, played, request, info, stage.slowdown);
  VirtualSampler sampler(device, request, scenario.real_time_factor, link);
  enter("warmup");
  sampler.warm_up();
  enter("measure");
  sampler.measure(played.benchmark->metrics.front(), played.model.iteration_s);
  if (fault.kind == FakeFaultKind::no_samples) sampler.series.samples.clear();
  enter("verify");
  pace(played.model.verify_s * scenario.real_time_factor, link);
  describe(record, played, sampler, stage);
}

}  // namespace

Record play(const Scenario& scenario, const CaseRequest& request, Link& link, const FakeStage& stage) {
  if (request.device_set.size() != 1) throw Error("a fake case runs on one device");
  const int index = fake_device_index(scenario, request.device_set[0]);
  const FakeCase played = fake_case(scenario, request.case_name, index, request.session);
  Record record = identify(played, request);
  record.test_knobs = stage.test_knobs;
  try {
    perform(record, scenario, played, scenario.devices[static_cast<std::size_t>(index)], request, link, stage);
  } catch (const std::exception& problem) {
    record.outcome = Outcome::error;
    record.reason = problem.what();
    record.failure = Failure{"exception", problem.what(), {}};
  }
  return record;
}

}  // namespace assay
