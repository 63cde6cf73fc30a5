// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See robust.h.
#include "harness/stats/robust.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "harness/stats/check.h"
#include "harness/stats/distributions.h"

namespace assay::stats {
namespace {

std::vector<double> checked(std::span<const double> values, const char* what) {
  require(!values.empty(), what, "there are no values");
  require_finite(values, what);
  return {values.begin(), values.end()};
}

// Interpolates between the ranks around `at`; `ordered(i)` gives order statistic i.
template <class Ordered>
double interpolated(std::size_t n, double q, Ordered ordered) {
  const double at = q * static_cast<double>(n - 1);
  const auto low = static_cast<std::size_t>(at);
  const double part = at - static_cast<double>(low), value = ordered(low);
  return part > 0 ? value + part * (ordered(std::min(low + 1, n - 1)) - value) : value;
}

double selected_quantile(std::vector<double>& values, double q) {
  // Ascending calls: what is left of the first rank is already smaller.
  auto from = values.begin();
  return interpolated(values.size(), q, [&](std::size_t rank) {
    const auto to = values.begin() + static_cast<std::ptrdiff_t>(rank);
    std::nth_element(from, to, values.end());
    from = to;
    return *to;
  });
}

}  // namespace

double sorted_quantile(std::span<const double> sorted, double q) {
  return interpolated(sorted.size(), q, [&](std::size_t rank) { return sorted[rank]; });
}

double quantile(std::span<const double> values, double q) {
  require(q >= 0 && q <= 1, "a quantile", "its share lies between 0 and 1, not {}", q);
  std::vector<double> copy = checked(values, "a quantile");
  return selected_quantile(copy, q);
}

double median(std::span<const double> values) {
  std::vector<double> copy = checked(values, "the median");
  return selected_quantile(copy, 0.5);
}

double scaled_mad(std::span<const double> values) {
  std::vector<double> copy = checked(values, "the median absolute deviation");
  const double centre = selected_quantile(copy, 0.5);
  for (double& v : copy) v = std::fabs(v - centre);
  return 1.482602218505602 * selected_quantile(copy, 0.5);
}

std::optional<Interval> quantile_interval(std::span<const double> values, double q, double confidence) {
  const char* what = "the interval of a quantile";
  require(q > 0 && q < 1, what, "its share lies between 0 and 1, not {}", q);
  require(confidence > 0 && confidence < 1, what, "confidence lies between 0 and 1, not {}", confidence);
  require_finite(values, what);
  const std::size_t n = values.size();
  const double outside = (1 - confidence) / 2;
  // Ranks count from 1. Below: the largest r with P(X <= r - 1) <= outside. Above: the smallest r with P(X >= r) <=
  // outside.
  const auto below = [&](std::size_t r) { return binomial_cdf(static_cast<std::ptrdiff_t>(r) - 1, n, q) <= outside; };
  const auto above = [&](std::size_t r) {
    return 1 - binomial_cdf(static_cast<std::ptrdiff_t>(r) - 1, n, q) <= outside;
  };
  if (n == 0 || !below(1) || !above(n)) return std::nullopt;
  std::size_t low = 1, high = n;
  for (std::size_t step = n; step > 0; step /= 2) {
    while (low + step <= n && below(low + step)) low += step;
    while (high > step && above(high - step)) high -= step;
  }
  std::vector<double> copy(values.begin(), values.end());
  const auto order_statistic = [&](std::size_t rank) {
    const auto at = copy.begin() + static_cast<std::ptrdiff_t>(rank - 1);
    std::nth_element(copy.begin(), at, copy.end());
    return *at;
  };
  return Interval{order_statistic(low), order_statistic(high)};
}

}  // namespace assay::stats
