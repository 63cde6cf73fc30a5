// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See summary.h.
#include "harness/stats/summary.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "harness/stats/robust.h"

namespace assay {

Summary summarise(std::vector<double> values) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  values.erase(std::remove_if(values.begin(), values.end(), [](double v) { return !std::isfinite(v); }), values.end());
  if (values.empty()) return {0, nan, nan, nan, nan, nan, nan, nan, nan, nan, nan, nan};
  std::sort(values.begin(), values.end());
  const auto quantile = [&](double q) { return stats::sorted_quantile(values, q); };
  Summary s;
  s.n = values.size();
  const auto n = static_cast<double>(s.n);
  for (double v : values) s.mean += v / n;
  double squares = 0;
  for (double v : values) squares += (v - s.mean) * (v - s.mean);
  s.sd = s.n > 1 ? std::sqrt(squares / (n - 1)) : nan;
  s.cv = s.mean != 0 ? s.sd / std::fabs(s.mean) : nan;
  s.min = values.front();
  s.max = values.back();
  s.p5 = quantile(0.05);
  s.q1 = quantile(0.25);
  s.median = quantile(0.5);
  s.q3 = quantile(0.75);
  s.p95 = quantile(0.95);
  s.p99 = quantile(0.99);
  return s;
}

}  // namespace assay
