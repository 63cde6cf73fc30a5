// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Location, scale and quantiles that a few wild values can't move.
// Shapes: samples in any order and any unit; results in the same unit. Cost: O(n) for one order statistic, O(n log n)
// for an interval. Errors: a value that isn't finite, or no value at all where one is needed, is an Error.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace assay::stats {

struct Interval {
  double low = 0, high = 0;
};

// Quantile q of 0..1 by linear interpolation between closest ranks (Hyndman and Fan 1996, type 7).
double quantile(std::span<const double> values, double q);
// The same of values that are sorted already and known to be finite.
double sorted_quantile(std::span<const double> sorted, double q);
double median(std::span<const double> values);

// Median absolute deviation from the median, times 1 / Phi^-1(3/4) = 1.4826: the standard deviation if the values are
// normal (Hampel 1974). 0 if more than half of them are equal.
double scaled_mad(std::span<const double> values);

// Distribution-free interval of the quantile q: the two order statistics whose ranks leave at most (1 - confidence) / 2
// of Binomial(n, q) outside on each side (Thompson 1936; Conover, Practical Nonparametric Statistics, 1999, section
// 3.2), so its true coverage is at least `confidence`. nullopt: so few values can't give it (the median at 95 % needs
// 6).
std::optional<Interval> quantile_interval(std::span<const double> values, double q, double confidence);

}  // namespace assay::stats
