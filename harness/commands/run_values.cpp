// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See run_values.h.
#include "harness/commands/run_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "harness/base/error.h"
#include "harness/base/text.h"
#include "harness/commands/side_reader.h"
#include "harness/parent/coverage.h"
#include "harness/parent/run_data.h"

namespace assay {
namespace {

// The series that a metric was derived from; nullptr for a value over all of a sweep.
const Series* series_of(const Record& record, const std::string& label) {
  for (const Series& series : record.series)
    if (series.label == label || record.series.size() == 1) return &series;
  return nullptr;
}

// By which a run can be known again: its id, and the files that it was imported from.
std::vector<std::string> names_of(const Plan& plan) {
  std::vector<std::string> names{plan.run_id};
  if (plan.imported)
    for (const ImportedFile& file : plan.imported->files) names.push_back(file.xxh3);
  return names;
}

std::optional<double> mean_clock(const Series& series) {
  double sum = 0;
  std::size_t count = 0;
  for (const Sample& sample : series.samples)
    if (sample.clock_hz > 0) sum += sample.clock_hz, ++count;
  return count == 0 ? std::nullopt : std::optional(sum / static_cast<double>(count));
}

// What a metric says about one session; nothing for samples that are no measurement.
void add_values(const Record& record, const MetricResult& metric, const SessionValue& head, Conditions conditions,
                ConditionsPool& pool, std::vector<SessionValue>& values) {
  const Series* series = series_of(record, metric.series);
  if (series != nullptr) {
    conditions["bytes per iteration"] = fmt::format("{:g}", series->bytes_per_iteration);
    conditions["operations per iteration"] = fmt::format("{:g}", series->operations_per_iteration);
  }
  const std::shared_ptr<const Conditions> shared = pool.one(conditions);
  const auto add = [&](Axis axis, const std::string& unit, const std::vector<double>& samples) {
    const bool numbers = !samples.empty() && std::all_of(samples.begin(), samples.end(),
                                                         [](double v) { return std::isfinite(v) && v > 0; });
    const auto session = numbers ? stats::session_of(samples) : std::nullopt;
    if (!session) return;
    SessionValue value = head;
    value.key = {record.case_name, metric.metric.name, metric.series, axis};
    value.unit = unit;
    value.better = metric.metric.better;
    value.value = *session;
    value.samples = samples;
    value.conditions = shared;
    if (series != nullptr) value.clock_hz = mean_clock(*series);
    values.push_back(std::move(value));
  };
  add(Axis::second, metric.metric.unit, metric.samples);
  if (!metric.cycle_unit.empty()) add(Axis::cycle, metric.cycle_unit, metric.cycle_samples);
}

SessionValue head_of(const Record& record, const RunValues& run, const RunDevice& device) {
  SessionValue head;
  head.device = device.identity;
  head.session = fmt::format("{}/{}", run.run_id, record.session);
  head.class_id = device.match.class_id;
  head.benchmark = record.benchmark;
  head.worker = record.worker;
  head.modes = to_text(device.match.modes);
  if (const auto driver = device.info.labels.find("driver_version"); driver != device.info.labels.end())
    head.driver = driver->second;
  for (const Fact& fact : record.facts)  // an import tells it of each session
    if (record.imported && fact.name == "driver") head.driver = fact.value;
  return head;
}

}  // namespace

RunValues read_run_values(const std::filesystem::path& folder, const ClassTable& table, ConditionsPool& pool) {
  const RunData data = read_run(folder);
  if (const std::string why = why_unfit(data); !why.empty()) throw Error(why);
  RunValues run;
  run.run_id = data.plan.run_id;
  run.names = names_of(data.plan);
  const auto refuse = [&](Outcome outcome, const std::string& why) {
    run.not_reference.push_back({outcome, "", fmt::format("{} {}", folder.string(), why)});
  };
  if (data.run.is_null()) refuse(Outcome::incomplete, "was cut before its end; go on with `assay run --resume`");
  if (!data.plan.test_knobs.empty())
    refuse(Outcome::invalid, fmt::format("was made with {} set, so it measured a test and no machine",
                                         data.plan.test_knobs.begin()->first));
  for (const DeviceInfo& device : data.plan.devices) {
    run.devices.push_back({device, device_identity(device, host_of(data)), class_of(device, table)});
    if (device.simulated)
      refuse(Outcome::invalid, fmt::format("is simulated: {} is no machine", device.id));
  }
  std::set<std::string> wrong;
  std::map<std::pair<std::string, std::string>, std::string> broken;  // device, case: how it ended once
  const auto identity_of = [&](const std::string& id) {
    const auto device =
        std::find_if(run.devices.begin(), run.devices.end(), [&](const RunDevice& d) { return d.info.id == id; });
    return device == run.devices.end() ? id : device->identity;
  };
  bool simulated = false, knobbed = false;
  const bool together = data.plan.concurrent && data.plan.devices.size() > 1;
  CoverageTally tally(data.plan);
  tally_records(data, tally, [&](std::int64_t index, Record&& record) {
    simulated = simulated || record.simulated;
    knobbed = knobbed || !record.test_knobs.empty();
    if (record.outcome == Outcome::fail) wrong.insert(record.case_name);
    if (record.outcome == Outcome::error || record.outcome == Outcome::invalid)
      for (const std::string& device : record.device_set)
        broken.try_emplace({identity_of(device), record.case_name},
                           fmt::format("{}: {}", word(record.outcome), record.reason));
    // Sets of several devices have no class of their own.
    const auto device = std::find_if(run.devices.begin(), run.devices.end(), [&](const RunDevice& d) {
      return record.device_set.size() == 1 && d.info.id == record.device_set.front();
    });
    if (index < 0 || record.outcome != Outcome::measured || device == run.devices.end()) return;
    const SessionValue head = head_of(record, run, *device);
    const Conditions conditions{{"the worker", record.worker},
                                {"the modes", head.modes},
                                {"the number of threads", std::to_string(record.threads)},
                                {"running alone or together", together ? "together" : "alone"}};
    for (const MetricResult& metric : record.metrics) add_values(record, metric, head, conditions, pool, run.values);
  });
  // A device that crashes in a case now and then isn't known to be good at it.
  run.values.erase(std::remove_if(run.values.begin(), run.values.end(),
                                  [&](const SessionValue& v) {
                                    return broken.count({v.device, v.key.case_name}) != 0;
                                  }),
                   run.values.end());
  for (const auto& [where, how] : broken)
    run.left_out.push_back(
        fmt::format("{}: {} of {} is left out, for it ended in {}", folder.string(), where.second, where.first, how));
  if (!wrong.empty())
    refuse(Outcome::fail, fmt::format("has wrong results ({}), so it isn't known to be good", *wrong.begin()));
  if (simulated && run.not_reference.empty()) refuse(Outcome::invalid, "has simulated records");
  if (knobbed && run.not_reference.empty()) refuse(Outcome::invalid, "has records that were made with test knobs");
  return run;
}

}  // namespace assay
