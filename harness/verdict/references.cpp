// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See references.h.
#include "harness/verdict/references.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

#include "harness/base/cycle_unit.h"
#include "harness/base/text.h"
#include "harness/base/units.h"
#include "harness/stats/compare.h"
#include "harness/stats/moments.h"
#include "harness/stats/robust.h"
#include "harness/stats/tolerance.h"
#include "harness/verdict/limits.h"
#include "harness/verdict/quantity.h"

namespace assay {
namespace {

using Sessions = std::vector<stats::Session>;

// `worse`: a log distance on the worse axis, as a share of what it is held against: half a rate is 50 % less, not 100.
std::string percent(double worse, Better better) { return format_percent(stats::relative_change(worse, better)); }

std::vector<double> log_values(const Sessions& sessions) {
  std::vector<double> values;
  for (const stats::Session& session : sessions) values.push_back(session.log_value);
  return values;
}

// --- tolerance limits, of a class and of a history -------------------------------------------------------------------

struct AxisAnswer {
  Outcome outcome = Outcome::unknown;
  double log_limit = 0, log_value = 0, half_width = 0;  // of the interval of its own sessions; 0: none
};

// `known`: what is known of the spread between sessions.
AxisAnswer on_axis(const Sessions& sessions, const stats::ClassReference& reference, const stats::Prior& known,
                   Better better, double floor, const AcceptSettings& settings) {
  const auto limit = stats::class_limit(reference, better, {floor, settings.coverage, settings.confidence});
  if (!limit) return {};
  AxisAnswer answer{Outcome::inconclusive, limit->log_limit, mean_log(sessions)};
  if (const auto interval = stats::device_interval(sessions, known, settings.alpha)) {
    answer.outcome = stats::against_limit(*interval, *limit, better);
    answer.half_width = (interval->high - interval->low) / 2;
  }
  return answer;
}

AxisAnswer on_axis(const Sessions& sessions, const BaselineRow& row, const AcceptSettings& settings) {
  // A class that is that quiet per cycle can carry a narrower limit.
  const bool quiet = row.devices >= devices_for_a_reference && row.between_device_sd <= settings.cycle_floor / 2;
  const double floor = row.key.axis == Axis::cycle && quiet ? settings.cycle_floor : settings.floor;
  const stats::ClassReference reference{static_cast<std::size_t>(row.devices), row.log_mean, row.between_device_sd};
  return on_axis(sessions, reference, session_prior(row), row.better, floor, settings);
}

AxisAnswer on_axis(const Sessions& sessions, const Sessions& earlier, Better better, const AcceptSettings& settings) {
  const std::vector<double> values = log_values(earlier);
  std::vector<double> kept;
  const std::vector<std::size_t> outlying = stats::outlying_references(values);
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!std::binary_search(outlying.begin(), outlying.end(), i)) kept.push_back(values[i]);
  const double df = static_cast<double>(kept.size()) - 1, sd = df > 0 ? stats::sd_of(kept) : 0;
  const stats::Prior known = sd > 0 ? stats::Prior{std::min(most_prior_df, df), sd} : stats::Prior{};
  return on_axis(sessions, {kept.size(), stats::mean_of(kept), sd}, known, better, settings.floor, settings);
}

// A device that reaches its mean by turns of fast and slow is not like its class.
constexpr double most_scatter = 5;

// Median of the sessions' spreads over that of the class; 0: one of them isn't known. A session has the mean absolute
// deviation, a baseline the standard deviation that it means for normal values.
double excess_scatter(const Sessions& sessions, const BaselineRow& row) {
  std::vector<double> spreads;
  for (const stats::Session& session : sessions)
    if (session.samples > 1) spreads.push_back(session.log_spread * std::sqrt(std::numbers::pi / 2));
  return spreads.empty() || !row.within_session_sd ? 0 : stats::median(spreads) / *row.within_session_sd;
}

// "2.93 TB/s is 0.45 % worse than the 2.95 TB/s accepted (by 9 devices)"
std::string place(const AxisAnswer& a, const std::string& unit, Better better, const std::string& whose) {
  const double worse = better == Better::higher ? a.log_limit - a.log_value : a.log_value - a.log_limit;
  return fmt::format("{} is {} {} than the {} accepted (by {})", format_quantity(std::exp(a.log_value), unit),
                     percent(worse, better), worse > 0 ? "worse" : "better",
                     format_quantity(std::exp(a.log_limit), unit), whose);
}

// How many sessions like these would probably tell on which side of the limit the device is.
std::string sessions_text(const AxisAnswer& a, std::size_t sessions) {
  constexpr double most = 50;
  if (sessions < 2 || a.half_width == 0) return "2 or more are needed";
  const double share = a.half_width / std::fabs(a.log_limit - a.log_value);
  const double asked = std::ceil(static_cast<double>(sessions) * share * share) + 1;
  return asked <= most ? fmt::format("about {:.0f} would tell", asked)
                       : "it is too near the limit for more sessions to tell: a quieter machine would help";
}

// What the two axes say together; `cycle` is UNKNOWN where there is none.
Reference of_both(const AxisAnswer& second, const AxisAnswer& cycle, const AcceptedMetric& m, const std::string& whose,
                  bool provisional) {
  Reference answer{second.outcome, place(second, m.unit, m.better, whose), std::exp(second.log_limit)};
  if (second.outcome == Outcome::fail && cycle.outcome == Outcome::pass)
    answer.reason += ": slow because the clock is low";
  else if (second.outcome == Outcome::fail && cycle.outcome == Outcome::fail)
    answer.reason += ": slow at the same clock, too";
  else if (second.outcome != Outcome::fail && cycle.outcome == Outcome::fail)
    answer = {Outcome::fail,
              fmt::format("per cycle {}: a fault that a high clock hides",
                          place(cycle, cycle_unit_of(m.unit), m.better, whose)),
              answer.bound};
  if (second.outcome == Outcome::inconclusive)
    answer.reason += fmt::format(", give or take more than that; {} {} too few: {}", counted(m.sessions, "session"),
                                 m.sessions == 1 ? "is" : "are", sessions_text(second, m.sessions));
  if (provisional && answer.outcome != Outcome::inconclusive) {
    answer.reason += fmt::format(" ({}, by a provisional reference)", word(answer.outcome));
    answer.outcome = Outcome::provisional;
  }
  return answer;
}

// --- peers -----------------------------------------------------------------------------------------------------------

// What an axis of a metric says of all devices of a class.
PeersOnAxis look_at(const std::map<std::string, const Sessions*>& devices, Better better) {
  PeersOnAxis axis;
  axis.devices = devices.size();
  std::vector<std::vector<double>> values;
  std::vector<const std::string*> identities;
  for (const auto& [identity, sessions] : devices) {
    values.push_back(log_values(*sessions));
    identities.push_back(&identity);
  }
  for (const stats::SeenStraggler& straggler : stats::seen_stragglers(values, better))
    axis.seen.emplace(*identities[straggler.index], straggler);
  return axis;
}

}  // namespace

Fleet::Fleet(const Side& side, const std::vector<AcceptedDevice>& devices) {
  for (const AcceptedDevice& device : devices) devices_[device.identity] = &device;
  struct Group {
    std::map<std::string, const Sessions*> seconds, cycles;
    Better better = Better::higher;
  };
  std::map<Metric, Group> groups;
  for (const auto& [key, metric] : side.metrics) {
    const AcceptedDevice* device = find(key.device);
    if (device == nullptr) continue;
    Group& group = groups[{device->match.class_id, key.case_name, key.metric, key.series}];
    group.better = metric.better;
    if (!metric.seconds.empty()) group.seconds[key.device] = &metric.seconds;
    if (!metric.cycles.empty()) group.cycles[key.device] = &metric.cycles;
  }
  for (const auto& [metric, group] : groups) {
    Peers& peers = peers_[metric];
    peers.second = look_at(group.seconds, group.better);
    peers.cycle = look_at(group.cycles, group.better);
    peers.once = std::any_of(group.seconds.begin(), group.seconds.end(),
                             [](const auto& device) { return device.second->size() < 2; });
  }
}

const AcceptedDevice* Fleet::find(const std::string& identity) const {
  const auto found = devices_.find(identity);
  return found == devices_.end() ? nullptr : found->second;
}

Reference Fleet::against_peers(const AcceptedMetric& m) const {
  const AcceptedDevice* device = find(m.key.device);
  const auto found = device == nullptr
                         ? peers_.end()
                         : peers_.find({device->match.class_id, m.key.case_name, m.key.metric, m.key.series});
  const std::size_t count = found == peers_.end() ? 0 : found->second.second.devices;
  if (count == 0) return {Outcome::unknown, "no single device of this run, so it has no peers", std::nullopt};
  if (count < stats::fewest_peers)
    return {
        Outcome::unknown,
        fmt::format("{} of its class here, and peers are {} or more", counted(count, "device"), stats::fewest_peers),
        std::nullopt};
  const PeersOnAxis &second = found->second.second, &cycle = found->second.cycle;
  const auto slow = second.seen.find(m.key.device), slow_cycle = cycle.seen.find(m.key.device);
  const bool by_second = slow != second.seen.end(), by_cycle = slow_cycle != cycle.seen.end();
  if (!by_second && !by_cycle) return {Outcome::pass, fmt::format("like its {} peers", count - 1), std::nullopt};
  const stats::SeenStraggler& worst = by_second ? slow->second : slow_cycle->second;
  std::string text = fmt::format("{}{} slower than its {} peers (z {:.1f}", by_second ? "" : "per cycle ",
                                 percent(worst.excess, m.better), count - 1, worst.z);
  if (!by_second)
    text += "; a fault that a high clock hides";
  else if (by_cycle)
    text += "; at the same clock, too";
  else if (cycle.devices == count)
    text += "; its clock is low";
  if ((by_second && slow->second.twice) || (by_cycle && slow_cycle->second.twice))
    return {Outcome::fail, text + "), seen twice in two", std::nullopt};
  return {Outcome::inconclusive,
          text + (found->second.once ? "), seen once: measure again, with 2 sessions or more"
                                     : "), but not in both halves of the sessions: measure again"),
          std::nullopt};
}

double mean_log(const Sessions& sessions) { return stats::mean_of(log_values(sessions)); }

Reference against_physical_limit(const AcceptedMetric& m, const std::optional<double>& bound) {
  if (const std::string why = absurd(*m.value, m.unit); !why.empty()) return {Outcome::invalid, why, bound};
  if (!bound) return {Outcome::unknown, "no physical limit is known", std::nullopt};
  const double share = m.better == Better::higher ? *m.value / *bound : *bound / *m.value;
  if (share > 1.02)
    return {Outcome::invalid,
            fmt::format("{} is beyond the physical limit of {}", format_quantity(*m.value, m.unit),
                        format_quantity(*bound, m.unit)),
            bound};
  return {Outcome::match, fmt::format("{} of the physical limit", format_percent(share)), bound};
}

std::optional<double> limit_of_class(const AcceptedMetric& m, const AcceptedDevice* device) {
  if (device == nullptr || !device->gpu) return std::nullopt;
  const auto limit = limit_of_metric(*device->gpu, m.key.case_name, m.key.metric, m.unit);
  return limit ? std::optional(limit->value) : std::nullopt;
}

Reference against_class(const SideMetric& metric, const AcceptedMetric& m, const AcceptedDevice* device,
                        const AcceptSettings& settings) {
  if (device != nullptr && !device->other_class.empty())
    return {Outcome::unknown, fmt::format("the reference given is of class {}, not of its own", device->other_class),
            std::nullopt};
  if (device == nullptr || !device->baseline) return {Outcome::unknown, "no reference of this class", std::nullopt};
  const MetricKey key{m.key.case_name, m.key.metric, m.key.series, Axis::second};
  const BaselineRow* row = device->baseline->find(key);
  if (row == nullptr) return {Outcome::unknown, "the reference of this class doesn't have it", std::nullopt};
  if (const std::string wrong = conflict(*row, m.unit, m.better); !wrong.empty())
    return {Outcome::inconclusive, wrong, std::nullopt};
  const std::string modes = to_text(device->match.modes);
  if (!row->worker.empty() && !metric.worker.empty() && row->worker != metric.worker)
    return {
        Outcome::inconclusive,
        fmt::format("the reference was measured by the worker {} and this by {}: measure with `assay run --worker {}`",
                    row->worker, metric.worker, row->worker),
        std::nullopt};
  const double gain = (m.better == Better::higher ? 1 : -1) * (mean_log(metric.seconds) - row->log_mean);
  if (gain > std::log(most_believable))
    return {Outcome::invalid,
            fmt::format("{} is {} times as good as its class: another unit, or not the same work",
                        format_quantity(*m.value, m.unit), format_factor(std::exp(gain))),
            std::nullopt};
  if (!row->modes.empty() && row->modes != modes)
    return {Outcome::inconclusive,
            fmt::format("the reference is of devices with {}, and this one has {}", row->modes,
                        modes.empty() ? "none of these modes told" : modes),
            std::nullopt};
  AxisAnswer cycle;
  MetricKey per_cycle = key;
  per_cycle.axis = Axis::cycle;
  const BaselineRow* cycles = device->baseline->find(per_cycle);
  if (cycles != nullptr && !metric.cycles.empty()) cycle = on_axis(metric.cycles, *cycles, settings);
  Reference answer = of_both(on_axis(metric.seconds, *row, settings), cycle, m, fmt::format("{} devices", row->devices),
                             row->provisional);
  if (cycles != nullptr && metric.cycles.empty() && code(answer.outcome) == exit_code::pass)
    answer = {Outcome::not_run, "the reference has it per cycle, too, and some session lacks a clock: " + answer.reason,
              answer.bound};
  if (const double scatter = excess_scatter(metric.seconds, *row);
      scatter > most_scatter && code(answer.outcome) == exit_code::pass)
    answer = {Outcome::inconclusive,
              fmt::format("its samples scatter {:.0f} times as much as its class's: {}", scatter, answer.reason),
              answer.bound};
  return answer;
}

Reference against_history(const SideMetric& metric, const AcceptedMetric& m, const Side* history,
                          const AcceptSettings& settings) {
  if (history == nullptr) return {Outcome::unknown, settings.no_history, std::nullopt};
  const auto found = history->metrics.find(m.key);
  if (found == history->metrics.end() || found->second.seconds.empty())
    return {Outcome::unknown, "no earlier run of this device has it", std::nullopt};
  const SideMetric& earlier = found->second;
  if (earlier.unit != m.unit || earlier.better != m.better)
    return {Outcome::inconclusive, fmt::format("it was in {} before and is in {}", earlier.unit, m.unit), std::nullopt};
  const std::size_t count = earlier.seconds.size();
  const std::string whose = counted(count, "earlier session");
  const std::size_t lacking = count < sessions_for_a_history ? sessions_for_a_history - count : 0;
  const std::string missing =
      lacking > 0 ? fmt::format("; {} more {} missing", lacking, lacking == 1 ? "is" : "are") : "";
  const AxisAnswer second = on_axis(metric.seconds, earlier.seconds, m.better, settings);
  if (second.outcome == Outcome::unknown)
    return {Outcome::unknown, fmt::format("only {}{}", whose, missing), std::nullopt};
  AxisAnswer cycle;
  if (!metric.cycles.empty() && !earlier.cycles.empty())
    cycle = on_axis(metric.cycles, earlier.cycles, m.better, settings);
  Reference answer = of_both(second, cycle, m, whose, lacking > 0);
  answer.reason += missing;
  return answer;
}

}  // namespace assay
