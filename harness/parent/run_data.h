// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Reading a run folder back. records.jsonl can be large (100,000 records of 2 kB), so it is read with simdjson.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "harness/base/json.h"
#include "harness/parent/plan.h"
#include "harness/record.h"

namespace assay {

inline constexpr const char* run_schema = "assay.run.v1";

// How far records.jsonl could be read.
struct RecordsEnd {
  std::uint64_t count = 0;
  std::uint64_t good_bytes = 0;  // length of the intact part; what follows is a damaged last line
  std::string warning;           // about the dropped last line; "" when there is none
};
struct RecordsFile : RecordsEnd {
  std::vector<Record> records;
};

// Calls `visit` for each record in the order of the file, in constant memory: reports go this way. A damaged line
// anywhere but at the end, a foreign schema version, or a record of another run (`run_id` not empty) is an Error (exit
// 3) with file and line; a damaged last line, or one without its newline, is dropped with a warning. A missing file
// reads as no records.
RecordsEnd for_each_record(const std::filesystem::path& path, const std::string& run_id,
                           const std::function<void(Record&&)>& visit);
// The same, all at once.
RecordsFile read_records(const std::filesystem::path& path, const std::string& run_id = {});
// A record in a message of a worker. Error for JSON that isn't a record of this schema, naming the field.
Record record_from_json(const Json& json);

// The objects of run.json whose fields are fixed, by JSON pointer.
const std::map<std::string, std::vector<std::string>>& run_json_fields();

struct RunData {
  std::filesystem::path folder;
  Plan plan;
  Json run;  // run.json: {schema, run_id, outcome, exit_code, started_at, finished_at, interrupted, simulated,
             // imported (null, or {format, files[]}: then environment and quiet_machine are null), test_knobs,
             // coverage{required, measured, fail, invalid, not_run, error, not_applicable, excluded} (required counts
             // case x device x session), environment{...}, build{...}, command_line, resumed, quiet_machine{...},
             // warnings[]}; null when the run was cut before it could be written

  Json ended;  // coverage, as its last event tells it; null when the run was cut before its end, or goes on

  std::filesystem::path records_path() const { return folder / "records.jsonl"; }
};

// Plan and run.json; records are read with tally_records (coverage.h).
// Error (exit 3) for a folder that isn't there or isn't a run, for a plan.json that isn't the one the run began with
// (its first event tells), and for a run.json that isn't what a run writes,
// also one with unknown fields.
RunData read_run(const std::filesystem::path& folder);

}  // namespace assay
