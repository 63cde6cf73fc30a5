// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Mean and spread of values as they are: for logs of few values, or values that were cleaned before. What wild values
// can't move is in robust.h. O(n); no value is looked at for being finite.
#pragma once

#include <span>

namespace assay::stats {

// NaN without a value.
double mean_of(std::span<const double> values);
// The sum of squared deviations from the mean; 0 without a value.
double squares_of(std::span<const double> values);
// The standard deviation, with n - 1; NaN for fewer than 2 values.
double sd_of(std::span<const double> values);

}  // namespace assay::stats
