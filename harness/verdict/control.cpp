// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See control.h.
#include "harness/verdict/control.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "harness/base/text.h"
#include "harness/base/units.h"

namespace assay {
namespace {

constexpr double width = 2.6;  // 99 % of a normal
constexpr std::size_t fewest_cases = 2;

bool is_explained_by_clock(const MetricVerdict& v) {
  return v.cycles && v.clock_effect && *v.clock_effect < 0 && v.cycles->high < v.allowed();
}

// Beyond what the control cases lost, did this metric lose less than its margin?
bool is_common(const MetricVerdict& v, const ControlShift& control, const Side& before, const Side& after,
               const CompareSettings& settings) {
  stats::CompareOptions options = options_of(v, settings);
  options.control_shift = v.better == Better::lower ? -control.log_shift : control.log_shift;
  options.control_error = control.error;
  return stats::compare(before.metrics.at(v.key).seconds, after.metrics.at(v.key).seconds, options).outcome ==
         Outcome::no_regression;
}

}  // namespace

bool is_control(const std::string& case_name) {
  const auto has = [&](const char* part) { return case_name.find(part) != std::string::npos; };
  if (starts_with(case_name, "compute/fma/")) return has("threads:one");
  return starts_with(case_name, "memory/stream/op:copy/") && has("size:dram");
}

std::optional<ControlShift> control_shift(const std::vector<MetricVerdict>& verdicts, const std::string& device) {
  double weight = 0, sum = 0, squares = 0;  // of the speed
  std::size_t cases = 0;
  for (const MetricVerdict& v : verdicts) {
    if (!device.empty() && v.key.device != device) continue;
    if (!is_control(v.key.case_name) || !v.estimate || !(v.estimate->error > 0)) continue;
    const double w = 1 / (v.estimate->error * v.estimate->error);
    weight += w;
    sum -= w * v.estimate->worse;
    squares += w * v.estimate->worse * v.estimate->worse;
    ++cases;
  }
  if (cases == 0) return std::nullopt;
  const double mean = sum / weight;
  const double disagreement =
      cases < 2 ? 1 : std::max(0.0, squares - weight * mean * mean) / static_cast<double>(cases - 1);
  const double error = std::sqrt(std::max(1.0, disagreement) / weight), half = width * error;
  return ControlShift{std::expm1(mean), std::expm1(mean - half), std::expm1(mean + half), mean, error, cases};
}

std::string tell_common_changes(std::vector<MetricVerdict>& verdicts, const Side& before, const Side& after,
                                const CompareSettings& settings) {
  std::map<std::string, std::optional<ControlShift>> by_device;
  for (const MetricVerdict& v : verdicts)
    if (by_device.count(v.key.device) == 0) by_device[v.key.device] = control_shift(verdicts, v.key.device);
  std::size_t common = 0;
  const ControlShift* shown = nullptr;
  for (MetricVerdict& v : verdicts) {
    const std::optional<ControlShift>& control = by_device.at(v.key.device);
    if (v.verdict != Outcome::regressed || is_control(v.key.case_name) || is_explained_by_clock(v)) continue;
    if (!control || control->cases < fewest_cases || control->high >= 0) continue;
    if (!is_common(v, *control, before, after, settings)) continue;
    v.verdict = Outcome::inconclusive;
    v.reason =
        fmt::format("{}; but the {} control cases lost as much ({}): an epoch or all of the machine, not this metric",
                    v.reason, control->cases, format_percent(control->shift));
    shown = &*control;
    ++common;
  }
  if (shown == nullptr) return {};
  return fmt::format(
      "all of it is slower: {} lost no more than the {} control cases ({} slower), so it is the machine as a "
      "whole or an epoch (another boot of BEFORE's state would tell), and no single metric",
      counted(common, "metric"), shown->cases, format_percent(shown->shift));
}

}  // namespace assay
