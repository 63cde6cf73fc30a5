// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See rules.h: a contract against what the devices of one node gave. A rule for which a device has no value is NOT_RUN,
// never passed over; a value that is no measurement is INVALID; one that tells nothing of how much it varies is
// INCONCLUSIVE, however good it looks.
#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>

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

// Why a value proves nothing however good it looks; "" when it does.
std::string no_evidence(const MetricValue& v) {
  if (v.sessions < 2)
    return fmt::format("{} session tells nothing of how much it varies; measure 2 or more", v.sessions);
  if (!v.interval)
    return fmt::format("{} sessions gave the same number to the last digit, which no measurement does", v.sessions);
  if (2 * v.disturbed > v.samples)
    return fmt::format("{} of {} samples were disturbed by something else; measure again on a quiet machine",
                       v.disturbed, v.samples);
  return {};
}

void judge_value(RuleResult& result, const MetricValue& v) {
  const Comparison& c = *result.comparison;
  result.value = v.value;
  if (!std::isfinite(v.value) || !(v.value > 0)) {
    result.outcome = Outcome::invalid;
    result.reason = fmt::format("{} is {}, which is no measurement", c.metric, v.value);
    return;
  }
  if (!same_unit(v.unit, c.unit)) {
    result.outcome = Outcome::invalid;
    result.reason = fmt::format("{} was measured in {}, the rule is in {}", c.metric, v.unit, c.unit);
    return;
  }
  const std::string figure = format_quantity(v.value, v.unit);
  if (const std::string why = no_evidence(v); !why.empty()) {
    result.outcome = Outcome::inconclusive;
    result.reason = fmt::format("{}, but {}", figure, why);
    return;
  }
  const bool low = c.holds(v.interval->first), high = c.holds(v.interval->second);
  result.outcome = low != high ? Outcome::inconclusive : low ? Outcome::pass : Outcome::fail;
  result.reason = low != high ? fmt::format("{} (between {} and {}) may keep or break '{}'; {} sessions are too few",
                                            figure, format_quantity(v.interval->first, v.unit),
                                            format_quantity(v.interval->second, v.unit), c.text, v.sessions)
                              : fmt::format("{} {} '{}'", figure, low ? "keeps" : "breaks", c.text);
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
      judge_value(result, value);
      results.push_back(std::move(result));
    }
    if (found) continue;
    results.push_back(start(rule, &c, device->device));
    results.back().reason = missing(rule, c, device->device);
  }
}

// No two devices give the same number to the last digit in every session.
bool has_copies(const std::vector<const MetricValue*>& values) {
  std::set<std::pair<double, std::optional<std::pair<double, double>>>> seen;
  return std::any_of(values.begin(), values.end(),
                     [&](const MetricValue* v) { return !seen.emplace(v->value, v->interval).second; });
}

// The spread of the devices' values, and how small and how great it can be by their intervals.
void judge_values(RuleResult& result, const std::vector<const MetricValue*>& values) {
  const Comparison& c = *result.comparison;
  std::vector<double> middles, lows, highs;
  std::string unproved;
  for (const MetricValue* v : values) {
    if (!std::isfinite(v->value) || !(v->value > 0)) {
      result.outcome = Outcome::invalid;
      result.reason = fmt::format("{} of a device is no measurement", c.metric);
      return;
    }
    middles.push_back(v->value);
    if (unproved.empty()) unproved = no_evidence(*v);
    if (!v->interval) continue;
    lows.push_back(v->interval->first);
    highs.push_back(v->interval->second);
  }
  const auto range = [](const std::vector<double>& top, const std::vector<double>& bottom) {
    return *std::max_element(top.begin(), top.end()) - *std::min_element(bottom.begin(), bottom.end());
  };
  const double share = 100 / stats::median(middles), spread = share * range(middles, middles);
  result.value = spread;
  const std::string figure = fmt::format("{} devices differ by {:.2f} %", values.size(), spread);
  result.outcome = Outcome::inconclusive;
  if (!unproved.empty()) {
    result.reason = fmt::format("{}, but of one of them {}", figure, unproved);
    return;
  }
  const double least = std::max(0.0, share * range(lows, highs)), most = share * range(highs, lows);
  if (c.holds(most) && has_copies(values)) {
    result.outcome = Outcome::invalid;
    result.reason = fmt::format("{}, but two of them gave the same numbers to the last digit: a copy", figure);
  } else if (c.holds(most) || !c.holds(least)) {
    result.outcome = c.holds(most) ? Outcome::pass : Outcome::fail;
    result.reason = fmt::format("{}, which {} '{}'", figure, c.holds(most) ? "keeps" : "breaks", c.text);
  } else {
    result.reason = fmt::format("{} (between {:.2g} and {:.2g} %), which may keep or break '{}': measure more sessions",
                                figure, least, most, c.text);
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
    std::vector<const MetricValue*> values;
    for (const DeviceValues* device : devices) {
      const auto found = device->values.find(key);
      if (found == device->values.end())
        result.reason = missing(rule, c, device->device);
      else
        values.push_back(&found->second);
    }
    if (result.reason.empty()) judge_values(result, values);
    results.push_back(std::move(result));
  }
}

// Is the same number bounded for nodes of this size by another rule?
bool covered(const Contract& contract, const Rule& rule, std::size_t devices) {
  return std::any_of(contract.rules.begin(), contract.rules.end(), [&](const Rule& other) {
    if (!other.node_devices || static_cast<std::size_t>(*other.node_devices) != devices) return false;
    const bool same_class = std::any_of(other.classes.begin(), other.classes.end(),
                                        [&](const std::string& id) { return contains(rule.classes, id); });
    return other.case_pattern == rule.case_pattern && (same_class || other.classes.empty());
  });
}

RuleResult judge_count(const Rule& rule, std::size_t devices) {
  RuleResult result = start(rule, nullptr, "");
  result.value = static_cast<double>(devices);
  const bool equal = devices == static_cast<std::size_t>(*rule.devices);
  result.outcome = equal ? Outcome::pass : Outcome::fail;
  result.reason = fmt::format("the node has {}, and {} {} promised", counted(devices, "such device"), *rule.devices,
                              *rule.devices == 1 ? "is" : "are");
  return result;
}

std::vector<const DeviceValues*> devices_of(const Rule& rule, const std::vector<DeviceValues>& devices) {
  std::vector<const DeviceValues*> concerned;
  for (const DeviceValues& device : devices)
    if (rule.classes.empty() || contains(rule.classes, device.class_id)) concerned.push_back(&device);
  return concerned;
}

// Why a rule isn't for this node; "" when it is.
std::string not_for(const Contract& contract, const Rule& rule, std::size_t concerned, const std::string& shape) {
  const bool count_of_some_shape = shape.empty() && rule.devices && !rule.shapes.empty();
  // A promise of eight devices is broken by a node of none, unless the rule is for another class altogether.
  if (concerned == 0 && !(rule.devices && !count_of_some_shape && rule.classes.empty())) return "for other classes";
  if (!shape.empty() && !rule.shapes.empty() && !contains(rule.shapes, shape)) return "for other machine types";
  if (count_of_some_shape) return "about how many devices a machine type has, and the type isn't told";
  const bool other_size = rule.node_devices && concerned != static_cast<std::size_t>(*rule.node_devices);
  return other_size && covered(contract, rule, concerned) ? "for nodes of another number of devices" : "";
}

// A node of one device that the contract also knows with eight may be one that lost seven.
void ask_for_lost_devices(const Contract& contract, const std::vector<DeviceValues>& devices, Judgement& judgement) {
  for (const Rule& rule : contract.rules) {
    if (!rule.devices || rule.shapes.empty()) continue;
    const std::size_t count = devices_of(rule, devices).size();
    if (count == 0 || count >= static_cast<std::size_t>(*rule.devices)) continue;
    judgement.results.push_back(start(rule, nullptr, ""));
    judgement.results.back().reason = fmt::format(
        "the node has {} such device{}, the contract knows machine types with {} ({}): nothing tells whether "
        "this is one of them that lost some",
        count, count == 1 ? "" : "s", *rule.devices, shown(join(rule.shapes, ", ")));
    return;
  }
}

// Rules for a class can't be held against a device whose class nobody knows, and it isn't passed over.
void ask_for_classes(const Contract& contract, const std::vector<DeviceValues>& devices, Judgement& judgement) {
  if (std::none_of(contract.rules.begin(), contract.rules.end(), [](const Rule& r) { return !r.classes.empty(); }))
    return;
  for (const DeviceValues& device : devices) {
    if (!device.class_id.empty()) continue;
    RuleResult result;
    result.device = device.device;
    result.outcome = Outcome::unknown;
    result.reason = "its class is unknown, so nothing tells which rules are for it";
    judgement.results.push_back(std::move(result));
  }
}

std::string classes_of(const std::vector<DeviceValues>& devices) {
  std::set<std::string> classes;
  for (const DeviceValues& device : devices)
    classes.insert(device.class_id.empty() ? "unknown class" : device.class_id);
  return join(std::vector<std::string>(classes.begin(), classes.end()), ", ");
}

// Only a comparison of something measured passes a node.
void conclude(const Contract& contract, const std::vector<DeviceValues>& devices, Judgement& judgement) {
  std::vector<Outcome> outcomes;
  for (const RuleResult& result : judgement.results) outcomes.push_back(result.outcome);
  if (outcomes.empty()) {
    judgement.reason = fmt::format("no rule of {} is for {}", contract.name, classes_of(devices));
    return;
  }
  judgement.outcome = worst(outcomes);
  if (judgement.outcome == Outcome::pass) {
    const bool measured = std::any_of(judgement.results.begin(), judgement.results.end(),
                                      [](const RuleResult& r) { return r.comparison != nullptr; });
    if (!measured) judgement.outcome = Outcome::unknown;
    judgement.reason = measured ? fmt::format("all {} rules that apply are kept", outcomes.size())
                                : fmt::format("no rule of {} measures anything on {}: only devices were counted",
                                              contract.name, classes_of(devices));
    return;
  }
  const auto first = std::find_if(judgement.results.begin(), judgement.results.end(),
                                  [&](const RuleResult& r) { return r.outcome == judgement.outcome; });
  const auto same = std::count(outcomes.begin(), outcomes.end(), judgement.outcome);
  judgement.reason = fmt::format("{} of {} are {}; the first{}: {}", same, outcomes.size(), word(judgement.outcome),
                                 first->device.empty() ? "" : " (" + first->device + ")", first->reason);
}

}  // namespace

Judgement judge(const Contract& contract, const std::vector<DeviceValues>& devices, const std::string& shape) {
  Judgement judgement;
  std::map<std::string, std::size_t> reasons;  // why rules don't apply
  std::set<std::string> judged;                // classes
  for (const Rule& rule : contract.rules) {
    const std::vector<const DeviceValues*> concerned = devices_of(rule, devices);
    if (const std::string why = not_for(contract, rule, concerned.size(), shape); !why.empty()) {
      ++judgement.not_applicable;
      ++reasons[why];
      continue;
    }
    for (const DeviceValues* device : concerned) judged.insert(device->class_id);
    if (rule.node_devices && concerned.size() != static_cast<std::size_t>(*rule.node_devices)) {
      // Seven devices where eight were promised: not passed over.
      judgement.results.push_back(start(rule, rule.require.empty() ? nullptr : &rule.require.front(), ""));
      judgement.results.back().reason = fmt::format("the node has {}, the rule is for nodes of {}",
                                                    counted(concerned.size(), "such device"), *rule.node_devices);
    } else if (rule.devices) {
      judgement.results.push_back(judge_count(rule, concerned.size()));
    } else {
      for (const Comparison& c : rule.require)
        (c.spread ? judge_spread : judge_each)(rule, c, concerned, judgement.results);
    }
  }
  if (shape.empty()) ask_for_lost_devices(contract, devices, judgement);
  ask_for_classes(contract, devices, judgement);
  for (const auto& [why, count] : reasons)
    judgement.remarks.push_back(fmt::format("{} rule{} not apply: {}", count, count == 1 ? " does" : "s do", why));
  std::map<std::string, std::size_t> left_out;
  for (const DeviceValues& device : devices)
    if (!device.class_id.empty() && judged.count(device.class_id) == 0) ++left_out[device.class_id];
  for (const auto& [id, count] : left_out)
    judgement.remarks.push_back(fmt::format("no rule is for the {} device{} of {}", count, count == 1 ? "" : "s", id));
  conclude(contract, devices, judgement);
  return judgement;
}

}  // namespace assay
