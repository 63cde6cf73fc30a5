// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// The words of assay run: help and arguments.
#include <fmt/format.h>

#include <cctype>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/error.h"
#include "harness/base/text.h"
#include "harness/base/units.h"
#include "harness/commands/against.h"
#include "harness/commands/arguments.h"
#include "harness/commands/run.h"
#include "harness/commands/verb.h"
#include "harness/report/compare.h"

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
