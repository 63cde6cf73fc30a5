// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// The gates between "a worker said so" and "it was measured", and the word of a whole run. Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/manifest.h"
#include "harness/parent/plan.h"
#include "harness/record.h"

namespace assay {

// What a MEASURED record lacks as proof of work ("elements_compared is 0"); "" when it is complete. `declared` are the
// metrics that its benchmark owes.
std::string missing_proof(const Record& record, const std::vector<Metric>& declared);

// Applies the gates to a record from a worker: MEASURED with mismatches becomes FAIL, without proof of work ERROR, with
// a metric beyond its physical limit INVALID. Never makes a record better.
void apply_gates(Record& record, const std::vector<Metric>& declared);

// Counts of case x device x session.
struct CoverageCount {
  std::uint64_t required = 0, measured = 0, fail = 0, invalid = 0, not_run = 0, error = 0;
  std::uint64_t not_applicable = 0, excluded = 0;  // of case x device
};

struct Judgement {
  Outcome outcome = Outcome::incomplete;  // MEASURED, INCOMPLETE, FAIL, ERROR
  CoverageCount coverage;
  std::vector<std::string> missing;  // required, but without a record: "CASE on DEVICE, session 2"
};
// `records` that the plan doesn't ask for, or that come twice, are an Error: they belong to another run.
Judgement judge_run(const Plan& plan, const std::vector<Record>& records);
Json to_json(const CoverageCount& coverage);

// "case name | devices | session": one required measurement.
std::string job_key(const std::string& case_name, const std::vector<std::string>& device_set, int session);

}  // namespace assay
