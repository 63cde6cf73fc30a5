// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See judge.h.
#include "harness/parent/judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "harness/base/error.h"
#include "harness/base/text.h"
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

std::uint64_t* counter(CoverageCount& count, Outcome outcome) {
  switch (outcome) {
    case Outcome::measured:
      return &count.measured;
    case Outcome::fail:
      return &count.fail;
    case Outcome::invalid:
      return &count.invalid;
    case Outcome::error:
      return &count.error;
    default:
      return &count.not_run;
  }
}

Outcome run_word(const CoverageCount& count) {
  if (count.required == 0) return Outcome::incomplete;
  const Outcome first =
      worst({count.fail > 0 ? Outcome::fail : Outcome::measured, count.error > 0 ? Outcome::error : Outcome::measured,
             count.not_run + count.invalid > 0 ? Outcome::incomplete : Outcome::measured});
  return first;
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

std::string job_key(const std::string& case_name, const std::vector<std::string>& device_set, int session) {
  return fmt::format("{} | {} | {}", case_name, join(device_set, ","), session);
}

Judgement judge_run(const Plan& plan, const std::vector<Record>& records) {
  std::map<std::string, Outcome> done;
  for (const Record& record : records)
    if (!done.emplace(job_key(record.case_name, record.device_set, record.session), record.outcome).second)
      throw Error(fmt::format("two records of {} in session {}: these records are not of one run", record.case_name,
                              record.session));
  Judgement result;
  std::size_t used = 0;
  for (const PlannedCase& c : plan.cases) {
    if (c.coverage == Coverage::not_applicable) ++result.coverage.not_applicable;
    if (c.coverage == Coverage::excluded) ++result.coverage.excluded;
    if (c.coverage != Coverage::required) continue;
    for (int session = 1; session <= plan.sessions; ++session) {
      ++result.coverage.required;
      const auto found = done.find(job_key(c.name, c.device_set, session));
      if (found != done.end()) {
        ++*counter(result.coverage, found->second);
        ++used;
        continue;
      }
      ++result.coverage.not_run;
      result.missing.push_back(fmt::format("{} on {}, session {}", c.name, join(c.device_set, "+"), session));
    }
  }
  if (used != done.size())
    throw Error("there are records of cases that the plan doesn't require: they belong to another run");
  result.outcome = run_word(result.coverage);
  return result;
}

Json to_json(const CoverageCount& c) {
  return {{"required", c.required},
          {"measured", c.measured},
          {"fail", c.fail},
          {"invalid", c.invalid},
          {"not_run", c.not_run},
          {"error", c.error},
          {"not_applicable", c.not_applicable},
          {"excluded", c.excluded}};
}

}  // namespace assay
