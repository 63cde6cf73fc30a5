// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// assay run: plan, measure, store, show. The word and the code it ends with come from the records alone (coverage.h).
#include "harness/commands/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <map>
#include <optional>
#include <sstream>

#include "harness/base/clock.h"
#include "harness/base/error.h"
#include "harness/base/file.h"
#include "harness/base/outcome.h"
#include "harness/base/text.h"
#include "harness/base/units.h"
#include "harness/commands/against.h"
#include "harness/commands/prepare_run.h"
#include "harness/parent/coverage.h"
#include "harness/parent/devices.h"
#include "harness/parent/host.h"
#include "harness/parent/plan.h"
#include "harness/parent/progress.h"
#include "harness/parent/run_data.h"
#include "harness/parent/store.h"
#include "harness/parent/supervisor.h"
#include "harness/parent/worker_environment.h"
#include "harness/parent/workers.h"
#include "harness/report/compare.h"
#include "harness/report/report.h"

namespace assay {
namespace {

constexpr double preflight_s = 0.25;

void warn_of_ignored_variables(Prepared& run) {
  const std::vector<std::string> names = ignored_variables();
  if (!names.empty())
    run.warnings.push_back(fmt::format("{} {} set and ignored: threads are placed and counted by the cases",
                                       join(names, ", "), names.size() == 1 ? "is" : "are"));
}

void print_plan(const Plan& plan) {
  std::map<std::string, int> left_out;
  std::size_t required = 0;
  for (const PlannedCase& c : plan.cases) {
    const std::string where = plain(device_set_name(c.device_set));
    if (c.coverage == Coverage::required) {
      ++required;
      fmt::print("required        {:>8}  {} on {}\n", format_duration(c.estimate_s), plain(c.name), where);
    } else if (c.coverage == Coverage::not_applicable) {
      fmt::print("not applicable            {} on {}: {}\n", plain(c.name), where, plain(c.text));
    } else {
      ++left_out[c.text];
    }
  }
  for (const auto& [text, count] : left_out) fmt::print("left out        {:>8}  {}\n", count, plain(text));
  for (const PlannedWorker& worker : plan.workers)
    if (!worker.problem.empty()) fmt::print("problem                   {}\n", plain(worker.problem));
  fmt::print("{}, {}{}, about {}; nothing was measured (dry run)\n", counted(required, "case"),
             plan.against ? "at most " : "", counted(plan.sessions, "session"), format_duration(plan.estimate_s()));
}

// How a run ended, by what was measured and by what can be read back: the worse counts.
struct Ending {
  Outcome outcome = Outcome::incomplete;
  CoverageCounts counts;
  bool interrupted = false;
  std::string problem;  // why the records on disk are not what was measured; "" when they are

  int code() const { return interrupted ? exit_code::interrupted : assay::code(outcome); }
};

Ending ending_of(const Prepared& run, const CoverageTally& measured, bool interrupted) {
  Ending ending{outcome_of(measured.counts(), interrupted), measured.counts(), interrupted, ""};
  CoverageTally stored(run.plan);
  try {
    const RecordsEnd end = tally_records(read_run(run.folder), stored, [](std::int64_t, const Record&) {});
    ending.counts = stored.counts();
    if (end.warning.empty() && stored.size() == measured.size() && stored.counts() == measured.counts()) return ending;
    ending.problem = fmt::format(
        "{} records were stored, but {} of them can be read back with their outcomes, so "
        "something else changed {}",
        measured.size(), stored.size(), (run.folder / "records.jsonl").string());
    ending.outcome = worst({ending.outcome, outcome_of(ending.counts), Outcome::incomplete});
  } catch (const Error& problem) {
    ending.problem = problem.what();
    ending.outcome = worst({ending.outcome, Outcome::error});
  }
  return ending;
}

// With the libraries of the workers that measure, whichever others lie beside them: a run that was resumed has seen
// only these, and is as comparable as one that was not.
Json environment_of_run(const Prepared& run) {
  std::vector<WorkerFile> planned;
  for (const WorkerFile& worker : run.workers)
    for (const PlannedWorker& used : run.plan.workers)
      if (used.name == worker.manifest.worker) planned.push_back(worker);
  return environment(planned);
}

Json worker_choice_json(const std::vector<FoundDevice>& devices) {
  Json choices = Json::array();
  for (const FoundDevice& device : devices)
    if (!device.worker.empty())
      choices.push_back({{"device", device.info.id}, {"worker", device.worker}, {"reason", device.why}});
  return choices;
}

Json run_json(const Prepared& run, const RunOptions& options, const Ending& ending, const Preflight& quiet) {
  Json knobs = Json::object();
  for (const auto& [name, value] : run.plan.test_knobs) knobs[name] = value;
  const bool simulated =
      std::any_of(run.plan.devices.begin(), run.plan.devices.end(), [](const DeviceInfo& d) { return d.simulated; });
  return {{"schema", run_schema},
          {"run_id", run.plan.run_id},
          {"outcome", word(ending.outcome)},
          {"exit_code", ending.code()},
          {"started_at", run.plan.created_at},
          {"finished_at", utc_now()},
          {"interrupted", ending.interrupted},
          {"simulated", simulated},
          {"imported", nullptr},
          {"test_knobs", knobs},
          {"coverage", to_json(ending.counts)},
          {"environment", environment_of_run(run)},
          {"build", build_json()},
          {"worker_choice", worker_choice_json(run.devices)},
          {"command_line", options.command_line},
          {"resumed", !options.resume.empty()},
          {"quiet_machine", to_json(quiet)},
          {"warnings", run.warnings}};
}

// The run as far as run.json would tell it now.
RunData told_now(const Prepared& run) {
  return {run.folder, run.plan, {{"environment", environment_of_run(run)}, {"build", build_json()}}, nullptr};
}

void store_comparison(const std::filesystem::path& folder, const CompareResult& comparison) {
  std::ostringstream json;
  write_comparison(comparison, "json", json);
  write_file_atomically(folder / "comparison.json", json.str());
}

// Prints the table of what is on disk, and the comparison, and returns the exit code: the worst of them and of how the
// run ended, and never 0 when the table is lost.
int show(const std::filesystem::path& folder, const Ending& ending, const std::optional<CompareResult>& comparison) {
  std::string problem;
  Outcome shown = Outcome::error;
  try {
    std::ostringstream table;
    shown = write_report({read_run(folder)}, "console", table);
    std::string text = table.str();
    // An interrupted run has a last line of its own, with its own exit code, and so has a comparison.
    if (ending.interrupted || comparison) text.erase(text.find_last_of('\n', text.size() - 2) + 1);
    std::cout << text;
    if (comparison) write_comparison(*comparison, "console", std::cout << '\n');
  } catch (const Error& error) {
    problem = error.what();
  }
  std::cout.flush();
  if (!std::cout || std::ferror(stdout) != 0) {
    problem = "the table is lost: cannot write to standard output";
    shown = ending.outcome == Outcome::measured ? Outcome::error : ending.outcome;
  }
  std::vector<Outcome> words{ending.outcome, shown};
  if (comparison) words.insert(words.begin(), comparison->verdict);
  const Outcome outcome = worst(words);
  if (comparison && outcome != comparison->verdict && problem.empty())
    fmt::print("{} (exit code {})\n", word(outcome), code(outcome));
  const int exit = ending.interrupted ? exit_code::interrupted : code(outcome);
  if (!problem.empty()) fmt::print(stderr, "assay: {} ({}, exit code {})\n", plain(problem), word(outcome), exit);
  return exit;
}

}  // namespace

int command_run(const RunOptions& options) {
  std::vector<Record> earlier;
  const auto keep_head = [&](const Record& record) {
    Record head = record;  // without its samples: only where it belongs and how it ended
    head.series.clear();
    head.metrics.clear();
    head.curves.clear();
    earlier.push_back(std::move(head));
  };
  Prepared run = prepare(options, keep_head);
  if (run.before && options.resume.empty())
    if (const auto refused = refused_before_measuring(*run.before, told_now(run))) {
      write_comparison(*refused, "console", std::cout);
      return code(refused->verdict);
    }
  if (options.dry_run) {
    print_plan(run.plan);
    return exit_code::pass;
  }
  warn_of_ignored_variables(run);
  std::optional<RunLooks> looks;
  if (run.before) {
    looks.emplace(*run.before, run.folder, run.plan);
    for (const std::string& doubt : looks->doubts()) run.warnings.push_back(doubt);
  }
  const InterruptGuard interrupts;
  Store store = options.resume.empty() ? Store::create(run.folder, run.plan)
                                       : Store::reopen(run.folder, run.plan, run.good_bytes, run.next_sequence);
  // Of the part before a resume; until there is a new one, it is cut.
  for (const char* name : {"run.json", "comparison.json"}) std::filesystem::remove(run.folder / name);
  Progress progress(options.quiet);
  for (const std::string& text : run.warnings) progress.warning(text);
  const Preflight quiet = preflight(preflight_s);
  if (quiet.reasons.empty())
    progress.note(quiet.text());
  else
    progress.warning(quiet.text());
  if (!run.plan.test_knobs.empty())
    progress.warning("test variables are set (ASSAY_TEST_...): this run can never be judged as real");

  CoverageTally tally(run.plan);
  const DeclaredMetrics declared = declared_metrics(run.workers, run.devices);
  bool finished = false;
  {
    Supervisor supervisor(run.plan, declared, store, progress, tally);
    for (const Record& record : earlier) {
      tally.add(record);
      supervisor.seen(record);
    }
    const auto required = [&] { return std::max<std::size_t>(1, tally.counts().required); };
    const auto estimate_s = [&](std::size_t jobs) {
      return run.plan.estimate_s() * static_cast<double>(jobs) / static_cast<double>(required());
    };
    const std::size_t left = supervisor.jobs_left();
    progress.begin(required(), required() - left, estimate_s(left));
    finished = supervisor.run([&](int session) {
      if (!looks) return;
      looks->look(run.plan, session, store, progress);
      progress.left(supervisor.jobs_left(), estimate_s(supervisor.jobs_left()));
    });
  }
  const Ending ending = ending_of(run, tally, !finished);
  if (!ending.problem.empty()) {
    progress.warning(ending.problem);
    run.warnings.push_back(ending.problem);
  }
  std::optional<CompareResult> comparison;
  if (finished && looks) comparison = looks->result(told_now(run));
  if (comparison) store_comparison(run.folder, *comparison);
  store.write_run(run_json(run, options, ending, quiet));
  Event end;
  end.kind = "run_end";
  end.detail = line(to_json(ending.counts));
  end.text = fmt::format("{}: {}", word(ending.outcome), coverage_line(run.plan, ending.counts));
  store.event(end);

  const int exit = show(run.folder, ending, comparison);
  if (!finished)
    fmt::print("interrupted; go on with: assay run --resume {}\n{} (exit code {})\n", plain(run.folder.string()),
               word(ending.outcome), exit);
  for (const std::string& text : run.unmeasured) progress.warning(text);  // again: the first time is far above by now
  return exit;
}

}  // namespace assay
