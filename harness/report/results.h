// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// A run as the console and JSON reports show it: per planned case its endings and, per metric, one value a session. The
// value of a session is the median of its samples; the value of a metric is the median over its sessions. Only MEASURED
// records give values: what failed, or was beyond its limit, is no number of this machine. Its samples are in
// records.jsonl.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/parent/coverage.h"
#include "harness/parent/run_data.h"
#include "harness/report/formats.h"
#include "harness/verdict/detect.h"

namespace assay {

struct SessionSummary {
  int session = 1, process = 1;
  Summary per_second, per_cycle;  // per_cycle.n = 0: no clock
  Flags disturbed;
};

struct MetricResults {
  Metric metric;
  std::string series, cycle_unit;
  Limit limit;  // of the last session
  std::vector<SessionSummary> sessions;

  double median() const;        // over sessions; NaN without any
  double cycle_median() const;  // the same per cycle
  // Relative half spread: of the session medians, (max - min) / (2 median), from two sessions on; of the samples,
  // (q3 - q1) / (2 median), for one.
  double spread() const;
  double share() const;  // of the limit; NaN without one
};

struct Ending {
  int session = 1, process = 1;
  Outcome outcome = Outcome::not_run;
  std::string reason, started_at;
  std::optional<Failure> failure;
  Verification verification;  // counts and evidence
  double wall_s = 0;
};

struct CaseResults {
  PlannedCase planned;
  bool in_plan = true;  // false: a record that the plan doesn't know
  int required = 0;     // sessions that must have a record: those of the plan; of an import, those in its files
  bool simulated = false;
  std::vector<Ending> endings;  // one a session that has a record
  std::vector<MetricResults> metrics;
  std::vector<Curve> curves;  // of the last session that was measured
  std::map<std::string, std::string> facts;
  int threads = 0;
  std::uint64_t host_resident_peak_bytes = 0, requested_bytes = 0;

  // Sessions with MEASURED.
  int measured() const;
  // The worst of the sessions; one without a record is NOT_RUN.
  Outcome outcome() const;
};

struct Results {
  std::vector<CaseResults> cases;  // in the order of the plan; only those with coverage `required`, and unplanned ones
  CoverageCounts counts;
  Outcome outcome = Outcome::incomplete;
  bool simulated = false;
  std::map<std::string, std::string> test_knobs;
  double warmup_s = 0, measure_s = 0, wall_s = 0;  // sums over records
  std::vector<std::string> warnings;
};

// `detector` gets every record of the plan on the way: records are read once.
Results collect(const RunData& run, Detector* detector = nullptr);

}  // namespace assay
