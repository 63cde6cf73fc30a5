// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Not where the values lie, but how: two modes instead of one, and a spread that changed.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "harness/stats/session.h"

namespace assay::stats {

struct Modes {
  double low = 0, high = 0;  // means of the two clusters
  std::size_t low_count = 0, high_count = 0;
  double gap() const { return high - low; }
};
// Two clusters of session values: the widest gap that leaves at least 2 values on each side is more than `factor` times
// the pooled standard deviation inside the clusters. nullopt: one mode, or fewer than 4 values. With few values chance
// alone does this often (normal values, factor 4: 6 of them 7 %, 10 of them 0.8 %; with 3, 13 % and 3 %), which is why
// below 10 sessions it may only ask for more.
std::optional<Modes> find_modes(std::span<const double> values, double factor = 4);

struct BrownForsythe {
  double f = 0, df1 = 0, df2 = 0, p = 1;
};
// Brown and Forsythe (1974): Levene's test on deviations from the medians; equality of the spread of independent
// values. nullopt: fewer than 2 groups, a group of fewer than 2, or no deviation at all. Not for samples of one
// process: they are not independent; spread_change() has the session as its unit.
std::optional<BrownForsythe> brown_forsythe(std::span<const std::vector<double>> groups);

struct SpreadChange {
  double log_ratio = 0;      // log(spread after / spread before), spread = mean absolute deviation inside a session
  double low = 0, high = 0;  // two-sided interval, error alpha on each side
  double larger = 0;         // the larger of the two spreads, in logs of the metric: 0.002 is 0.2 %
};
// Brown and Forsythe's deviations with the session as unit: each session's mean absolute deviation from its median, in
// logs, compared by a t interval over sessions. nullopt: fewer than 5 sessions a side that have at least 8 samples and
// any spread, or spreads that don't vary.
std::optional<SpreadChange> spread_change(std::span<const Session> before, std::span<const Session> after,
                                          double alpha);

}  // namespace assay::stats
