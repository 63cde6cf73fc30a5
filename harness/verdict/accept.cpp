// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See accept.h. Reads as: the four references; one metric; what is missing; the contract; the last word.
#include "harness/verdict/accept.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "harness/base/text.h"
#include "harness/base/units.h"
#include "harness/stats/fleet.h"
#include "harness/stats/tolerance.h"

namespace assay {
namespace {

stats::Better direction(Better better) {
  return better == Better::lower ? stats::Better::lower : stats::Better::higher;
}

std::string percent(double log_distance) { return fmt::format("{:.2g} %", 100 * std::fabs(std::expm1(log_distance))); }

const AcceptedDevice* device_of(const std::vector<AcceptedDevice>& devices, const SideKey& key) {
  const auto found =
      std::find_if(devices.begin(), devices.end(), [&](const AcceptedDevice& d) { return d.identity == key.device; });
  return found == devices.end() ? nullptr : &*found;
}

double mean_log(const std::vector<stats::Session>& sessions) {
  double sum = 0;
  for (const stats::Session& session : sessions) sum += session.log_value / static_cast<double>(sessions.size());
  return sum;
}

// --- limit -----------------------------------------------------------------------------------------------------------

Reference against_physical_limit(const AcceptedMetric& m, const std::optional<double>& bound) {
  if (!bound) return {Outcome::unknown, "no physical limit is known", std::nullopt};
  const double share = m.better == Better::higher ? *m.value / *bound : *bound / *m.value;
  if (share > 1.02)
    return {Outcome::invalid,
            fmt::format("{} is beyond the physical limit of {}", format_quantity(*m.value, m.unit),
                        format_quantity(*bound, m.unit)),
            bound};
  return {Outcome::match, fmt::format("{:.0f} % of the physical limit", 100 * share), bound};
}

// --- class -----------------------------------------------------------------------------------------------------------

struct AxisAnswer {
  Outcome outcome = Outcome::unknown;
  double log_limit = 0, log_value = 0;
  int devices = 0;
};

AxisAnswer on_axis(const std::vector<stats::Session>& sessions, const BaselineRow& row,
                   const AcceptSettings& settings) {
  stats::LimitOptions options{settings.floor, settings.coverage, settings.confidence};
  // A class that is that quiet per cycle can carry a narrower limit.
  const bool quiet = row.devices >= devices_for_a_reference && row.between_device_sd <= settings.cycle_floor / 2;
  if (row.key.axis == Axis::cycle && quiet) options.floor = settings.cycle_floor;
  const stats::ClassReference reference{static_cast<std::size_t>(row.devices), row.log_mean, row.between_device_sd};
  const auto limit = stats::class_limit(reference, direction(row.better), options);
  if (!limit) return {};
  AxisAnswer answer{Outcome::inconclusive, limit->log_limit, mean_log(sessions), row.devices};
  // The class has seen `sessions` of its own: worth that many degrees of freedom, at most those of a normal profile.
  stats::Prior prior;
  if (row.between_session_sd)
    prior = {std::min(8.0, static_cast<double>(std::max(row.sessions - row.devices, 0))), *row.between_session_sd};
  if (const auto interval = stats::device_interval(sessions, prior, settings.alpha))
    answer.outcome = stats::against_limit(*interval, *limit, direction(row.better));
  return answer;
}

std::string place(const AxisAnswer& a, Better better) {
  const double worse = better == Better::higher ? a.log_limit - a.log_value : a.log_value - a.log_limit;
  return fmt::format("{} {} the limit of {} devices", percent(worse), worse > 0 ? "beyond" : "inside", a.devices);
}

Reference against_class(const SideMetric& metric, const AcceptedMetric& m, const AcceptedDevice* device,
                        const AcceptSettings& settings) {
  if (device == nullptr || !device->baseline) return {Outcome::unknown, "no reference of this class", std::nullopt};
  const MetricKey key{m.key.case_name, m.key.metric, m.key.series, Axis::second};
  const BaselineRow* row = device->baseline->find(key);
  if (row == nullptr) return {Outcome::unknown, "the reference of this class doesn't have it", std::nullopt};
  if (const std::string wrong = conflict(*row, m.unit, m.better); !wrong.empty())
    return {Outcome::inconclusive, wrong, std::nullopt};
  const AxisAnswer second = on_axis(metric.seconds, *row, settings);
  AxisAnswer cycle;
  MetricKey per_cycle = key;
  per_cycle.axis = Axis::cycle;
  if (const BaselineRow* cycles = device->baseline->find(per_cycle); cycles != nullptr && !metric.cycles.empty())
    cycle = on_axis(metric.cycles, *cycles, settings);
  Reference answer{second.outcome, place(second, m.better), std::exp(second.log_limit)};
  if (second.outcome == Outcome::fail && cycle.outcome == Outcome::pass)
    answer.reason += ": slow because the clock is low";
  else if (second.outcome == Outcome::fail && cycle.outcome == Outcome::fail)
    answer.reason += ": slow at the same clock, too";
  else if (second.outcome != Outcome::fail && cycle.outcome == Outcome::fail)
    answer = {Outcome::fail, fmt::format("per cycle {}: a fault that a high clock hides", place(cycle, m.better)),
              answer.bound};
  if (second.outcome == Outcome::inconclusive)
    answer.reason += fmt::format(", give or take more than that; {} sessions are too few", metric.seconds.size());
  if (row->provisional && answer.outcome != Outcome::inconclusive) {
    answer.reason += fmt::format(" ({}, by a provisional reference)", word(answer.outcome));
    answer.outcome = Outcome::provisional;
  }
  return answer;
}

// --- peers -----------------------------------------------------------------------------------------------------------

Reference against_peers(const Side& side, const AcceptedMetric& m, const std::vector<AcceptedDevice>& devices) {
  std::vector<double> values;
  std::size_t own = 0;
  const AcceptedDevice* me = device_of(devices, m.key);
  for (const AcceptedDevice& device : devices) {
    if (me == nullptr || device.match.class_id != me->match.class_id) continue;
    SideKey key = m.key;
    key.device = device.identity;
    const auto found = side.metrics.find(key);
    if (found == side.metrics.end() || found->second.seconds.empty()) continue;
    if (device.identity == m.key.device) own = values.size();
    values.push_back(mean_log(found->second.seconds));
  }
  const auto slow = stats::stragglers(values, direction(m.better));
  if (!slow)
    return {Outcome::unknown, fmt::format("{} device{} of its class", values.size(), values.size() == 1 ? "" : "s"),
            std::nullopt};
  for (const stats::Straggler& straggler : *slow)
    if (straggler.index == own)
      return {Outcome::fail,
              fmt::format("{} slower than its {} peers (z {:.1f})", percent(straggler.excess), values.size() - 1,
                          straggler.z),
              std::nullopt};
  return {Outcome::pass, fmt::format("like its {} peers", values.size() - 1), std::nullopt};
}

// --- one metric ------------------------------------------------------------------------------------------------------

AcceptedMetric judge_metric(const SideKey& key, const SideMetric& metric, const Side& side,
                            const std::vector<AcceptedDevice>& devices, const AcceptSettings& settings) {
  AcceptedMetric m;
  m.key = key;
  m.benchmark = metric.benchmark;
  m.unit = metric.unit;
  m.better = metric.better;
  m.sessions = metric.seconds.size();
  m.history = {Outcome::unknown, "no earlier run was given", std::nullopt};
  if (metric.seconds.empty()) {
    m.verdict = Outcome::not_run;
    m.reason = "it has no value";
    return m;
  }
  m.value = std::exp(mean_log(metric.seconds));
  if (const auto interval = stats::device_interval(metric.seconds, {}, settings.alpha))
    m.interval = {std::exp(interval->low), std::exp(interval->high)};
  const AcceptedDevice* device = device_of(devices, key);
  m.limit = against_physical_limit(m, metric.limit);
  m.klass = against_class(metric, m, device, settings);
  m.peers = against_peers(side, m, devices);
  if (m.limit.outcome == Outcome::invalid) {
    m.verdict = Outcome::invalid;
    m.reason = m.limit.reason;
  } else {
    m.verdict = m.klass.outcome;
    m.reason = m.klass.reason;
    // A device that stands out among its peers is not passed by a reference; it takes a rerun to fail it.
    if (m.peers.outcome == Outcome::fail && code(m.verdict) == exit_code::pass) {
      m.verdict = Outcome::inconclusive;
      m.reason = fmt::format("{}, but {}: measure again", m.klass.reason, m.peers.reason);
    } else if (m.verdict == Outcome::unknown) {
      m.reason += fmt::format("; {}; {}", m.limit.reason, m.peers.reason);
    }
  }
  return m;
}

AcceptedMetric missing(const SideKey& key, const std::string& benchmark, Outcome outcome, const std::string& reason) {
  AcceptedMetric m;
  m.key = key;
  m.benchmark = benchmark;
  m.verdict = outcome;
  m.reason = reason;
  return m;
}

// Sessions that ended in another word than MEASURED: the device is not accepted over them.
void add_unmeasured(const Side& side, std::vector<AcceptedMetric>& metrics) {
  for (const auto& [where, of_case] : side.cases) {
    if (of_case.unmeasured.empty()) continue;
    std::vector<Outcome> words;
    for (const Unmeasured& u : of_case.unmeasured) words.push_back(u.outcome);
    const Outcome word = worst(words);
    const auto first = std::find_if(of_case.unmeasured.begin(), of_case.unmeasured.end(),
                                    [&](const Unmeasured& u) { return u.outcome == word; });
    metrics.push_back(missing({where.first, where.second, "", ""}, of_case.benchmark, word, first->reason));
  }
}

// What the class's reference has and the run lacks.
void add_missing(const Side& side, const std::vector<AcceptedDevice>& devices, std::vector<AcceptedMetric>& metrics) {
  for (const AcceptedDevice& device : devices) {
    if (!device.baseline) continue;
    for (const BaselineRow& row : device.baseline->rows) {
      if (row.key.axis != Axis::second) continue;
      const SideKey key{device.identity, row.key.case_name, row.key.metric, row.key.series};
      if (side.metrics.count(key) == 0 && side.cases.count({key.device, key.case_name}) == 0)
        metrics.push_back(
            missing(key, row.benchmark, Outcome::not_run, "the reference of its class has it, the run doesn't"));
    }
  }
}

std::vector<DeviceValues> values_of(const Side& side, const std::vector<AcceptedDevice>& devices) {
  std::vector<DeviceValues> all;
  for (const AcceptedDevice& device : devices) {
    DeviceValues values{device.identity, device.match.class_id, {}};
    for (const auto& [key, metric] : side.metrics) {
      if (key.device != device.identity || metric.seconds.empty()) continue;
      values.values[{key.case_name, key.metric, key.series, Axis::second}] = {std::exp(mean_log(metric.seconds)),
                                                                              metric.unit, metric.better};
      if (!metric.cycles.empty())
        values.values[{key.case_name, key.metric, key.series, Axis::cycle}] = {std::exp(mean_log(metric.cycles)),
                                                                               metric.cycle_unit, metric.better};
    }
    all.push_back(std::move(values));
  }
  return all;
}

void sort_worst_first(std::vector<AcceptedMetric>& metrics) {
  const auto rank = [](Outcome o) {
    const int c = code(o);
    return c == exit_code::fail ? 0 : c == exit_code::error ? 1 : c == exit_code::inconclusive ? 2 : 3;
  };
  std::stable_sort(metrics.begin(), metrics.end(), [&](const AcceptedMetric& a, const AcceptedMetric& b) {
    return rank(a.verdict) != rank(b.verdict) ? rank(a.verdict) < rank(b.verdict) : a.key < b.key;
  });
}

// Of metrics sorted worst first: how many have the worst word, and the first of them.
std::string sentence(const std::vector<AcceptedMetric>& metrics) {
  if (metrics.empty()) return "the run measured nothing";
  const AcceptedMetric& first = metrics.front();
  if (metrics.size() == 1) return first.reason;
  const auto count = std::count_if(metrics.begin(), metrics.end(),
                                   [&](const AcceptedMetric& m) { return m.verdict == first.verdict; });
  const std::string head = fmt::format("{} of {} metrics {}", count, metrics.size(), word(first.verdict));
  if (code(first.verdict) == exit_code::pass) return head;
  return fmt::format("{}; {} of {}{}: {}", head, first.key.metric.empty() ? "it" : first.key.metric,
                     first.key.case_name, first.key.device.empty() ? "" : " on " + first.key.device, first.reason);
}

}  // namespace

AcceptResult accept(const Side& side, const std::vector<AcceptedDevice>& devices, const Contract* contract,
                    const AcceptSettings& settings) {
  AcceptResult result;
  result.devices = devices;
  result.simulated = side.simulated;
  result.test_knobs = side.test_knobs;
  for (const auto& [key, metric] : side.metrics)
    result.metrics.push_back(judge_metric(key, metric, side, devices, settings));
  add_unmeasured(side, result.metrics);
  add_missing(side, devices, result.metrics);
  sort_worst_first(result.metrics);
  std::vector<Outcome> words;
  for (const AcceptedMetric& m : result.metrics) words.push_back(m.verdict);
  result.verdict = words.empty() ? Outcome::incomplete : worst(words);
  result.reason = sentence(result.metrics);
  if (contract != nullptr) {
    result.contract_name = contract->name.empty() ? contract->file : contract->name;
    result.contract = judge(*contract, values_of(side, devices));
    const bool only_unknown = std::all_of(words.begin(), words.end(), [](Outcome o) {
      return o == Outcome::unknown || o == Outcome::provisional || code(o) == exit_code::pass;
    });
    const bool no_reference =
        std::none_of(devices.begin(), devices.end(), [](const AcceptedDevice& d) { return d.baseline.has_value(); });
    if (result.contract->outcome == Outcome::pass && only_unknown && no_reference && !words.empty()) {
      result.verdict = Outcome::pass;  // on its own, and says so
      result.reason = fmt::format("contract {} PASS; class reference: none", result.contract_name);
    } else if (result.contract->outcome != Outcome::pass) {
      const Outcome both = worst({result.contract->outcome, result.verdict});
      if (both == result.contract->outcome)
        result.reason = fmt::format("contract {}: {}", result.contract_name, result.contract->reason);
      result.verdict = both;
    }
  }
  if (side.simulated || !side.test_knobs.empty()) {
    result.verdict = Outcome::invalid;
    result.reason = side.simulated ? "a simulated device can't be accepted" : "the run was measured with test knobs";
  } else if (side.imported && code(result.verdict) == exit_code::pass) {
    result.reason += " (imported numbers: nothing of the work behind them was seen here)";
  }
  return result;
}

}  // namespace assay
