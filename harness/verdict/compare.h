// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// The verdict on before and after. BEFORE says what must be there: a metric that AFTER lacks is NOT_RUN, never passed
// over. The unit is the session (stats/compare.h has the method). Both axes are judged: what a user gets is the axis
// per second, and the axis per cycle tells whether the clock explains it. A change that is common to everything (a new
// epoch, a slower machine) moves all metrics: control.h has what is made of that.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "harness/base/outcome.h"
#include "harness/stats/compare.h"
#include "harness/verdict/baseline.h"
#include "harness/verdict/comparability.h"
#include "harness/verdict/side.h"

namespace assay {

inline constexpr double default_margin = 0.02;

struct CompareSettings {
  std::optional<double> margin;           // share; a smaller change for the worse is accepted; nullopt: default_margin
  std::map<std::string, double> margins;  // by metric name; a longer "benchmark:metric" wins over "metric"
  double alpha = 0.01;                    // one-sided, of this look
  // Where a reference of the devices' class was given: its spread between sessions moderates that of each metric it
  // has.
  std::optional<Baseline> baseline;
  std::string baseline_source;
  std::set<std::string> of_class;  // devices that are of its class
};

struct MetricVerdict {
  SideKey key;
  std::string benchmark, unit;
  Better better = Better::higher;
  Outcome verdict = Outcome::inconclusive;
  std::string reason;  // one sentence, always
  double margin = 0;
  std::size_t before = 0, after = 0;        // sessions
  double disturbed = 0;                     // share of the samples, on the side where it is larger
  std::optional<std::size_t> asked;         // sessions a side that would probably decide
  std::optional<stats::Estimate> estimate;  // per second
  std::optional<stats::Estimate> cycles;    // the same per cycle
  std::optional<double> clock_effect;       // relative change of the clock
  std::optional<double> adjusted_p;         // Benjamini-Hochberg over all metrics
  stats::Prior prior;                       // of the axis per second; df 0: none

  // Relative changes of the metric as it is printed: +0.03 is 3 % more.
  double effect() const;
  std::pair<double, double> interval() const;  // ascending
  double detectable() const;                   // without sign
};

struct ControlShift {
  double shift = 0, low = 0, high = 0;  // relative change of speed, all control cases together; 99 %
  double log_shift = 0, error = 0;      // the same as a log, and its standard error
  std::size_t cases = 0;
};

struct CompareResult {
  Outcome verdict = Outcome::inconclusive;
  std::string reason;
  std::vector<EnvironmentChange> environment;
  std::vector<MetricVerdict> metrics;  // worst first, then by name
  std::vector<MetricVerdict> nodes;    // one a metric that several devices have, over all of them; device "all"
  std::vector<SideKey> only_after;     // BEFORE doesn't have them: not judged
  std::optional<ControlShift> control;
  std::string prior_class, prior_source;  // "": no prior was given
  bool simulated = false;
  std::map<std::string, std::string> test_knobs;
};

// Metrics without a value on a side get the word of what happened there. `environment`: see comparability.h.
CompareResult compare(const Side& before, const Side& after, const std::vector<EnvironmentChange>& environment,
                      const CompareSettings& settings);

// "1%" or "bandwidth=1.5%" into the settings. UsageError for anything else, for 0, more than 50 %, and one given twice.
void add_margin(const std::string& text, CompareSettings& settings);
// UsageError for the margin of a metric that BEFORE doesn't have.
void check_margins(const CompareSettings& settings, const Side& before);

// What stats::compare() is asked for this metric.
stats::CompareOptions options_of(const MetricVerdict& v, const CompareSettings& settings);

}  // namespace assay
