// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// The judge of a run: counts its records against the coverage contract of its plan. The only place where the word of a
// run comes from; `run` writes it to run.json, `report` asks again when a run was cut before that.
// What counts for a case x device set x session is its one record; no record is NOT_RUN. A record that the plan doesn't
// know counts nothing. Records read back are believed only as far as they prove: a second record of one session, or a
// line that is missing among them, or one that isn't of the plan's worker, parameters and seed, is an Error, since no
// run writes such a file; MEASURED without its proof is an ERROR.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "harness/base/json.h"
#include "harness/base/outcome.h"
#include "harness/parent/plan.h"
#include "harness/parent/run_data.h"
#include "harness/record.h"

namespace assay {

// required = measured + fail + invalid + not_run + error, in case x device set x session; the last two in case x device
// set.
struct CoverageCounts {
  std::uint64_t required = 0, measured = 0, fail = 0, invalid = 0, not_run = 0, error = 0;
  std::uint64_t not_applicable = 0, excluded = 0;
  bool operator==(const CoverageCounts&) const = default;
};
Json to_json(const CoverageCounts& counts);
// Json::exception for what isn't the coverage that a run writes.
CoverageCounts coverage_of(const Json& json);
// MEASURED, INCOMPLETE, FAIL or ERROR; nothing required is INCOMPLETE, and so is at best what was interrupted.
Outcome outcome_of(const CoverageCounts& counts, bool interrupted = false);
// "12 required = 10 measured + 1 failed + 1 not run; 3 not applicable, 40 left out (30 by filter, 10 by budget)"
std::string coverage_line(const Plan& plan, const CoverageCounts& counts);

// What run.json says.
struct RunWord {
  Outcome outcome = Outcome::error;
  int exit_code = 3;
  bool interrupted = false;
  CoverageCounts coverage;
  // Do records with these counts say the same?
  bool agrees(const CoverageCounts& counts) const;
};
// Error or Json::exception for what no run writes.
RunWord run_word(const Json& run);
// Why records with these counts aren't those that the run ended with, by its last event: "events.jsonl says ...". ""
// when they are, or when the run has no end yet.
std::string unlike_its_end(const RunData& run, const CoverageCounts& counts);

// "cpu:0", "cuda:0+cuda:1"
std::string device_set_name(const std::vector<std::string>& device_set);

// Keeps a reference to `plan`.
class CoverageTally {
 public:
  explicit CoverageTally(const Plan& plan);
  // Index of the planned case, or -1 for a record that the plan doesn't know. Error for a record that no run can have
  // written here: its sequence isn't the next, its session is beyond the plan, or the session has its record already.
  std::int64_t add(const Record& record);
  // Records added.
  std::uint64_t size() const { return size_; }
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
  std::uint64_t size_ = 0;
};

// Reads the records of a run into `tally`, each through the gates (gates.h), and shows them to `visit` with what
// add() returned. Error (exit 3) with file and line; else as for_each_record.
RecordsEnd tally_records(const RunData& run, CoverageTally& tally,
                         const std::function<void(std::int64_t index, Record&&)>& visit);

}  // namespace assay
