// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// When to stop warming up, and when enough samples are in. Two small objects with no clock of their own, so that tests
// feed them numbers.
#pragma once

#include <cstdint>
#include <deque>
#include <string>

#include "harness/protocol.h"

namespace assay {

// Warm-up ends when the rate of the last blocks no longer climbs or falls: the least-squares slope over a window of
// `window` blocks changes the rate by less than 1 % over the window, or by less than the scatter can tell (2 standard
// errors).
class WarmUp {
 public:
  WarmUp(double min_s, double max_s) : min_s_(min_s), max_s_(max_s) {}
  void add(double rate, double seconds);
  bool finished() const;
  // false: ended by its time limit while the rate was still moving
  bool flat() const;

 private:
  static constexpr std::size_t window = 6;
  double min_s_, max_s_, total_s_ = 0;
  std::deque<double> rates_;
};

// Enough: at least samples_min samples and measure_min_s seconds, and the standard error of the mean below
// relative_error; at most measure_max_s seconds or samples_max samples.
class StopRule {
 public:
  explicit StopRule(const Policy& policy) : policy_(policy) {}
  void add(double rate, double seconds);
  // "" while more is wanted, else relative_error | max_time | max_samples
  std::string reason() const;
  double relative_error() const;

 private:
  Policy policy_;
  std::uint64_t n_ = 0;
  double total_s_ = 0, mean_ = 0, squares_ = 0;  // Welford's running mean and sum of squared deviations
};

}  // namespace assay
