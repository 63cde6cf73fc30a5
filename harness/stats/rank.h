// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Ranks. Mann-Whitney is here to check other answers and to stand in for tools that use it: it says that two sets
// differ, not by how much, and gives no verdict of ours.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace assay::stats {

// Ranks from 1; equal values share the mean of theirs. O(n log n).
std::vector<double> average_ranks(std::span<const double> values);

// Spearman (1904): Pearson's correlation of the average ranks. nullopt: fewer than 3 pairs, or one side all equal. An
// Error if the sizes differ.
std::optional<double> spearman(std::span<const double> x, std::span<const double> y);

struct MannWhitney {
  double u = 0;  // pairs in which a is above b, ties count half
  double p = 1;  // two-sided: twice the smaller tail
  bool exact = false;
};
// Mann and Whitney (1947). Up to 100 values together the exact permutation distribution of the average ranks, ties
// included (shift algorithm, Streitberg and Roehmel 1986); above, the normal approximation with tie and continuity
// correction. nullopt: one side is empty.
std::optional<MannWhitney> mann_whitney(std::span<const double> a, std::span<const double> b);

}  // namespace assay::stats
