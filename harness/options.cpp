// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See options.h. CLI11 splits the command line; values stay text there and are checked here, so that every complaint is
// one sentence of ours. Traps of CLI11: an option that takes several values eats what follows it, so repeatable options
// take one value each time (allow_extra_args(false)); a value that begins with '-' is taken for an option: write
// --filter=-x.
#include "harness/options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <functional>
#include <limits>

#include "harness/base/error.h"
#include "harness/base/text.h"
#include "harness/base/units.h"
#include "harness/build_info.h"
#include "harness/import/import.h"
#include "harness/report/accept.h"
#include "harness/report/compare.h"
#include "harness/report/report.h"

namespace assay {
namespace {

constexpr const char* overview = R"(assay measures a machine and never passes what it has not measured.

usage: assay VERB [options]

  run      measure; write a run folder; print a table
  list     benchmarks, cases, metrics, devices, profiles, workers
  report   a run as console table, CSV or JSON
  compare  is it still what it was? a verdict on before and after
  accept   is it what it should be? a verdict by the reference of its class, or by a contract
  baseline references of a class of machines: learn, lint, show, match
  import   what other tools measured, as a run folder
  help     what a verb does, with examples: assay help run

  assay --version

Exit codes, with the words of the last line: 0 MEASURED; 1 FAIL, a wrong result; 2 INCOMPLETE (a
case is NOT_RUN, or INVALID: beyond its physical limit); 3 ERROR, could not measure; 64 wrong
usage; 130 interrupted.
)";

constexpr const char* run_help = R"(assay run: measure, write a run folder, print a table.

usage: assay run [options]

what is measured
  --profile NAME      how long and which cases: quick (the default, about a minute), standard (ten),
                      acceptance, burn-in
  --filter RE         only cases whose name matches this regular expression (RE2); may be given
                      again: any of them. Replaces the profile's own choice of cases
  --exclude RE        not the cases that match; may be given again
  --budget DURATION   what tells most within this time: 90s, 2min, 1h; at least one case
  --device ID         cpu:0, cuda:0, fake:SCENARIO.toml; may be given again
                      (default: the best that is here)
  --concurrent        all devices measure the same case at the same instant
  --sessions N        fresh processes for each case: the unit of replication
                      (default: the profile's)
  --seed N            of the data that is computed with (default: 1)
  --max-memory SIZE   leave out what needs more: 4GiB
  --worker X          use assay-worker-X where several could serve
  --hidden            also cases that exist for tests of Assay itself

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

The folder holds plan.json, records.jsonl (every raw sample), events.jsonl, telemetry.jsonl and
run.json. A case that ended in an error is complete: --resume keeps its record.
The exit codes are those of `assay help`.
)";

constexpr const char* list_help = R"(assay list: what could be measured here, and what not, and why.

usage: assay list [options]

  --format console|json   (default: console)
  --device ID             as for run; may be given again
  --probe                 start the workers and ask them; otherwise nothing is started. Exits with 3
                          when one of them doesn't answer
  --hidden                also benchmarks that exist for tests of Assay itself

examples
  assay list
  assay list --format json
)";

constexpr const char* report_help = R"(assay report: show runs again from their records.

usage: assay report RUN... [options]

  --format console|csv|json   (default: console)
  -o, --output FILE           write there instead of to standard output; a file that is there is
                              not overwritten

examples
  assay report assay-run-20261130T170501Z-4711
  assay report before after --format csv -o both.csv

Exits as the worst of the runs did (codes: `assay help`), so that no script takes a FAIL for a pass.
)";

constexpr const char* compare_help = R"(assay compare: is it still what it was? A verdict on each metric of BEFORE.

usage: assay compare BEFORE AFTER [options]
       assay compare --before RUN... --after RUN... [options]

  --before RUN, --after RUN   may be given again: several runs of one side are several boots
  --margin PERCENT            the change for the worse that is accepted: 1%; for one metric
                              bandwidth=1.5% (default: 2%); may be given again
  --changed AREA,...          what is being tested (driver, kernel, libraries, ...): other
                              differences around the runs still stop the comparison
  --format console|json|markdown   (default: console)
  -o, --output FILE           write there; a file that is there is not overwritten

examples
  assay run --profile standard --sessions 5 --out before       (then the upgrade)
  assay run --profile standard --sessions 5 --out after
  assay compare before after --changed driver,kernel
  assay compare before after --margin 1% --margin latency=3% --format markdown

A RUN is a folder, or a file that `assay import` reads. The unit is the session (a fresh process),
and a verdict needs 5 a side. `interval` holds the true change with 98 %; `would see` is the
smallest change that would have been called REGRESSED nine times in ten. Where something else used
the CPUs in more than half of the samples, or the runs were measured with test knobs, nothing is
passed. Exit codes: 0 NO_REGRESSION, IMPROVED; 1 REGRESSED, or worse results; 2 INCONCLUSIVE (too
few sessions, unlike things), NOT_RUN, MODE_SWITCH; 3 ERROR.
)";

constexpr const char* baseline_help = R"(assay baseline: references that machines are judged by.

usage: assay baseline learn RUN... --class CLASS -o FILE [--source TEXT]
       assay baseline lint FILE [--format baseline|thresholds] [-o JSON]
       assay baseline show FILE|CLASS
       assay baseline match [RUN] [--format console|json]

learn   a baseline from runs of known-good machines: per metric the mean and the spread between
        devices, between sessions and inside a session, in logarithms. At least 3 devices; up to 7
        give a PROVISIONAL one. Outliers beyond 4 MAD are left out once. Refused: simulated runs,
        test knobs, wrong results, runs that differ in worker, modes or work, two groups
        instead of one
lint    is each row possible? Held against the physical limits of its class: no gate that can't be
        reached, none that passes what is broken, no missing unit, no zero. thresholds reads a table
        of published gates (columns gpu_class, metric, op, threshold, unit, n_gpus)
show    a baseline as a table
match   the class of each device here, or of a run's: by PCI id, subsystem, memory and default power
        limit; a CPU's by CPUID, cores, memory and hypervisor

  --class CLASS      which class the baseline is to be of; as match names it
  --source TEXT      where it comes from, for its last column (default: the runs)
  -o, --output FILE  learn: the baseline; lint: [{line, flag, reason}] of all rows. A file that is
                     there is not overwritten

examples
  assay baseline match
  assay baseline learn node1 node2 node3 --class h100_sxm5_80gb -o h100.csv
  assay baseline lint h100.csv
  assay baseline lint --format thresholds gates.csv -o flags.json

Exit codes: learn 0 written, 2 not (or some metrics refused); lint 0 PASS, 1 FAIL: a row is
impossible; match 0 each has a class, 2 UNKNOWN. 3 unreadable, 64 wrong usage.
)";

constexpr const char* accept_help = R"(assay accept: is this machine what it should be? A verdict on each metric.

usage: assay accept [RUN] [options]

  RUN                  a run folder; without one, the profile `acceptance` is measured first
  --device ID          as for run, when one is measured
  --baseline FILE      the reference (default: that of the device's class, where there is one)
  --rules FILE|NAME    a contract, or a pack of published gates: azure-nhc, dcgm, superbench, ...
  --format console|json|markdown   (default: console)
  -o, --output FILE    write there; a file that is there is not overwritten

examples
  assay accept
  assay accept my-run --rules contract.toml
  assay accept my-run --rules azure-nhc --format json

Limit, class, peers and history are told each on its own. Exit codes: 0 PASS; 1 FAIL; 2 UNKNOWN
(no reference), PROVISIONAL (fewer than 8 reference devices), INCONCLUSIVE, INVALID (simulated, or
beyond its limit), NOT_RUN; 3 ERROR.
)";

constexpr const char* import_help = R"(assay import: what other tools measured, as a run folder.

usage: assay import --from FORMAT FILE... --out FOLDER

  --from FORMAT   of the files (default: recognised by content):
{}  --out FOLDER    a folder that isn't there yet, or is empty
                  (default: ./assay-import-<UTC>-<pid>)

examples
  assay import --from nvbench before.json --out before
  assay import --from google-benchmark run1.json run2.json run3.json --out three-processes
  assay import --from csv fleet.csv --out fleet
  assay report before

One process of the other tool is one session, and what it repeated inside is samples: give the
files of several processes for numbers that can be judged. Values become SI base units and stay
marked as imported: Assay saw nothing of the work behind them. When a file can't be read, one
sentence names file, line and column, and nothing is written. Exit code 0: all that is in the files
is in the folder; 2: a case has no sample in them; 3: a case ended in an error there, or a file
can't be read.
)";

constexpr const char* help_help = R"(assay help: what a verb does, with examples.

usage: assay help [VERB]
)";

// One verb's options, collected as text and converted after parsing.
class Parser {
 public:
  explicit Parser(std::string verb) : verb_(std::move(verb)), app_("", "assay " + verb_) {
    app_.set_help_flag();
    app_.add_flag("-h,--help", help_);
  }
  void text(const std::string& name, std::string& value) { names(name, app_.add_option(name, value)); }
  void texts(const std::string& name, std::vector<std::string>& values) {
    names(name, app_.add_option(name, values)->allow_extra_args(false));
  }
  void positionals(std::vector<std::string>& values) { app_.add_option("things", values); }
  void flag(const std::string& name, bool& value) { names(name, app_.add_flag(name, value)); }

  // Returns false when help was asked for (and printed).
  bool parse(int argc, char** argv) {
    try {
      app_.parse(argc, argv);
    } catch (const CLI::ExtrasError&) {
      unexpected(first_stranger(argc, argv));
    } catch (const CLI::ParseError& problem) {
      std::string text = problem.what();
      std::replace(text.begin(), text.end(), '\n', ' ');
      throw UsageError(fmt::format("{}; see `assay help {}`", trim(text), verb_));
    }
    if (help_) std::fputs(help_text(verb_).c_str(), stdout);
    return !help_;
  }
  bool given(const std::string& name) const { return app_.count(name) > 0; }

 private:
  void names(const std::string& text, CLI::Option* option) {
    option->multi_option_policy(option->get_expected_max() > 1 ? CLI::MultiOptionPolicy::TakeAll
                                                               : CLI::MultiOptionPolicy::Throw);
    for (const std::string& name : split(text, ',')) known_.push_back(name);
  }
  std::string first_stranger(int argc, char** argv) {
    const std::vector<std::string> rest = app_.remaining();
    if (!rest.empty()) return rest.front();
    return argc > 1 ? argv[1] : "";
  }
  [[noreturn]] void unexpected(const std::string& text) {
    const std::string name = text.substr(0, text.find('='));
    if (starts_with(name, "-"))
      throw UsageError(fmt::format("{} has no option '{}'{}", verb_, name, suggestion(name, known_)));
    throw UsageError(fmt::format("'{}' was not expected{}; see `assay help {}`", text,
                                 verb_ == "run" ? ": cases are chosen with --filter" : "", verb_));
  }
  std::string verb_;
  CLI::App app_;
  bool help_ = false;
  std::vector<std::string> known_;
};

std::uint64_t whole_number(const std::string& flag, const std::string& text, std::uint64_t least, std::uint64_t most) {
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value);
  if (text.empty() || result.ec != std::errc() || result.ptr != end || value < least || value > most)
    throw UsageError(fmt::format("{} '{}' must be a whole number {}", flag, text,
                                 most == std::numeric_limits<std::uint64_t>::max()
                                     ? fmt::format("from {}", least)
                                     : fmt::format("from {} to {}", least, most)));
  return value;
}

void check_word(const std::string& flag, const std::string& word, const std::vector<std::string>& known) {
  if (std::find(known.begin(), known.end(), word) == known.end())
    throw UsageError(fmt::format("{} '{}' is not known{}", flag, word, suggestion(word, known)));
}

}  // namespace

std::optional<RunOptions> parse_run(int argc, char** argv) {
  RunOptions options;
  std::string budget, sessions, seed, memory;
  Parser parser("run");
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
  parser.flag("--concurrent", options.concurrent);
  parser.flag("--dry-run", options.dry_run);
  parser.flag("--hidden", options.hidden);
  parser.flag("--quiet", options.quiet);
  if (!parser.parse(argc, argv)) return std::nullopt;
  if (parser.given("--budget")) options.budget_s = parse_duration_s(budget);
  if (options.budget_s && !(*options.budget_s > 0)) throw UsageError("--budget must be more than 0");
  if (parser.given("--sessions")) options.sessions = static_cast<int>(whole_number("--sessions", sessions, 1, 1000));
  if (parser.given("--seed")) options.seed = whole_number("--seed", seed, 0, std::numeric_limits<std::uint64_t>::max());
  if (parser.given("--max-memory")) options.max_memory_bytes = parse_bytes(memory);
  if (parser.given("--max-memory") && options.max_memory_bytes == 0)
    throw UsageError("--max-memory must be more than 0");
  for (const auto& [name, patterns] : {std::pair("--filter", &options.filters), {"--exclude", &options.excludes}})
    if (std::find(patterns->begin(), patterns->end(), "") != patterns->end())
      throw UsageError(fmt::format("{} needs a regular expression; an empty one matches every case", name));
  for (const char* name : {"--out", "--resume"})
    if (parser.given(name) && (name == std::string("--out") ? options.out : options.resume).empty())
      throw UsageError(fmt::format("{} needs the name of a folder", name));
  if (!options.resume.empty())
    for (const char* name : {"--device", "--profile", "--filter", "--exclude", "--budget", "--sessions", "--seed",
                             "--max-memory", "--out", "--worker", "--concurrent", "--hidden", "--dry-run"})
      if (parser.given(name))
        throw UsageError(fmt::format("--resume goes on with the plan of its run: leave {} out", name));
  return options;
}

namespace {

int parse_list(int argc, char** argv) {
  ListOptions options;
  Parser parser("list");
  parser.text("--format", options.format);
  parser.texts("--device", options.devices);
  parser.flag("--probe", options.probe);
  parser.flag("--hidden", options.hidden);
  if (!parser.parse(argc, argv)) return exit_code::pass;
  check_word("--format", options.format, {"console", "json"});
  return command_list(options);
}

int parse_report(int argc, char** argv) {
  ReportOptions options;
  Parser parser("report");
  parser.positionals(options.runs);
  parser.text("--format", options.format);
  parser.text("-o,--output", options.output);
  if (!parser.parse(argc, argv)) return exit_code::pass;
  check_word("--format", options.format, report_formats());
  if (options.runs.empty()) throw UsageError("report needs the folder of a run; see `assay help report`");
  return command_report(options);
}

int parse_compare(int argc, char** argv) {
  CompareOptions options;
  std::vector<std::string> pair, changed;
  Parser parser("compare");
  parser.positionals(pair);
  parser.texts("--before", options.before);
  parser.texts("--after", options.after);
  parser.texts("--margin", options.margins);
  parser.texts("--changed", changed);
  parser.text("--format", options.format);
  parser.text("-o,--output", options.output);
  if (!parser.parse(argc, argv)) return exit_code::pass;
  check_word("--format", options.format, comparison_formats());
  for (const std::string& list : changed)
    for (const std::string& area : split(list, ',')) options.changed.push_back(trim(area));
  const bool named = !options.before.empty() || !options.after.empty();
  if (named ? !pair.empty() || options.before.empty() || options.after.empty() : pair.size() != 2)
    throw UsageError("compare needs BEFORE and AFTER, or --before RUN and --after RUN; see `assay help compare`");
  if (!named) {
    options.before = {pair[0]};
    options.after = {pair[1]};
  }
  return command_compare(options);
}

// argv[0] is "baseline", argv[1] what to do.
int parse_baseline(int argc, char** argv) {
  static const std::vector<std::string> actions{"learn", "lint", "show", "match"};
  BaselineOptions options;
  const std::string first = argc > 1 ? argv[1] : "";
  const bool action_given = !first.empty() && first[0] != '-';
  if (action_given && std::find(actions.begin(), actions.end(), first) == actions.end())
    throw UsageError(fmt::format("baseline can't '{}'{}", first, suggestion(first, actions)));
  Parser parser("baseline");
  parser.positionals(options.files);
  if (first == "learn") parser.text("--class", options.class_id);
  if (first == "learn") parser.text("--source", options.source);
  if (first == "lint" || first == "match") parser.text("--format", options.format);
  if (first == "learn" || first == "lint") parser.text("-o,--output", options.output);
  if (!parser.parse(argc - (action_given ? 1 : 0), argv + (action_given ? 1 : 0))) return exit_code::pass;
  if (!action_given) throw UsageError("baseline needs one of learn, lint, show, match; see `assay help baseline`");
  options.action = first;
  if (first == "learn") {
    if (options.files.empty()) throw UsageError("baseline learn needs the folders of runs; see `assay help baseline`");
    if (options.class_id.empty()) throw UsageError("baseline learn needs --class; `assay baseline match` names it");
    if (options.output.empty()) throw UsageError("baseline learn needs -o FILE");
  } else if (options.files.size() != 1 && !(first == "match" && options.files.empty())) {
    throw UsageError(
        fmt::format("baseline {} takes one {}; see `assay help baseline`", first, first == "match" ? "run" : "file"));
  }
  if (options.format.empty()) options.format = first == "lint" ? "baseline" : "console";
  if (first == "lint") check_word("--format", options.format, {"baseline", "thresholds"});
  if (first == "match") check_word("--format", options.format, {"console", "json"});
  return command_baseline(options);
}

int parse_accept(int argc, char** argv) {
  AcceptOptions options;
  options.command_line.assign(argv - 1, argv + argc);
  std::vector<std::string> runs;
  Parser parser("accept");
  parser.positionals(runs);
  parser.texts("--device", options.devices);
  parser.text("--baseline", options.baseline);
  parser.text("--rules", options.rules);
  parser.text("--format", options.format);
  parser.text("-o,--output", options.output);
  if (!parser.parse(argc, argv)) return exit_code::pass;
  check_word("--format", options.format, acceptance_formats());
  if (runs.size() > 1) throw UsageError("accept judges one run; see `assay help accept`");
  if (!runs.empty()) options.run = runs.front();
  if (!runs.empty() && !options.devices.empty()) throw UsageError("--device is for measuring: leave it out with a RUN");
  for (const char* name : {"--baseline", "--rules"})
    if (parser.given(name) && (name == std::string("--rules") ? options.rules : options.baseline).empty())
      throw UsageError(fmt::format("{} needs a file", name));
  return command_accept(options);
}

int parse_import(int argc, char** argv) {
  ImportOptions options;
  options.command_line.assign(argv - 1, argv + argc);
  Parser parser("import");
  parser.positionals(options.files);
  parser.text("--from", options.from);
  parser.text("--out", options.out);
  if (!parser.parse(argc, argv)) return exit_code::pass;
  if (parser.given("--from")) check_word("--from", options.from, import_formats());
  if (parser.given("--out") && options.out.empty()) throw UsageError("--out needs the name of a folder");
  if (options.files.empty()) throw UsageError("import needs a file; see `assay help import`");
  return command_import(options);
}

int parse_help(int argc, char** argv) {
  HelpOptions options;
  if (argc > 1) options.verb = argv[1];
  if (argc > 2) throw UsageError("help takes one verb");
  return command_help(options);
}

}  // namespace

std::vector<std::string> verbs() {
  return {"run", "list", "report", "compare", "accept", "baseline", "import", "help"};
}

std::string help_text(const std::string& verb) {
  if (verb.empty()) return overview;
  if (verb == "run") return run_help;
  if (verb == "list") return list_help;
  if (verb == "report") return report_help;
  if (verb == "compare") return compare_help;
  if (verb == "accept") return accept_help;
  if (verb == "baseline") return baseline_help;
  if (verb == "import") return fmt::format(import_help, import_formats_text());
  if (verb == "help") return help_help;
  throw UsageError(fmt::format("there is no verb '{}'{}", verb, suggestion(verb, verbs())));
}

int dispatch(int argc, char** argv) {
  if (argc < 2) {
    std::fputs(overview, stderr);
    return exit_code::usage;
  }
  const std::string verb = argv[1];
  if (verb == "--version") {
    const BuildInfo& build = build_info();
    fmt::print("assay {}{}\n", build.version, build.commit.empty() ? "" : " (" + build.commit + ")");
    return exit_code::pass;
  }
  if (verb == "--help" || verb == "-h") return command_help({});
  if (verb == "run") {
    std::optional<RunOptions> options = parse_run(argc - 1, argv + 1);
    if (!options) return exit_code::pass;
    options->command_line.assign(argv, argv + argc);
    return command_run(*options);
  }
  if (verb == "list") return parse_list(argc - 1, argv + 1);
  if (verb == "report") return parse_report(argc - 1, argv + 1);
  if (verb == "compare") return parse_compare(argc - 1, argv + 1);
  if (verb == "accept") return parse_accept(argc - 1, argv + 1);
  if (verb == "baseline") return parse_baseline(argc - 1, argv + 1);
  if (verb == "import") return parse_import(argc - 1, argv + 1);
  if (verb == "help") return parse_help(argc - 1, argv + 1);
  if (starts_with(verb, "-"))
    throw UsageError(fmt::format("name a verb before '{}'; known: {}", verb, join(verbs(), ", ")));
  throw UsageError(fmt::format("there is no verb '{}'{}", verb, suggestion(verb, verbs())));
}

}  // namespace assay
