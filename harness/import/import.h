// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// What other tools measured, as records. One file of this folder is one format: it defines an ImportFormat and
// registers it with REGISTER_IMPORT; there is no list to edit. How to read what comes out: a session is one process of
// the other tool, a sample is what it repeated inside that process, and the id of a device is the identity that the
// file has for it. Nothing of the work was seen here, so such a record has `imported` set, proves nothing (gates.h sees
// to that), and no limit is known.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "harness/base/clock.h"
#include "harness/base/json.h"
#include "harness/parent/plan.h"
#include "harness/record.h"

namespace assay {

// The same as a run folder that was read back.
struct ImportedRun {
  Plan plan;                       // imported (files, environments), devices, cases, sessions
  std::vector<Record> records;     // in the order of the cases, then of the sessions
  std::vector<std::string> notes;  // sentences: what was left out
  std::string one_process;         // what the numbers of a single process can't tell; "": there are several
};

// Reads `files` of one format into one run: where a file is one process, each is a session, in this order. With format
// "" it is recognised by content. All that a device has in one session it owes in each of its sessions, and devices of
// one machine owe the same sessions: what is missing is NOT_RUN, as it would be in a run of our own. Error (exit 3)
// with file and place for whatever can't be read, for the same content or the same values twice, and when there is
// nothing to import; UsageError for a format that isn't known.
ImportedRun import_files(const std::vector<std::filesystem::path>& files, const std::string& format = {});
inline ImportedRun import_file(const std::filesystem::path& file) { return import_files({file}); }
// Can import_file() read it? False also for what isn't a file.
bool is_importable(const std::filesystem::path& file);
// "csv", ...: sorted.
std::vector<std::string> import_formats();
// "csv: a table with one row a sample\n..." for the help.
std::string import_formats_text();

// --- for formats ---------------------------------------------------------------------------------------------------

// A file that was read once: what was hashed is what is parsed.
struct ImportText {
  std::string name, text;
};

struct ImportPlace {
  std::string device, benchmark, case_name;  // case_name: from full_case_name()
};

class ImportBuilder {
 public:
  ImportBuilder(const std::string& format, const std::vector<ImportText>& files, bool files_are_processes = false);

  ImportedFile& file(std::size_t index) { return run_.plan.imported->files[index]; }
  // The device with this identity, new with it as id and name.
  DeviceInfo& device(const std::string& id);
  // What the file says of the device in a session. More than one value among its sessions is "mixed", which is like
  // nothing (comparability.h).
  void label(const std::string& device, const std::string& name, const std::string& value, std::uint64_t session);
  std::vector<std::string> device_ids() const;
  // The record of a case in a session as the file numbers it; one that isn't there begins as MEASURED and without
  // metrics. Error when it began in another file.
  Record& record(std::size_t file, const ImportPlace& place, std::uint64_t session);
  bool has_record(const ImportPlace& place, std::uint64_t session) const;
  // The tool left the case out, for this reason of its own.
  void skip(std::size_t file, const ImportPlace& place, std::uint64_t session, const std::string& reason);
  // The device was there in this session, and owes its cases.
  void owe(std::size_t file, const std::string& device, std::uint64_t session);
  // They are of one machine: if two of them share a session, each owes all sessions that any of them has. If none do,
  // the numbers tell processes of one device each.
  void owe_together(const std::vector<std::string>& devices);
  // A metric that can't be told in one session of a case is none in any.
  void drop_metric(const ImportPlace& place, const std::string& metric) {
    dropped_.emplace(place.device, place.case_name, metric);
  }
  void note(const std::string& sentence) { run_.notes.push_back(sentence); }
  // Error when nothing was found.
  ImportedRun finish();

 private:
  struct Skip {
    std::size_t file = 0;
    ImportPlace place;
    std::uint64_t session = 1;
    std::string reason;
  };
  void drop_metrics();
  void join_machines();
  void plan_cases();
  void plan_skipped();
  void fill_holes();
  void fill_labels();
  void drop_idle_devices();
  void sort_and_number();

  ImportedRun run_;
  std::map<std::string, std::size_t> devices_;  // id -> index
  std::map<std::string, std::size_t> records_;  // device, case, session -> index
  std::vector<std::uint64_t> written_;          // the session of each record, as the file numbers it
  // device -> session as written -> the file that has it
  std::map<std::string, std::map<std::uint64_t, std::size_t>> sessions_;
  std::vector<std::vector<std::string>> machines_;
  std::set<std::tuple<std::string, std::string, std::string>> dropped_;  // device, case, metric
  // device, name -> value -> sessions
  std::map<std::pair<std::string, std::string>, std::map<std::string, std::set<std::uint64_t>>> labels_;
  std::map<std::string, std::string> owners_;  // case -> benchmark
  std::vector<Skip> skips_;
  bool files_are_processes_ = false;
};

// "benchmark/case", or `case_text` itself when it begins with the benchmark: unique among all benchmarks.
std::string full_case_name(const std::string& benchmark, const std::string& case_text);
// Values in `unit` as written become a metric in SI base units. `clock_hz` has one entry a value, or is empty; a rate
// or a time then has a value per cycle too. Error, with the file, for a value that no number can hold.
void add_metric(Record& record, const std::string& name, const std::string& unit, Better better,
                std::vector<double> values, const std::vector<double>& clock_hz = {});
// The sessions (by place) of which one is the other's copy (stats/copies.h): of each session its metrics of each case,
// by any name that is the same in all of them.
using NamedSamples = std::map<std::pair<std::string, std::string>, std::vector<double>>;
std::optional<std::pair<std::size_t, std::size_t>> find_copied_session(const std::vector<NamedSamples>& sessions);
// Turns it into an ERROR without numbers: the tool failed, and said this.
void fail_record(Record& record, const std::string& reason);
void add_fact(Record& record, const std::string& name, const std::string& value);
// Error for a name with a line break, a NUL, ...: shown as something else it would be another name.
void check_import_name(const ImportText& file, const std::string& name);
// Error with file, line and column for text that isn't JSON. Words for "no number" that JSON doesn't have (NaN,
// Infinity, nan, inf) are read as null.
Json parse_import_json(const ImportText& file);
// A scalar as text, "" for null and for anything that isn't a scalar.
std::string scalar_text(const Json& value);

// A file that is one process, and the session that it becomes: a format of such files derives its reader from this.
class ImportProcess {
 public:
  ImportProcess(ImportBuilder& builder, const ImportText& file, std::size_t index)
      : builder_(builder), file_(file), index_(index), session_(index + 1) {}

 protected:
  ImportBuilder& builder_;
  const ImportText& file_;
  std::size_t index_;
  std::uint64_t session_;
};
// Error: the file's JSON has not the shape of what `tool` writes.
[[noreturn]] void refuse_shape(const ImportText& file, const char* tool, const Json::exception& problem);
// read() of a Process for each file, in order.
template <class Process>
void read_processes(const std::vector<ImportText>& files, const char* tool, ImportBuilder& builder) {
  for (std::size_t i = 0; i < files.size(); ++i) try {
      Process(builder, files[i], i).read();
    } catch (const Json::exception& problem) {
      refuse_shape(files[i], tool, problem);
    }
}

struct ImportFormat {
  std::string name;                             // "nvbench", as --from has it
  std::string summary;                          // one line for the help
  bool (*recognises)(const std::string& text);  // by content
  void (*read)(const std::vector<ImportText>& files, ImportBuilder& builder);
  bool file_is_process = false;  // then two files with the same values are one process, copied
  // Of a file that only looks like one: what keeps it from being one; "" when it is something else.
  std::string (*lacks)(const std::string& text) = nullptr;
};

struct ImportRegistration {
  explicit ImportRegistration(const ImportFormat& format);
};
#define REGISTER_IMPORT(format) static const ::assay::ImportRegistration import_registration(format)

}  // namespace assay
