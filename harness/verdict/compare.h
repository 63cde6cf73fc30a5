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
#include "harness/stats/sequential.h"
#include "harness/verdict/baseline.h"
#include "harness/verdict/comparability.h"
#include "harness/verdict/side.h"

namespace assay {

inline constexpr double default_margin = 0.02;

struct CompareSettings {
  std::optional<double> margin;           // share; a smaller change for the worse is accepted; nullopt: default_margin
  std::map<std::string, double> margins;  // by metric name; a longer "benchmark:metric" wins over "metric"
  double alpha = 0.01;                    // one-sided, of this look
  // Of one look among several (sequential.h), by the sessions of BEFORE: instead of alpha where it is there.
  std::map<std::size_t, double> look_alpha;
  std::size_t sessions_min = 0;  // a side; 0: 5 without a prior, 3 with one
  // Where a reference of the devices' class was given: its spread between sessions moderates that of each metric it
  // has.
  std::optional<Baseline> baseline;
  std::string baseline_source;
  std::map<std::string, std::string> of_class;  // devices that are of its class, with their modes (baseline.h)
};

struct MetricVerdict {
  SideKey key;
  std::string benchmark, worker, unit;
  Better better = Better::higher;
  Outcome verdict = Outcome::inconclusive;
  std::string reason;  // one sentence, always
  double margin = 0;
  double alpha = 0;                         // one-sided error of its interval
  std::size_t before = 0, after = 0;        // sessions
  double disturbed = 0;                     // share of the samples, on the side where it is larger
  std::optional<std::size_t> asked;         // sessions a side that would probably decide
  std::optional<stats::Estimate> estimate;  // per second
  std::optional<stats::Estimate> cycles;    // the same per cycle
  std::optional<double> clock_effect;       // relative change of the clock
  std::optional<double> adjusted_p;         // Benjamini-Hochberg over all metrics; none for one of several looks
  stats::Prior prior;                       // of the axis per second; df 0: none
  // More sessions of AFTER would not change it: the interval has decided, or AFTER can't be judged at all.
  bool settled = false;

  // The margin on the axis of `estimate`: 10 % less of a rate is ln(1 / 0.9), 10 % more of a time ln(1.1).
  double allowed() const;
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

// The looks that a comparison took (sequential.h).
struct LookRow {
  std::size_t sessions = 0, open = 0;  // of AFTER; metrics that were not settled then
};
struct LooksTaken {
  std::size_t cap = 0;  // sessions of AFTER at most
  double alpha = 0;     // one-sided, of all looks together
  std::vector<LookRow> looks;
  std::map<std::size_t, std::vector<stats::Look>> boundaries;  // by the sessions of BEFORE; one for each look planned
  std::size_t first = 0;                                       // sessions of AFTER at the first of them
};

struct CompareResult {
  Outcome verdict = Outcome::inconclusive;
  std::string reason;
  bool refused = false;  // the sides may not be compared, for that reason
  std::vector<EnvironmentChange> environment;
  std::vector<MetricVerdict> metrics;  // worst first, then by name
  std::vector<MetricVerdict> nodes;    // one a metric that several devices have, over all of them; device "all"
  std::vector<SideKey> only_after;     // BEFORE doesn't have them: not judged
  std::optional<ControlShift> control;
  std::string prior_class, prior_source;  // "": no prior was given
  bool simulated = false;
  std::map<std::string, std::string> test_knobs;
  std::vector<std::string> notes;   // what a reader must know beside the verdicts
  std::optional<LooksTaken> looks;  // none: it was one look
  std::string title;                // for people: which runs, of when, and by which margin; "": nobody said
};

// Metrics without a value on a side get the word of what happened there. `environment`: see comparability.h.
CompareResult compare(const Side& before, const Side& after, const std::vector<EnvironmentChange>& environment,
                      const CompareSettings& settings);

// The same in two steps, for those who look several times: each metric on its own, then what they say together.
struct Verdicts {
  std::vector<MetricVerdict> metrics, nodes;
};
Verdicts verdicts_on(const Side& before, const Side& after, const CompareSettings& settings);
CompareResult conclude(Verdicts verdicts, const Side& before, const Side& after,
                       const std::vector<EnvironmentChange>& environment, const CompareSettings& settings);

// "1%" or "bandwidth=1.5%" into the settings. UsageError for anything else, for less than 0.01 %, more than 50 %,
// and one given twice.
void add_margin(const std::string& text, CompareSettings& settings);
// UsageError for the margin of a metric that BEFORE doesn't have.
void check_margins(const CompareSettings& settings, const Side& before);

// What stats::compare() is asked for this metric.
stats::CompareOptions options_of(const MetricVerdict& v, const CompareSettings& settings);

// The log on the worse axis of a change for the worse by `margin`, a share of the metric as it is printed.
double allowed_change(double margin, Better better);
// The margin of a metric by these settings, a share.
double margin_of(const SideKey& key, const std::string& benchmark, const CompareSettings& settings);

}  // namespace assay
