// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See stop_rule.h.
#include "harness/worker/stop_rule.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace assay {

void WarmUp::add(double rate, double seconds) {
  total_s_ += seconds;
  rates_.push_back(rate);
  if (rates_.size() > window) rates_.pop_front();
}

bool WarmUp::flat() const {
  if (rates_.size() < window) return false;
  const auto n = static_cast<double>(rates_.size());
  double mean_x = (n - 1) / 2, mean_y = 0;
  for (double rate : rates_) mean_y += rate / n;
  double sxx = 0, sxy = 0, syy = 0;
  for (std::size_t i = 0; i < rates_.size(); ++i) {
    const double dx = static_cast<double>(i) - mean_x, dy = rates_[i] - mean_y;
    sxx += dx * dx;
    sxy += dx * dy;
    syy += dy * dy;
  }
  const double slope = sxy / sxx;
  const double residual = std::max(0.0, syy - slope * sxy);
  const double slope_error = std::sqrt(residual / (n - 2) / sxx);
  return std::fabs(slope) * (n - 1) < 0.01 * std::fabs(mean_y) || std::fabs(slope) < 2 * slope_error;
}

bool WarmUp::finished() const { return total_s_ >= max_s_ || (total_s_ >= min_s_ && flat()); }

void StopRule::add(double rate, double seconds) {
  n_ += 1;
  total_s_ += seconds;
  const double delta = rate - mean_;
  mean_ += delta / static_cast<double>(n_);
  squares_ += delta * (rate - mean_);
}

double StopRule::relative_error() const {
  if (n_ < 2 || mean_ == 0) return std::numeric_limits<double>::quiet_NaN();
  const auto n = static_cast<double>(n_);
  return std::sqrt(squares_ / (n - 1) / n) / std::fabs(mean_);
}

std::string StopRule::reason() const {
  if (n_ >= policy_.samples_max) return "max_samples";
  // The floor on samples wins over the time limit: three samples of a long case say more than one.
  const std::uint64_t floor =
      total_s_ >= policy_.measure_max_s ? std::min<std::uint64_t>(3, policy_.samples_min) : policy_.samples_min;
  if (n_ < floor) return "";
  if (total_s_ >= policy_.measure_max_s) return "max_time";
  if (total_s_ >= policy_.measure_min_s && relative_error() < policy_.relative_error) return "relative_error";
  return "";
}

bool too_short(double seconds, double block_s) { return seconds < 0.9 * block_s; }

std::uint64_t next_block(std::uint64_t n, double seconds, double block_s) {
  if (!too_short(seconds, block_s) && seconds <= 4 * block_s) return n;
  const double wanted = static_cast<double>(n) * 1.05 * block_s / std::max(seconds, 1e-9);
  return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::min(wanted, 1e18)));
}

}  // namespace assay
