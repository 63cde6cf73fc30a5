// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See change.h.
#include "harness/stats/change.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "harness/stats/check.h"
#include "harness/stats/moments.h"
#include "harness/stats/robust.h"
#include "harness/stats/trend.h"

namespace assay::stats {
namespace {

// Robust scales are taken 1.25 times: from 12 values they are that much too small one time in four.
constexpr double caution = 1.25;

double spread_of(std::span<const double> reference, double floor) {
  std::vector<double> differences;
  for (std::size_t i = 1; i < reference.size(); ++i) differences.push_back(reference[i] - reference[i - 1]);
  return caution * std::max({scaled_mad(reference), scaled_mad(differences) / std::sqrt(2.0), floor});
}

// Most of the deepest drop around the alarm happened within two blocks (a change rarely begins where a block does).
bool is_sudden(std::span<const double> blocks, std::size_t start, std::size_t alarm, double reference) {
  constexpr std::size_t beyond = 6;
  double deepest = 0, steepest = 0;
  for (std::size_t i = start; i < std::min(blocks.size(), alarm + beyond + 1); ++i) {
    deepest = std::max(deepest, reference - (blocks[i] + blocks[i - 1]) / 2);
    steepest = std::max(steepest, blocks[i - 2] - blocks[i]);
  }
  deepest = std::max(deepest, reference - blocks[alarm]);
  return steepest >= deepest * 2 / 3;
}

void check(const ChangeOptions& o) {
  const char* what = "a change detector";
  require(o.reference_blocks >= 4, what, "the reference has at least 4 blocks");
  require(o.smallest > 0 && o.smallest < 1, what, "the smallest drop is a share, not {}", o.smallest);
  for (double v : {o.threshold, o.allowance, o.spread_floor})
    require(v > 0 && std::isfinite(v), what, "threshold, allowance and spread floor are above 0");
  require(o.widening >= 1 && std::isfinite(o.widening), what, "the spread is widened, not narrowed");
}

}  // namespace

std::optional<ChangeResult> detect_drop(std::span<const double> blocks, const ChangeOptions& options) {
  check(options);
  require_finite(blocks, "a change detector");
  const std::size_t n = options.reference_blocks;
  if (blocks.size() <= n) return std::nullopt;
  ChangeResult result;
  result.reference = median(blocks.first(n));
  result.spread = options.widening * spread_of(blocks.first(n), options.spread_floor);
  const double s = result.spread, least = -std::log1p(-options.smallest);
  const double allowance = std::max(options.allowance, least / (2 * s)) + caution / std::sqrt(static_cast<double>(n));
  double sum = 0, deviations = 0;
  std::size_t start = n;
  for (std::size_t i = n; i < blocks.size(); ++i) {
    const double deviation = blocks[i] - result.reference;
    if (sum == 0) {  // the change, if there is one, begins here
      start = i;
      deviations = 0;
    }
    sum = std::max(0.0, sum - deviation / s - allowance);
    deviations += deviation;
    const auto length = static_cast<double>(i - start + 1);
    const double shift = deviations / length;
    if (sum > options.threshold && shift < -least && shift < -3 * s / std::sqrt(length)) {
      result.alarm = Alarm{start, i, shift, is_sudden(blocks, start, i, result.reference)};
      break;
    }
  }
  return result;
}

std::optional<std::size_t> steady_start(std::span<const double> blocks) {
  require_finite(blocks, "the search for a steady state");
  constexpr std::size_t window = 10;
  constexpr double level = 0.001;
  std::vector<double> x(window);
  std::iota(x.begin(), x.end(), 0);
  for (std::size_t i = 0; i + window <= blocks.size(); ++i) {
    const std::optional<Trend> trend = theil_sen(x, blocks.subspan(i, window));
    if (std::fabs(trend->slope) < level || (trend->low <= 0 && trend->high >= 0)) return i + window;
  }
  return std::nullopt;
}

Blocks blocks_of(std::span<const double> values, std::size_t per_block) {
  require(per_block >= 1, "blocks", "a block has at least 1 sample");
  require_finite(values, "blocks");
  Blocks blocks;
  for (std::size_t i = 0; i + per_block <= values.size(); i += per_block) {
    blocks.mean.push_back(mean_of(values.subspan(i, per_block)));
    blocks.low.push_back(quantile(values.subspan(i, per_block), 0.2));
  }
  return blocks;
}

std::optional<Watch> watch(std::span<const double> values, std::size_t per_block, const ChangeOptions& options) {
  const Blocks blocks = blocks_of(values, per_block);
  const std::optional<std::size_t> start = steady_start(blocks.mean);
  if (!start) return std::nullopt;
  ChangeOptions low_options = options;
  low_options.smallest = 2 * options.smallest;
  auto means = detect_drop(std::span(blocks.mean).subspan(*start), options);
  auto lows = detect_drop(std::span(blocks.low).subspan(*start), low_options);
  if (!means || !lows) return std::nullopt;
  for (ChangeResult* result : {&*means, &*lows})
    if (result->alarm) {
      result->alarm->start += *start;
      result->alarm->alarm += *start;
    }
  return Watch{*start, *means, *lows};
}

}  // namespace assay::stats
