// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See series.h.
#include "harness/verdict/series.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "harness/base/text.h"
#include "harness/record.h"
#include "harness/stats/change.h"
#include "harness/stats/moments.h"
#include "harness/stats/serial.h"
#include "harness/stats/trend.h"

namespace assay {
namespace {

constexpr double longest_block_s = 10;
constexpr std::size_t enough_blocks = 60, longest_reference = 60;
constexpr std::size_t least_per_block = 2;  // single samples resemble their neighbours too much

// Logs in which down is worse.
std::vector<double> logs_of(const TimedSeries& series) {
  std::vector<double> logs;
  for (const double value : series.values)
    logs.push_back(series.better == Better::higher ? std::log(value) : -std::log(value));
  return logs;
}

std::size_t samples_per_block(const TimedSeries& series) {
  const std::size_t n = series.values.size();
  std::size_t most = std::max(least_per_block, n / enough_blocks);
  if (series.at_s.size() != n || n < 2) return most;
  const double step_s = (series.at_s.back() - series.at_s.front()) / static_cast<double>(n - 1);
  if (step_s > 0)
    most = std::min(most, std::max(least_per_block, static_cast<std::size_t>(longest_block_s / step_s + 1e-6)));
  return most;
}

// The change in blocks: which belong to it.
struct Slow {
  const stats::Alarm* alarm = nullptr;
  const std::vector<double>* blocks = nullptr;
  double limit = 0;                // blocks below it are slow
  std::size_t begin = 0, end = 0;  // of the slow blocks: first, and one beyond the last
  bool has(std::size_t block) const { return block >= begin && block < end && (*blocks)[block] < limit; }
};

// The means decide where both see something: their blocks are less noisy than low quantiles.
Slow slow_part(const stats::Watch& watch, const stats::Blocks& blocks) {
  Slow slow;
  const stats::ChangeResult& result = watch.means.alarm ? watch.means : watch.lows;
  slow.alarm = &*result.alarm;
  slow.blocks = watch.means.alarm ? &blocks.mean : &blocks.low;
  slow.limit = result.reference + result.alarm->shift / 2;
  slow.begin = result.alarm->start;
  slow.end = slow.blocks->size();
  while (slow.end > result.alarm->alarm + 1 && !slow.has(slow.end - 1)) --slow.end;
  return slow;
}

// What is left of the blocks when each of two parts is taken for itself: its mean, or its line.
std::vector<double> residuals(std::span<const double> blocks, const std::vector<bool>& second, bool lines) {
  std::vector<double> x[2], y[2], left;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    x[second[i]].push_back(static_cast<double>(i));
    y[second[i]].push_back(blocks[i]);
  }
  std::optional<stats::Trend> line[2];
  for (int part : {0, 1})
    if (lines) line[part] = stats::theil_sen(x[part], y[part]);
  const double mean[2] = {stats::mean_of(y[0]), stats::mean_of(y[1])};
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const auto& fit = line[second[i]];
    left.push_back(blocks[i] - (fit ? fit->intercept + fit->slope * static_cast<double>(i) : mean[second[i]]));
  }
  return left;
}

// How much wider the spread is than the 12 blocks of the reference let it seem, for the sum of many blocks. All blocks
// show it, once the change is taken out, as a level of the slow ones or as a slope since it began, whichever fits
// better: by their own spread, and by how much neighbours resemble each other: a sum of blocks with lag-1 correlation
// r spreads sqrt((1 + r) / (1 - r)) times as far.
double widening(std::span<const double> blocks, std::size_t first, double spread, const Slow& slow) {
  std::vector<bool> level, since;
  for (std::size_t i = first; i < blocks.size(); ++i) {
    level.push_back(slow.has(i));
    since.push_back(i >= slow.begin);
  }
  const auto squares = [](const std::vector<double>& v) {
    return std::inner_product(v.begin(), v.end(), v.begin(), 0.0);
  };
  std::vector<double> left = residuals(blocks.subspan(first), level, false);
  const std::vector<double> other = residuals(blocks.subspan(first), since, true);
  if (squares(other) < squares(left)) left = other;
  const double r = stats::mean_ar1(left)->rho, n = static_cast<double>(left.size());
  const double corrected = std::clamp(r + (1 + 3 * r) / n, 0.0, 0.95);  // for its bias (Kendall 1954)
  return std::max(1.0, stats::scaled_mad(left) / spread) * std::sqrt((1 + corrected) / (1 - corrected));
}

double median_of(const std::vector<double>& values, const std::vector<std::size_t>& at, double (*map)(double)) {
  std::vector<double> chosen;
  for (const std::size_t i : at)
    if (i < values.size() && std::isfinite(map(values[i]))) chosen.push_back(map(values[i]));
  return 2 * chosen.size() > at.size() ? stats::median(chosen) : std::nan("");
}

// How far the rate is from the reference in the slow part, in logs, with an interval where there are enough blocks.
void measure(const Slow& slow, const stats::ChangeResult& reference, std::size_t reference_blocks, Change& change) {
  std::vector<double> x, y;
  for (std::size_t i = slow.begin; i < slow.end; ++i)
    if (slow.has(i)) {
      x.push_back(static_cast<double>(i));
      y.push_back((*slow.blocks)[i] - reference.reference);
    }
  const double uncertain = 2 * reference.spread / std::sqrt(static_cast<double>(reference_blocks));
  std::optional<stats::Interval> logs;
  double log_change = y.empty() ? slow.alarm->shift : stats::median(y);
  if (!slow.alarm->sudden && y.size() >= 6) {
    const stats::Trend line = *stats::theil_sen(x, y);
    const double rest = x.back() - stats::median(x), middle = stats::median(y);
    log_change = middle + line.slope * rest;
    logs = {middle + line.low * rest, middle + line.high * rest};
  } else if (const auto interval = y.empty() ? std::nullopt : stats::quantile_interval(y, 0.5, 0.95)) {
    logs = interval;
  }
  change.change = std::expm1(log_change);
  if (logs) change.interval = {std::expm1(logs->low - uncertain), std::expm1(logs->high + uncertain)};
}

Change describe(const TimedSeries& series, const std::vector<double>& logs, const stats::Watch& watch, const Slow& slow,
                std::size_t per_block, std::size_t reference_blocks) {
  Change change;
  const bool dips = !watch.means.alarm;
  std::vector<std::size_t> before, since;
  for (std::size_t i = watch.first_block * per_block; i < (watch.first_block + reference_blocks) * per_block; ++i)
    before.push_back(i);
  for (std::size_t i = slow.begin * per_block; i < slow.end * per_block; ++i)
    if (slow.has(i / per_block) && (!dips || logs[i] < slow.limit)) since.push_back(i);
  change.first = slow.begin * per_block;
  change.last = slow.end * per_block;
  change.seen = (slow.alarm->alarm + 1) * per_block;
  change.sudden = slow.alarm->sudden;
  change.lasting = slow.end == slow.blocks->size();
  measure(slow, dips ? watch.lows : watch.means, reference_blocks, change);
  const auto log_of = [](double v) { return v > 0 ? std::log(v) : std::nan(""); };
  const auto self = [](double v) { return v; };
  const double clock = median_of(series.clock_hz, since, log_of) - median_of(series.clock_hz, before, log_of);
  if (std::isfinite(clock)) change.clock_change = std::expm1(clock);
  const double warmer = median_of(series.celsius, since, self) - median_of(series.celsius, before, self);
  if (std::isfinite(warmer)) change.celsius_change = warmer;
  if (series.flags.size() != series.values.size() || since.empty()) return change;
  double throttled = 0, disturbed = 0;
  for (const std::size_t i : since) {
    throttled += (series.flags[i] & disturbed::throttled) != 0;
    disturbed += (series.flags[i] & foreign_disturbances()) != 0;
    change.disturbances |= series.flags[i] & foreign_disturbances();
  }
  change.throttled = throttled / static_cast<double>(since.size());
  change.disturbed = disturbed / static_cast<double>(since.size());
  return change;
}

// Did the rate fall, and stay there, while it was still being taken for its own reference? At least 3 blocks on both
// sides, and a step of 2 % and of 6 standard deviations: what is smaller is left to the detectors.
bool fell_early(std::span<const double> blocks) {
  constexpr std::size_t least = 3;
  for (std::size_t at = least; at + least <= blocks.size(); ++at) {
    const auto before = blocks.first(at), after = blocks.subspan(at);
    const double was = stats::median(before), is = stats::median(after);
    if (was - is < std::log1p(0.02)) continue;
    std::vector<double> left;
    for (const double block : before) left.push_back(block - was);
    for (const double block : after) left.push_back(block - is);
    if (was - is > 6 * stats::scaled_mad(left)) return true;
  }
  return false;
}

bool all_above_zero(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v) && v > 0; });
}

}  // namespace

std::uint32_t foreign_disturbances() {
  return disturbed::involuntary_switches | disturbed::run_delay | disturbed::steal | disturbed::foreign_load |
         disturbed::shared_core;
}

std::string disturbed_text(std::uint32_t mask, std::string_view separator) {
  std::vector<std::string> names;
  for (std::size_t bit = 0; bit < disturbed_names().size(); ++bit)
    if ((mask >> bit & 1U) != 0) names.push_back(disturbed_names()[bit]);
  return join(names, separator);
}

bool Change::throttle() const {
  if (throttled >= 0.5) return true;
  if (clock_change) return std::log1p(*clock_change) <= std::log1p(change) / 2;
  return celsius_change && *celsius_change >= 5;
}

SeriesLook look_at(const TimedSeries& series) {
  SeriesLook result;
  result.samples = series.values.size();
  if (!all_above_zero(series.values)) {
    result.look = Look::unusable;
    return result;
  }
  if (result.samples < shortest_series) return result;
  const std::vector<double> logs = logs_of(series);
  result.per_block = samples_per_block(series);
  stats::ChangeOptions options;
  const stats::Blocks blocks = stats::blocks_of(logs, result.per_block);
  // The longer the watch, the surer its reference must be: of 12 blocks, one series of 24 h in 8 raised a false alarm.
  options.reference_blocks = std::clamp(blocks.mean.size() / 50, options.reference_blocks, longest_reference);
  if (!stats::steady_start(blocks.mean)) {
    result.look = Look::unsteady;
    return result;
  }
  auto watched = stats::watch(logs, result.per_block, options);
  if (!watched) return result;
  const std::size_t behind = watched->first_block + options.reference_blocks;
  result.blocks = blocks.mean.size() - behind;
  result.watched = static_cast<double>(result.blocks) / static_cast<double>(blocks.mean.size());
  if (fell_early(std::span(blocks.mean).first(behind))) {
    result.look = Look::unsteady;
    return result;
  }
  if (watched->alarm()) {
    options.widening = widening(blocks.mean, watched->first_block, watched->means.spread, slow_part(*watched, blocks));
    watched = stats::watch(logs, result.per_block, options);
  }
  if (watched->alarm()) {
    const Slow slow = slow_part(*watched, blocks);
    result.change = describe(series, logs, *watched, slow, result.per_block, options.reference_blocks);
  }
  if (result.change || result.blocks >= options.reference_blocks) result.look = Look::examined;
  return result;
}

}  // namespace assay
