// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See accept.h. Reads as: one metric; what is missing; the contract; the last word. The references: references.h.
#include "harness/verdict/accept.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "harness/base/text.h"
#include "harness/stats/copies.h"
#include "harness/stats/tolerance.h"
#include "harness/verdict/evidence.h"
#include "harness/verdict/rank.h"
#include "harness/verdict/references.h"

namespace assay {
namespace {

// The class decides. Who stands out among its peers, twice, fails whatever the class says; whoever did once, or is
// slower than it was, is not passed by it.
void decide(AcceptedMetric& m) {
  m.verdict = m.klass.outcome;
  m.reason = m.klass.reason;
  if (m.peers.outcome == Outcome::fail && m.verdict != Outcome::fail) {
    m.verdict = Outcome::fail;
    m.reason = fmt::format("{} (by its class: {})", m.peers.reason, m.klass.reason);
  } else if (m.peers.outcome == Outcome::inconclusive && code(m.verdict) == exit_code::pass) {
    m.verdict = Outcome::inconclusive;
    m.reason = fmt::format("{}, but {}", m.klass.reason, m.peers.reason);
  } else if (m.history.outcome == Outcome::fail && code(m.verdict) == exit_code::pass) {
    m.verdict = Outcome::inconclusive;
    m.reason = fmt::format("{}, but by its own history {}: measure again", m.klass.reason, m.history.reason);
  } else if (m.verdict == Outcome::unknown) {
    m.reason += fmt::format("; {}; {}; {}", m.limit.reason, m.peers.reason, m.history.reason);
  }
}

// `sessions`: those of one axis.
Evidence evidence_of(const SideMetric& metric, const std::vector<stats::Session>& sessions) {
  return {sessions.size(), stats::is_constant(sessions), metric.samples, metric.disturbed};
}

AcceptedMetric judge_metric(const SideKey& key, const SideMetric& metric, const Fleet& fleet, const Side* history,
                            const AcceptSettings& settings) {
  AcceptedMetric m;
  m.key = key;
  m.benchmark = metric.benchmark;
  m.unit = metric.unit;
  m.better = metric.better;
  m.sessions = metric.seconds.size();
  if (metric.seconds.empty()) {
    m.verdict = Outcome::not_run;
    m.reason = "it has no value";
    return m;
  }
  m.value = std::exp(mean_log(metric.seconds));
  if (const auto interval = stats::device_interval(metric.seconds, {}, settings.alpha))
    m.interval = {std::exp(interval->low), std::exp(interval->high)};
  const AcceptedDevice* device = fleet.find(key.device);
  m.limit = against_physical_limit(m, metric.limit ? metric.limit : limit_of_class(m, device));
  m.klass = against_class(metric, m, device, settings);
  m.peers = fleet.against_peers(m);
  m.history = against_history(metric, m, history, settings);
  if (m.limit.outcome == Outcome::invalid) {
    m.verdict = Outcome::invalid;
    m.reason = m.limit.reason;
  } else {
    decide(m);
  }
  const std::string doubt = doubt_about(evidence_of(metric, metric.seconds));
  if (!doubt.empty() && code(m.verdict) == exit_code::pass) {
    m.verdict = Outcome::inconclusive;
    m.reason = fmt::format("{}; else it would be: {}", doubt, m.reason);
  }
  return m;
}

// Devices whose samples of a metric are those of another device (stats/copies.h), and which.
std::map<SideKey, std::string> copies_in(const Side& side) {
  std::map<std::tuple<std::string, std::string, std::string>, std::vector<const SideKey*>> groups;
  for (const auto& [key, metric] : side.metrics)
    if (!metric.raw.empty()) groups[{key.case_name, key.metric, key.series}].push_back(&key);
  std::map<SideKey, std::string> copies;
  for (auto& [metric, keys] : groups) {
    std::vector<std::vector<double>> samples(keys.size());
    for (std::size_t i = 0; i < keys.size(); ++i)
      for (const std::vector<double>& session : side.metrics.at(*keys[i]).raw)
        samples[i].insert(samples[i].end(), session.begin(), session.end());
    std::vector<stats::SessionSamples> devices;
    for (const std::vector<double>& all : samples) devices.push_back(stats::of_one_metric(all));
    while (const auto pair = stats::find_copy(devices)) {
      const auto [one, other] = *pair;
      copies.emplace(*keys[one], keys[other]->device);
      copies.emplace(*keys[other], keys[one]->device);
      devices.erase(devices.begin() + static_cast<std::ptrdiff_t>(other));
      keys.erase(keys.begin() + static_cast<std::ptrdiff_t>(other));
    }
  }
  return copies;
}

void doubt_copies(const Side& side, std::vector<AcceptedMetric>& metrics) {
  const std::map<SideKey, std::string> copies = copies_in(side);
  for (AcceptedMetric& m : metrics) {
    const auto copy = copies.find(m.key);
    if (copy == copies.end() || code(m.verdict) == exit_code::fail || code(m.verdict) == exit_code::error) continue;
    m.verdict = Outcome::inconclusive;
    m.reason =
        fmt::format("its samples are those of {}: one of them is a copy; else it would be: {}", copy->second, m.reason);
  }
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
    if (const auto ending = of_case.worst_ending())
      metrics.push_back(
          missing({where.first, where.second, "", ""}, of_case.benchmark, ending->outcome, ending->reason));
  }
}

// What the class's reference has and the run lacks.
void add_missing(const Side& side, const std::vector<AcceptedDevice>& devices, std::vector<AcceptedMetric>& metrics) {
  std::set<SideKey> named;  // on either axis
  for (const AcceptedDevice& device : devices) {
    if (!device.baseline) continue;
    for (const BaselineRow& row : device.baseline->rows) {
      const SideKey key{device.identity, row.key.case_name, row.key.metric, row.key.series};
      const auto of_case = side.cases.find({key.device, key.case_name});
      const bool told = of_case != side.cases.end() && !of_case->second.unmeasured.empty();  // add_unmeasured
      if (side.metrics.count(key) == 0 && !told && named.insert(key).second)
        metrics.push_back(
            missing(key, row.benchmark, Outcome::not_run, "the reference of its class has it, the run doesn't"));
    }
  }
}

MetricValue value_of(const SideMetric& metric, const std::vector<stats::Session>& sessions, const std::string& unit,
                     const AcceptSettings& settings) {
  MetricValue value{std::exp(mean_log(sessions)), unit, metric.better, {}, evidence_of(metric, sessions)};
  if (const auto interval = stats::device_interval(sessions, {}, settings.alpha))
    value.interval = {std::exp(interval->low), std::exp(interval->high)};
  return value;
}

std::vector<DeviceValues> values_of(const Side& side, const std::vector<AcceptedDevice>& devices,
                                    const AcceptSettings& settings) {
  std::vector<DeviceValues> all;
  for (const AcceptedDevice& device : devices) {
    DeviceValues values{device.identity, device.match.class_id, {}};
    for (auto at = side.metrics.lower_bound({device.identity, "", "", ""});
         at != side.metrics.end() && at->first.device == device.identity; ++at) {
      const auto& [key, metric] = *at;
      if (!metric.seconds.empty())
        values.values[{key.case_name, key.metric, key.series, Axis::second}] =
            value_of(metric, metric.seconds, metric.unit, settings);
      if (!metric.cycles.empty())
        values.values[{key.case_name, key.metric, key.series, Axis::cycle}] =
            value_of(metric, metric.cycles, metric.cycle_unit, settings);
    }
    all.push_back(std::move(values));
  }
  return all;
}

void sort_worst_first(std::vector<AcceptedMetric>& metrics) {
  std::stable_sort(metrics.begin(), metrics.end(), [&](const AcceptedMetric& a, const AcceptedMetric& b) {
    return rank(a.verdict) != rank(b.verdict) ? rank(a.verdict) < rank(b.verdict) : a.key < b.key;
  });
}

// Devices in the run of a class whose reference was learned from this run, too, and devices behind that reference.
struct OwnReference {
  std::size_t own = 0;
  int all = 0;
};
OwnReference own_reference(const Side& side, const std::vector<AcceptedDevice>& devices) {
  std::set<std::string> names = side.files;
  names.insert(side.run_ids.begin(), side.run_ids.end());
  OwnReference found;
  for (const AcceptedDevice& device : devices) {
    if (!device.baseline || std::none_of(names.begin(), names.end(), [&](const std::string& name) {
          return device.baseline->origins.count(baseline_origin(name)) != 0;
        }))
      continue;
    ++found.own;
    for (const BaselineRow& row : device.baseline->rows) found.all = std::max(found.all, row.devices);
  }
  return found;
}

// Of metrics sorted worst first: how many have the worst word, and the first of them.
std::string sentence(const std::vector<AcceptedMetric>& metrics) {
  if (metrics.empty()) return "the run measured nothing";
  const AcceptedMetric& first = metrics.front();
  if (metrics.size() == 1) return first.reason;
  const auto count = std::count_if(metrics.begin(), metrics.end(),
                                   [&](const AcceptedMetric& m) { return m.verdict == first.verdict; });
  const std::string head = fmt::format("{} of {} {}", count, counted(metrics.size(), "metric"), word(first.verdict));
  if (code(first.verdict) == exit_code::pass) return head;
  return fmt::format("{}; {} of {}{}: {}", head, first.key.metric.empty() ? "it" : first.key.metric,
                     first.key.case_name, first.key.device.empty() ? "" : " on " + first.key.device, first.reason);
}

}  // namespace

AcceptResult accept(const Side& side, const std::vector<AcceptedDevice>& devices, const Contract* contract,
                    const Side* history, const AcceptSettings& settings) {
  AcceptResult result;
  result.devices = devices;
  result.simulated = side.simulated;
  result.test_knobs = side.test_knobs;
  const Fleet fleet(side, devices);
  for (const auto& [key, metric] : side.metrics)
    result.metrics.push_back(judge_metric(key, metric, fleet, history, settings));
  doubt_copies(side, result.metrics);
  add_unmeasured(side, result.metrics);
  add_missing(side, devices, result.metrics);
  sort_worst_first(result.metrics);
  std::vector<Outcome> words;
  for (const AcceptedMetric& m : result.metrics) words.push_back(m.verdict);
  result.verdict = words.empty() ? Outcome::incomplete : worst(words);
  result.reason = sentence(result.metrics);
  if (contract != nullptr) {
    result.contract_name = contract->name.empty() ? contract->file : contract->name;
    result.contract = judge(*contract, values_of(side, devices, settings), settings.shape);
    // A contract stands in for a reference that isn't there, never for one that says something else.
    const bool only_unknown = std::all_of(result.metrics.begin(), result.metrics.end(), [](const AcceptedMetric& m) {
      const bool open = m.verdict == Outcome::unknown || m.verdict == Outcome::provisional;
      const bool alike = (m.peers.outcome == Outcome::pass || m.peers.outcome == Outcome::unknown) &&
                         m.history.outcome != Outcome::fail && m.history.outcome != Outcome::inconclusive;
      return (open || code(m.verdict) == exit_code::pass) && alike;
    });
    const bool no_reference = std::none_of(devices.begin(), devices.end(), [](const AcceptedDevice& d) {
      return d.baseline.has_value() || !d.other_class.empty();
    });
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
  } else if (const OwnReference own = own_reference(side, devices); own.own > 0) {
    // Among many others it weighs little; else it is held against itself.
    if (8 * own.own > static_cast<std::size_t>(own.all) && code(result.verdict) == exit_code::pass) {
      result.verdict = Outcome::inconclusive;
      result.reason = fmt::format(
          "{} of the {} devices behind its reference are its own: a value held against itself tells "
          "nothing; learn from other runs; else it would be: {}",
          own.own, own.all, result.reason);
    } else {
      result.reason += " (the run is one of those that its reference was learned from)";
    }
  }
  if (side.imported && code(result.verdict) == exit_code::pass) {
    result.reason += " (imported numbers: nothing of the work behind them was seen here)";
  }
  return result;
}

}  // namespace assay
