// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See side.h.
#include "harness/verdict/side.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "harness/base/error.h"
#include "harness/verdict/rank.h"

namespace assay {
namespace {

double mean_log_clock(const Record& record, const std::string& label) {
  double sum = 0;
  std::size_t count = 0;
  for (const Series& series : record.series) {
    if (series.label != label) continue;
    for (const Sample& sample : series.samples) {
      if (!(sample.clock_hz > 0)) return std::nan("");
      sum += std::log(sample.clock_hz);
      ++count;
    }
  }
  return count > 0 ? sum / static_cast<double>(count) : std::nan("");
}

// The clock behind the two axes of a metric that was imported: it has no series.
double mean_log_clock(const MetricResult& result) {
  double sum = 0;
  for (std::size_t i = 0; i < result.cycle_samples.size() && i < result.samples.size(); ++i)
    sum += std::log(result.samples[i] / result.cycle_samples[i]);
  const double mean = sum / static_cast<double>(result.cycle_samples.size());
  return result.metric.unit == "s" ? -mean : mean;
}

// One session of one metric; without seconds when a sample is no number above 0.
SideMetric session_of_metric(const Record& record, const MetricResult& result) {
  SideMetric value;
  value.benchmark = record.benchmark;
  value.worker = record.worker;
  value.unit = result.metric.unit;
  value.cycle_unit = result.cycle_unit;
  value.better = result.metric.better;
  value.limit = result.limit.value;
  if (const auto session = stats::session_of(result.samples)) {
    value.seconds.push_back(*session);
    value.raw.push_back(result.samples);
  }
  if (const auto session = stats::session_of(result.cycle_samples)) value.cycles.push_back(*session);
  constexpr std::uint32_t others =
      disturbed::run_delay | disturbed::steal | disturbed::foreign_load | disturbed::shared_core;
  for (const Series& series : record.series)
    for (const Sample& sample : series.samples)
      if (series.label == result.series) {
        ++value.samples;
        if ((sample.disturbed & others) != 0) ++value.disturbed;
      }
  const double clock = record.imported ? mean_log_clock(result) : mean_log_clock(record, result.series);
  if (std::isfinite(clock)) value.log_clock.push_back(clock);
  return value;
}

template <class T>
void append(std::vector<T>& to, const std::vector<T>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

}  // namespace

std::optional<Unmeasured> SideCase::worst_ending() const {
  const auto found =
      std::min_element(unmeasured.begin(), unmeasured.end(),
                       [](const Unmeasured& a, const Unmeasured& b) { return rank(a.outcome) < rank(b.outcome); });
  return found == unmeasured.end() ? std::nullopt : std::optional(*found);
}

void SideBuilder::begin_run(const std::string& run_id, const std::vector<DeviceInfo>& devices,
                            const std::string& host) {
  if (!run_ids_.insert(run_id).second)
    throw Error(fmt::format("run {} is given twice: its sessions count once", run_id));
  side_.run_ids.push_back(run_id);
  run_id_ = run_id;
  identities_.clear();
  run_.clear();
  std::map<std::string, std::string> id_of;  // by identity
  for (const DeviceInfo& device : devices) {
    const std::string& identity = identities_[device.id] = device_identity(device, host);
    if (const auto [other, is_new] = id_of.emplace(identity, device.id); !is_new)
      throw Error(fmt::format("run {}: its devices {} and {} are both {}: which of them a value is of can't be told",
                              run_id, other->second, device.id, identity));
    side_.simulated = side_.simulated || device.simulated;
  }
}

std::string SideBuilder::identity_of(const std::vector<std::string>& device_set) const {
  std::vector<std::string> names;
  for (const std::string& id : device_set) {
    const auto known = identities_.find(id);
    names.push_back(known == identities_.end() ? id : known->second);
  }
  return fmt::format("{}", fmt::join(names, "+"));
}

void SideBuilder::require(const std::string& case_name, const std::string& benchmark,
                          const std::vector<std::string>& device_set, int sessions) {
  for (int session = 1; session <= sessions; ++session)
    run_[{identity_of(device_set), case_name, session}].benchmark = benchmark;
}

void SideBuilder::require_recorded(const Record& record) {
  side_.imported = true;
  run_[{identity_of(record.device_set), record.case_name, record.session}].benchmark = record.benchmark;
}

void SideBuilder::add(const Record& record) {
  const std::string device = identity_of(record.device_set);
  const auto planned = run_.find({device, record.case_name, record.session});
  if (planned == run_.end()) return;  // not required: it proves nothing and is asked for by nobody
  Session& session = planned->second;
  side_.simulated = side_.simulated || record.simulated;
  side_.test_knobs.insert(record.test_knobs.begin(), record.test_knobs.end());
  session.ending = {record.outcome, record.reason};
  session.process = record.process;
  session.values.clear();
  if (record.outcome != Outcome::measured) return;
  for (const MetricResult& result : record.metrics)
    session.values.emplace_back(SideKey{device, record.case_name, result.metric.name, result.series},
                                session_of_metric(record, result));
}

void SideBuilder::end_run() {
  std::map<std::tuple<std::string, std::string, int>, int> session_of_process;
  for (const auto& [where, session] : run_) {
    const auto& [device, case_name, number] = where;
    if (session.process > 0) {
      const auto [other, is_new] = session_of_process.try_emplace({device, case_name, session.process}, number);
      if (!is_new && !side_.imported)
        throw Error(fmt::format("run {}: sessions {} and {} of {} are of one process; a session is a fresh one",
                                run_id_, other->second, number, case_name));
    }
    SideCase& of_case = side_.cases[{device, case_name}];
    of_case.benchmark = session.benchmark;
    if (session.ending.outcome != Outcome::measured) {
      of_case.unmeasured.push_back(session.ending);
      continue;
    }
    ++of_case.measured;
    for (const auto& [key, value] : session.values) {
      const auto [found, is_new] = side_.metrics.try_emplace(key, value);
      if (is_new) continue;
      SideMetric& metric = found->second;
      if (metric.unit != value.unit || metric.better != value.better)
        throw Error(fmt::format("{} {} is in {} in one run and in {} in another: these runs are no one side",
                                key.case_name, key.metric, metric.unit, value.unit));
      append(metric.seconds, value.seconds);
      append(metric.raw, value.raw);
      append(metric.cycles, value.cycles);
      append(metric.log_clock, value.log_clock);
      metric.limit = value.limit;
      metric.samples += value.samples;
      metric.disturbed += value.disturbed;
    }
  }
  for (auto& [key, metric] : side_.metrics) {  // an axis that some sessions lack is no axis
    if (metric.cycles.size() != metric.seconds.size()) metric.cycles.clear();
    if (metric.log_clock.size() != metric.seconds.size()) metric.log_clock.clear();
  }
  run_.clear();
}

std::vector<stats::SessionSamples> samples_of(const SideMetric& metric) {
  std::vector<stats::SessionSamples> sessions;
  for (const std::vector<double>& samples : metric.raw) sessions.push_back(stats::of_one_metric(samples));
  return sessions;
}

Side SideBuilder::finish() {
  for (const auto& [key, metric] : side_.metrics)
    if (const auto copied = stats::find_copy(samples_of(metric)))
      throw Error(fmt::format(
          "{} of {} on {}: the sessions {} and {} (of {}, in the order given) have the same samples: one "
          "of them is a copy, and no second measurement",
          key.metric, key.case_name, key.device, copied->first + 1, copied->second + 1, metric.seconds.size()));
  return std::move(side_);
}

}  // namespace assay
