// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See multiple.h.
#include "harness/stats/multiple.h"

#include <algorithm>
#include <numeric>

#include "harness/stats/check.h"

namespace assay::stats {

std::vector<double> benjamini_hochberg(std::span<const double> p_values) {
  for (double p : p_values) require(p >= 0 && p <= 1, "Benjamini-Hochberg", "a p-value is never {}", p);
  std::vector<std::size_t> order(p_values.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return p_values[a] > p_values[b]; });
  std::vector<double> adjusted(p_values.size());
  double least = 1;
  for (std::size_t i = 0; i < order.size(); ++i) {  // from the largest down
    const auto rank = static_cast<double>(order.size() - i);
    least = std::min(least, p_values[order[i]] * static_cast<double>(order.size()) / rank);
    adjusted[order[i]] = least;
  }
  return adjusted;
}

}  // namespace assay::stats
