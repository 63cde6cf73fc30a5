// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// assay import FILE...: what other programs measured becomes a run folder as `assay run` writes one, marked as imported
// in plan.json, run.json and each record. All files are read before anything is written.
#include "harness/import/import.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <set>

#include "harness/base/clock.h"
#include "harness/base/error.h"
#include "harness/base/text.h"
#include "harness/commands/arguments.h"
#include "harness/commands/verb.h"
#include "harness/parent/coverage.h"
#include "harness/parent/gates.h"
#include "harness/parent/host.h"
#include "harness/parent/run_data.h"
#include "harness/parent/store.h"
#include "harness/verdict/classes.h"

namespace assay {
namespace {

std::string help() {
  return fmt::format(R"(assay import: what other tools measured, as a run folder.

usage: assay import --from FORMAT FILE... --out FOLDER

  --from FORMAT   of the files (default: recognised by content):
{}  --out FOLDER    a folder that isn't there yet, or is empty
                  (default: ./assay-import-<UTC>-<pid>)

examples
  assay import --from nvbench before.json --out before
  assay import --from google-benchmark run1.json run2.json run3.json --out three-processes
  assay import --from csv fleet.csv --out fleet
  assay report before

A CSV file has these columns, in any order, and may have more (results/README.md):
  host,device,device_class,benchmark,case,metric,unit,better,session,sample,value
  n1,GPU-5f3a,h100_sxm5_80gb,memory/stream,op:copy,bandwidth,GB/s,higher,1,1,2930.5

One process of the other tool is one session, and what it repeated inside is samples: give the
files of several processes for numbers that can be judged. Values become SI base units and stay
marked as imported: Assay saw nothing of the work behind them. When a file can't be read, one
sentence names file, line and column, and nothing is written. Exit code 0: all that is in the files
is in the folder; 2: a case has no sample in them; 3: a case ended in an error there, or a file
can't be read.
)",
                     import_formats_text());
}

struct ImportOptions {
  std::vector<std::string> files;
  std::string from;                       // format; "": recognised by content
  std::string out;                        // "": ./assay-import-<UTC>-<pid>
  std::vector<std::string> command_line;  // as typed, for run.json
};

Json run_json(const ImportedRun& run, const CoverageCounts& counts, const ImportOptions& options) {
  const Outcome outcome = outcome_of(counts);
  return {{"schema", run_schema},
          {"run_id", run.plan.run_id},
          {"outcome", word(outcome)},
          {"exit_code", code(outcome)},
          {"started_at", run.plan.created_at},
          {"finished_at", utc_now()},
          {"interrupted", false},
          {"simulated", false},
          {"imported", to_json(*run.plan.imported)},
          {"test_knobs", Json::object()},
          {"coverage", to_json(counts)},
          {"environment", nullptr},  // that of this machine would say nothing about the other's
          {"build", build_json()},
          {"worker_choice", Json::array()},
          {"command_line", options.command_line},
          {"resumed", false},
          {"quiet_machine", nullptr},
          {"warnings", run.notes}};
}

void show(const ImportedRun& run, const CoverageCounts& counts, const std::filesystem::path& folder) {
  std::size_t values = 0;
  for (const Record& record : run.records)
    for (const MetricResult& metric : record.metrics) values += metric.samples.size();
  fmt::print("imported  {} of {}, {} of {}, from {} ({})\n", counted(values, "value"),
             counted(run.records.size(), "record"), counted(run.plan.cases.size(), "case"),
             counted(run.plan.devices.size(), "device"), counted(run.plan.imported->files.size(), "file"),
             run.plan.imported->format);
  constexpr std::size_t shown = 5;
  for (std::size_t i = 0, said = 0; i < run.records.size(); ++i) {
    const Record& record = run.records[i];
    if (record.outcome == Outcome::measured || ++said > shown) continue;
    fmt::print("{:<8}  {} on {}: {}\n", word(record.outcome), record.case_name, record.device_set.front(),
               record.reason);
  }
  for (const std::string& note : run.notes) fmt::print("note      {}\n", plain(note));
  fmt::print(
      "coverage  {}\nfolder    {}  (assay report shows it; Assay saw nothing of the work behind these numbers)\n",
      coverage_line(run.plan, counts), folder.string());
}

// What is no class is only a name: nothing is known of what such a device can do, and no reference is for it.
std::vector<std::string> notes_on_classes(const Plan& plan) {
  const ClassTable table = read_class_table();
  std::set<std::string> unknown;
  for (const DeviceInfo& device : plan.devices) {
    const auto said = device.labels.find("device_class");
    if (said != device.labels.end() && class_of(device, table).class_id.empty()) unknown.insert(said->second);
  }
  std::vector<std::string> notes;
  for (const std::string& name : unknown)
    notes.push_back(
        fmt::format("the device_class {} is no class that is known, so `assay accept` knows no limit and no "
                    "reference of it{}",
                    shown(name), class_suggestion(name, table)));
  return notes;
}

int command_import(const ImportOptions& options) {
  ImportedRun run = import_files({options.files.begin(), options.files.end()}, options.from);
  if (!run.one_process.empty()) run.notes.push_back(run.one_process);
  for (const std::string& note : notes_on_classes(run.plan)) run.notes.push_back(note);
  CoverageTally tally(run.plan);
  for (Record& record : run.records) {
    apply_gates(record);
    tally.add(record);
  }
  const std::filesystem::path folder =
      options.out.empty() ? fmt::format("assay-import-{}-{}", utc_compact(), getpid()) : options.out;
  Store store = Store::create(folder, run.plan);
  store.append(run.records);
  const CoverageCounts counts = tally.counts();
  const Outcome outcome = outcome_of(counts);
  store.write_run(run_json(run, counts, options));
  Event end;
  end.kind = "run_end";
  end.text = fmt::format("{}: {}", word(outcome), coverage_line(run.plan, counts));
  store.event(end);
  show(run, counts, folder);
  fmt::print("{} (exit code {})\n", word(outcome), code(outcome));
  return code(outcome);
}

int from_command_line(int argc, char** argv) {
  ImportOptions options;
  options.command_line.assign(argv - 1, argv + argc);
  Parser parser("import");
  parser.positionals(options.files);
  parser.text("--from", options.from);
  parser.text("--out", options.out);
  if (!parser.parse(argc, argv)) return exit_code::pass;
  if (parser.given("--from")) check_word("--from", options.from, import_formats());
  if (options.files.empty()) throw UsageError("import needs a file; see `assay help import`");
  return command_import(options);
}

}  // namespace

extern const Verb import_verb{"import", "what other tools measured, as a run folder", help, from_command_line};

}  // namespace assay
