// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See sequential.h.
#include "harness/verdict/sequential.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "harness/stats/distributions.h"

namespace assay {
namespace {

// A session went wrong, or there is none.
bool has_no_value(const MetricVerdict& v) {
  return !v.estimate && (v.verdict == Outcome::fail || v.verdict == Outcome::error || v.verdict == Outcome::invalid ||
                         v.verdict == Outcome::not_run);
}

// A value counts only at the look it is new at: a case that was left with 4 sessions is not judged again at the larger
// error of the twelfth.
bool overrules(const MetricVerdict& fresh, const MetricVerdict& kept, std::size_t sessions) {
  return has_no_value(fresh) || (!kept.settled && fresh.after == sessions);
}

void keep(std::map<SideKey, MetricVerdict>& kept, std::vector<MetricVerdict>&& fresh, std::size_t sessions) {
  for (MetricVerdict& verdict : fresh) {
    const auto [found, is_new] = kept.try_emplace(verdict.key, verdict);
    if (!is_new && overrules(verdict, found->second, sessions)) found->second = std::move(verdict);
  }
}

std::vector<MetricVerdict> values(const std::map<SideKey, MetricVerdict>& kept) {
  std::vector<MetricVerdict> list;
  for (const auto& [key, verdict] : kept) list.push_back(verdict);
  return list;
}

// By the number of sessions of BEFORE. They take milliseconds, so not for each metric.
std::map<std::size_t, std::vector<stats::Look>> boundaries(const Side& before, const SequentialSettings& settings) {
  std::map<std::size_t, std::vector<stats::Look>> by_sessions;
  for (const auto& [key, metric] : before.metrics)
    if (const std::size_t n = metric.seconds.size(); n > 0 && by_sessions.count(n) == 0)
      by_sessions[n] =
          stats::looks_against(n, settings.compare.alpha, std::min(first_look, settings.cap), settings.cap);
  return by_sessions;
}

}  // namespace

Sequential::Sequential(Side before, const SequentialSettings& settings)
    : before_(std::move(before)), settings_(settings) {
  settings_.compare.sessions_min = first_look;
  taken_.cap = settings.cap;
  taken_.alpha = settings.compare.alpha;
  taken_.first = std::min(first_look, settings.cap);
  taken_.boundaries = boundaries(before_, settings_);
}

void Sequential::look(const Side& after, std::size_t sessions) {
  if (sessions > taken_.cap) return;
  CompareSettings now = settings_.compare;
  if (sessions >= taken_.first)
    for (const auto& [n, looks] : taken_.boundaries) now.look_alpha[n] = looks[sessions - taken_.first].alpha;
  Verdicts fresh = verdicts_on(before_, after, now);
  keep(metrics_, std::move(fresh.metrics), sessions);
  keep(nodes_, std::move(fresh.nodes), sessions);
  if (sessions >= taken_.first) taken_.looks.push_back({sessions, open()});
}

std::size_t Sequential::open() const {
  return static_cast<std::size_t>(
      std::count_if(metrics_.begin(), metrics_.end(), [](const auto& entry) { return !entry.second.settled; }));
}

std::set<std::string> Sequential::open_cases() const {
  std::set<std::string> names;
  for (const auto& [key, verdict] : metrics_)
    if (!verdict.settled) names.insert(key.case_name);
  return names;
}

CompareResult Sequential::result(const Side& after, const std::vector<EnvironmentChange>& environment) const {
  CompareResult result = conclude({values(metrics_), values(nodes_)}, before_, after, environment, settings_.compare);
  // Their p-values are of the looks at which they stopped, and no uniform ones any more.
  for (std::vector<MetricVerdict>* list : {&result.metrics, &result.nodes})
    for (MetricVerdict& verdict : *list) verdict.adjusted_p.reset();
  result.looks = taken_;
  return result;
}

Doubtful doubtful(const Side& before, const SequentialSettings& settings) {
  Doubtful found;
  const auto looks = boundaries(before, settings);
  for (const auto& [key, metric] : before.metrics) {
    const std::size_t n = metric.seconds.size();
    if (n < first_look) {
      found.too_few.push_back(key);
      continue;
    }
    const auto of_before = stats::moderated_mean(metric.seconds, {});
    if (!of_before) continue;
    const double alpha = looks.at(n).back().alpha;
    const double error = of_before->sd * std::sqrt(1 / static_cast<double>(n) + 1 / static_cast<double>(settings.cap));
    const auto df = static_cast<double>(n + settings.cap - 2);
    const double margin = allowed_change(margin_of(key, metric.benchmark, settings.compare), metric.better);
    if (stats::t_quantile(1 - alpha, df) * error > margin) found.too_noisy.push_back(key);
  }
  return found;
}

}  // namespace assay
