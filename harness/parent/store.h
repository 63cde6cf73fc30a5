// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Writing a run folder. plan.json comes first, whole or not at all; then records.jsonl and events.jsonl grow by one
// write() a line, each followed by an fsync; telemetry.jsonl grows without; run.json comes last, whole or not at all.
// So a run that is cut at any moment leaves whole lines and at most one damaged last line. Reading is in run_data.h.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "harness/base/error.h"
#include "harness/base/file.h"
#include "harness/base/json.h"
#include "harness/parent/plan.h"
#include "harness/record.h"

namespace assay {

inline constexpr const char* event_schema = "assay.event.v1";
inline constexpr const char* telemetry_schema = "assay.telemetry.v1";

// One line of events.jsonl; what doesn't apply stays empty and is written as null.
struct Event {
  // run_begin | run_resume | look | run_end | worker_start | worker_exit | failure | interrupt | warning
  std::string kind;
  std::string text;  // one sentence for people
  // run_begin: XXH3 of plan.json; run_end: the coverage of the run, as in run.json; look: of a run against another,
  // after `session`: {"decided": [cases, by name, that are measured no further]}
  std::string detail;
  std::string case_name, worker;
  std::vector<std::string> device_set;
  int session = 0, process = 0;
  pid_t pid = 0;
};

// What couldn't be stored: a full disk, a limit. Nobody's case is to blame for it: it ends the run (exit 3).
class StoreError : public Error {
 public:
  using Error::Error;
};

// A file that only grows. A line is written by one write(); when that fails half way (disk full), the file is cut back
// to its last whole line and a StoreError is thrown.
class LineFile {
 public:
  LineFile(std::filesystem::path path, bool durable);
  void append(const std::string& text);
  int fd() const { return file_.get(); }

 private:
  std::filesystem::path path_;
  Descriptor file_;
  bool durable_;
};

class Store {
 public:
  // A new folder (or an empty one that is there) with plan.json in it. Error when it isn't empty, can't be written, or
  // another assay is at it: of several at the same instant exactly one goes on, the others have touched nothing.
  static Store create(const std::filesystem::path& folder, const Plan& plan);
  // Continues a folder: damaged last lines are cut off (records.jsonl to `good_bytes`), then it only grows.
  static Store reopen(const std::filesystem::path& folder, const Plan& plan, std::uint64_t good_bytes,
                      std::uint64_t next_sequence);

  // Sets run_id and sequence. Once it returns, the record survives a power cut.
  void append(Record& record);
  // The same for many at once, with one write: for records that cost nothing to get again.
  void append(std::vector<Record>& records);
  void event(const Event& event);
  void telemetry(Json values);
  void write_run(const Json& run);
  const std::filesystem::path& folder() const { return folder_; }

 private:
  Store(Descriptor lock, const std::filesystem::path& folder, const Plan& plan, std::uint64_t next_sequence);
  Descriptor lock_;  // of the folder, held as long as the run lives
  std::filesystem::path folder_;
  std::string run_id_;
  std::uint64_t sequence_;
  LineFile records_, events_, telemetry_;
};

// XXH3 of the plan a folder was begun with, from its first event; "" when that line isn't there.
std::string begun_plan_xxh3(const std::filesystem::path& folder);
// The coverage that the last event of the run tells, when that is its end; null for a run that didn't come to it, or
// was resumed since.
Json ended_coverage(const std::filesystem::path& folder);
// Puts into the plan of a run against another what its looks have decided, as its events tell. A look that can't be
// read decides nothing.
void read_looks(const std::filesystem::path& folder, Plan& plan);

}  // namespace assay
