// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See peers.h. Own code after:
//   compare.py      google/benchmark 267a111, tools/gbench/report.py (calc_utest, UTEST alpha 0.05)
//   benchstat       golang/perf 712aea8, cmd/benchstat and benchmath (AssumeNothing, alpha 0.05)
//   criterion       bheisler/criterion.rs, src/analysis/compare.rs, src/stats/{mod.rs,univariate/mixed.rs,
//                   univariate/mod.rs}, src/report.rs (compare_to_threshold on the mean)
//   nvbench         NVIDIA/nvbench 66212f1, python/scripts/nvbench_compare.py; docs/nvbench_compare_robust.md and
//                   nvbench_compare_robust.py, preset "default", summaries without --jsonbin
//   SuperBench      microsoft/superbenchmark, superbench/analyzer/diagnosis_rule_op.py and baseline_generation.py
#include "tests/aa_bench/peers.h"

#include <algorithm>
#include <cmath>

#include "harness/stats/moments.h"
#include "harness/stats/rank.h"
#include "harness/stats/robust.h"

namespace assay::aa_bench {
namespace {

using stats::mean_of;

double variance_of(Times values, double mean) {
  double sum = 0;
  for (double v : values) sum += (v - mean) * (v - mean);
  return sum / static_cast<double>(values.size() - 1);
}

Call by_sign(double difference) { return difference > 0 ? Call::worse : difference < 0 ? Call::better : Call::same; }

bool mann_whitney_differs(Times before, Times after) {
  const auto test = stats::mann_whitney(before, after);
  return test && test->p < 0.05;
}

double welch_t(Times a, Times b) {
  const double mean_a = mean_of(a), mean_b = mean_of(b);
  return (mean_a - mean_b) / std::sqrt(variance_of(a, mean_a) / static_cast<double>(a.size()) +
                                       variance_of(b, mean_b) / static_cast<double>(b.size()));
}

void resample(Times from, std::vector<double>& to, Random& random) {
  for (double& v : to) v = from[random.below(from.size())];
}

// Share of t statistics of resamples of both sides mixed that lie on the emptier side of the observed one, twice.
double bootstrapped_p(Times before, Times after, Random& random, std::size_t resamples) {
  const double observed = welch_t(after, before);
  std::vector<double> all(after.begin(), after.end());
  all.insert(all.end(), before.begin(), before.end());
  std::vector<double> drawn(all.size());
  std::size_t below = 0, usable = 0;
  for (std::size_t i = 0; i < resamples; ++i) {
    resample(all, drawn, random);
    const double t = welch_t(Times(drawn).first(after.size()), Times(drawn).subspan(after.size()));
    if (!std::isfinite(t)) continue;
    ++usable;
    below += t < observed;
  }
  return 2 * static_cast<double>(std::min(below, usable - below)) / static_cast<double>(usable);
}

struct Range {
  double low = 0, centre = 0, high = 0, spread = 0;
};
// Minimum, median, third quartile and relative interquartile range, by nearest rank as nvbench has them.
Range robust_range(Times times) {
  std::vector<double> sorted(times.begin(), times.end());
  std::sort(sorted.begin(), sorted.end());
  const auto rank = [&](std::size_t percent) { return sorted[(percent * (sorted.size() - 1) + 50) / 100]; };
  return {sorted.front(), rank(50), rank(75), (rank(75) - rank(25)) / rank(50)};
}
Range scaled(const Range& r, double by) { return {r.low * by, r.centre * by, r.high * by, r.spread}; }

Call clear_gap(const Range& before, const Range& after) {
  constexpr double gap = 0.005;
  if (after.high < before.low && (before.low - after.high) / after.high >= gap) return Call::better;
  if (after.low > before.high && (after.low - before.high) / before.high >= gap) return Call::worse;
  return Call::unknown;
}

bool much_alike(const Range& a, const Range& b) {
  constexpr double close = 0.005, overlap = 0.5;
  if (std::fabs(a.centre - b.centre) / std::min(a.centre, b.centre) > close) return false;
  const double common = std::min(a.high, b.high) - std::max(a.low, b.low);
  const double narrower = std::min(a.high - a.low, b.high - b.low);
  return narrower > 0 ? common / narrower >= overlap : common >= 0;
}

}  // namespace

// scipy's exact or approximate p (it depends on the version and on ties) decide alike for 10 values a side.
Call compare_py(Times before, Times after) {
  return mann_whitney_differs(before, after) ? by_sign(mean_of(after) - mean_of(before)) : Call::same;
}

Call benchstat(Times before, Times after) {
  return mann_whitney_differs(before, after) ? by_sign(stats::median(after) - stats::median(before)) : Call::same;
}

Call criterion(Times before, Times after, Random& random, std::size_t resamples) {
  if (!(bootstrapped_p(before, after, random, resamples) < 0.05)) return Call::same;
  // One resample of `after` serves a chunk of resamples of `before`.
  const auto chunks = static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(resamples))));
  const std::size_t chunk = (resamples + chunks - 1) / chunks;
  std::vector<double> a(after.size()), b(before.size()), changes;
  while (changes.size() < resamples) {
    resample(after, a, random);
    const double mean_a = mean_of(a);
    for (std::size_t i = 0; i < chunk && changes.size() < resamples; ++i) {
      resample(before, b, random);
      changes.push_back(mean_a / mean_of(b) - 1);
    }
  }
  constexpr double noise_threshold = 0.01;
  if (stats::quantile(changes, 0.975) < -noise_threshold) return Call::better;
  if (stats::quantile(changes, 0.025) > noise_threshold) return Call::worse;
  return Call::same;
}

Call nvbench_legacy(Times before, Times after) {
  const double mean_before = mean_of(before), mean_after = mean_of(after);
  const double noise = std::min(std::sqrt(variance_of(before, mean_before)) / mean_before,
                                std::sqrt(variance_of(after, mean_after)) / mean_after);
  const double change = (mean_after - mean_before) / mean_before;
  return std::fabs(change) <= noise ? Call::same : by_sign(change);
}

Call nvbench_robust(Times before, Times after, double clock_before, double clock_after) {
  const Range a = robust_range(before), b = robust_range(after);
  const Range cycles_a = scaled(a, clock_before), cycles_b = scaled(b, clock_after);
  const Call gap = clear_gap(a, b);
  if (gap != Call::unknown) return clear_gap(cycles_a, cycles_b) == gap ? gap : Call::unknown;
  constexpr double most_spread = 0.02;
  const bool same = much_alike(a, b) && std::max(a.spread, b.spread) <= most_spread && much_alike(cycles_a, cycles_b);
  return same ? Call::same : Call::unknown;
}

Call five_percent(Times before, Times after) {
  const double change = mean_of(after) / mean_of(before) - 1;
  return std::fabs(change) > 0.05 ? by_sign(change) : Call::same;
}

Call superbench(Times before, Times after) {
  const double baseline = mean_of(before);
  return (mean_of(after) - baseline) / baseline > 0.05 ? Call::worse : Call::same;
}

double superbench_baseline(std::vector<double> values) {
  for (;;) {
    const double baseline = mean_of(values);
    const auto dropped = std::erase_if(values, [&](double v) { return (v - baseline) / baseline > 0.05; });
    if (dropped == 0) return baseline;
  }
}

bool textbook_cusum(std::span<const double> log_throughput) {
  constexpr std::size_t reference = 60;
  constexpr double k = 0.5, h = 5;
  const Times first = log_throughput.first(reference);
  const double mean = mean_of(first), sd = std::sqrt(variance_of(first, mean));
  double sum = 0;
  for (double v : log_throughput.subspan(reference)) {
    sum = std::max(0.0, sum - (v - mean) / sd - k);
    if (sum > h) return true;
  }
  return false;
}

bool last_below_first(std::span<const double> log_throughput) {
  const std::size_t tenth = log_throughput.size() / 10;
  return mean_of(log_throughput.last(tenth)) - mean_of(log_throughput.first(tenth)) < std::log(0.95);
}

}  // namespace assay::aa_bench
