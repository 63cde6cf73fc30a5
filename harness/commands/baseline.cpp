// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// assay baseline learn | lint | show | match. The work is in verdict/; here are files, tables and exit codes.
#include "harness/verdict/baseline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <set>

#include "harness/base/clock.h"
#include "harness/base/error.h"
#include "harness/base/outcome.h"
#include "harness/base/printed_json.h"
#include "harness/base/text.h"
#include "harness/base/units.h"
#include "harness/build_info.h"
#include "harness/commands/arguments.h"
#include "harness/commands/matched.h"
#include "harness/commands/output.h"
#include "harness/commands/run_values.h"
#include "harness/commands/side_reader.h"
#include "harness/commands/verb.h"
#include "harness/device/pci.h"
#include "harness/verdict/learn.h"
#include "harness/verdict/lint.h"

namespace assay {
namespace {

std::string help() {
  return R"(assay baseline: references that machines are judged by.

usage: assay baseline learn RUN... --class CLASS -o FILE [--source TEXT]
       assay baseline lint FILE [--format baseline|thresholds] [-o JSON]
       assay baseline show FILE|CLASS
       assay baseline match [RUN] [--format console|json]

learn   a baseline from runs of known-good machines (a folder of runs is all of them; a CSV file
        becomes a run with `assay import`): per metric the mean and the spread between devices,
        between sessions and inside a session, in logarithms. At least 3 devices; up to 7 give a
        PROVISIONAL one. Outliers beyond 4 MAD are left out once. Refused: simulated runs, test
        knobs, wrong results, runs that differ in worker, modes or work, two groups instead of one
lint    is each row possible? Held against the physical limits of its class: no gate that can't be
        reached, none that passes what is broken, no missing unit, no zero. thresholds reads a table
        of published gates (columns gpu_class, metric, op, threshold, unit, n_gpus). Rows of which
        nobody knows a limit are counted; a table of gates with no other is INCONCLUSIVE
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

accept and compare use a baseline that is named (--baseline FILE); accept finds that of a device's
class by itself where it lies in the folder that `assay list` names, as CLASS.csv.

Exit codes: learn 0 written, 2 not (or some metrics refused); lint 0 PASS, 1 FAIL: a row is
impossible, 2 nothing to hold it against; match 0 each has a class, 2 UNKNOWN. 3 unreadable, 64
wrong usage.
)";
}

struct BaselineOptions {
  std::string action;              // learn | lint | show | match
  std::vector<std::string> files;  // learn: runs; lint: a file; show: a file or a class; match: a run, or none
  std::string class_id;            // learn
  std::string format;              // lint: baseline | thresholds; match: console | json
  std::string source;              // learn: what the baseline says about where it comes from; "": the runs
  std::string output;              // learn: the baseline; lint: JSON, "": none
};

namespace fs = std::filesystem;

void write_text(const std::string& path, const std::string& text) {
  write_output(path, [&](std::ostream& out) { out << text; });
}

// The last line: word and exit code, as every verb ends.
int finish(Outcome outcome, const std::string& text) {
  fmt::print("{}: {} (exit code {})\n", word(outcome), plain(text), code(outcome));
  return code(outcome);
}

// --- learn -----------------------------------------------------------------------------------------------------------

void refuse_unknown_class(const std::string& id, const ClassTable& table) {
  if (starts_with(id, "fake-")) throw UsageError(fmt::format("'{}': simulated runs make no baseline", shown(id)));
  if (!is_class_name(id, table))
    throw UsageError(fmt::format("'{}' is no known class{}; `assay baseline match` names the class of a device",
                                 shown(id), class_suggestion(id, table)));
}

std::string default_source(const std::vector<std::string>& runs) {
  return fmt::format("assay baseline learn: {} ({})", counted(runs.size(), "run"),
                     runs.size() <= 4 ? join(runs, " ") : runs.front() + " ... " + runs.back());
}

int print_refusals(const std::vector<Refusal>& refusals) {
  std::vector<Outcome> outcomes;
  for (const Refusal& refusal : refusals) {
    fmt::print(stderr, "assay: {}{}{} ({})\n", plain(refusal.metric), refusal.metric.empty() ? "" : ": ",
               plain(refusal.reason), word(refusal.outcome));
    outcomes.push_back(refusal.outcome);
  }
  return code(worst(outcomes));
}

int learn_baseline(const BaselineOptions& options) {
  const ClassTable table = read_class_table();
  refuse_unknown_class(options.class_id, table);
  std::vector<SessionValue> values;
  std::vector<Refusal> refusals;
  std::vector<std::string> run_ids;
  std::set<std::string> known, origins;
  std::vector<std::string> left_out;
  ConditionsPool pool;
  for (const std::string& folder : with_runs_inside(options.files)) {
    RunValues run = read_run_values(folder, table, pool);
    if (!known.insert(run.run_id).second)
      throw UsageError(fmt::format("{} is the run {} once more; a run counts once", folder, run.run_id));
    run_ids.push_back(run.run_id);
    for (const std::string& name : run.names) origins.insert(baseline_origin(name));
    left_out.insert(left_out.end(), run.left_out.begin(), run.left_out.end());
    refusals.insert(refusals.end(), run.not_reference.begin(), run.not_reference.end());
    std::move(run.values.begin(), run.values.end(), std::back_inserter(values));
  }
  if (!refusals.empty()) {
    print_refusals(refusals);
    return finish(Outcome::invalid, "no baseline was written: such runs can't be a reference");
  }
  constexpr std::size_t most_told = 5;
  for (std::size_t i = 0; i < std::min(most_told, left_out.size()); ++i)
    fmt::print(stderr, "assay: {}\n", plain(left_out[i]));
  if (left_out.size() > most_told) fmt::print(stderr, "assay: and {} more like it\n", left_out.size() - most_told);
  const BuildInfo& build = build_info();
  const Provenance provenance{utc_now().substr(0, 10), build.version + (build.commit.empty() ? "" : "+" + build.commit),
                              options.source.empty() ? default_source(run_ids) : options.source};
  Learned learned = learn(values, options.class_id, provenance);
  print_refusals(learned.refusals);
  learned.baseline.origins = std::move(origins);
  const std::size_t count = learned.baseline.rows.size();
  if (count == 0)
    return finish(Outcome::inconclusive, values.empty() ? "no baseline was written: the runs measured nothing"
                                                        : "no baseline was written: every metric was refused");
  write_text(options.output, to_csv(learned.baseline));
  const auto provisional = std::count_if(learned.baseline.rows.begin(), learned.baseline.rows.end(),
                                         [](const BaselineRow& row) { return row.provisional; });
  const std::string text = fmt::format(
      "{} of {} written to {}{}", counted(count, "metric"), options.class_id, options.output,
      provisional == 0 ? ""
                       : fmt::format("; {} PROVISIONAL (fewer than {} devices)", provisional, devices_for_a_reference));
  fmt::print("`assay accept` and `assay compare` take it with --baseline {}; as {} accept finds it by itself\n",
             plain(options.output), plain((results_folder() / "baselines" / (options.class_id + ".csv")).string()));
  if (learned.refusals.empty() && left_out.empty()) return finish(Outcome::measured, text);
  return finish(Outcome::incomplete, fmt::format("{}; {} refused{}", text, learned.refusals.size(),
                                                 left_out.empty() ? ""
                                                                  : fmt::format(", {} of single devices left out",
                                                                                counted(left_out.size(), "case"))));
}

// --- lint ------------------------------------------------------------------------------------------------------------

// A baseline with the header of a table of gates is one.
std::vector<Linted> lint_as_baseline(const fs::path& file, const ClassTable& table) try {
  return lint_baseline(file, table);
} catch (const Error& problem) {
  std::error_code unreadable;
  if (!fs::is_regular_file(file, unreadable)) throw;
  std::ifstream text(file);
  std::string header;
  std::getline(text, header);
  if (header.find("threshold") == std::string::npos) throw;
  throw Error(fmt::format("{}; a table of gates is read with --format thresholds", problem.what()));
}

// Of how many rows nothing is known that they could be held against, and why.
std::string unheld_text(const std::vector<Linted>& rows) {
  std::map<std::string, std::size_t> reasons;
  std::size_t count = 0;
  for (const Linted& row : rows)
    if (row.unheld) ++count, ++reasons[row.reason];
  if (count == 0) return {};
  const auto most = std::max_element(reasons.begin(), reasons.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  return fmt::format("{} of {} held against no limit{}: {}", count, counted(rows.size(), "row"),
                     most->second < count ? fmt::format(" ({} of them)", most->second) : "", most->first);
}

int lint(const BaselineOptions& options) {
  const ClassTable table = read_class_table();
  const fs::path file = options.files.front();
  const bool gates = options.format == "thresholds";
  const std::vector<Linted> rows = gates ? lint_thresholds(file, table) : lint_as_baseline(file, table);
  if (!options.output.empty()) write_text(options.output, to_json(rows).dump(1) + "\n");
  std::size_t flagged = 0;
  for (const Linted& row : rows)
    if (row.flag) {
      ++flagged;
      fmt::print("{}:{}: {}\n", plain(file.string()), row.line, plain(row.reason));
    }
  if (rows.empty()) return finish(Outcome::incomplete, "there is no row below the header");
  const std::string unheld = unheld_text(rows);
  if (!unheld.empty()) fmt::print("{}\n", plain(unheld));
  const bool none_held = std::all_of(rows.begin(), rows.end(), [](const Linted& row) { return row.unheld; });
  return finish(flagged > 0          ? Outcome::fail
                : gates && none_held ? Outcome::inconclusive
                                     : Outcome::pass,
                fmt::format("{} of {} impossible", flagged, counted(rows.size(), "row")));
}

// --- show ------------------------------------------------------------------------------------------------------------

int show(const BaselineOptions& options) {
  const ClassTable table = read_class_table();
  const fs::path file = baseline_path(options.files.front());
  const Baseline baseline = read_baseline(file, table);
  fmt::print("baseline of {} ({})\n\n", plain(baseline.class_id), plain(file.string()));
  std::size_t width = 6;
  for (const BaselineRow& row : baseline.rows) width = std::max(width, plain(to_text(row.key)).size());
  fmt::print("{:<{}}  {:>7}  {:>12}  {:>9}  {:>9}  {}\n", "metric", width, "devices", "mean", "device sd", "session sd",
             "status");
  for (const BaselineRow& row : baseline.rows)
    fmt::print("{:<{}}  {:>7}  {:>12}  {:>7.2f} %  {:>9}  {}\n", plain(to_text(row.key)), width, row.devices,
               plain(format_quantity(std::exp(row.log_mean), row.unit)), 100 * row.between_device_sd,
               row.between_session_sd ? fmt::format("{:.2f} %", 100 * *row.between_session_sd) : "-",
               row.provisional ? "PROVISIONAL" : "REFERENCE");
  const BaselineRow& first = baseline.rows.front();
  const std::string origin =
      fmt::format("{}, tool {}, worker {}{}{}; {}", first.date, first.tool_version, first.worker,
                  first.driver_min.empty() ? "" : fmt::format(", drivers {} to {}", first.driver_min, first.driver_max),
                  first.modes.empty() ? "" : ", " + first.modes, first.source);
  fmt::print("\n{}\n", plain(origin));
  return exit_code::pass;
}

// --- match -----------------------------------------------------------------------------------------------------------

std::vector<Matched> devices_to_match(const BaselineOptions& options, const ClassTable& table) {
  std::vector<Matched> matched;
  if (!options.files.empty()) {
    ConditionsPool pool;
    for (RunDevice& device : read_run_values(options.files.front(), table, pool).devices)
      matched.push_back({device.info.id, device.info.name, device.match});
    return matched;
  }
  std::vector<DeviceInfo> devices = nvidia_pci_devices();
  devices.insert(devices.begin(), cpu_device());
  for (const DeviceInfo& device : devices) matched.push_back({device.id, device.name, class_of(device, table)});
  return matched;
}

void print_match(const Matched& device) {
  const ClassMatch& match = device.match;
  fmt::print("{:<8} {}\n         {}: {}\n", plain(device.id), plain(device.name),
             match.outcome == Outcome::match ? "class " + match.class_id : "UNKNOWN", plain(match.reason));
  if (!match.candidates.empty()) fmt::print("         candidates: {}\n", join(match.candidates, ", "));
  for (const auto& [name, value] : match.modes) fmt::print("         {}: {}\n", plain(name), plain(value));
  if (match.outcome == Outcome::match) fmt::print("         {}\n", baseline_text(match));
}

int match(const BaselineOptions& options) {
  const ClassTable table = read_class_table();
  const std::vector<Matched> devices = devices_to_match(options, table);
  std::vector<Outcome> outcomes;
  for (const Matched& device : devices) outcomes.push_back(device.match.outcome);
  const Outcome outcome = worst(outcomes);
  if (options.format == "json") {
    Json list = Json::array();
    for (const Matched& device : devices) list.push_back(to_json(device));
    const Json document{
        {"schema", "assay.match.v1"}, {"verdict", word(outcome)}, {"exit_code", code(outcome)}, {"devices", list}};
    std::cout << printed(document, 2) << '\n';
    return code(outcome);
  }
  for (const Matched& device : devices) print_match(device);
  return finish(outcome,
                fmt::format("{} of {} with a class", std::count(outcomes.begin(), outcomes.end(), Outcome::match),
                            counted(devices.size(), "device")));
}

int command_baseline(const BaselineOptions& options) {
  if (options.action == "learn") return learn_baseline(options);
  if (options.action == "lint") return lint(options);
  if (options.action == "show") return show(options);
  return match(options);
}

// argv[0] is "baseline", argv[1] what to do.
int from_command_line(int argc, char** argv) {
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
    if (plain(options.source) != options.source)
      throw UsageError("--source has characters that can't be shown, or is no UTF-8; it is a column of a table");
  } else if (options.files.size() != 1 && !(first == "match" && options.files.empty())) {
    throw UsageError(
        fmt::format("baseline {} takes one {}; see `assay help baseline`", first, first == "match" ? "run" : "file"));
  }
  if (options.format.empty()) options.format = first == "lint" ? "baseline" : "console";
  if (first == "lint") check_word("--format", options.format, {"baseline", "thresholds"});
  if (first == "match") check_word("--format", options.format, {"console", "json"});
  return command_baseline(options);
}

}  // namespace

extern const Verb baseline_verb{"baseline", "references of a class of machines: learn, lint, show, match", help,
                                from_command_line};

}  // namespace assay
