// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See rank.h.
#include "harness/stats/rank.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "harness/stats/check.h"
#include "harness/stats/distributions.h"

namespace assay::stats {
namespace {

constexpr std::size_t most_exact = 100;

// Two-sided p of the sum of the first group's ranks under all ways to choose that group. Twice the ranks are integers.
double exact_p(const std::vector<double>& ranks, std::size_t chosen, double rank_sum) {
  std::vector<std::size_t> doubled;
  for (double r : ranks) doubled.push_back(static_cast<std::size_t>(std::lround(2 * r)));
  const std::size_t total = std::accumulate(doubled.begin(), doubled.end(), std::size_t{0});
  // ways[k][s]: subsets of k ranks with sum s. Counts up to C(100, 50) = 1e29; doubles keep 16 digits of them.
  std::vector<std::vector<double>> ways(chosen + 1, std::vector<double>(total + 1, 0));
  ways[0][0] = 1;
  for (std::size_t seen = 0; seen < doubled.size(); ++seen)
    for (std::size_t k = std::min(chosen, seen + 1); k >= 1; --k)
      for (std::size_t s = total; s >= doubled[seen]; --s) ways[k][s] += ways[k - 1][s - doubled[seen]];
  const auto at = static_cast<std::size_t>(std::lround(2 * rank_sum));
  double all = 0, below = 0, above = 0;
  for (std::size_t s = 0; s <= total; ++s) {
    all += ways[chosen][s];
    if (s <= at) below += ways[chosen][s];
    if (s >= at) above += ways[chosen][s];
  }
  return std::min(1.0, 2 * std::min(below, above) / all);
}

double normal_p(const std::vector<double>& ranks, double n_a, double n_b, double u) {
  std::vector<double> sorted = ranks;
  std::sort(sorted.begin(), sorted.end());
  double ties = 0;
  for (std::size_t from = 0, to = 0; from < sorted.size(); from = to) {
    while (to < sorted.size() && sorted[to] == sorted[from]) ++to;
    const auto t = static_cast<double>(to - from);
    ties += t * t * t - t;
  }
  const double n = n_a + n_b;
  const double variance = n_a * n_b / 12 * (n + 1 - ties / (n * (n - 1)));
  if (variance <= 0) return 1;
  return std::min(1.0, 2 * normal_upper((std::fabs(u - n_a * n_b / 2) - 0.5) / std::sqrt(variance)));
}

}  // namespace

std::vector<double> average_ranks(std::span<const double> values) {
  require_finite(values, "ranks");
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<double> ranks(values.size());
  for (std::size_t from = 0, to = 0; from < order.size(); from = to) {
    while (to < order.size() && values[order[to]] == values[order[from]]) ++to;
    for (std::size_t i = from; i < to; ++i) ranks[order[i]] = static_cast<double>(from + 1 + to) / 2;
  }
  return ranks;
}

std::optional<double> spearman(std::span<const double> x, std::span<const double> y) {
  require(x.size() == y.size(), "Spearman's correlation", "{} x and {} y", x.size(), y.size());
  const std::vector<double> rx = average_ranks(x), ry = average_ranks(y);
  if (x.size() < 3) return std::nullopt;
  const double middle = (static_cast<double>(x.size()) + 1) / 2;
  double xx = 0, yy = 0, xy = 0;
  for (std::size_t i = 0; i < rx.size(); ++i) {
    xx += (rx[i] - middle) * (rx[i] - middle);
    yy += (ry[i] - middle) * (ry[i] - middle);
    xy += (rx[i] - middle) * (ry[i] - middle);
  }
  if (xx == 0 || yy == 0) return std::nullopt;
  return xy / std::sqrt(xx * yy);
}

std::optional<MannWhitney> mann_whitney(std::span<const double> a, std::span<const double> b) {
  std::vector<double> all(a.begin(), a.end());
  all.insert(all.end(), b.begin(), b.end());
  const std::vector<double> ranks = average_ranks(all);
  if (a.empty() || b.empty()) return std::nullopt;
  const auto n_a = static_cast<double>(a.size()), n_b = static_cast<double>(b.size());
  const double sum_a = std::accumulate(ranks.begin(), ranks.begin() + static_cast<std::ptrdiff_t>(a.size()), 0.0);
  MannWhitney result;
  result.u = sum_a - n_a * (n_a + 1) / 2;
  result.exact = all.size() <= most_exact;
  const double n = n_a + n_b, sum_b = n * (n + 1) / 2 - sum_a;
  if (!result.exact)
    result.p = normal_p(ranks, n_a, n_b, result.u);
  else  // the smaller group: fewer subsets
    result.p = a.size() <= b.size() ? exact_p(ranks, a.size(), sum_a) : exact_p(ranks, b.size(), sum_b);
  return result;
}

}  // namespace assay::stats
