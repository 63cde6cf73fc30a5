// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// assay run: plan, measure, store, show. The word and the code it ends with come from the records alone (coverage.h).
#include "harness/commands/run.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <initializer_list>
#include <iostream>
#include <limits>
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
#include "harness/commands/arguments.h"
#include "harness/commands/verb.h"
#include "harness/device/pci.h"
#include "harness/parent/coverage.h"
#include "harness/parent/devices.h"
#include "harness/parent/host.h"
#include "harness/parent/plan.h"
#include "harness/parent/plan_against.h"
#include "harness/parent/profile.h"
#include "harness/parent/progress.h"
#include "harness/parent/resume.h"
#include "harness/parent/run_data.h"
#include "harness/parent/store.h"
#include "harness/parent/supervisor.h"
#include "harness/parent/worker_environment.h"
#include "harness/parent/workers.h"
#include "harness/report/compare.h"
#include "harness/report/report.h"

namespace assay {
namespace {

std::string help() {
  return R"(assay run: measure, write a run folder, print a table.

usage: assay run [options]
       assay run --against BEFORE [--margin PERCENT] [--changed AREA,...] [--max-sessions N]

what is measured
  --profile NAME      how long and which cases: quick (the default, about a minute), standard (ten),
                      acceptance, burn-in
  --filter RE         only cases whose name matches this regular expression (RE2); may be given
                      again: any of them. Replaces the profile's own choice of cases
  --exclude RE        not the cases that match; may be given again
  --budget DURATION   what tells most within this time: 90s, 2min, 1h; at least one case
  --device ID         cpu:0; for rehearsals simt:0, the CUDA kernels on the CPU, or
                      fake:SCENARIO.toml, a script of a device; may be given again
                      (default: the GPUs that a worker sees, else cpu:0)
  --concurrent        all devices measure the same case at the same instant
  --sessions N        fresh processes for each case: the unit of replication
                      (default: the profile's)
  --seed N            of the data that is computed with (default: 1)
  --max-memory SIZE   leave out what needs more: 4GiB
  --worker X          use assay-worker-X where several could serve (default: the newest that
                      can; run.json says why, and only like is compared with like)
  --hidden            also cases that exist for tests of Assay itself

until the verdict stands
  --against BEFORE    measure what the run BEFORE measured, with its plan, session by session; after
                      each from the third on, judge as `assay compare` does, but at the error that
                      many looks allow to each (O'Brien-Fleming, together 1 % a side). A case whose
                      verdicts all stand is measured no further. BEFORE's plan says what is
                      measured: the options above, --profile to --hidden, are refused
  --margin PERCENT    the change for the worse that is accepted: 1%, bandwidth=1.5% (default: 2%)
  --changed AREA,...  what is being tested (driver, kernel, ...): other differences stop it before
                      anything is measured
  --max-sessions N    what is open then stays INCONCLUSIVE (3 to 50; default: 12)

where it goes
  --out FOLDER        a folder that isn't there yet, or is empty
                      (default: ./assay-run-<UTC>-<pid>)
  --resume RUN        go on with a run that was cut; what is recorded is not measured again
  --dry-run           print the plan with its estimated time, and measure nothing
  --quiet             no progress on standard error

examples
  assay run                                        a first look, about a minute
  assay run --profile standard --out before        ten minutes, three sessions
  assay run --profile standard --dry-run           which cases, and how long
  assay run --filter 'memory/stream/.*size:dram'   main memory only
  assay run --budget 30s --exclude compute/        half a minute, no arithmetic
  assay run --resume before                        go on after Ctrl-C or a power cut
  assay run --device fake:default                  rehearse: no number of it is real
  assay run --against before --changed driver      is it still what it was?

The folder holds plan.json, records.jsonl (every raw sample), events.jsonl, telemetry.jsonl and
run.json. A case that ended in an error is complete: --resume keeps its record.
With --against there is comparison.json, too, and the exit code is the worse of measuring
(run.json) and comparison: 1 before 3 before 2 before 0. The exit codes are those of `assay help`.
)";
}

constexpr double preflight_s = 0.25;

// Everything a run needs before the first process starts.
struct Prepared {
  std::vector<WorkerFile> workers;
  std::vector<FoundDevice> devices;
  Plan plan;
  std::filesystem::path folder;
  std::uint64_t good_bytes = 0, next_sequence = 1;
  std::vector<std::string> warnings;
  std::vector<std::string> unmeasured;  // of them those about GPUs: whoever names no device may think that they were
  std::optional<BeforeRun> before;      // that it is measured against
};

std::filesystem::path folder_of(const RunOptions& options) {
  return options.out.empty() ? fmt::format("assay-run-{}-{}", utc_compact(), getpid()) : options.out;
}

// Another worker than the newest measures: its numbers can be held against its own only.
void warn_of_older_workers(const Prepared& run, std::vector<std::string>& warnings) {
  for (const FoundDevice& device : run.devices)
    if (starts_with(device.why, "the newest that can"))
      warnings.push_back(
          fmt::format("{} is measured by assay-worker-{}, {}", device.info.id, device.worker, device.why));
}

WorkerWish workers_of(const Plan& plan, const char* why) {
  WorkerWish wish{{}, why};
  for (const PlannedWorker& worker : plan.workers) wish.names.push_back(worker.name);
  return wish;
}

Prepared prepare_new(const RunOptions& options) {
  Prepared run;
  const Profile profile = read_profile(options.profile);
  run.workers = find_workers();
  WorkerWish wish;
  if (!options.worker.empty()) wish = {{options.worker}, "--worker"};
  std::string of_gpus;
  run.devices = find_devices(options.devices, wish, &of_gpus);
  if (options.devices.empty()) run.unmeasured = unmeasured_gpus(nvidia_pci_devices(), run.devices, of_gpus);
  run.warnings = run.unmeasured;
  warn_of_older_workers(run, run.warnings);
  run.plan = make_plan(options, profile, run.workers, run.devices);
  run.folder = folder_of(options);
  return run;
}

Prepared prepare_against(const RunOptions& options) {
  Prepared run;
  run.before = read_before(options.against, options.changed);
  const Plan& before = run.before->run.plan;
  run.workers = find_workers();
  const std::vector<std::optional<FoundDevice>> devices =
      find_again(before.devices, workers_of(before, "BEFORE was measured by it"));
  PlanAgainst made = make_plan_against(before, run.before->measured, options.max_sessions, run.workers, devices);
  run.plan = std::move(made.plan);
  run.plan.against = against_of(*run.before, options.margins, options.changed);
  for (const std::optional<FoundDevice>& device : devices)
    if (device) run.devices.push_back(*device);
  run.folder = folder_of(options);
  run.warnings = run.before->side.warnings;
  if (!made.lost.empty())
    run.warnings.push_back(fmt::format("{} of BEFORE can't be measured now and will be NOT_RUN: {}{}",
                                       counted(made.lost.size(), "case"), made.lost.front(),
                                       made.lost.size() > 1 ? "; ..." : ""));
  return run;
}

Prepared prepare_resumed(const RunOptions& options, const std::function<void(const Record&)>& seen_later) {
  Prepared run;
  run.folder = options.resume;
  const RunData before = read_run(run.folder);
  run.plan = before.plan;
  if (run.plan.imported)
    throw Error(
        fmt::format("{} was imported, so there is nothing to go on with; import the files again into another "
                    "folder",
                    run.folder.string()));
  std::vector<std::string> ids;
  for (const DeviceInfo& device : run.plan.devices) ids.push_back(device.id);
  run.devices = find_devices(ids, workers_of(run.plan, "the run began with it"));
  refuse_if_changed(run.folder, run.plan, run.devices);
  std::vector<std::filesystem::path> programs;  // those it began with, wherever ASSAY_WORKER_DIR points now
  for (const PlannedWorker& worker : run.plan.workers) programs.push_back(worker.path);
  run.workers = workers_at(programs);
  CoverageTally tally(before.plan);
  const RecordsEnd end = tally_records(before, tally, [&](std::int64_t, Record&& record) { seen_later(record); });
  refuse_if_records_changed(before, tally.counts());
  if (run.plan.against) run.before = read_before_again(*run.plan.against);
  run.next_sequence = tally.size() + 1;
  run.good_bytes = end.good_bytes;
  if (!end.warning.empty()) run.warnings.push_back(end.warning);
  return run;
}

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
  Prepared run = !options.resume.empty()    ? prepare_resumed(options, keep_head)
                 : !options.against.empty() ? prepare_against(options)
                                            : prepare_new(options);
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

namespace {

// A number alone is bytes; who gives a small one has forgotten the unit.
std::uint64_t memory_size(const std::string& text) {
  constexpr std::uint64_t least = 1U << 20U;
  const std::uint64_t bytes = parse_bytes(text);
  if (bytes == 0) throw UsageError("--max-memory must be more than 0");
  if (bytes < least && std::isalpha(static_cast<unsigned char>(text.back())) == 0)
    throw UsageError(
        fmt::format("--max-memory '{}' needs a unit, as in {}GiB: it would be {} bytes, and no case needs so "
                    "little",
                    text, text, bytes));
  return bytes;
}

}  // namespace

std::optional<RunOptions> parse_run(int argc, char** argv) {
  RunOptions options;
  std::string budget, sessions, seed, memory, most;
  std::vector<std::string> changed;
  Parser parser("run", ": cases are chosen with --filter");
  parser.texts("--device", options.devices);
  parser.text("--profile", options.profile);
  parser.texts("--filter", options.filters);
  parser.texts("--exclude", options.excludes);
  parser.text("--budget", budget);
  parser.text("--sessions", sessions);
  parser.text("--seed", seed);
  parser.text("--max-memory", memory);
  parser.text("--out", options.out);
  parser.text("--resume", options.resume);
  parser.text("--worker", options.worker);
  parser.text("--against", options.against);
  parser.texts("--margin", options.margins);
  parser.texts("--changed", changed);
  parser.text("--max-sessions", most);
  parser.flag("--concurrent", options.concurrent);
  parser.flag("--dry-run", options.dry_run);
  parser.flag("--hidden", options.hidden);
  parser.flag("--quiet", options.quiet);
  if (!parser.parse(argc, argv)) return std::nullopt;
  if (parser.given("--budget")) options.budget_s = parse_duration_s(budget);
  if (options.budget_s && !(*options.budget_s > 0)) throw UsageError("--budget must be more than 0");
  if (parser.given("--sessions")) options.sessions = static_cast<int>(whole_number("--sessions", sessions, 1, 1000));
  if (parser.given("--seed")) options.seed = whole_number("--seed", seed, 0, std::numeric_limits<std::uint64_t>::max());
  if (parser.given("--max-memory")) options.max_memory_bytes = memory_size(memory);
  const std::initializer_list<const char*> planning = {"--device", "--profile",    "--filter", "--exclude",
                                                       "--budget", "--sessions",   "--seed",   "--max-memory",
                                                       "--worker", "--concurrent", "--hidden"};
  const std::initializer_list<const char*> judging = {"--margin", "--changed", "--max-sessions"};
  const auto leave_out = [&](std::initializer_list<const char*> names, const char* why) {
    for (const char* name : names)
      if (parser.given(name)) throw UsageError(fmt::format("{}: leave {} out", why, name));
  };
  if (!options.resume.empty()) {
    const char* why = "--resume goes on with the plan of its run";
    leave_out(planning, why);
    leave_out(judging, why);
    leave_out({"--out", "--dry-run", "--against"}, why);
  }
  if (options.against.empty())
    leave_out(judging, "there is no verdict without --against");
  else
    leave_out(planning, "--against measures by the plan of its run");
  CompareSettings margins_only;
  for (const std::string& margin : options.margins) add_margin(margin, margins_only);  // complains
  options.changed = comma_list(changed);
  if (parser.given("--max-sessions"))
    options.max_sessions = static_cast<int>(whole_number("--max-sessions", most, first_look, most_cap));
  return options;
}

namespace {

int from_command_line(int argc, char** argv) {
  std::optional<RunOptions> options = parse_run(argc, argv);
  if (!options) return exit_code::pass;
  options->command_line.assign(argv - 1, argv + argc);
  return command_run(*options);
}

}  // namespace

extern const Verb run_verb{"run", "measure; write a run folder; print a table", help, from_command_line};

}  // namespace assay
