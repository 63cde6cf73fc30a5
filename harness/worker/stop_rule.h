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

// Iterations of the next block after one of `n` took `seconds`. What disturbs us may begin or end while we measure: a
// block that overran far (4 x) makes the next one smaller, lest a case take minutes; one too short to be a sample (0.9
// x) makes it larger. Between the two it stays as it is.
bool too_short(double seconds, double block_s);
std::uint64_t next_block(std::uint64_t n, double seconds, double block_s);

}  // namespace assay
