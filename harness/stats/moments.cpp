// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See moments.h.
#include "harness/stats/moments.h"

#include <cmath>
#include <numeric>

namespace assay::stats {

double mean_of(std::span<const double> values) {
  if (values.empty()) return std::nan("");
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double squares_of(std::span<const double> values) {
  const double mean = mean_of(values);
  double sum = 0;
  for (const double v : values) sum += (v - mean) * (v - mean);
  return sum;
}

double sd_of(std::span<const double> values) {
  if (values.size() < 2) return std::nan("");
  return std::sqrt(squares_of(values) / static_cast<double>(values.size() - 1));
}

}  // namespace assay::stats
