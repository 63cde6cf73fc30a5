// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See rules.h: a contract against what the devices of one node gave. A rule for which a device has no value is NOT_RUN,
// never passed over; a value that is no measurement is INVALID.
#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "harness/base/text.h"
#include "harness/base/units.h"
#include "harness/stats/robust.h"
#include "harness/verdict/quantity.h"
#include "harness/verdict/rules.h"

namespace assay {
namespace {

bool contains(const std::vector<std::string>& list, const std::string& text) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

bool asks_for(const Rule& rule, const Comparison& c, const MetricKey& key) {
  return key.metric == c.metric && key.axis == c.axis && (rule.series.empty() || rule.series == key.series) &&
         fnmatch(rule.case_pattern.c_str(), key.case_name.c_str(), 0) == 0;
}

std::string missing(const Rule& rule, const Comparison& c, const std::string& who) {
  return rule.later ? fmt::format("this version of Assay has no benchmark {}", rule.case_pattern)
                    : fmt::format("{} has no {} of {}", who, c.metric, rule.case_pattern);
}

RuleResult start(const Rule& rule, const Comparison* c, const std::string& device) {
  RuleResult result;
  result.rule = &rule;
  result.comparison = c;
  result.device = device;
  return result;
}

void judge_value(RuleResult& result, double value, const std::string& unit) {
  const Comparison& c = *result.comparison;
  result.value = value;
  if (!std::isfinite(value) || !(value > 0)) {
    result.outcome = Outcome::invalid;
    result.reason = fmt::format("{} is {}, which is no measurement", c.metric, value);
  } else if (!same_unit(unit, c.unit)) {
    result.outcome = Outcome::invalid;
    result.reason = fmt::format("{} was measured in {}, the rule is in {}", c.metric, unit, c.unit);
  } else {
    result.outcome = c.holds(value) ? Outcome::pass : Outcome::fail;
    result.reason =
        fmt::format("{} {} '{}'", format_quantity(value, unit), c.holds(value) ? "keeps" : "breaks", c.text);
  }
}

void judge_each(const Rule& rule, const Comparison& c, const std::vector<const DeviceValues*>& devices,
                std::vector<RuleResult>& results) {
  for (const DeviceValues* device : devices) {
    bool found = false;
    for (const auto& [key, value] : device->values) {
      if (!asks_for(rule, c, key)) continue;
      found = true;
      RuleResult result = start(rule, &c, device->device);
      result.key = key;
      judge_value(result, value.value, value.unit);
      results.push_back(std::move(result));
    }
    if (found) continue;
    results.push_back(start(rule, &c, device->device));
    results.back().reason = missing(rule, c, device->device);
  }
}

void judge_spread(const Rule& rule, const Comparison& c, const std::vector<const DeviceValues*>& devices,
                  std::vector<RuleResult>& results) {
  std::set<MetricKey> keys;
  for (const DeviceValues* device : devices)
    for (const auto& [key, value] : device->values)
      if (asks_for(rule, c, key)) keys.insert(key);
  if (keys.empty() || devices.size() < 2) {
    results.push_back(start(rule, &c, ""));
    results.back().reason =
        keys.empty() ? missing(rule, c, "the node") : "one device has no spread; the rule is for nodes of two and more";
    return;
  }
  for (const MetricKey& key : keys) {
    RuleResult result = start(rule, &c, "");
    result.key = key;
    std::vector<double> values;
    std::string without;
    for (const DeviceValues* device : devices) {
      const auto found = device->values.find(key);
      if (found == device->values.end())
        without = device->device;
      else
        values.push_back(found->second.value);
    }
    const bool numbers = std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v) && v > 0; });
    if (!without.empty()) {
      result.reason = missing(rule, c, without);
    } else if (!numbers) {
      result.outcome = Outcome::invalid;
      result.reason = fmt::format("{} of a device is no measurement", c.metric);
    } else {
      const auto [least, most] = std::minmax_element(values.begin(), values.end());
      const double spread = 100 * (*most - *least) / stats::median(values);
      result.value = spread;
      result.outcome = c.holds(spread) ? Outcome::pass : Outcome::fail;
      result.reason = fmt::format("{} devices differ by {:.2f} %, which {} '{}'", values.size(), spread,
                                  c.holds(spread) ? "keeps" : "breaks", c.text);
    }
    results.push_back(std::move(result));
  }
}

// Is the same number bounded for nodes of this size by another rule?
bool covered(const Contract& contract, const Rule& rule, std::size_t devices) {
  return std::any_of(contract.rules.begin(), contract.rules.end(), [&](const Rule& other) {
    const bool same_class = std::any_of(other.classes.begin(), other.classes.end(),
                                        [&](const std::string& id) { return contains(rule.classes, id); });
    return other.case_pattern == rule.case_pattern && (same_class || other.classes.empty()) && other.node_devices &&
           static_cast<std::size_t>(*other.node_devices) == devices;
  });
}

RuleResult judge_count(const Rule& rule, std::size_t devices) {
  RuleResult result = start(rule, nullptr, "");
  result.value = static_cast<double>(devices);
  const bool equal = devices == static_cast<std::size_t>(*rule.devices);
  result.outcome = equal ? Outcome::pass : Outcome::fail;
  result.reason =
      fmt::format("the node has {} such device{}, {} are promised", devices, devices == 1 ? "" : "s", *rule.devices);
  return result;
}

}  // namespace

Judgement judge(const Contract& contract, const std::vector<DeviceValues>& devices, const std::string& shape) {
  Judgement judgement;
  for (const Rule& rule : contract.rules) {
    std::vector<const DeviceValues*> concerned;
    for (const DeviceValues& device : devices)
      if (rule.classes.empty() || contains(rule.classes, device.class_id)) concerned.push_back(&device);
    const bool other_shape = !shape.empty() && !rule.shapes.empty() && !contains(rule.shapes, shape);
    const bool count_of_some_shape = shape.empty() && rule.devices && !rule.shapes.empty();
    const bool other_size = rule.node_devices && concerned.size() != static_cast<std::size_t>(*rule.node_devices);
    // A promise of eight devices is broken by a node of none, unless the rule is for another class altogether.
    const bool nobody = concerned.empty() && !(rule.devices && !count_of_some_shape && rule.classes.empty());
    if (nobody || other_shape || count_of_some_shape || (other_size && covered(contract, rule, concerned.size()))) {
      ++judgement.not_applicable;
    } else if (other_size) {
      // Seven devices where eight were promised: not passed over.
      judgement.results.push_back(start(rule, rule.require.empty() ? nullptr : &rule.require.front(), ""));
      judgement.results.back().reason = fmt::format("the node has {} such devices, the rule is for nodes of {}",
                                                    concerned.size(), *rule.node_devices);
    } else if (rule.devices) {
      judgement.results.push_back(judge_count(rule, concerned.size()));
    } else {
      for (const Comparison& c : rule.require)
        (c.spread ? judge_spread : judge_each)(rule, c, concerned, judgement.results);
    }
  }
  std::vector<Outcome> outcomes;
  for (const RuleResult& result : judgement.results) outcomes.push_back(result.outcome);
  if (outcomes.empty()) {
    std::set<std::string> classes;
    for (const DeviceValues& device : devices)
      classes.insert(device.class_id.empty() ? "unknown class" : device.class_id);
    judgement.reason = fmt::format("no rule of {} is for {}", contract.name,
                                   join(std::vector<std::string>(classes.begin(), classes.end()), ", "));
    return judgement;
  }
  judgement.outcome = worst(outcomes);
  const auto first = std::find_if(judgement.results.begin(), judgement.results.end(),
                                  [&](const RuleResult& r) { return r.outcome == judgement.outcome; });
  const auto same = std::count(outcomes.begin(), outcomes.end(), judgement.outcome);
  judgement.reason =
      judgement.outcome == Outcome::pass
          ? fmt::format("all {} rules that apply are kept", outcomes.size())
          : fmt::format("{} of {} are {}; the first{}: {}", same, outcomes.size(), word(judgement.outcome),
                        first->device.empty() ? "" : " (" + first->device + ")", first->reason);
  return judgement;
}

}  // namespace assay
