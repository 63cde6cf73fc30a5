// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See shape.h.
#include "harness/stats/shape.h"

#include <algorithm>
#include <cmath>

#include "harness/stats/check.h"
#include "harness/stats/distributions.h"
#include "harness/stats/moments.h"
#include "harness/stats/robust.h"

namespace assay::stats {
namespace {

// Log spreads as values of sessions, so that they are compared as sessions are.
std::vector<Session> spreads(std::span<const Session> sessions) {
  constexpr std::size_t fewest_samples = 8;
  std::vector<Session> logs;
  for (const Session& s : sessions) {
    require_finite({&s.log_spread, 1}, "a session's spread");
    if (s.samples >= fewest_samples && s.log_spread > 0) logs.push_back({std::log(s.log_spread), 0, 0, 1});
  }
  return logs;
}

double mean_spread(std::span<const Session> sessions) {
  double sum = 0;
  for (const Session& s : sessions) sum += s.log_spread;
  return sum / static_cast<double>(sessions.size());
}

}  // namespace

std::optional<Modes> find_modes(std::span<const double> values, double factor) {
  const char* what = "the search for modes";
  require_finite(values, what);
  require(factor > 0, what, "the factor is above 0");
  constexpr std::size_t fewest = 2;
  if (values.size() < 2 * fewest) return std::nullopt;
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  std::size_t cut = fewest;
  for (std::size_t i = fewest; i + fewest <= sorted.size(); ++i)
    if (sorted[i] - sorted[i - 1] > sorted[cut] - sorted[cut - 1]) cut = i;
  const std::span<const double> low(sorted.data(), cut), high(sorted.data() + cut, sorted.size() - cut);
  const double sd = std::sqrt((squares_of(low) + squares_of(high)) / static_cast<double>(sorted.size() - 2));
  const double gap = high.front() - low.back();
  const double rounding = 1e-14 * std::max(std::fabs(sorted.front()), std::fabs(sorted.back()));
  if (gap <= factor * sd || gap <= rounding) return std::nullopt;
  return Modes{mean_of(low), mean_of(high), low.size(), high.size()};
}

std::optional<BrownForsythe> brown_forsythe(std::span<const std::vector<double>> groups) {
  if (groups.size() < 2) return std::nullopt;
  double total = 0, n = 0, within = 0;
  std::vector<double> means;
  for (const std::vector<double>& group : groups) {
    if (group.size() < 2) return std::nullopt;
    const double centre = median(group);
    std::vector<double> deviations;
    for (double v : group) deviations.push_back(std::fabs(v - centre));
    means.push_back(mean_of(deviations));
    within += squares_of(deviations);
    n += static_cast<double>(group.size());
    total += means.back() * static_cast<double>(group.size());
  }
  double between = 0;
  for (std::size_t i = 0; i < groups.size(); ++i)
    between += static_cast<double>(groups[i].size()) * (means[i] - total / n) * (means[i] - total / n);
  BrownForsythe test;
  test.df1 = static_cast<double>(groups.size() - 1);
  test.df2 = n - static_cast<double>(groups.size());
  if (!(within > 0)) return std::nullopt;
  test.f = between / test.df1 / (within / test.df2);
  test.p = f_upper(test.f, test.df1, test.df2);
  return test;
}

std::optional<SpreadChange> spread_change(std::span<const Session> before, std::span<const Session> after,
                                          double alpha) {
  constexpr std::size_t fewest_sessions = 5;
  const std::vector<Session> a = spreads(before), b = spreads(after);
  if (a.size() < fewest_sessions || b.size() < fewest_sessions) return std::nullopt;
  const std::optional<Moderated> difference = moderated_difference(a, b, {});
  if (!difference) return std::nullopt;
  const double half = t_quantile(1 - alpha, difference->df) * difference->error;
  return SpreadChange{difference->mean, difference->mean - half, difference->mean + half,
                      std::max(mean_spread(before), mean_spread(after))};
}

}  // namespace assay::stats
