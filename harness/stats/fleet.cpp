// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See fleet.h.
#include "harness/stats/fleet.h"

#include <algorithm>
#include <cmath>

#include "harness/stats/check.h"
#include "harness/stats/distributions.h"
#include "harness/stats/rank.h"
#include "harness/stats/robust.h"

namespace assay::stats {
namespace {

// Those of the devices that have a session in this half.
std::vector<Straggler> stragglers_of_half(std::span<const std::vector<double>> sessions, Half half, Better better,
                                          const FleetOptions& options) {
  std::vector<double> means;
  std::vector<std::size_t> whose;
  for (std::size_t i = 0; i < sessions.size(); ++i)
    if (const auto mean = mean_of_half(sessions[i], half)) {
      means.push_back(*mean);
      whose.push_back(i);
    }
  std::vector<Straggler> found = stragglers(means, better, options).value_or(std::vector<Straggler>{});
  for (Straggler& straggler : found) straggler.index = whose[straggler.index];
  return found;
}

bool has(const std::vector<Straggler>& found, std::size_t index) {
  return std::any_of(found.begin(), found.end(), [&](const Straggler& s) { return s.index == index; });
}

}  // namespace

std::vector<double> robust_z(std::span<const double> log_values, Better better, double floor) {
  const char* what = "outliers of a fleet";
  require(log_values.size() >= fewest_peers, what, "{} devices have no majority", log_values.size());
  require(floor > 0 && floor <= 1, what, "the floor lies above 0 and at most 1, not {}", floor);
  const double centre = median(log_values);
  const double scale = std::max(scaled_mad(log_values), std::log1p(floor) / 6);
  std::vector<double> z;
  for (double v : log_values) z.push_back((better == Better::lower ? v - centre : centre - v) / scale);
  return z;
}

double straggler_threshold(std::size_t devices, double z) {
  require(devices >= fewest_peers, "outliers of a fleet", "{} devices have no majority", devices);
  if (devices >= 16) return z;
  const auto n = static_cast<double>(devices);
  return std::max(z, t_quantile(1 - 0.05 / n, n - 1));
}

std::optional<std::vector<Straggler>> stragglers(std::span<const double> log_values, Better better,
                                                 const FleetOptions& options) {
  require_finite(log_values, "outliers of a fleet");
  if (log_values.size() < fewest_peers) return std::nullopt;
  const std::vector<double> z = robust_z(log_values, better, options.floor);
  const double threshold = straggler_threshold(z.size(), options.z), centre = median(log_values);
  std::vector<Straggler> found;
  for (std::size_t i = 0; i < z.size(); ++i) {
    const double excess = better == Better::lower ? log_values[i] - centre : centre - log_values[i];
    if (z[i] > threshold && excess > std::log1p(options.floor)) found.push_back({i, z[i], excess});
  }
  std::sort(found.begin(), found.end(), [](const Straggler& a, const Straggler& b) { return a.z > b.z; });
  return found;
}

std::optional<double> mean_of_half(std::span<const double> sessions, Half half) {
  const std::size_t from = half == Half::even ? 1 : 0, step = half == Half::all ? 1 : 2;
  double sum = 0, count = 0;
  for (std::size_t i = from; i < sessions.size(); i += step) {
    sum += sessions[i];
    ++count;
  }
  return count > 0 ? std::optional(sum / count) : std::nullopt;
}

std::vector<SeenStraggler> seen_stragglers(std::span<const std::vector<double>> sessions, Better better,
                                           const FleetOptions& options) {
  const std::vector<Straggler> all = stragglers_of_half(sessions, Half::all, better, options);
  if (all.empty()) return {};
  const auto odd = stragglers_of_half(sessions, Half::odd, better, options),
             even = stragglers_of_half(sessions, Half::even, better, options);
  std::vector<SeenStraggler> seen;
  for (const Straggler& one : all) seen.push_back({one, has(odd, one.index) && has(even, one.index)});
  return seen;
}

std::optional<double> split_half_reliability(std::span<const std::vector<double>> sessions) {
  std::vector<double> odd, even;
  for (const std::vector<double>& values : sessions) {
    require_finite(values, "the split-half reliability");
    if (values.size() < 2) return std::nullopt;
    odd.push_back(*mean_of_half(values, Half::odd));
    even.push_back(*mean_of_half(values, Half::even));
  }
  if (odd.size() < 4) return std::nullopt;
  return spearman(odd, even);
}

}  // namespace assay::stats
