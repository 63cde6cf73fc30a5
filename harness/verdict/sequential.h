// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Before against after while AFTER grows session by session: `assay run --against`. A verdict is looked at after each
// session from the third on, at the small error that an O'Brien-Fleming boundary (stats/sequential.h) allows to that
// look, so that all looks together are wrong no more often than the one look of `assay compare`.
//
// BEFORE is finished: its sessions are in every look, which information and degrees of freedom account for
// (stats::looks_against).
//
// A verdict that stands is kept as it was at its look: a second look at it, later and with more error to spend, would
// be one more chance to be wrong. Only a wrong result or a crash in a later session overrules it. A case whose metrics
// all stand, on all its devices, is measured no further. The alternative, all cases up to the last that is open, would
// keep the load around each case the same, but on real machines there is always a noisy case that goes to the cap, and
// everything would be measured four times for its sake. Devices stay together: a case that is loaded on all of them at
// once must stay so.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "harness/verdict/compare.h"

namespace assay {

inline constexpr std::size_t first_look = 3;  // sessions of AFTER; fewer on either side decide nothing
inline constexpr std::size_t default_cap = 12, most_cap = 50;

struct SequentialSettings {
  CompareSettings compare;  // its alpha is that of all looks together
  std::size_t cap = default_cap;
};

class Sequential {
 public:
  Sequential(Side before, const SequentialSettings& settings);
  // What the first `sessions` sessions of AFTER say; to be called for 1, 2, 3, ... in order. Before the first look only
  // what can't be judged at all is settled.
  void look(const Side& after, std::size_t sessions);
  // Metrics that more sessions may still settle; of cases that AFTER has no more sessions of, too.
  std::size_t open() const;
  std::set<std::string> open_cases() const;
  CompareResult result(const Side& after, const std::vector<EnvironmentChange>& environment) const;

 private:
  Side before_;
  SequentialSettings settings_;
  LooksTaken taken_;
  std::map<SideKey, MetricVerdict> metrics_, nodes_;  // as of their last look
};

// Metrics whose sessions scatter so much in BEFORE that, unchanged, they would be INCONCLUSIVE at the cap in half of
// all runs, or that have too few sessions there to be judged ever.
struct Doubtful {
  std::vector<SideKey> too_few, too_noisy;
};
Doubtful doubtful(const Side& before, const SequentialSettings& settings);

}  // namespace assay
