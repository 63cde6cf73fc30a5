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

bool is_cpu(const DeviceValues& device) { return starts_with(device.class_id, "cpu-"); }

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
  if (const std::string why = absurd(v.value, v.unit); !why.empty()) {
    result.outcome = Outcome::invalid;
    result.reason = why;
    return;
  }
  const std::string figure = format_quantity(v.value, v.unit);
  if (const std::string why = doubt_about(v.evidence); !why.empty()) {
    result.outcome = Outcome::inconclusive;
    result.reason = fmt::format("{}, but {}", figure, why);
    return;
  }
  const bool low = c.holds(v.interval->first), high = c.holds(v.interval->second);
  if (low != high) {
    result.outcome = Outcome::inconclusive;
    result.reason = fmt::format("{} (between {} and {}) may keep or break '{}'; {} sessions are too few", figure,
                                format_quantity(v.interval->first, v.unit), format_quantity(v.interval->second, v.unit),
                                c.text, v.evidence.sessions);
  } else if (low) {
    result.outcome = Outcome::pass;
    result.reason = fmt::format("{} keeps '{}'", figure, c.text);
  } else {  // the figure is rounded, and may look as if it kept the bound
    result.outcome = Outcome::fail;
    result.reason = fmt::format("{} breaks '{}', by {}", figure, c.text, format_percent(v.value / c.bound - 1));
  }
}

void judge_each(const Rule& rule, const Comparison& c, const std::vector<const DeviceValues*>& devices,
                std::vector<RuleResult>& results) {
  std::map<std::string, std::set<MetricKey>> owed;  // by class: what one of its devices has, each of them must have
  for (const DeviceValues* device : devices)
    for (const auto& [key, value] : device->values)
      if (asks_for(rule, c, key)) owed[device->class_id].insert(key);
  for (const DeviceValues* device : devices) {
    for (const MetricKey& key : owed[device->class_id]) {
      RuleResult result = start(rule, &c, device->device);
      result.key = key;
      if (const auto found = device->values.find(key); found != device->values.end())
        judge_value(result, found->second);
      else
        result.reason = fmt::format("{} has no {}, and another device of its class has", device->device, to_text(key));
      results.push_back(std::move(result));
    }
    if (!owed[device->class_id].empty()) continue;
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
    if (unproved.empty()) unproved = doubt_about(v->evidence);
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
    result.reason = fmt::format("{} (between {} and {}), which may keep or break '{}': measure more sessions", figure,
                                format_percent(least / 100), format_percent(most / 100), c.text);
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

RuleResult judge_count(const Rule& rule, std::size_t devices) {
  RuleResult result = start(rule, nullptr, "");
  result.value = static_cast<double>(devices);
  const bool equal = devices == static_cast<std::size_t>(*rule.devices);
  result.outcome = equal ? Outcome::pass : Outcome::fail;
  result.reason = fmt::format("the node has {}, and {} {} promised", counted(devices, "such device"), *rule.devices,
                              *rule.devices == 1 ? "is" : "are");
  return result;
}

// A rule that names no class, in a run of GPUs and CPUs: a CPU isn't one of the devices that are counted, and isn't
// asked for a case that only GPUs have.
bool leaves_out_cpus(const Rule& rule, const std::vector<DeviceValues>& devices) {
  if (std::none_of(devices.begin(), devices.end(), is_cpu)) return false;
  const auto has_it = [&](const DeviceValues& device) {
    return std::any_of(device.values.begin(), device.values.end(), [&](const auto& value) {
      return std::any_of(rule.require.begin(), rule.require.end(),
                         [&](const Comparison& c) { return asks_for(rule, c, value.first); });
    });
  };
  bool gpus = false, of_gpus = false, of_cpus = false;
  for (const DeviceValues& device : devices) {
    const bool has = has_it(device);
    gpus |= !is_cpu(device);
    (is_cpu(device) ? of_cpus : of_gpus) |= has;
  }
  return gpus && (rule.devices || rule.node_devices || (of_gpus && !of_cpus));
}

std::vector<const DeviceValues*> devices_of(const Rule& rule, const std::vector<DeviceValues>& devices) {
  const bool no_cpus = rule.classes.empty() && leaves_out_cpus(rule, devices);
  std::vector<const DeviceValues*> concerned;
  for (const DeviceValues& device : devices)
    if ((rule.classes.empty() || contains(rule.classes, device.class_id)) && !(no_cpus && is_cpu(device)) &&
        rule.set_aside.count(device.class_id) == 0)
      concerned.push_back(&device);
  return concerned;
}

bool includes(const std::vector<const DeviceValues*>& all, const std::vector<const DeviceValues*>& some) {
  return std::all_of(some.begin(), some.end(), [&](const DeviceValues* device) {
    return std::find(all.begin(), all.end(), device) != all.end();
  });
}

// Do rules for nodes of this size bound the same numbers of all these devices, from the same side?
bool covered(const Contract& contract, const Rule& rule, const std::vector<const DeviceValues*>& concerned,
             const std::vector<DeviceValues>& devices) {
  const auto bounds = [&](const Rule& other, const Comparison& c) {
    if (!other.node_devices || other.case_pattern != rule.case_pattern) return false;
    if (!other.series.empty() && other.series != rule.series) return false;
    const std::vector<const DeviceValues*> theirs = devices_of(other, devices);
    return theirs.size() == static_cast<std::size_t>(*other.node_devices) && includes(theirs, concerned) &&
           std::any_of(other.require.begin(), other.require.end(), [&](const Comparison& x) {
             return x.metric == c.metric && x.axis == c.axis && x.spread == c.spread && x.is_floor() == c.is_floor();
           });
  };
  return !rule.require.empty() && std::all_of(rule.require.begin(), rule.require.end(), [&](const Comparison& c) {
    return std::any_of(contract.rules.begin(), contract.rules.end(),
                       [&](const Rule& other) { return bounds(other, c); });
  });
}

// Machine types of a provider are alternatives: nothing tells which of them the node is.
bool of_some_shape(const Rule& rule, const std::string& shape) { return shape.empty() && !rule.shapes.empty(); }

// What machines of another type must keep passes none whose type nobody told.
void ask_for_shape(const Rule& rule, std::vector<RuleResult>& results, std::size_t begin) {
  for (std::size_t i = begin; i < results.size(); ++i) {
    if (results[i].outcome != Outcome::pass) continue;
    results[i].outcome = Outcome::unknown;
    results[i].reason +=
        fmt::format(", which is meant for {}: `--shape` tells that this is one", shown(join(rule.shapes, " and ")));
  }
}

// Why a rule isn't for this node; "" when it is.
std::string not_for(const Contract& contract, const Rule& rule, const std::vector<const DeviceValues*>& concerned,
                    const std::vector<DeviceValues>& devices, const std::string& shape) {
  if (!shape.empty() && !rule.shapes.empty() && !contains(rule.shapes, shape)) return "for other machine types";
  // A promise of eight devices is broken by a node of none.
  const bool promise = rule.devices && !of_some_shape(rule, shape);
  if (concerned.empty() && !promise)
    return rule.set_aside.empty() ? "for other classes" : "their bound can't be meant for these classes";
  if (rule.devices && !promise) return "about how many devices a machine type has, and the type isn't told";
  const bool other_size = rule.node_devices && concerned.size() != static_cast<std::size_t>(*rule.node_devices);
  return other_size && covered(contract, rule, concerned, devices) ? "for nodes of another number of devices" : "";
}

// A node of one device that the contract also knows with eight may be one that lost seven, unless the contract says how
// many there must be.
void ask_for_lost_devices(const Contract& contract, const std::vector<DeviceValues>& devices, const std::string& shape,
                          Judgement& judgement) {
  const auto counted_anyway = [&](const std::vector<const DeviceValues*>& concerned) {
    return std::any_of(contract.rules.begin(), contract.rules.end(), [&](const Rule& other) {
      return other.devices && other.shapes.empty() && includes(devices_of(other, devices), concerned);
    });
  };
  for (const Rule& rule : contract.rules) {
    const std::optional<int> known = rule.devices ? rule.devices : rule.node_devices;
    if (!known || (rule.devices && !of_some_shape(rule, shape))) continue;
    if (!shape.empty() && !rule.shapes.empty() && !contains(rule.shapes, shape)) continue;
    const std::vector<const DeviceValues*> concerned = devices_of(rule, devices);
    if (concerned.empty() || concerned.size() >= static_cast<std::size_t>(*known) || counted_anyway(concerned))
      continue;
    if (!rule.devices && !covered(contract, rule, concerned, devices)) continue;  // it is NOT_RUN already
    judgement.results.push_back(start(rule, nullptr, ""));
    judgement.results.back().reason = fmt::format(
        "the node has {}, the contract knows {} with {}{}: nothing tells whether this is one of them that lost some; a "
        "rule `devices = {}` would",
        counted(concerned.size(), "such device"), rule.shapes.empty() ? "nodes" : "machine types", *known,
        rule.shapes.empty() ? "" : " (" + shown(join(rule.shapes, ", ")) + ")", concerned.size());
    return;
  }
}

// A node that has none of all the devices that are counted is none of the machine types that the contract is for.
void ask_for_machine_types(const Contract& contract, const std::vector<DeviceValues>& devices, const std::string& shape,
                           Judgement& judgement) {
  const Rule* none_here = nullptr;
  for (const Rule& rule : contract.rules) {
    if (!rule.devices || !of_some_shape(rule, shape)) continue;
    if (!devices_of(rule, devices).empty()) return;
    none_here = &rule;
  }
  if (none_here == nullptr || judgement.results.empty()) return;
  judgement.results.push_back(start(*none_here, nullptr, ""));
  judgement.results.back().outcome = Outcome::unknown;
  judgement.results.back().reason =
      fmt::format("the contract is for machine types like {}, and none of their devices is here",
                  shown(join(none_here->shapes, ", ")));
}

// A GPU that no rule measures isn't passed by what the rules say of others; nor is one whose class nobody knows, where
// rules are for classes. A CPU beside GPUs is out of the scope of a contract that names no CPU.
void ask_for_rules(const Contract& contract, const std::vector<DeviceValues>& devices,
                   const std::set<const DeviceValues*>& measured, Judgement& judgement) {
  bool classes = false, cpus = false;
  for (const Rule& rule : contract.rules)
    for (const std::string& id : rule.classes) classes = true, cpus |= starts_with(id, "cpu-");
  const bool gpus = !std::all_of(devices.begin(), devices.end(), is_cpu);
  std::map<std::string, std::size_t> out_of_scope;
  for (const DeviceValues& device : devices) {
    const bool unknown = device.class_id.empty() && classes;
    if (measured.count(&device) > 0 && !unknown) continue;
    if (is_cpu(device) && gpus && !cpus) {
      ++out_of_scope[device.class_id];
      continue;
    }
    RuleResult result;
    result.device = device.device;
    result.outcome = Outcome::unknown;
    result.reason =
        unknown ? "its class is unknown, so nothing tells which rules are for it"
                : fmt::format("no rule of {} measures anything on {}: write one, or judge it in a run of its own",
                              contract.name, device.class_id.empty() ? "it" : device.class_id);
    judgement.results.push_back(std::move(result));
  }
  for (const auto& [id, count] : out_of_scope)
    judgement.remarks.push_back(fmt::format("{} of {} {} not judged: the contract is for GPUs",
                                            counted(count, "device"), id, count == 1 ? "is" : "are"));
}

void conclude(const Contract& contract, Judgement& judgement) {
  std::vector<Outcome> outcomes;
  for (const RuleResult& result : judgement.results) outcomes.push_back(result.outcome);
  if (outcomes.empty()) {
    judgement.reason = fmt::format("there is no device that {} could be held against", contract.name);
    return;
  }
  judgement.outcome = worst(outcomes);
  if (judgement.outcome == Outcome::pass) {  // each device is measured by one of them, else it would be UNKNOWN
    judgement.reason = fmt::format("every rule that applies is kept ({})", counted(outcomes.size(), "check"));
    return;
  }
  const auto first = std::find_if(judgement.results.begin(), judgement.results.end(),
                                  [&](const RuleResult& r) { return r.outcome == judgement.outcome; });
  const auto same = std::count(outcomes.begin(), outcomes.end(), judgement.outcome);
  if (outcomes.size() == 1) {
    judgement.reason = (first->device.empty() ? "" : first->device + ": ") + first->reason;
    return;
  }
  judgement.reason = fmt::format("{} of {} {}{}{}: {}", same, counted(outcomes.size(), "check"),
                                 word(judgement.outcome), same == 1 ? "" : "; the first",
                                 first->device.empty() ? "" : " (" + first->device + ")", first->reason);
}

}  // namespace

Judgement judge(const Contract& contract, const std::vector<DeviceValues>& devices, const std::string& shape) {
  Judgement judgement;
  std::map<std::string, std::size_t> reasons;  // why rules don't apply
  std::set<const DeviceValues*> measured;
  for (const Rule& rule : contract.rules) {
    const std::vector<const DeviceValues*> concerned = devices_of(rule, devices);
    for (const auto& [id, why] : rule.set_aside)
      if (std::any_of(devices.begin(), devices.end(), [&id = id](const DeviceValues& d) { return d.class_id == id; }))
        judgement.remarks.push_back(fmt::format("{} is not asked of {}: {}", shown(rule.name), id, why));
    if (const std::string why = not_for(contract, rule, concerned, devices, shape); !why.empty()) {
      ++judgement.not_applicable;
      ++reasons[why];
      continue;
    }
    if (!rule.devices) measured.insert(concerned.begin(), concerned.end());
    if (rule.node_devices && concerned.size() != static_cast<std::size_t>(*rule.node_devices)) {
      // Seven devices where eight were promised: not passed over.
      judgement.results.push_back(start(rule, rule.require.empty() ? nullptr : &rule.require.front(), ""));
      judgement.results.back().reason = fmt::format("the node has {}, the rule is for nodes of {}",
                                                    counted(concerned.size(), "such device"), *rule.node_devices);
    } else if (rule.devices) {
      judgement.results.push_back(judge_count(rule, concerned.size()));
    } else {
      const std::size_t begin = judgement.results.size();
      for (const Comparison& c : rule.require)
        (c.spread ? judge_spread : judge_each)(rule, c, concerned, judgement.results);
      if (of_some_shape(rule, shape)) ask_for_shape(rule, judgement.results, begin);
    }
  }
  ask_for_lost_devices(contract, devices, shape, judgement);
  ask_for_machine_types(contract, devices, shape, judgement);
  ask_for_rules(contract, devices, measured, judgement);
  for (const auto& [why, count] : reasons)
    judgement.remarks.push_back(
        fmt::format("{} {} not apply: {}", counted(count, "rule"), count == 1 ? "does" : "do", why));
  conclude(contract, judgement);
  return judgement;
}

}  // namespace assay
