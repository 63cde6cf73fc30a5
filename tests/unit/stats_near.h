// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Comparing numbers relatively, for reference values of other programs.
#pragma once

#include <gtest/gtest.h>

#include <cmath>

namespace assay::stats {

inline constexpr double nan = __builtin_nan("");
inline constexpr double infinity = __builtin_inf();

// The quality bar for what is exact: ten digits.
inline void expect_relative(double actual, double expected, double tolerance = 1e-10) {
  EXPECT_NEAR(actual, expected, tolerance * std::fabs(expected)) << "relative";
}

}  // namespace assay::stats
