// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See comparability.h. The table below is read from the top: the first row whose beginning fits decides.
#include "harness/verdict/comparability.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "harness/base/error.h"
#include "harness/base/text.h"
#include "harness/base/worker_name.h"

namespace assay {
namespace {

enum class Weight { ignored, noted, refuses };

struct FactRule {
  const char* begins;
  const char* area;
  Weight weight;
  double tolerance = 0;  // relative; numbers closer than this are the same
};

constexpr const char* unknown_area = "unknown";
constexpr const char* worker_change = "the worker";

constexpr auto rules = std::to_array<FactRule>({
    {"environment.available_bytes", "", Weight::ignored},
    {"environment.cpu.facts.available_bytes", "", Weight::ignored},
    {"environment.clock_hz", "", Weight::ignored},           // of an idle moment; each sample has its own
    {"environment.unknown", unknown_area, Weight::refuses},  // nobody can name it: nobody knows what it was
    {"environment.host", "host", Weight::refuses},
    {"environment.kernel", "kernel", Weight::refuses},
    {"environment.architecture", "machine", Weight::refuses},
    {"environment.cpu.labels.microcode", "firmware", Weight::refuses},
    {"environment.cpu.labels.governor", "clocks", Weight::refuses},
    {"environment.cpu.labels.transparent_huge_pages", "pages", Weight::refuses},
    {"environment.cpu.facts.turbo_on", "clocks", Weight::refuses},
    {"environment.cpu.facts.cpu_quota", "limits", Weight::refuses},
    {"environment.cpu.facts.memory_bytes", "memory", Weight::refuses, 0.01},
    {"environment.cpu.facts.cpus", "cpus", Weight::refuses},
    {"environment.cpu", "machine", Weight::refuses},
    {"environment.allowed_cpus", "cpus", Weight::refuses},
    {"environment.governor", "clocks", Weight::refuses},
    {"environment.turbo", "clocks", Weight::refuses},
    {"environment.clock_source", "kernel", Weight::refuses},
    {"environment.transparent_huge_pages", "pages", Weight::refuses},
    {"environment.memory_bytes", "memory", Weight::refuses, 0.01},
    {"environment.cgroup", "limits", Weight::refuses},
    {"environment.libraries", "libraries", Weight::refuses},
    {"environment.variables", "variables", Weight::refuses},
    {"environment.driver", "driver", Weight::refuses},
    {"build.version", "assay", Weight::refuses},
    {"build.commit", "assay", Weight::refuses},
    {"build", "build", Weight::refuses},
    {worker_change, "worker", Weight::refuses},  // one of several that could have been taken, made here of "workers"
    {"workers", "assay", Weight::refuses},
    {"device.available_bytes", "", Weight::ignored},
    {"device.has_code", "worker", Weight::refuses},
    {"device.runtime_cuda_version", "worker", Weight::refuses},
    {"device.scenario", "", Weight::noted},
    {"device.driver", "driver", Weight::refuses},
    {"device.firmware", "firmware", Weight::refuses},
    {"device.vbios", "firmware", Weight::refuses},
    {"device.microcode", "firmware", Weight::refuses},
    {"device.power", "power", Weight::refuses},
    {"device.ecc", "modes", Weight::refuses},
    {"device.mig", "modes", Weight::refuses},
    {"device.mode", "modes", Weight::refuses},
    {"device.governor", "clocks", Weight::refuses},
    {"device.memory_bytes", "memory", Weight::refuses, 0.01},
    {"device", "machine", Weight::refuses},
    {"plan.policy.block_s", "policy", Weight::refuses},
    {"plan.devices_at_once", "policy", Weight::refuses},
    {"plan", "", Weight::noted},
    {"import", "", Weight::noted},  // what files of other tools say, in their own words
});

const FactRule& rule_of(const std::string& name) {
  static constexpr FactRule other{"", "other", Weight::refuses};
  const auto found =
      std::find_if(rules.begin(), rules.end(), [&](const FactRule& rule) { return starts_with(name, rule.begins); });
  return found == rules.end() ? other : *found;
}

// {"kernel": {"release": "6.1"}} -> "kernel.release": "6.1"; a list is one value.
void flatten(const Json& json, const std::string& prefix, std::map<std::string, Json>& into) {
  if (!json.is_object()) {
    into[prefix] = json;
    return;
  }
  for (const auto& [key, value] : json.items()) flatten(value, prefix.empty() ? key : prefix + "." + key, into);
}

std::string as_text(const Json* value) {
  if (value == nullptr) return "absent";
  return value->is_string() ? value->get<std::string>() : value->dump();
}

bool same(const Json* before, const Json* after, double tolerance) {
  if (before == nullptr || after == nullptr) return before == after;
  for (const Json* side : {before, after})
    if (side->is_string() && starts_with(side->get_ref<const std::string&>(), mixed_prefix)) return false;
  if (before->is_number() && after->is_number() && tolerance > 0) {
    const double a = before->get<double>(), b = after->get<double>();
    return std::fabs(a - b) <= tolerance * std::max(std::fabs(a), std::fabs(b));
  }
  return *before == *after;
}

const Json* find(const std::map<std::string, Json>& facts, const std::string& name) {
  const auto found = facts.find(name);
  return found == facts.end() ? nullptr : &found->second;
}

// Takes out of `facts` what it tells of devices that `others` doesn't have; these devices.
std::string take_single_devices(Json& facts, const Json& others) {
  static const Json::json_pointer names("/device/name");
  std::vector<std::string> single;
  if (!facts.contains(names)) return {};
  const Json devices = facts.at(names);
  for (const auto& [identity, name] : devices.items()) {
    if (others.contains(names) && others.at(names).contains(identity)) continue;
    single.push_back(identity);
    for (auto& [fact, of_device] : facts["device"].items())
      if (of_device.is_object()) of_device.erase(identity);
  }
  constexpr std::size_t most = 3;
  const std::size_t more = single.size() - std::min(most, single.size());
  single.resize(single.size() - more);
  return join(single, ", ") + (more == 0 ? "" : fmt::format(" and {} more", more));
}

// A worker of `facts` that `others` lacks and that is `name` but for the number: cuda13 for cuda12.
std::string alternative_of(const std::string& name, const Json& facts, const Json& others) {
  for (const auto& [worker, version] : facts.items())
    if (!others.contains(worker) && are_alternatives(worker, name)) return worker;
  return {};
}

// Takes out of both what is told of workers that stand for each other, because it is one difference: (cuda12, cuda13).
std::vector<std::pair<std::string, std::string>> take_alternatives(Json& before, Json& after) {
  std::vector<std::pair<std::string, std::string>> pairs;
  const Json none = Json::object(), old_workers = before.value("workers", none),
             new_workers = after.value("workers", none);
  static const Json::json_pointer libraries("/environment/libraries");
  for (const auto& [name, version] : old_workers.items()) {
    if (new_workers.contains(name)) continue;
    const std::string other = alternative_of(name, after["workers"], old_workers);
    if (other.empty()) continue;
    pairs.emplace_back(name, other);
    before["workers"].erase(name);
    after["workers"].erase(other);
    if (before.contains(libraries)) before[libraries].erase(name);
    if (after.contains(libraries)) after[libraries].erase(other);
  }
  return pairs;
}

}  // namespace

const std::vector<std::string>& change_areas() {
  static const std::vector<std::string> areas = [] {
    std::set<std::string> names{"other"};
    for (const FactRule& rule : rules)
      if (*rule.area != '\0' && rule.area != std::string_view(unknown_area)) names.insert(rule.area);
    return std::vector<std::string>(names.begin(), names.end());
  }();
  return areas;
}

std::vector<EnvironmentChange> environment_changes(const Json& before, const Json& after,
                                                   const std::vector<std::string>& changed) {
  for (const std::string& area : changed)
    if (std::find(change_areas().begin(), change_areas().end(), area) == change_areas().end())
      throw UsageError(fmt::format("--changed {}: not an area; there are {}", area, fmt::join(change_areas(), ", ")));
  const auto is_named = [&](const std::string& area) {
    return std::find(changed.begin(), changed.end(), area) != changed.end();
  };
  Json shared_before = before, shared_after = after;
  const std::string gone = take_single_devices(shared_before, after), came = take_single_devices(shared_after, before);
  std::vector<EnvironmentChange> changes;
  if (!gone.empty() || !came.empty())
    changes.push_back({"machine", "devices", gone.empty() ? "none of them" : gone, came.empty() ? "none of them" : came,
                       is_named("machine"), !is_named("machine")});
  for (const auto& [old_worker, new_worker] : take_alternatives(shared_before, shared_after))
    changes.push_back({"worker", worker_change, old_worker, new_worker, is_named("worker"), !is_named("worker")});
  std::map<std::string, Json> old_facts, new_facts;
  flatten(shared_before, "", old_facts);
  flatten(shared_after, "", new_facts);
  std::set<std::string> names;
  for (const auto& [name, value] : old_facts) names.insert(name);
  for (const auto& [name, value] : new_facts) names.insert(name);
  for (const std::string& name : names) {
    const FactRule& rule = rule_of(name);
    const Json *was = find(old_facts, name), *is = find(new_facts, name);
    if (rule.weight == Weight::ignored || same(was, is, rule.tolerance)) continue;
    const bool named = is_named(rule.area);
    changes.push_back({rule.area, name, as_text(was), as_text(is), named, rule.weight == Weight::refuses && !named});
  }
  return changes;
}

std::vector<std::string> unlike_areas(const std::vector<EnvironmentChange>& changes) {
  std::set<std::string> areas;
  for (const EnvironmentChange& change : changes)
    if (change.refuses) areas.insert(change.area);
  return {areas.begin(), areas.end()};
}

std::string unlike(const std::vector<EnvironmentChange>& changes) {
  std::vector<std::string> parts;
  std::size_t all = 0;
  bool devices = false;
  for (const EnvironmentChange& change : changes) {
    if (!change.refuses) continue;
    if (change.area == unknown_area)
      return fmt::format("{}, so what differs around it isn't known: go on with `assay run --resume`",
                         change.before == "absent" ? change.after : change.before);
    devices = devices || change.name == "devices";
    if (++all <= 3) parts.push_back(fmt::format("{} ({} before, {} after)", change.name, change.before, change.after));
  }
  if (all == 0) return {};
  return fmt::format("unlike things: {}{} differ{}", join(parts, ", "),
                     all > parts.size() ? fmt::format(" and {} more", all - parts.size()) : "",
                     devices ? "; a device is known again by its UUID or PCI address" : "");
}

std::string refusal(const std::vector<EnvironmentChange>& changes) {
  const std::string what = unlike(changes);
  if (what.empty()) return {};
  std::set<std::string> areas;
  std::string how;
  for (const EnvironmentChange& change : changes) {
    if (change.refuses && change.area == unknown_area) return what;
    if (change.refuses || change.named) areas.insert(change.area);
    if (change.refuses && change.name == worker_change)
      how =
          fmt::format("; measure AFTER by the worker of BEFORE: `assay run --worker {}` (--against takes it by itself)",
                      change.before);
  }
  return fmt::format("{}{}; if that is what you test, name it: --changed {}", what, how, fmt::join(areas, ","));
}

}  // namespace assay
