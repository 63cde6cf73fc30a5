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

constexpr std::size_t fewest_devices = 3;

}  // namespace

std::vector<double> robust_z(std::span<const double> log_values, Better better, double floor) {
  const char* what = "outliers of a fleet";
  require(log_values.size() >= fewest_devices, what, "{} devices have no majority", log_values.size());
  require(floor > 0 && floor <= 1, what, "the floor lies above 0 and at most 1, not {}", floor);
  const double centre = median(log_values);
  const double scale = std::max(scaled_mad(log_values), std::log1p(floor) / 6);
  std::vector<double> z;
  for (double v : log_values) z.push_back((better == Better::lower ? v - centre : centre - v) / scale);
  return z;
}

double straggler_threshold(std::size_t devices, double z) {
  require(devices >= fewest_devices, "outliers of a fleet", "{} devices have no majority", devices);
  if (devices >= 16) return z;
  const auto n = static_cast<double>(devices);
  return std::max(z, t_quantile(1 - 0.05 / n, n - 1));
}

std::optional<std::vector<Straggler>> stragglers(std::span<const double> log_values, Better better,
                                                 const FleetOptions& options) {
  require_finite(log_values, "outliers of a fleet");
  if (log_values.size() < fewest_devices) return std::nullopt;
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

std::optional<double> split_half_reliability(std::span<const std::vector<double>> sessions) {
  std::vector<double> odd, even;
  for (const std::vector<double>& values : sessions) {
    require_finite(values, "the split-half reliability");
    if (values.size() < 2) return std::nullopt;
    double sums[2] = {0, 0}, counts[2] = {0, 0};
    for (std::size_t i = 0; i < values.size(); ++i) {
      sums[i % 2] += values[i];
      counts[i % 2] += 1;
    }
    odd.push_back(sums[0] / counts[0]);
    even.push_back(sums[1] / counts[1]);
  }
  if (odd.size() < 4) return std::nullopt;
  return spearman(odd, even);
}

}  // namespace assay::stats
