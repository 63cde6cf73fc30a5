// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See trend.h.
#include "harness/stats/trend.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "harness/stats/check.h"
#include "harness/stats/distributions.h"
#include "harness/stats/robust.h"

namespace assay::stats {
namespace {

constexpr std::size_t most_points = 1000;

// Sum of t (t - 1) (2 t + 5) over groups of t equal values, and of t (t - 1) / 2.
struct Ties {
  double variance = 0, pairs = 0;
};
Ties ties_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  Ties ties;
  for (std::size_t from = 0, to = 0; from < values.size(); from = to) {
    while (to < values.size() && values[to] == values[from]) ++to;
    const auto t = static_cast<double>(to - from);
    ties.variance += t * (t - 1) * (2 * t + 5);
    ties.pairs += t * (t - 1) / 2;
  }
  return ties;
}

double kendall_variance(double n, double ties) { return (n * (n - 1) * (2 * n + 5) - ties) / 18; }

// Strictly falling pairs, counted while merging.
double falling_pairs(std::vector<double>& values, std::vector<double>& scratch, std::size_t from, std::size_t to) {
  if (to - from < 2) return 0;
  const std::size_t middle = from + (to - from) / 2;
  double count = falling_pairs(values, scratch, from, middle) + falling_pairs(values, scratch, middle, to);
  std::size_t left = from, right = middle;
  for (std::size_t out = from; out < to; ++out) {
    if (right == to || (left < middle && values[left] <= values[right])) {
      scratch[out] = values[left++];
    } else {
      scratch[out] = values[right++];
      count += static_cast<double>(middle - left);
    }
  }
  std::copy(scratch.begin() + static_cast<std::ptrdiff_t>(from), scratch.begin() + static_cast<std::ptrdiff_t>(to),
            values.begin() + static_cast<std::ptrdiff_t>(from));
  return count;
}

std::vector<double> thinned(std::span<const double> values) {
  const std::size_t group = (values.size() + most_points - 1) / most_points;
  std::vector<double> out;
  for (std::size_t i = 0; i < values.size(); i += group)
    out.push_back(median(values.subspan(i, std::min(group, values.size() - i))));
  return out;
}

}  // namespace

std::optional<Trend> theil_sen(std::span<const double> x, std::span<const double> y, double confidence) {
  const char* what = "the Theil-Sen slope";
  require(x.size() == y.size(), what, "{} x and {} y", x.size(), y.size());
  require(confidence > 0 && confidence < 1, what, "confidence lies between 0 and 1, not {}", confidence);
  require_finite(x, what);
  require_finite(y, what);
  require(std::is_sorted(x.begin(), x.end()), what, "x must ascend");
  if (x.size() < 3) return std::nullopt;
  const std::vector<double> px = thinned(x), py = thinned(y);
  std::vector<double> slopes;
  slopes.reserve(px.size() * (px.size() - 1) / 2);
  for (std::size_t i = 0; i < px.size(); ++i)
    for (std::size_t j = i + 1; j < px.size(); ++j)
      if (px[j] > px[i]) slopes.push_back((py[j] - py[i]) / (px[j] - px[i]));
  if (slopes.empty()) return std::nullopt;
  require_finite(slopes, what);
  std::sort(slopes.begin(), slopes.end());
  const double pairs = static_cast<double>(slopes.size());
  const double sigma = std::sqrt(
      std::max(0.0, kendall_variance(static_cast<double>(px.size()), ties_of(px).variance + ties_of(py).variance)));
  const double half = normal_quantile((1 + confidence) / 2) * sigma;
  const auto rank = [&](double at) { return static_cast<std::size_t>(std::clamp(std::nearbyint(at), 0.0, pairs - 1)); };
  Trend trend;
  trend.slope = sorted_quantile(slopes, 0.5);
  trend.intercept = median(py) - trend.slope * median(px);
  trend.low = slopes[rank(std::nearbyint((pairs - half) / 2) - 1)];
  trend.high = slopes[rank((pairs + half) / 2)];
  trend.points = px.size();
  return trend;
}

std::optional<MannKendall> mann_kendall(std::span<const double> y) {
  require_finite(y, "the Mann-Kendall test");
  if (y.size() < 4) return std::nullopt;
  std::vector<double> values(y.begin(), y.end()), scratch(y.size());
  const Ties ties = ties_of(values);
  const double n = static_cast<double>(y.size()), pairs = n * (n - 1) / 2;
  MannKendall result;
  result.s = pairs - ties.pairs - 2 * falling_pairs(values, scratch, 0, values.size());
  const double variance = kendall_variance(n, ties.variance);
  if (result.s == 0 || variance <= 0) return result;
  result.z = (result.s - std::copysign(1.0, result.s)) / std::sqrt(variance);
  result.p = std::min(1.0, 2 * normal_upper(std::fabs(result.z)));
  return result;
}

}  // namespace assay::stats
