// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See gates.h.
#include "harness/parent/gates.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "harness/base/units.h"

namespace assay {
namespace {

// A limit that is computed from a clock we measured is as uncertain as that clock: chains of dependent additions
// scatter by up to 2 %. Every other limit is taken at its word.
double tolerance(const Limit& limit) { return limit.kind == "measured_clock" ? 0.02 : 0; }

// A single sample may lie a little beyond: its clock and its time are read by instruments, too.
constexpr double sample_tolerance = 0.05;

std::string beyond_limit(const MetricResult& result) {
  if (!result.limit.value) return {};
  const Summary summary = summarise(result.samples);
  const double limit = *result.limit.value, slack = tolerance(result.limit);
  const bool higher = result.metric.better == Better::higher;
  const double best = higher ? summary.max : summary.min;
  const bool inside = higher ? summary.median <= limit * (1 + slack) && best <= limit * (1 + slack + sample_tolerance)
                             : summary.median >= limit * (1 - slack) && best >= limit * (1 - slack - sample_tolerance);
  if (inside) return {};
  return fmt::format("{} is {} (best sample {}), {} its physical limit of {} ({})", result.metric.name,
                     format_quantity(summary.median, result.metric.unit), format_quantity(best, result.metric.unit),
                     higher ? "above" : "below", format_quantity(limit, result.metric.unit), result.limit.source);
}

bool positive(double value) { return std::isfinite(value) && value > 0; }
bool not_negative(double value) { return std::isfinite(value) && value >= 0; }

std::string odd_times(const Record& record) {
  if (!not_negative(record.setup_s) || !not_negative(record.warmup_s) || !not_negative(record.verify_s))
    return "a phase has no time";
  if (!positive(record.measure_s)) return "the measuring took no time";
  if (!positive(record.wall_s)) return "the case took no time";
  if (!positive(record.block_s)) return "block_s is not above 0";
  if (record.started_at.empty()) return "started_at is empty";
  return {};
}

// Sums of the same numbers in another order.
bool same_sum(double a, double b) { return std::fabs(a - b) <= 1e-9 * std::max(std::fabs(a), std::fabs(b)); }

std::string odd_series(const Record& record) {
  if (record.series.empty()) return "there is no series of samples";
  std::uint64_t iterations = 0;
  double seconds = 0, bytes = 0, operations = 0;
  for (const Series& series : record.series) {
    if (!positive(series.block_s)) return fmt::format("block_s of series '{}' is not above 0", series.label);
    if (!positive(series.bytes_per_iteration + series.operations_per_iteration))
      return fmt::format("an iteration of series '{}' moves no bytes and does no operations", series.label);
    if (series.samples.empty()) return fmt::format("series '{}' has no samples", series.label);
    if (series.stop_reason.empty()) return fmt::format("series '{}' doesn't say why it ended", series.label);
    for (const Sample& sample : series.samples) {
      if (!positive(sample.seconds)) return fmt::format("a sample of series '{}' took no time", series.label);
      if (sample.iterations == 0) return fmt::format("a sample of series '{}' has no iterations", series.label);
      iterations += sample.iterations;
      seconds += sample.seconds;
      bytes += series.bytes_per_iteration * static_cast<double>(sample.iterations);
      operations += series.operations_per_iteration * static_cast<double>(sample.iterations);
    }
  }
  if (iterations != record.iterations)
    return fmt::format("its samples have {} iterations, its work {}", iterations, record.iterations);
  if (!same_sum(bytes, record.bytes))
    return fmt::format("its samples moved {:.6g} bytes, its work says {:.6g}", bytes, record.bytes);
  if (!same_sum(operations, record.operations))
    return fmt::format("its samples did {:.6g} operations, its work says {:.6g}", operations, record.operations);
  if (seconds > record.measure_s * 1.001)
    return fmt::format("its samples took {:.6g} s, its measuring {:.6g} s", seconds, record.measure_s);
  return {};
}

// The amount of one iteration that a rate of this unit counts; 0: no such amount.
double amount_of(const Series& series, const std::string& unit) {
  if (unit == "B/s") return series.bytes_per_iteration;
  if (unit == "op/s" || unit == "FLOP/s") return series.operations_per_iteration;
  return 0;
}

std::string odd_metric(const Record& record, const MetricResult& result) {
  const std::string& name = result.metric.name;
  if (result.samples.empty()) return fmt::format("the metric {} has no samples", name);
  for (const double value : result.samples)
    if (!positive(value)) return fmt::format("a sample of {} is not a number above 0", name);
  for (const double value : result.cycle_samples)
    if (!positive(value)) return fmt::format("a sample of {} per cycle is not a number above 0", name);
  if (!result.cycle_unit.empty() && result.cycle_samples.size() != result.samples.size())
    return fmt::format("{} has {} samples and {} per cycle", name, result.samples.size(), result.cycle_samples.size());
  static const std::array<std::string, 4> kinds{"none", "spec", "attribute_clock", "measured_clock"};
  if (std::find(kinds.begin(), kinds.end(), result.limit.kind) == kinds.end())
    return fmt::format("the limit of {} is of the unknown kind '{}'", name, result.limit.kind);
  if (result.limit.value && !positive(*result.limit.value)) return fmt::format("the limit of {} is not above 0", name);
  const auto series = std::find_if(record.series.begin(), record.series.end(),
                                   [&](const Series& s) { return s.label == result.series; });
  if (series == record.series.end() && !result.series.empty())
    return fmt::format("{} is of the series '{}', which isn't there", name, result.series);
  const bool derived = result.samples.size() == 1;  // one value from the whole: at most the best of its samples
  if (series == record.series.end() && !derived) return fmt::format("{} has samples, but no series", name);
  if (!derived && result.samples.size() != series->samples.size())
    return fmt::format("{} has {} samples, its series {}", name, result.samples.size(), series->samples.size());
  std::vector<double> possible;
  for (const Series& s : record.series)
    if (series == record.series.end() || &s == &*series)
      for (const Sample& sample : s.samples)
        possible.push_back(1.001 * amount_of(s, result.metric.unit) * static_cast<double>(sample.iterations) /
                           sample.seconds);
  if (derived) possible = {*std::max_element(possible.begin(), possible.end())};
  for (std::size_t i = 0; i < result.samples.size(); ++i)
    if (possible[i] > 0 && result.samples[i] > possible[i])
      return fmt::format("a sample of {} is more than its work and its time give", name);
  return {};
}

std::string odd_verification(const Verification& v) {
  if (v.nan_count > 0) return fmt::format("{} elements are NaN, and none is wrong", v.nan_count);
  if (!v.first_mismatches.empty()) return "there is evidence of wrong elements, and none is counted";
  if (v.method.empty()) return "it doesn't say how it was verified";
  if (!not_negative(v.max_error)) return "max_error is not a number from 0";
  return {};
}

void turn_into_error(Record& record, const std::string& what) {
  record.outcome = Outcome::error;
  record.reason = "no proof of work: " + what;
  record.failure = Failure{"protocol", record.reason, {}};
}

// A word other than MEASURED owes a reason, and ERROR a failure.
void complete_ending(Record& record) {
  if (record.reason.empty()) record.reason = "the worker gave no reason";
  if (record.outcome == Outcome::error && !record.failure) record.failure = Failure{"exception", record.reason, {}};
  if (record.outcome != Outcome::error) record.failure.reset();
}

}  // namespace

std::string contradiction(const Record& record) {
  if (record.failure) return "it names a failure: " + record.failure->kind;
  if (!record.reason.empty()) return "it gives a reason: " + record.reason;
  if (record.iterations == 0) return "iterations is 0";
  if (!(record.bytes > 0) && !(record.operations > 0)) return "neither bytes nor operations are above 0";
  if (record.verification.elements_compared == 0) return "elements_compared is 0";
  if (!record.simulated && (record.threads < 1 || record.cpus.empty())) return "it ran on no thread or no CPU";
  if (record.metrics.empty()) return "it has no metric";
  for (const std::string& text : {odd_times(record), odd_series(record), odd_verification(record.verification)})
    if (!text.empty()) return text;
  for (const MetricResult& result : record.metrics)
    if (const std::string text = odd_metric(record, result); !text.empty()) return text;
  return {};
}

std::string missing_proof(const Record& record, const std::vector<Metric>& declared) {
  if (declared.empty()) return "the manifest declares no metric";
  for (const Metric& metric : declared) {
    const auto found = std::find_if(record.metrics.begin(), record.metrics.end(),
                                    [&](const MetricResult& m) { return m.metric.name == metric.name; });
    if (found == record.metrics.end()) return fmt::format("the metric {} is missing", metric.name);
    if (found->metric.unit != metric.unit || found->metric.better != metric.better)
      return fmt::format("the metric {} is not the one that the manifest declares", metric.name);
  }
  return contradiction(record);
}

void apply_gates(Record& record) {
  const Verification& v = record.verification;
  if (record.outcome == Outcome::measured && v.mismatches > 0) {
    record.outcome = Outcome::fail;
    record.reason = fmt::format("{} of {} elements are wrong", v.mismatches, v.elements_compared);
  }
  // FAIL accuses the machine, so it owes evidence just as MEASURED does.
  if (record.outcome == Outcome::fail && (v.mismatches == 0 || v.mismatches > v.elements_compared))
    return turn_into_error(record, fmt::format("FAIL with {} of {} elements wrong", v.mismatches, v.elements_compared));
  if (record.outcome != Outcome::measured) return complete_ending(record);
  if (const std::string text = contradiction(record); !text.empty()) return turn_into_error(record, text);
  for (const MetricResult& result : record.metrics) {
    const std::string text = beyond_limit(result);
    if (text.empty()) continue;
    record.outcome = Outcome::invalid;
    record.reason = text;
    return;
  }
}

void apply_gates(Record& record, const std::vector<Metric>& declared) {
  const bool claimed = record.outcome == Outcome::measured && record.verification.mismatches == 0;
  const std::string lack = claimed ? missing_proof(record, declared) : "";
  if (!lack.empty()) return turn_into_error(record, lack);
  apply_gates(record);
}

}  // namespace assay
