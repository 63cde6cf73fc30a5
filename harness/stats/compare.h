// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Before against after, one metric of one device: the interval of the change against a margin.
//
//   REGRESSED      the whole interval lies beyond the margin on the worse side
//   IMPROVED       the whole interval lies beyond the margin on the better side
//   NO_REGRESSION  the whole interval lies below the margin (a smaller change may well be there)
//   INCONCLUSIVE   none of these: more sessions are needed
// and from 10 sessions a side MODE_SWITCH (sessions fall into two modes, further apart than the margin, and that may be
// all that changed), and VARIANCE_CHANGED (same place, other spread inside sessions).
//
// The method: an interval on the session level, non-inferiority against a margin (Wellek, Testing Statistical
// Hypotheses of Equivalence and Noninferiority, 2010), Student's t with a moderated variance (Smyth 2004). Guarantee,
// if session values are about normal: P(REGRESSED) <= alpha while the true change is at most the margin, and
// P(NO_REGRESSION) <= alpha while it is at least the margin.
//
// All changes here are logs on the "worse" axis: positive is worse, whether the metric is a time or a rate; 0.0296 is
// 3 % longer, or 1 / 1.03 of the rate. relative_change() turns one into what is printed.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>

#include "harness/base/outcome.h"
#include "harness/stats/session.h"
#include "harness/stats/shape.h"

namespace assay::stats {

struct CompareOptions {
  Better better = Better::lower;
  double margin = 0.02;  // as a share: 0.02 is 2 %; above 0, at most 1
  double alpha = 0.01;   // one-sided error of this look; of several looks: Look::alpha
  double power = 0.9;    // of the minimum detectable effect
  Prior prior;
  double epoch_sd = 0;  // standard deviation of what changes between two epochs without a cause (logs); 0: interleaved
  double control_shift = 0;  // change of the control cases, log(after / before) of this metric's kind: is subtracted
  double control_error = 0;  // its standard error
  std::size_t sessions_min = 0;  // a side; 0: 5 without a prior, 3 with one
  double spread_ratio = 1.5;     // VARIANCE_CHANGED: the interval of the ratio of spreads lies beyond this
};

enum class Because {
  interval,          // the words above
  too_few_sessions,  // fewer than sessions_min on a side
  no_spread,         // every sample of a side the same: that is a constant, not a measurement
  modes,
  spread,
};

struct Estimate {
  double worse = 0;          // the change
  double low = 0, high = 0;  // two-sided interval, error alpha on each side
  double session_sd = 0, df = 0, error = 0;
  // The smallest true change that would have been called REGRESSED with probability `power`: what "no regression" is
  // worth. A change, so above log(1 + margin).
  double detectable = 0;
  double p_regressed = 1;  // one-sided p of "the change is at most the margin": for benjamini_hochberg()
  bool differs = false;    // the interval leaves 0 out: a change is there, though it may be below the margin
};

struct Comparison {
  Outcome outcome = Outcome::inconclusive;
  Because because = Because::interval;
  std::optional<Estimate> estimate;       // none: no session on a side, no degree of freedom or no spread
  std::array<std::size_t, 2> sessions{};  // before, after
  // Sessions a side that would probably decide; set with INCONCLUSIVE, and where modes ask for more. nullopt: it is
  // decided, or more than 10000 would be needed (a spread that large, or an epoch_sd that no number of sessions can
  // average out).
  std::optional<std::size_t> sessions_asked;
  std::array<std::optional<Modes>, 2> modes;  // on the worse axis; found ones further apart than the margin
  std::optional<SpreadChange> spread;
};
// Values that are no finite numbers and options out of range are Errors; too little data is INCONCLUSIVE and says why.
Comparison compare(std::span<const Session> before, std::span<const Session> after, const CompareOptions& options = {});

// A change on the worse axis as a relative change of the metric: 0.0296 is +0.03 of a time, -0.0291 of a rate.
double relative_change(double worse, Better better);

// The change that a one-sided test at alpha against `margin` (both logs) finds with probability `power`: the noncentral
// t in the approximation of Johnson and Welch (1940), within 0.01 % of the exact figure at alpha 0.01 and 0.3 % at
// 0.0001.
double detectable_change(double margin, double error, double df, double alpha, double power);

// Sessions a side so that a true change `gap` (log) away from the margin is decided with probability `power`. At
// least 2. nullopt: more than 10000, or never (epoch_sd).
std::optional<std::size_t> sessions_needed(double session_sd, double gap, const CompareOptions& options);

}  // namespace assay::stats
