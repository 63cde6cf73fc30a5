// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// The coverage contract: which cases must be measured on which devices, which can't be and by which fact, and which
// were left out by whom. Written to plan.json before anything runs (schema plan.v1.json); the run is judged against it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/json.h"
#include "harness/device/device.h"
#include "harness/manifest.h"
#include "harness/protocol.h"

namespace assay {

inline constexpr const char* plan_schema = "assay.plan.v1";
inline constexpr int most_sessions = 1000;  // as many as --sessions takes

enum class Coverage { required, not_applicable, excluded };

struct PlannedCase {
  std::string name, benchmark, worker;
  std::vector<std::string> device_set;  // one device here; a pair or n ranks for later benchmarks
  Coverage coverage = Coverage::required;
  // required: "", or unknown_fact (the device doesn't tell a fact that is needed: the case becomes an ERROR)
  // not_applicable: missing_fact (fact, value, needed) | no_row (the device kind has no row)
  // not_applicable in an import: skipped (the other program left it out, for the reason in `text`)
  // excluded: filter | profile | budget | hidden
  std::string reason;
  std::string text;  // the sentence: "numa_nodes is 1, 2 needed: copies between NUMA nodes need two"
  std::string fact;
  double fact_value = 0, fact_needed = 0;
  double estimate_s = 0;  // one session
  double deadline_s = 0;  // after which the worker is killed
};

struct PlannedWorker {
  std::string name;
  std::filesystem::path path;
  std::string version, commit;
  std::string binary_xxh3;    // of the file; "" when the binary is missing
  std::string manifest_xxh3;  // of the manifest beside it
  std::string problem;        // why it can't run: "build/assay-worker-cpu is missing"; its cases become ERROR
};

// How long a silent worker is waited for. A deadline is per case; these are per run.
struct Patience {
  double heartbeat_s = 30;  // without any message during a case
  double start_s = 30;      // from the start of the program to its hello
  double grace_s = 5;       // from `quit` or SIGTERM to SIGKILL
};

// The program that makes a plan, and the machine that it is made for. A run is continued by the same on the same.
struct Origin {
  std::string version, commit, binary_xxh3;  // of assay
  std::string host, kernel, architecture;    // as uname tells them
};
// Of this process.
Origin origin();
Json to_json(const Origin& origin);

// A file of another program that `assay import` read.
struct ImportedFile {
  std::string name, xxh3;                          // as in Imported (record.h)
  std::string tool_version;                        // of the program that wrote it; "" when the file doesn't say
  std::map<std::string, std::string> environment;  // what the file says about it, in its own words
};
// What a plan was made from when nothing is measured: what is in the files is required, nothing else is.
struct ImportSource {
  std::string format;
  std::vector<ImportedFile> files;
};

// The earlier run that a run is measured against, session by session, until its verdict stands
// (verdict/sequential.h).
struct Against {
  std::filesystem::path folder;
  std::string run_id, records_xxh3;           // of that run, and of its records as they were then
  std::vector<std::string> margins, changed;  // --margin, --changed
};

struct Plan {
  std::string run_id;
  std::string created_at;
  Origin origin;
  std::string profile;
  Policy policy;
  int sessions = 1;  // against an earlier run: at most
  std::uint64_t seed = 1;
  std::optional<double> budget_s;
  std::uint64_t max_memory_bytes = 0;
  std::vector<std::string> filters, excludes;
  Patience patience;
  bool concurrent = false;                        // all devices run the same case at the same instant
  std::map<std::string, std::string> test_knobs;  // ASSAY_TEST_*: such runs can never be judged as real
  std::vector<DeviceInfo> devices;
  std::vector<PlannedWorker> workers;
  std::vector<PlannedCase> cases;        // in running order
  std::optional<ImportSource> imported;  // nullopt: a plan to measure by
  std::optional<Against> against;

  // Not in plan.json, which never changes: what the looks of a run against another have decided so far (its events tell
  // them). The sessions after which a case, by name, is measured no further; the session of the last look.
  std::map<std::string, int> decided;
  int last_look = 0;

  int sessions_of(const PlannedCase& planned) const;
  double estimate_s() const;  // of all required cases and sessions
};

// What the user asks of a plan; the options of `assay run` have these and more.
struct PlanOptions {
  std::vector<std::string> filters, excludes;  // RE2, searched in the case name
  std::optional<double> budget_s;
  std::optional<int> sessions;
  std::optional<std::uint64_t> seed;
  std::uint64_t max_memory_bytes = 0;  // 0: what is available
  std::string worker;                  // X of assay-worker-X, overrides the choice
  bool concurrent = false;             // all devices at the same instant
  bool hidden = false;                 // also cases that exist for tests of Assay itself
};

struct FoundDevice;
struct Profile;
struct WorkerFile;

// What must be measured: each case of each worker on each device it serves, minus what the device can't
// (not_applicable) and what filters, the profile, the budget or `hidden` leave out (excluded). UsageError for a bad
// regular expression, a filter that matches no case, an unknown worker and a test variable that would change nothing;
// Error when nothing is left to measure.
Plan make_plan(const PlanOptions& options, const Profile& profile, const std::vector<WorkerFile>& workers,
               const std::vector<FoundDevice>& devices);
// Names a run that begins now.
std::string new_run_id();
// All ASSAY_TEST_* variables: they change what is measured.
std::map<std::string, std::string> test_knobs();

std::string_view word(Coverage coverage);  // "required", "not_applicable", "excluded"

// Can `device` have this case at all? Sets coverage, reason, text and fact when it can't; leaves `planned` alone when
// it can. A fact that the device doesn't tell is never guessed: the case stays required, with the reason unknown_fact.
// `assay list` asks the same.
void judge_row(PlannedCase& planned, const BenchmarkInfo& benchmark, const CaseInfo& info, const DeviceInfo& device);

// "memory/stream/op:triad/size:dram" has the parameters op and size. A part without a colon is no parameter.
std::map<std::string, std::string> params_of(const std::string& case_name, const std::string& benchmark);
std::map<std::string, std::string> params_of(const PlannedCase& planned);

// Every key is always there; what is absent is null. A plan ends with "estimate_s" of the whole run, for people.
Json to_json(const Plan& plan);
Json to_json(const ImportSource& source);
// Error for JSON that isn't a plan of this schema.
Plan plan_from_json(const Json& json);
// Error (exit 3) with file and reason for a missing, damaged or foreign-version plan.
Plan read_plan(const std::filesystem::path& path);

}  // namespace assay
