// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// The report as JSON (schema results/schema/report.v1.json): summaries per case, metric and session; the raw samples
// stay in records.jsonl.
#include <fmt/format.h>

#include <cmath>

#include "harness/base/clock.h"
#include "harness/base/printed_json.h"
#include "harness/base/text.h"
#include "harness/build_info.h"
#include "harness/report/findings.h"
#include "harness/report/formats.h"
#include "harness/report/parts.h"
#include "harness/report/results.h"

namespace assay {
namespace {

Json limit_json(const Limit& limit) {
  return {
      {"value", or_null(limit.value)}, {"kind", limit.kind.empty() ? "none" : limit.kind}, {"source", limit.source}};
}

Json session_json(const SessionSummary& value) {
  return {{"session", value.session},
          {"process", value.process},
          {"n", value.per_second.n},
          {"median", number(value.per_second.median)},
          {"mean", number(value.per_second.mean)},
          {"sd", number(value.per_second.sd)},
          {"min", number(value.per_second.min)},
          {"max", number(value.per_second.max)},
          {"cycle_median", number(value.per_cycle.median)},
          {"samples", value.disturbed.samples},
          {"samples_disturbed", value.disturbed.flagged},
          {"disturbed", [&] {
             Json names = Json::array();
             if (value.disturbed.seen != 0)
               for (const std::string& name : split(disturbed_text(value.disturbed.seen, ","), ','))
                 names.push_back(name);
             return names;
           }()}};
}

Json metric_json(const MetricResults& metric) {
  Json sessions = Json::array();
  for (const SessionSummary& value : metric.sessions) sessions.push_back(session_json(value));
  return {{"name", metric.metric.name},
          {"unit", metric.metric.unit},
          {"better", word(metric.metric.better)},
          {"series", metric.series},
          {"median", number(metric.median())},
          {"spread", number(metric.spread())},
          {"cycle_unit", text_or_null(metric.cycle_unit)},
          {"cycle_median", number(metric.cycle_median())},
          {"limit", limit_json(metric.limit)},
          {"share_of_limit", number(metric.share())},
          {"sessions", sessions}};
}

Json ending_json(const Ending& ending) {
  return {{"session", ending.session},
          {"process", ending.process},
          {"outcome", word(ending.outcome)},
          {"reason", text_or_null(ending.reason)},
          {"failure", ending.failure ? Json(ending.failure->kind + ": " + ending.failure->detail) : Json(nullptr)},
          {"elements_compared", ending.verification.elements_compared},
          {"mismatches", ending.verification.mismatches},
          {"nan_count", ending.verification.nan_count},
          {"wall_s", number(ending.wall_s)}};
}

Json case_json(const CaseResults& results) {
  Json endings = Json::array(), metrics = Json::array(), curves = Json::array();
  for (const Ending& ending : results.endings) endings.push_back(ending_json(ending));
  for (const MetricResults& metric : results.metrics) metrics.push_back(metric_json(metric));
  for (const Curve& curve : results.curves) curves.push_back(to_json(curve));
  return {{"case", results.planned.name},
          {"benchmark", results.planned.benchmark},
          {"worker", results.planned.worker},
          {"device_set", results.planned.device_set},
          {"in_plan", results.in_plan},
          {"simulated", results.simulated},
          {"outcome", word(results.outcome())},
          {"sessions_required", results.required},
          {"sessions_measured", results.measured()},
          {"threads", results.threads},
          {"host_resident_peak_bytes", results.host_resident_peak_bytes},
          {"requested_bytes", results.requested_bytes},
          {"facts", results.facts},
          {"sessions", endings},
          {"metrics", metrics},
          {"curves", curves}};
}

Json not_measured(const Plan& plan, Coverage coverage) {
  Json cases = Json::array();
  for (const PlannedCase& planned : plan.cases)
    if (planned.coverage == coverage)
      cases.push_back({{"case", planned.name},
                       {"device_set", planned.device_set},
                       {"reason", planned.reason},
                       {"text", planned.text}});
  return cases;
}

Json run_json(const RunData& run, const Results& results) {
  Json cases = Json::array(), devices = Json::array();
  for (const CaseResults& one : results.cases) cases.push_back(case_json(one));
  for (const DeviceInfo& device : run.plan.devices)
    devices.push_back({{"id", device.id}, {"name", device.name}, {"simulated", device.simulated}});
  return {{"run_id", run.plan.run_id},
          {"folder", run.folder.string()},
          {"outcome", word(results.outcome)},
          {"created_at", run.plan.created_at},
          {"profile", run.plan.profile},
          {"sessions", run.plan.sessions},
          {"seed", run.plan.seed},
          {"simulated", results.simulated},
          {"imported", run.plan.imported ? to_json(*run.plan.imported) : Json(nullptr)},
          {"test_knobs", results.test_knobs},
          {"devices", devices},
          {"coverage", to_json(results.counts)},
          {"time_s", {{"warmup", results.warmup_s}, {"measure", results.measure_s}, {"cases", results.wall_s}}},
          {"warnings", results.warnings},
          {"results", cases},
          {"not_applicable", not_measured(run.plan, Coverage::not_applicable)},
          {"excluded", not_measured(run.plan, Coverage::excluded)}};
}

}  // namespace

Outcome report_json(const std::vector<RunData>& runs, std::ostream& out) {
  Json list = Json::array();
  std::vector<Outcome> outcomes;
  Detector detector;
  for (const RunData& run : runs) {
    const Results results = collect(run, &detector);
    outcomes.push_back(results.outcome);
    list.push_back(run_json(run, results));
  }
  const Outcome outcome = worst(outcomes);
  Json report{{"schema", "assay.report.v1"},
              {"created_at", utc_now()},
              {"version", build_info().version},
              {"commit", build_info().commit},
              {"outcome", word(outcome)},
              {"exit_code", code(outcome)},
              {"runs", list}};
  report.update(to_json(detector.finish()));
  out << printed(report, 2) << '\n';
  return outcome;
}

}  // namespace assay
