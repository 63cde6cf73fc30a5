// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// The judge of a run: counts its records against the coverage contract of its plan. The only place where the word of a
// run comes from; `run` writes it to run.json, `report` asks again when a run was cut before that.
// What counts for a case x device set x session is its last record (a resumed run repeats what failed); no record is
// NOT_RUN. A record that the plan doesn't know counts nothing.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "harness/base/json.h"
#include "harness/base/outcome.h"
#include "harness/parent/plan.h"
#include "harness/record.h"

namespace assay {

// required = measured + fail + invalid + not_run + error, in case x device set x session; the last two in case x device
// set.
struct CoverageCounts {
  std::uint64_t required = 0, measured = 0, fail = 0, invalid = 0, not_run = 0, error = 0;
  std::uint64_t not_applicable = 0, excluded = 0;
};
Json to_json(const CoverageCounts& counts);
// MEASURED, INCOMPLETE, FAIL or ERROR; nothing required is INCOMPLETE.
Outcome outcome_of(const CoverageCounts& counts);
// "12 required = 10 measured + 1 failed + 1 not run; 3 not applicable, 40 left out (30 by filter, 10 by budget)"
std::string coverage_line(const Plan& plan, const CoverageCounts& counts);

// "cpu:0", "cuda:0+cuda:1"
std::string device_set_name(const std::vector<std::string>& device_set);

// Keeps a reference to `plan`.
class CoverageTally {
 public:
  explicit CoverageTally(const Plan& plan);
  // Index of the planned case, or -1 for a record that the plan doesn't know.
  std::int64_t add(const Record& record);
  CoverageCounts counts() const;
  // How a required case stands in a session (from 1); nullptr: no record yet.
  const Outcome* find(std::size_t case_index, int session) const;

 private:
  struct Ending {
    bool there = false;
    Outcome outcome = Outcome::not_run;
  };
  const Plan& plan_;
  std::unordered_map<std::string, std::size_t> index_;
  std::vector<std::vector<Ending>> endings_;  // [case][session - 1]
  std::string key_;
};

}  // namespace assay
