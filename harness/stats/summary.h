// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Summaries of samples. Pure: numbers in, numbers out.
#pragma once

#include <cstdint>
#include <vector>

namespace assay {

struct Summary {
  std::uint64_t n = 0;
  double min = 0, p5 = 0, q1 = 0, median = 0, mean = 0, q3 = 0, p95 = 0, p99 = 0, max = 0, sd = 0, cv = 0;
};
// Order statistics by linear interpolation between closest ranks (Hyndman and Fan 1996, type 7); sd with n - 1.
// All fields NaN, n = 0, for no values.
Summary summarise(std::vector<double> values);

}  // namespace assay
