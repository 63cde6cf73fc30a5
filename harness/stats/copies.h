// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// One measurement that is written down twice is no second one. Two sessions are a copy when all their samples agree,
// one by one, and that can't be chance: coarse timers make honest sessions agree, too, so how often two samples of one
// session agree anyway is counted first. An export that rounds, or a unit that was converted, makes no other
// measurement; nor does another order of the same samples. What no longer agrees within 2 % of the samples' spread is
// not found.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace assay::stats {

// The samples of one session: of each of its metrics. The same metric has the same place in all sessions; it may be
// empty. Views into the caller's samples.
using SessionSamples = std::vector<std::span<const double>>;
inline SessionSamples of_one_metric(std::span<const double> samples) { return {samples}; }

// Two sessions (their places, ascending) that are copies of each other; nullopt: none are. Honest sessions come out so
// once in 10^9 pairs, and any of many in one of 10^7 searches. Fewer than 3 samples prove nothing. O(n log n) in all
// samples, but for what is really alike.
std::optional<std::pair<std::size_t, std::size_t>> find_copy(std::span<const SessionSamples> sessions);

// Is a good half of the sessions of the shorter side found on the other side, and are they copies, taken together?
// Sessions of one sample count, too, if there are three. For one metric.
bool holds_copies(std::span<const SessionSamples> before, std::span<const SessionSamples> after);

}  // namespace assay::stats
