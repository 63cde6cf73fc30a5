// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See learn.h. The unit is the device: its value is the mean of its sessions, in logs, and the between-device spread is
// that of these means as they were observed, so it holds what sessions add to them and errs to the wide side.
#include "harness/verdict/learn.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>

#include "harness/base/text.h"
#include "harness/stats/copies.h"
#include "harness/base/units.h"
#include "harness/stats/moments.h"
#include "harness/stats/robust.h"
#include "harness/stats/shape.h"
#include "harness/stats/tolerance.h"
#include "harness/stats/trend.h"

namespace assay {
namespace {

using stats::mean_of;

// Modes closer than this don't matter: no limit is closer to the mean than 0.5 %.
constexpr double least_gap = 0.005;
// With few values chance alone makes two clusters, so their gap must then be wider (stats/shape.h).
constexpr std::size_t enough_for_modes = 10;
constexpr double gap_of_many = 4, gap_of_few = 8;
// No two devices agree to the ninth digit.
constexpr double least_spread = 1e-9;
constexpr double most_outliers = 0.25;
// Fewer than this share are no mode of the class but sick devices: they are cleaned away, and counted.
constexpr double least_share_of_a_mode = 0.1;
// An elasticity needs clocks that differ, and an interval that says something.
constexpr double least_clock_sd = 0.001, widest_elasticity = 0.5;

struct Device {
  std::vector<const SessionValue*> sessions;
  double mean = 0;   // of the sessions' logs
  double clock = 0;  // mean of their log clocks; 0: not measured in all
};

std::map<std::string, Device> by_device(const std::vector<const SessionValue*>& values) {
  std::map<std::string, Device> devices;
  for (const SessionValue* value : values) devices[value->device].sessions.push_back(value);
  for (auto& [name, device] : devices) {
    std::vector<double> logs, clocks;
    for (const SessionValue* session : device.sessions) {
      logs.push_back(session->value.log_value);
      if (session->clock_hz) clocks.push_back(std::log(*session->clock_hz));
    }
    device.mean = mean_of(logs);
    if (clocks.size() == logs.size()) device.clock = mean_of(clocks);
  }
  return devices;
}

// "" when all sessions were measured under the same conditions.
std::string difference(const std::vector<const SessionValue*>& values) {
  const SessionValue& first = *values.front();
  for (const SessionValue* value : values) {
    if (value->unit != first.unit)
      return fmt::format("its unit is {} in one run and {} in another", first.unit, value->unit);
    if (value->better != first.better) return "its direction differs between the runs";
    if (value->conditions == first.conditions) continue;
    for (const auto& [name, text] : *first.conditions) {
      const auto other = value->conditions->find(name);
      if (other == value->conditions->end() || other->second != text)
        return fmt::format("{} is {} on {} and {} on {}", name, text, first.device,
                           other == value->conditions->end() ? "not told" : other->second, value->device);
    }
    if (value->conditions->size() != first.conditions->size()) return "the runs tell different conditions";
  }
  return {};
}

// "" when no session's samples are found twice.
std::string copies(const std::vector<const SessionValue*>& values) {
  std::vector<stats::SessionSamples> sessions;
  for (const SessionValue* value : values) sessions.push_back(stats::of_one_metric(value->samples));
  const auto copied = stats::find_copy(sessions);
  if (!copied) return {};
  const SessionValue &one = *values[copied->first], &other = *values[copied->second];
  return fmt::format("session {} of {} and session {} of {} have the same samples: one of them is a copy", one.session,
                     one.device, other.session, other.device);
}

std::string two_modes(const std::vector<double>& values, const char* what) {
  const double factor = values.size() >= enough_for_modes ? gap_of_many : gap_of_few;
  const auto modes = stats::find_modes(values, factor);
  if (!modes || modes->gap() < least_gap) return {};
  const auto smaller = static_cast<double>(std::min(modes->low_count, modes->high_count));
  if (smaller < least_share_of_a_mode * static_cast<double>(values.size())) return {};
  return fmt::format(
      "its {} fall into two groups, {} and {} of them, {} apart: find out what they differ in, "
      "and learn each group as a class or mode of its own",
      what, modes->low_count, modes->high_count, format_percent(modes->gap()));
}

std::optional<double> pooled_session_sd(const std::vector<const Device*>& devices) {
  double squares = 0, freedom = 0;
  for (const Device* device : devices)
    for (const SessionValue* session : device->sessions) {
      const double from_mean = session->value.log_value - device->mean;
      squares += from_mean * from_mean;
    }
  for (const Device* device : devices) freedom += static_cast<double>(device->sessions.size()) - 1;
  if (freedom < 1 || !(squares > 0)) return std::nullopt;
  return std::sqrt(squares / freedom);
}

// The mean absolute deviation of normal values is sd x sqrt(2 / pi).
std::optional<double> within_sd(const std::vector<const Device*>& devices) {
  std::vector<double> spreads;
  for (const Device* device : devices)
    for (const SessionValue* session : device->sessions)
      if (session->value.samples > 1) spreads.push_back(session->value.log_spread * std::sqrt(std::numbers::pi / 2));
  if (spreads.empty()) return std::nullopt;
  const double typical = stats::median(spreads);
  return typical > 0 ? std::optional(typical) : std::nullopt;
}

void fill_clock(BaselineRow& row, const std::vector<const Device*>& devices) {
  std::vector<std::pair<double, double>> points;
  std::vector<double> clocks, speeds;
  for (const Device* device : devices) {
    if (device->clock == 0) return;
    points.emplace_back(device->clock, row.better == Better::higher ? device->mean : -device->mean);
  }
  std::sort(points.begin(), points.end());
  for (const auto& [clock, speed] : points) clocks.push_back(clock), speeds.push_back(speed);
  row.clock_hz = std::exp(mean_of(clocks));
  if (stats::sd_of(clocks) < least_clock_sd) return;
  const auto trend = stats::theil_sen(clocks, speeds);
  if (trend && trend->high - trend->low < 2 * widest_elasticity) row.clock_elasticity = trend->slope;
}

void fill_versions(BaselineRow& row, const std::vector<const Device*>& devices) {
  for (const Device* device : devices)
    for (const SessionValue* session : device->sessions) {
      const std::string& driver = session->driver;
      if (driver.empty()) continue;
      if (row.driver_min.empty() || older_version(driver, row.driver_min)) row.driver_min = driver;
      if (row.driver_max.empty() || older_version(row.driver_max, driver)) row.driver_max = driver;
    }
}

std::optional<Refusal> refusal(Outcome outcome, const MetricKey& key, const std::string& reason) {
  return Refusal{outcome, to_text(key), reason};
}

std::optional<Refusal> learn_metric(const std::vector<const SessionValue*>& values, BaselineRow& row) {
  const SessionValue& first = *values.front();
  row.benchmark = first.benchmark;
  row.key = first.key;
  row.unit = first.unit;
  row.better = first.better;
  row.worker = first.worker;
  row.modes = first.modes;
  if (const std::string reason = difference(values); !reason.empty())
    return refusal(Outcome::inconclusive, row.key, "the runs can't be compared with each other: " + reason);
  const std::map<std::string, Device> all = by_device(values);
  if (all.size() < devices_for_a_provisional_one)
    return refusal(Outcome::inconclusive, row.key,
                   fmt::format("{} measured it, and a reference needs {}", counted(all.size(), "device"),
                               devices_for_a_provisional_one));
  if (const std::string copied = copies(values); !copied.empty()) return refusal(Outcome::invalid, row.key, copied);
  std::vector<double> means, sessions;
  for (const auto& [name, device] : all) means.push_back(device.mean);
  for (const auto& [name, device] : all) {
    // From the device's own middle, so that a slow device is no mode of its sessions.
    std::vector<double> own;
    for (const SessionValue* session : device.sessions) own.push_back(session->value.log_value);
    for (const double value : own) sessions.push_back(value - stats::median(own));
  }
  // Before the cleaning, which would take a smaller group for outliers.
  std::string modes = two_modes(means, "devices");
  if (modes.empty() && sessions.size() >= enough_for_modes) modes = two_modes(sessions, "sessions");
  if (!modes.empty()) return refusal(Outcome::mode_switch, row.key, modes);

  const std::vector<std::size_t> outliers = stats::outlying_references(means);
  std::vector<const Device*> devices;
  std::size_t index = 0;
  for (const auto& [name, device] : all)
    if (!std::binary_search(outliers.begin(), outliers.end(), index++)) devices.push_back(&device);
  if (static_cast<double>(outliers.size()) > most_outliers * static_cast<double>(all.size()) ||
      devices.size() < devices_for_a_provisional_one)
    return refusal(Outcome::inconclusive, row.key,
                   fmt::format("outliers among its devices: {} of {}, so it isn't known which are good",
                               outliers.size(), all.size()));
  means.clear();
  for (const Device* device : devices) {
    means.push_back(device->mean);
    row.sessions += static_cast<int>(device->sessions.size());
  }
  row.devices = static_cast<int>(devices.size());
  row.removed = static_cast<int>(outliers.size());
  row.provisional = row.devices < devices_for_a_reference;
  row.log_mean = mean_of(means);
  row.between_device_sd = stats::sd_of(means);
  if (!(row.between_device_sd > least_spread))
    return refusal(Outcome::invalid, row.key,
                   fmt::format("all {} devices gave exactly the same, which no measurement does", row.devices));
  row.between_session_sd = pooled_session_sd(devices);
  row.within_session_sd = within_sd(devices);
  fill_clock(row, devices);
  fill_versions(row, devices);
  if (const auto problem = row_problem(row))
    return refusal(Outcome::invalid, row.key,
                   fmt::format("a baseline can't hold it, column {}: {}", problem->column, problem->text));
  return std::nullopt;
}

}  // namespace

std::shared_ptr<const Conditions> ConditionsPool::one(const Conditions& conditions) {
  std::shared_ptr<const Conditions>& known = known_[conditions];
  if (!known) known = std::make_shared<const Conditions>(conditions);
  return known;
}

bool older_version(const std::string& a, const std::string& b) {
  const std::vector<std::string> left = split(a, '.'), right = split(b, '.');
  for (std::size_t i = 0; i < std::max(left.size(), right.size()); ++i) {
    const std::string l = i < left.size() ? left[i] : "", r = i < right.size() ? right[i] : "";
    const auto digits = [](const std::string& text) {
      return text.find_first_not_of("0123456789") == std::string::npos;
    };
    if (digits(l) && digits(r)) {
      const auto number = [](const std::string& text) { return text.empty() ? -1.0 : std::stod(text); };
      if (number(l) != number(r)) return number(l) < number(r);
    } else if (l != r) {
      return l < r;
    }
  }
  return false;
}

Learned learn(const std::vector<SessionValue>& values, const std::string& class_id, const Provenance& provenance) {
  Learned learned;
  learned.baseline.class_id = class_id;
  std::map<std::string, std::set<std::string>> strangers;  // devices of other classes, by class
  std::map<MetricKey, std::vector<const SessionValue*>> metrics;
  for (const SessionValue& value : values) {
    if (value.class_id == class_id)
      metrics[value.key].push_back(&value);
    else
      strangers[value.class_id.empty() ? "UNKNOWN" : value.class_id].insert(value.device);
  }
  for (const auto& [other, devices] : strangers)
    learned.refusals.push_back({Outcome::inconclusive, "",
                                devices.size() == 1
                                    ? fmt::format("{} is of class {}, not of {}", *devices.begin(), other, class_id)
                                    : fmt::format("{} devices ({} and others) are of class {}, not of {}",
                                                  devices.size(), *devices.begin(), other, class_id)});
  for (const auto& [key, sessions] : metrics) {
    BaselineRow row;
    row.class_id = class_id;
    row.date = provenance.date;
    row.tool_version = provenance.tool_version;
    row.source = provenance.source;
    if (auto refused = learn_metric(sessions, row))
      learned.refusals.push_back(*refused);
    else
      learned.baseline.rows.push_back(row);
  }
  return learned;
}

}  // namespace assay
