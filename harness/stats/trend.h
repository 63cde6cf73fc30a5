// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Slope and trend of a series, without assuming normal noise. They give the *number* of a decay ("0.4 % an hour"); they
// raise no alarm, because neighbouring samples of a machine resemble each other and both tests take them for
// independent (use change.h for alarms).
#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace assay::stats {

struct Trend {
  double slope = 0;          // unit of y per unit of x
  double intercept = 0;      // y at x = 0: median(y) - slope median(x)
  double low = 0, high = 0;  // confidence interval of the slope
  std::size_t points = 0;    // how many points it stands on, after thinning
};
// Theil (1950) and Sen (1968): the median of the slopes of all pairs; the interval is Sen's, from Kendall's variance
// with ties. x ascending (equal ones allowed), as many y. Pairs grow as n^2, so above 1000 points consecutive ones are
// merged into at most 1000 groups, each replaced by its medians: the slope keeps its meaning, the interval is that of
// the thinned series. nullopt: fewer than 3 points, or all x equal.
std::optional<Trend> theil_sen(std::span<const double> x, std::span<const double> y, double confidence = 0.95);

struct MannKendall {
  double s = 0;  // rising pairs minus falling pairs
  double z = 0;  // with continuity correction; 0 if all are equal
  double p = 1;  // two-sided, normal approximation
};
// Mann (1945), Kendall (1975); ties by Kendall's variance; O(n log n) as in Knight (1966). nullopt: fewer than 4
// values.
std::optional<MannKendall> mann_kendall(std::span<const double> y);

}  // namespace assay::stats
