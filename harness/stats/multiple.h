// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Many tests at once: of 60 metrics of an unchanged machine, 60 x 0.05 = 3 are expected below 0.05.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace assay::stats {

// Benjamini and Hochberg (1995) as adjusted p-values (Yekutieli and Benjamini 1999), in the order given: a test is a
// discovery at false-discovery rate q if its adjusted value is at most q. A value outside 0..1, or NaN, is an Error: a
// metric without a p-value is left out by the caller, and said. O(n log n).
std::vector<double> benjamini_hochberg(std::span<const double> p_values);

}  // namespace assay::stats
