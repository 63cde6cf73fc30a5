// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See case_run.h.
#include "harness/worker/case_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <utility>

#include "harness/base/clock.h"
#include "harness/base/cycle_unit.h"
#include "harness/base/error.h"
#include "harness/base/units.h"
#include "harness/worker/placement.h"
#include "harness/worker/run.h"
#include "harness/worker/verify.h"
#include "kernels/philox.h"

namespace assay {
namespace {

using kernels::mix64;

std::uint64_t hash_name(const std::string& name) {  // FNV-1a, 64 bits
  std::uint64_t hash = 0xCBF29CE484222325ULL;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3ULL;
  return hash;
}

constexpr std::size_t staging_bytes = std::size_t{4} << 20;  // what goes to a device at once

// Elements [first, first + n) by `make`, on all threads, to `out`.
void make_elements(void* out, std::size_t first, std::size_t n, std::size_t element_bytes, int threads,
                   const std::function<void(std::size_t, std::size_t, void*)>& make) {
  constexpr std::size_t granule = 1024;
  std::exception_ptr problem;
#pragma omp parallel for num_threads(threads) schedule(static, 1)
  for (int t = 0; t < threads; ++t) {
    const kernels::Range mine = kernels::share(n, t, threads, granule);
    try {
      if (mine.end > mine.begin)
        make(first + mine.begin, mine.end - mine.begin, static_cast<std::byte*>(out) + mine.begin * element_bytes);
    } catch (...) {  // an exception must not leave a parallel region: it is thrown again below
#pragma omp critical
      problem = std::current_exception();
    }
  }
  if (problem) std::rethrow_exception(problem);
}

}  // namespace

CaseRun::CaseRun(const CaseOf& which, DeviceInfo info, const CaseRequest& request, MemoryPool& pool,
                 Accelerator* device, Link& link, Record& record)
    : Run(which.params, std::move(info)),
      benchmark_(*which.benchmark),
      request_(request),
      knobs_(read_test_knobs()),
      pool_(pool),
      accelerator_(device),
      link_(link),
      record_(record),
      seed_(mix64(request.policy.seed ^ mix64(hash_name(request.case_name)))),
      lap_ns_(monotonic_ns()) {
  const bool all = device != nullptr || (params_.has("threads") && params_["threads"] == "all");
  cpus_ = choose_cpus(all ? static_cast<int>(worker_cpus().size()) : 1, worker_cpus());
  threads_ = static_cast<int>(cpus_.size());
  pin_team(cpus_);
  place_ = device == nullptr ? host_place(pool, cpus_) : device_place(*device);
  stream_ = place_->stream();
  record_.threads = threads_;
  record_.seed = request.policy.seed;
  record_.block_s = request.policy.block_s;
  record_.test_knobs = knobs_.as_text();
  noise_before_ = read_noise(cpus_);
}

std::uint64_t CaseRun::seed(std::uint64_t stream) const { return mix64(seed_ + stream * 0x9E3779B97F4A7C15ULL); }

std::uint64_t CaseRun::working_set_bytes(const std::string& size) {
  std::uint64_t bytes = 0;
  if (size == "dram") {
    bytes = std::max<std::uint64_t>(4 * place_->cache_bytes(0), place_->least_dram_bytes());
  } else if (size == "l1" || size == "l2" || size == "l3") {
    bytes = place_->cache_bytes(size[1] - '0') / 2;
    if (bytes == 0) skip(fmt::format("the size of the {} cache is not known here", size));
  } else {
    throw Error(fmt::format("'{}' is not a working-set size; known: l1, l2, l3, dram", size));
  }
  fact("working_set_bytes", fmt::format("{}", bytes));
  return bytes;
}

void CaseRun::need_memory(std::uint64_t bytes) {
  const std::uint64_t allowed = request_.policy.max_memory_bytes;
  if (allowed > 0 && bytes > allowed)
    skip(fmt::format("needs {} of memory, --max-memory allows {}", format_bytes(static_cast<double>(bytes)),
                     format_bytes(static_cast<double>(allowed))));
  const std::uint64_t available = place_->available_bytes();
  if (bytes + bytes / 20 > available)
    skip(fmt::format("needs {} of memory, {} are available", format_bytes(static_cast<double>(bytes)),
                     format_bytes(static_cast<double>(available))));
  if (record_.requested_bytes == 0) place_->reserve(bytes);  // the sum, before the first buffer
}

void CaseRun::bytes_per_iteration(double bytes, const std::string& formula) {
  bytes_per_iteration_ = bytes;
  record_.bytes_formula = formula;
}
void CaseRun::operations_per_iteration(double operations, const std::string& formula) {
  operations_per_iteration_ = operations;
  record_.operations_formula = formula;
}

const Series& CaseRun::measure(const Work& work, const std::string& label, double part) {
  record_.setup_s += lap();
  if (series_.empty()) record_.go_ns = link_.ready();
  lap();  // waiting for others is no phase of ours
  Sampling sampling = sample(work, sampler_setting(part), link_);
  lap();
  link_.phase("setup");  // of the next point of a sweep, or of the verification
  sampling.series.label = label;
  sampling.series.bytes_per_iteration = bytes_per_iteration_;
  sampling.series.operations_per_iteration = operations_per_iteration_;
  record_.warmup_s += sampling.warmup_s;
  record_.measure_s += sampling.measure_s;
  most_clock_hz_ = sampling.most_clock_hz;
  iterations_done_ = sampling.iterations_done;
  for (const Sample& s : sampling.series.samples) {
    record_.iterations += s.iterations;
    record_.bytes += bytes_per_iteration_ * static_cast<double>(s.iterations);
    record_.operations += operations_per_iteration_ * static_cast<double>(s.iterations);
  }
  series_.push_back(std::make_unique<Series>(std::move(sampling.series)));
  return *series_.back();
}

void CaseRun::rate(const std::string& metric, double amount) {
  const auto all = [amount](const Sample& s) { return amount * static_cast<double>(s.iterations); };
  add_samples(
      metric, [&](const Sample& s) { return all(s) / s.seconds; },
      [&](const Sample& s) { return all(s) / (s.seconds * s.clock_hz); });
}
void CaseRun::latency(const std::string& metric, double events) {
  const auto all = [events](const Sample& s) { return static_cast<double>(s.iterations) * events; };
  add_samples(
      metric, [&](const Sample& s) { return s.seconds / all(s); },
      [&](const Sample& s) { return s.seconds * s.clock_hz / all(s); });
}
void CaseRun::value(const std::string& metric, double value) {
  MetricResult& result = add(metric);
  result.series.clear();
  result.samples = {value};
}
void CaseRun::limit(const std::string& metric, const Limit& limit) {
  MetricResult* result = find(metric);
  if (result == nullptr) throw Error(fmt::format("limit() of metric '{}' before its value", metric));
  result->limit = limit;
}
void CaseRun::limit_per_cycle(const std::string& metric, double per_cycle, const std::string& source) {
  if (per_cycle <= 0) return limit(metric, {std::nullopt, "none", source});
  if (most_clock_hz_ <= 0) return limit(metric, {std::nullopt, "none", "the clock was not measured"});
  limit(metric, {per_cycle * most_clock_hz_, "measured_clock", source + ", at the highest clock beside the samples"});
}
void CaseRun::fact(const std::string& name, const std::string& value) {
  for (Fact& known : record_.facts)
    if (known.name == name) {
      known.value = value;
      return;
    }
  record_.facts.push_back({name, value});
}

void CaseRun::mismatches(std::uint64_t compared, std::uint64_t wrong, const std::vector<Mismatch>& first) {
  Verification& v = record_.verification;
  v.elements_compared += compared;
  v.mismatches += wrong;
  for (const Mismatch& m : first)
    if (v.first_mismatches.size() < 10) v.first_mismatches.push_back(m);
}

void CaseRun::judge() {
  for (const Metric& metric : benchmark_.metrics)
    if (find(metric.name) == nullptr)
      return end_as(Outcome::error, fmt::format("no value for metric '{}'", metric.name));
  for (const MetricResult& r : record_.metrics)
    if (r.samples.empty() ||
        std::any_of(r.samples.begin(), r.samples.end(), [](double s) { return !std::isfinite(s); }))
      return end_as(Outcome::error, fmt::format("metric '{}' has no finite value in every sample", r.metric.name));
  if (record_.iterations == 0 || record_.verification.elements_compared == 0 ||
      (record_.bytes <= 0 && record_.operations <= 0))
    return end_as(Outcome::error,
                  "no proof of work: iterations, bytes or operations, and compared elements must all be above zero");
  end_as(Outcome::measured, "");
}

void CaseRun::end_as(Outcome outcome, const std::string& reason) {
  const Verification& v = record_.verification;
  record_.outcome = v.mismatches > 0 ? Outcome::fail : outcome;
  record_.reason = reason;
  if (v.mismatches > 0) {
    record_.reason = fmt::format("{} of {} elements are wrong{}", v.mismatches, v.elements_compared,
                                 v.nan_count > 0 ? fmt::format(", {} of them NaN", v.nan_count) : "");
    if (!reason.empty()) record_.reason += "; then: " + reason;
  }
  if (record_.outcome == Outcome::error) record_.failure = Failure{"exception", reason, {}};
}

void CaseRun::end_by(const DeviceError& problem) {
  end_as(Outcome::error, problem.what());
  if (record_.failure) record_.failure->kind = "device";
  loss_told_ = problem.lasting();
}

void CaseRun::close() {
  const Noise noise = between(noise_before_, read_noise(cpus_), cpus_.size());
  record_.involuntary_switches = noise.involuntary_switches;
  record_.run_delay_s = noise.run_delay_s;
  record_.steal_s = noise.steal_s;
  record_.foreign_load = noise.foreign_load;
  record_.cpus = cpus_in_use(threads_);
  for (std::unique_ptr<Series>& series : series_) record_.series.push_back(std::move(*series));
  series_.clear();
  const std::uint64_t peak = resident_peak_bytes(), idle = pool_.idle_resident_bytes();
  record_.host_resident_peak_bytes = peak > idle ? peak - idle : 0;
  place_->collect(record_);
  place_.reset();
  const std::string loss = accelerator_ == nullptr || loss_told_ ? "" : accelerator_->loss();
  if (loss.empty()) return;
  record_.reason += (record_.reason.empty() ? "" : "; then: ") + ("the device is lost: " + loss);
  if (record_.outcome == Outcome::fail) return;
  record_.outcome = Outcome::error;
  record_.failure = Failure{"device", record_.reason, {}};
}

void* CaseRun::allocate(std::size_t bytes, Touch touch, int node) {
  need_memory(record_.requested_bytes + bytes);
  record_.requested_bytes += bytes;
  return place_->lend(std::max<std::size_t>(bytes, 1), touch, node);
}
void CaseRun::write(void* to, std::size_t n, std::size_t element_bytes,
                    const std::function<void(std::size_t, std::size_t, void*)>& make) {
  if (place_->is_host(to)) return make_elements(to, 0, n, element_bytes, threads_, make);
  std::vector<std::byte> staging(std::min(n * element_bytes, staging_bytes));
  const std::size_t most = std::max<std::size_t>(1, staging.size() / element_bytes);
  for (std::size_t first = 0; first < n; first += most) {
    const std::size_t count = std::min(most, n - first);
    make_elements(staging.data(), first, count, element_bytes, threads_, make);
    place_->write(static_cast<std::byte*>(to) + first * element_bytes, staging.data(), count * element_bytes);
  }
}

double CaseRun::lap() {
  const std::int64_t now = monotonic_ns(), before = std::exchange(lap_ns_, now);
  return static_cast<double>(now - before) * 1e-9;
}

SamplerSetting CaseRun::sampler_setting(double part) const {
  SamplerSetting setting;
  setting.policy = request_.policy;
  setting.part = part * std::min(1.0, benchmark_.share);
  // A longer case has longer limits and the same blocks.
  setting.policy.measure_min_s *= std::max(1.0, benchmark_.share);
  setting.policy.measure_max_s *= std::max(1.0, benchmark_.share);
  setting.slowdown = knobs_.slowdown;
  setting.instrument = &place_->instrument();
  setting.unit = bytes_per_iteration_ > 0 ? "B/s" : "op/s";
  setting.amount_per_iteration = bytes_per_iteration_ > 0 ? bytes_per_iteration_ : operations_per_iteration_;
  setting.before_measuring = before_measuring_;
  setting.after_each_call = after_each_call_;
  return setting;
}

MetricResult* CaseRun::find(const std::string& metric) {
  for (MetricResult& known : record_.metrics)
    if (known.metric.name == metric) return &known;
  return nullptr;
}

MetricResult& CaseRun::add(const std::string& metric) {
  const auto declared = std::find_if(benchmark_.metrics.begin(), benchmark_.metrics.end(),
                                     [&](const Metric& m) { return m.name == metric; });
  if (declared == benchmark_.metrics.end())
    throw Error(fmt::format("metric '{}' is not declared by {}", metric, benchmark_.name));
  if (series_.empty()) throw Error(fmt::format("metric '{}' before any measure()", metric));
  if (find(metric) != nullptr) throw Error(fmt::format("metric '{}' was given twice", metric));
  MetricResult result;
  result.metric = *declared;
  result.series = series_.back()->label;
  result.limit = {std::nullopt, "none", "no limit known"};
  record_.metrics.push_back(std::move(result));
  return record_.metrics.back();
}

void CaseRun::add_samples(const std::string& metric, const std::function<double(const Sample&)>& value,
                          const std::function<double(const Sample&)>& per_cycle) {
  MetricResult& result = add(metric);
  const std::vector<Sample>& samples = series_.back()->samples;
  for (const Sample& s : samples) result.samples.push_back(value(s));
  const std::string unit = cycle_unit_of(result.metric.unit);
  if (unit.empty() || std::any_of(samples.begin(), samples.end(), [](const Sample& s) { return s.clock_hz <= 0; }))
    return;
  result.cycle_unit = unit;
  for (const Sample& s : samples) result.cycle_samples.push_back(per_cycle(s));
}

// The one place where a test may spoil the output of a timed run.
template <class T>
void CaseRun::verify_any(const Check<T>& check) {
  if (series_.empty()) throw Error("verify() before measure(): only the output of the timed run counts");
  link_.phase("verify");
  lap();
  const bool spoils = !corrupted_ && (knobs_.corrupt == benchmark_.name || knobs_.corrupt == request_.case_name);
  corrupted_ = corrupted_ || spoils;
  if (place_->is_host(check.actual.data())) {
    if (spoils) corrupt(check, seed(0xC0));
    compare(check, threads_, record_.verification);
  } else {
    if (spoils) corrupt_elsewhere(check, seed(0xC0), *place_);
    compare_elsewhere(check, threads_, *place_, record_.verification);
  }
  record_.verify_s += lap();
}

template void CaseRun::verify_any(const Check<double>&);
template void CaseRun::verify_any(const Check<float>&);
template void CaseRun::verify_any(const Check<std::uint64_t>&);
template void CaseRun::verify_any(const Check<std::uint32_t>&);
template void CaseRun::verify_any(const Check<std::int32_t>&);
template void CaseRun::verify_any(const Check<std::uint16_t>&);
template void CaseRun::verify_any(const Check<std::uint8_t>&);

}  // namespace assay
