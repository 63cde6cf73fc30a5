// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Inside of the reports: one function per format, and what they share. Each format reads the records itself, once, and
// returns the outcome of the worst run.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "harness/parent/coverage.h"
#include "harness/parent/run_data.h"
#include "harness/verdict/series.h"

namespace assay {

Outcome report_console(const std::vector<RunData>& runs, std::ostream& out);
Outcome report_csv(const std::vector<RunData>& runs, std::ostream& out);
Outcome report_json(const std::vector<RunData>& runs, std::ostream& out);

// Stable; new ones come at the end. Described in results/README.md.
const std::vector<std::string>& csv_columns();

// The word of a run. When run.json and the records don't say the same (outcome, coverage, exit code), the warning
// tells, and the worse word counts, INCOMPLETE at best: a folder whose records were taken away is not MEASURED any
// more. A run that was cut before its run.json, or interrupted, is INCOMPLETE at best too, and so is one whose records
// aren't those that its last event counts.
struct Judged {
  Outcome outcome = Outcome::error;
  std::string warning;  // "" when they agree
};
Judged judge(const RunData& run, const CoverageCounts& counts);
// Samples of the series that a metric was made from: how many there are, how many have a flag, and which flags.
struct Flags {
  std::uint64_t samples = 0, flagged = 0;
  std::uint32_t seen = 0;
};
Flags flags_of(const Record& record, const MetricResult& metric);
// A line on standard error; nothing for "".
void warn(const std::string& text);

}  // namespace assay
