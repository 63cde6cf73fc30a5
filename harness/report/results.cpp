// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See results.h.
#include "harness/report/results.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "harness/report/findings.h"

namespace assay {
namespace {

std::vector<double> medians(const std::vector<SessionSummary>& sessions, Summary SessionSummary::*axis) {
  std::vector<double> values;
  for (const SessionSummary& session : sessions) values.push_back((session.*axis).median);
  return values;
}

SessionSummary session_summary(const Record& record, const MetricResult& result) {
  SessionSummary value;
  value.session = record.session;
  value.process = record.process;
  value.per_second = summarise(result.samples);
  value.per_cycle = summarise(result.cycle_samples);
  value.disturbed = flags_of(record, result);
  return value;
}

void add_metric(CaseResults& results, const Record& record, const MetricResult& result) {
  MetricResults* found = nullptr;
  for (MetricResults& known : results.metrics)
    if (known.metric.name == result.metric.name && known.series == result.series) found = &known;
  if (found == nullptr) {
    found = &results.metrics.emplace_back();
    found->metric = result.metric;
    found->series = result.series;
  }
  found->limit = result.limit;
  if (!result.cycle_unit.empty()) found->cycle_unit = result.cycle_unit;
  found->sessions.push_back(session_summary(record, result));
}

void add(CaseResults& results, Record& record) {
  Ending& ending = results.endings.emplace_back();
  ending.session = record.session;
  ending.process = record.process;
  ending.outcome = record.outcome;
  ending.reason = record.reason;
  ending.started_at = record.started_at;
  ending.failure = record.failure;
  ending.verification = record.verification;
  ending.wall_s = record.wall_s;
  if (record.outcome == Outcome::measured) {
    for (const MetricResult& metric : record.metrics) add_metric(results, record, metric);
    if (!record.curves.empty()) results.curves = std::move(record.curves);
  }
  results.simulated = results.simulated || record.simulated;
  for (Fact& fact : record.facts) results.facts[fact.name] = std::move(fact.value);
  results.threads = std::max(results.threads, record.threads);
  results.host_resident_peak_bytes = std::max(results.host_resident_peak_bytes, record.host_resident_peak_bytes);
  results.requested_bytes = std::max(results.requested_bytes, record.requested_bytes);
}

PlannedCase unplanned(const Record& record) {
  PlannedCase planned;
  planned.name = record.case_name;
  planned.benchmark = record.benchmark;
  planned.worker = record.worker;
  planned.device_set = record.device_set;
  return planned;
}

}  // namespace

double MetricResults::median() const { return summarise(medians(sessions, &SessionSummary::per_second)).median; }
double MetricResults::cycle_median() const { return summarise(medians(sessions, &SessionSummary::per_cycle)).median; }
double MetricResults::share() const { return share_of_limit(metric, limit, median()); }

double MetricResults::spread() const {
  if (sessions.empty()) return std::nan("");
  if (sessions.size() == 1) {
    const Summary& s = sessions.front().per_second;
    return s.n < 2 ? std::nan("") : (s.q3 - s.q1) / (2 * std::fabs(s.median));
  }
  const Summary s = summarise(medians(sessions, &SessionSummary::per_second));
  return (s.max - s.min) / (2 * std::fabs(s.median));
}

int CaseResults::measured() const {
  return static_cast<int>(
      std::count_if(endings.begin(), endings.end(), [](const Ending& e) { return e.outcome == Outcome::measured; }));
}

Outcome CaseResults::outcome() const {
  std::vector<Outcome> outcomes;
  for (const Ending& ending : endings) outcomes.push_back(ending.outcome);
  if (outcomes.size() < static_cast<std::size_t>(required)) outcomes.push_back(Outcome::not_run);
  return worst(outcomes);
}

Results collect(const RunData& run, Detector* detector) {
  Results results;
  if (detector != nullptr) begin_run(*detector, run);
  CoverageTally tally(run.plan);
  std::vector<std::size_t> place(run.plan.cases.size());
  for (std::size_t i = 0; i < run.plan.cases.size(); ++i)
    if (run.plan.cases[i].coverage == Coverage::required) {
      place[i] = results.cases.size();
      results.cases.emplace_back().planned = run.plan.cases[i];
    }
  const RecordsEnd end = tally_records(run, tally, [&](std::int64_t index, Record&& record) {
    const bool known = index >= 0 && run.plan.cases[static_cast<std::size_t>(index)].coverage == Coverage::required;
    CaseResults& target = known ? results.cases[place[static_cast<std::size_t>(index)]] : results.cases.emplace_back();
    if (!known) {
      target.planned = unplanned(record);
      target.in_plan = false;
      results.warnings.push_back(
          fmt::format("record {} is of {}, which the plan does not require", record.sequence, record.case_name));
    }
    results.simulated = results.simulated || record.simulated;
    for (const auto& [name, value] : record.test_knobs) results.test_knobs[name] = value;
    results.warmup_s += record.warmup_s;
    results.measure_s += record.measure_s;
    results.wall_s += record.wall_s;
    if (known && detector != nullptr) detector->add(record);
    add(target, record);
  });
  for (CaseResults& one : results.cases)
    if (one.in_plan)
      one.required = run.plan.imported ? static_cast<int>(one.endings.size()) : run.plan.sessions_of(one.planned);
  if (!end.warning.empty()) results.warnings.push_back(end.warning);
  if (run.run.is_null() && run.plan.imported)
    results.warnings.push_back("the import was cut before its end; import the files again into another folder");
  else if (run.run.is_null())
    results.warnings.push_back(
        fmt::format("the run was cut before its end; `assay run --resume {}` continues it", run.folder.string()));
  for (const auto& [name, value] : run.plan.test_knobs) results.test_knobs[name] = value;
  for (const DeviceInfo& device : run.plan.devices) results.simulated = results.simulated || device.simulated;
  results.counts = tally.counts();
  const Judged judged = judge(run, results.counts);
  results.outcome = judged.outcome;
  if (!judged.warning.empty()) results.warnings.push_back(judged.warning);
  return results;
}

}  // namespace assay
