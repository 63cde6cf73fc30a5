// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See gates.h.
#include "harness/parent/gates.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "harness/base/units.h"

namespace assay {
namespace {

// A limit that is computed from a clock we measured is as uncertain as that clock: chains of dependent additions
// scatter by up to 2 %. Every other limit is taken at its word.
double tolerance(const Limit& limit) { return limit.kind == "measured_clock" ? 0.02 : 0; }

std::string beyond_limit(const MetricResult& result) {
  if (!result.limit.value || !std::isfinite(*result.limit.value)) return {};
  const double median = summarise(result.samples).median, limit = *result.limit.value;
  const bool higher = result.metric.better == Better::higher;
  if (higher ? median <= limit * (1 + tolerance(result.limit)) : median >= limit * (1 - tolerance(result.limit)))
    return {};
  return fmt::format("{} is {}, {} its physical limit of {} ({})", result.metric.name,
                     format_quantity(median, result.metric.unit), higher ? "above" : "below",
                     format_quantity(limit, result.metric.unit), result.limit.source);
}

}  // namespace

std::string missing_proof(const Record& record, const std::vector<Metric>& declared) {
  if (record.iterations == 0) return "iterations is 0";
  if (!(record.bytes_per_iteration > 0) && !(record.operations_per_iteration > 0))
    return "neither bytes nor operations per iteration are above 0";
  if (record.verification.elements_compared == 0) return "elements_compared is 0";
  if (declared.empty()) return "the manifest declares no metric";
  for (const Metric& metric : declared) {
    const auto found = std::find_if(record.metrics.begin(), record.metrics.end(),
                                    [&](const MetricResult& m) { return m.metric.name == metric.name; });
    if (found == record.metrics.end()) return fmt::format("the metric {} is missing", metric.name);
    if (found->metric.unit != metric.unit || found->metric.better != metric.better)
      return fmt::format("the metric {} is not the one that the manifest declares", metric.name);
  }
  for (const MetricResult& result : record.metrics) {
    if (result.samples.empty()) return fmt::format("the metric {} has no samples", result.metric.name);
    for (const double value : result.samples)
      if (!std::isfinite(value)) return fmt::format("a sample of {} is not a finite number", result.metric.name);
  }
  return {};
}

void apply_gates(Record& record, const std::vector<Metric>& declared) {
  if (record.outcome != Outcome::measured) return;
  if (record.verification.mismatches > 0) {
    record.outcome = Outcome::fail;
    record.reason = fmt::format("{} of {} elements are wrong", record.verification.mismatches,
                                record.verification.elements_compared);
    return;
  }
  const std::string lack = missing_proof(record, declared);
  if (!lack.empty()) {
    record.outcome = Outcome::error;
    record.reason = "no proof of work: " + lack;
    record.failure = Failure{"protocol", record.reason, {}};
    return;
  }
  for (const MetricResult& result : record.metrics) {
    const std::string text = beyond_limit(result);
    if (text.empty()) continue;
    record.outcome = Outcome::invalid;
    record.reason = text;
    return;
  }
}

}  // namespace assay
