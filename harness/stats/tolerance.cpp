// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See tolerance.h.
#include "harness/stats/tolerance.h"

#include <algorithm>
#include <cmath>

#include "harness/stats/check.h"
#include "harness/stats/distributions.h"

namespace assay::stats {
namespace {

// Natrella (1963), Experimental Statistics, section 2-3.2, after Wald and Wolfowitz.
double large_sample_factor(double n, double z_coverage, double z_confidence) {
  const double a = 1 - z_confidence * z_confidence / (2 * (n - 1));
  const double b = z_coverage * z_coverage - z_confidence * z_confidence / n;
  return (z_coverage + std::sqrt(z_coverage * z_coverage - a * b)) / a;
}

}  // namespace

double tolerance_factor(std::size_t n, double coverage, double confidence) {
  const char* what = "the tolerance factor";
  require(n >= 2, what, "it needs 2 values, not {}", n);
  for (double p : {coverage, confidence})
    require(p > 0.5 && p < 1, what, "coverage and confidence lie between 0.5 and 1, not {}", p);
  const double z = normal_quantile(coverage);
  const auto count = static_cast<double>(n);
  if (n > 10000) return large_sample_factor(count, z, normal_quantile(confidence));
  return noncentral_t_quantile(confidence, count - 1, z * std::sqrt(count)) / std::sqrt(count);
}

std::vector<std::size_t> outlying_references(std::span<const double> log_values, double cut) {
  require(cut > 0, "cleaning references", "the cut is above 0");
  require_finite(log_values, "cleaning references");
  std::vector<std::size_t> outlying;
  if (log_values.size() < 4) return outlying;
  const double centre = median(log_values), scale = scaled_mad(log_values);
  for (std::size_t i = 0; scale > 0 && i < log_values.size(); ++i)
    if (std::fabs(log_values[i] - centre) > cut * scale) outlying.push_back(i);
  return outlying;
}

std::optional<ClassLimit> class_limit(const ClassReference& reference, Better better, const LimitOptions& options) {
  const char* what = "the limit of a class";
  require_finite({&reference.log_mean, 1}, what);
  require(reference.device_sd >= 0 && std::isfinite(reference.device_sd), what, "a spread is never {}",
          reference.device_sd);
  require(options.floor > 0 && options.floor <= 1, what, "the floor lies above 0 and at most 1, not {}", options.floor);
  if (reference.devices < 3) return std::nullopt;
  ClassLimit limit;
  limit.factor = tolerance_factor(reference.devices, options.coverage, options.confidence);
  limit.provisional = reference.devices < 8;
  const double by_spread = limit.factor * reference.device_sd, by_floor = std::log1p(options.floor);
  limit.by_floor = by_floor > by_spread;
  limit.log_limit = reference.log_mean + (better == Better::lower ? 1 : -1) * std::max(by_spread, by_floor);
  return limit;
}

std::optional<Interval> device_interval(std::span<const Session> sessions, const Prior& prior, double alpha) {
  require(alpha > 0 && alpha < 0.5, "a device's interval", "alpha lies between 0 and 0.5, not {}", alpha);
  const std::optional<Moderated> mean = moderated_mean(sessions, prior);
  if (!mean) return std::nullopt;
  const double half = t_quantile(1 - alpha, mean->df) * mean->error;
  return Interval{mean->mean - half, mean->mean + half};
}

Outcome against_limit(const Interval& device, const ClassLimit& limit, Better better) {
  require(device.low <= device.high, "a device's interval", "its low end is above its high end");
  const bool keeps_low = better == Better::lower ? device.low <= limit.log_limit : device.low >= limit.log_limit;
  const bool keeps_high = better == Better::lower ? device.high <= limit.log_limit : device.high >= limit.log_limit;
  if (keeps_low && keeps_high) return Outcome::pass;
  return keeps_low || keeps_high ? Outcome::inconclusive : Outcome::fail;
}

}  // namespace assay::stats
