// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// The gates between "a worker said so" and "it was measured". Pure functions; the word of a run comes from coverage.h.
// A worker can be wrong about itself, and a file can be edited: so a MEASURED record must add up. Times, iterations,
// samples and rates are checked against each other, not only against zero.
#pragma once

#include <string>
#include <vector>

#include "harness/manifest.h"
#include "harness/record.h"

namespace assay {

// No clock runs faster: a higher one was not measured, and more iterations a second were not done. A slower one drives
// nothing that computes.
inline constexpr double slowest_clock_hz = 1e6, fastest_clock_hz = 1e11;
inline bool possible_clock(double hz) { return hz >= slowest_clock_hz && hz <= fastest_clock_hz; }

// What a MEASURED record says against itself ("series '' has 3 samples, metric bandwidth has 50"); "" when it adds up.
// Needs nothing but the record, so it serves for records that are read back as well. An imported record owes no proof
// of work, and says something against itself when it has any.
std::string contradiction(const Record& record);

// What a MEASURED record lacks as proof of work ("elements_compared is 0"); "" when it is complete. `declared` are the
// metrics that its benchmark owes.
std::string missing_proof(const Record& record, const std::vector<Metric>& declared);

// Applies the gates to a record from a worker: MEASURED with mismatches becomes FAIL; without proof of work, or at odds
// with itself, ERROR, and so does FAIL without a mismatch; with a metric beyond its physical limit, or blocks that are
// all too short, INVALID. An ending without a reason gets one, and ERROR a failure. A worker can't import:
// a record that says so becomes ERROR. Never makes a record better.
void apply_gates(Record& record, const std::vector<Metric>& declared);
// The part that needs no manifest, for records that are read back from a file.
void apply_gates(Record& record);

}  // namespace assay
