// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See gates.h. What a record says against itself is in contradiction.cpp.
#include "harness/parent/gates.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/base/text.h"
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

// Work that the compiler removed, or that was done once and then left out, looks endlessly fast.
std::string too_fast(const Record& record) {
  std::size_t samples = 0, short_ones = 0;
  for (const Series& series : record.series)
    for (const Sample& sample : series.samples) {
      ++samples;
      if ((sample.disturbed & disturbed::short_block) != 0) ++short_ones;
      if (static_cast<double>(sample.iterations) / sample.seconds > fastest_clock_hz)
        return fmt::format("{} iterations in {} are more than one a cycle of any clock: the timed work does nothing",
                           sample.iterations, format_quantity(sample.seconds, "s"));
    }
  if (samples < 2 || short_ones < samples) return {};
  return fmt::format("all {} blocks came out shorter than asked for: the timed work does less than in the warm-up",
                     samples);
}

void turn_into_error(Record& record, const std::string& what) {
  record.outcome = Outcome::error;
  record.reason = (record.imported ? "the import is damaged: " : "no proof of work: ") + what;
  record.failure = Failure{"protocol", record.reason, {}};
}

// A word other than MEASURED owes a reason, and ERROR a failure.
void complete_ending(Record& record) {
  if (record.reason.empty()) record.reason = "the worker gave no reason";
  if (record.outcome == Outcome::error && !record.failure) record.failure = Failure{"exception", record.reason, {}};
  if (record.outcome != Outcome::error) record.failure.reset();
}

}  // namespace

std::string missing_proof(const Record& record, const std::vector<Metric>& declared) {
  if (declared.empty()) return "the manifest declares no metric";
  for (const MetricResult& result : record.metrics)
    if (std::none_of(declared.begin(), declared.end(), [&](const Metric& m) { return m.name == result.metric.name; }))
      return fmt::format("its manifest declares no metric {}", result.metric.name);
  for (const Metric& metric : declared) {
    const auto found = std::find_if(record.metrics.begin(), record.metrics.end(),
                                    [&](const MetricResult& m) { return m.metric.name == metric.name; });
    if (found == record.metrics.end()) return fmt::format("the metric {} is missing", metric.name);
    if (found->metric.unit != metric.unit || found->metric.better != metric.better)
      return fmt::format("the metric {} is not the one that the manifest declares", metric.name);
  }
  if (record.metrics.size() > declared.size())
    return fmt::format("it has {}, its manifest declares {}", counted(record.metrics.size(), "metric"),
                       declared.size());
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
  if (record.imported && (record.outcome == Outcome::fail || record.outcome == Outcome::invalid))
    return turn_into_error(record, "it was imported, and nobody judged it");
  if (record.outcome != Outcome::measured) return complete_ending(record);
  if (const std::string text = contradiction(record); !text.empty()) return turn_into_error(record, text);
  std::string text = too_fast(record);
  for (std::size_t i = 0; i < record.metrics.size() && text.empty(); ++i) text = beyond_limit(record.metrics[i]);
  if (text.empty()) return;
  record.outcome = Outcome::invalid;
  record.reason = text;
}

void apply_gates(Record& record, const std::vector<Metric>& declared) {
  if (record.imported) {
    record.imported.reset();
    return turn_into_error(record, "a worker measures, and this record says that it was imported");
  }
  const bool claimed = record.outcome == Outcome::measured && record.verification.mismatches == 0;
  const std::string lack = claimed ? missing_proof(record, declared) : "";
  if (!lack.empty()) return turn_into_error(record, lack);
  apply_gates(record);
}

}  // namespace assay
