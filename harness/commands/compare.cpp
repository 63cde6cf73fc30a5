// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// assay compare BEFORE AFTER: is it still what it was? Two finished runs are one look, so the whole error is spent on
// it; adding sessions until the answer stands is `assay run --against`. An AFTER that was measured so has been looked
// at already: the same looks are taken again, each with its own error. One more at the full error would find what a
// stopping rule made.
#include "harness/verdict/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <optional>

#include "harness/base/error.h"
#include "harness/base/text.h"
#include "harness/base/units.h"
#include "harness/commands/against.h"
#include "harness/commands/arguments.h"
#include "harness/commands/output.h"
#include "harness/commands/side_reader.h"
#include "harness/commands/verb.h"
#include "harness/import/import.h"
#include "harness/parent/run_data.h"
#include "harness/report/compare.h"
#include "harness/verdict/lint.h"

namespace assay {
namespace {

std::string help() {
  return R"(assay compare: is it still what it was? A verdict on each metric of BEFORE.

usage: assay compare BEFORE AFTER [options]
       assay compare --before RUN... --after RUN... [options]

  --before RUN..., --after RUN...   several runs of one side are several boots; a folder of runs is
                              all of them
  --margin PERCENT            the change for the worse that is accepted: 1%; for one metric
                              bandwidth=1.5% (default: 2%); may be given again
  --changed AREA,...          what is being tested (driver, kernel, libraries, ...): other
                              differences around the runs still stop the comparison
  --baseline FILE|CLASS       a reference of the devices' class: its spread between sessions counts
                              beside that of these runs, so that 3 sessions a side can be enough
  --format console|json|markdown   (default: console)
  -o, --output FILE           write there; a file that is there is not overwritten

examples
  assay run --profile standard --sessions 5 --out before       (then the upgrade)
  assay run --profile standard --sessions 5 --out after
  assay compare before after --changed driver,kernel
  assay compare before after --margin 1% --margin latency=3% --format markdown

A RUN is a folder, a folder of runs, or a file that `assay import` reads. The unit is the session
(a fresh process), and a verdict needs 5 a side. `interval` holds the true change with 98 %;
`would see` is the smallest change that would have been called REGRESSED nine times in ten. Where
something else used the CPUs in more than half of the samples, or the runs were measured with test
knobs, nothing is passed. Control cases (arithmetic of one core, copies in main memory) show what happened to all of
the machine: a metric that lost no more than two of them is INCONCLUSIVE, and they keep their word.
An AFTER of `assay run --against` is judged by the looks that it took, not once more.
Exit codes: 0 NO_REGRESSION, IMPROVED, VARIANCE_CHANGED where sessions differ less than before; 1
REGRESSED, VARIANCE_CHANGED where they differ more, FAIL where AFTER has wrong results; 2
INCONCLUSIVE (too few sessions, unlike things), NOT_RUN, INVALID, MODE_SWITCH; 3 ERROR.
)";
}

struct CompareOptions {
  std::vector<std::string> before, after;  // runs, or files that `assay import` reads; several are boots
  std::vector<std::string> margins;        // "1%", "bandwidth=1.5%"
  std::vector<std::string> changed;        // areas under test (verdict/comparability.h)
  std::string baseline;                    // whose spread between sessions is the prior; "": none
  std::string format = "console";          // console | json | markdown
  std::string output;                      // "": standard output
};

// A prior is of the devices' class or none: another one's makes the intervals too narrow.
void add_prior(const std::string& file, const ReadSide& before, CompareSettings& settings) {
  const ClassTable table = read_class_table();
  settings.baseline = read_sound_baseline(file, table);
  settings.baseline_source = file;
  for (const auto& [identity, device] : before.devices)
    if (const ClassMatch match = class_of(device, table); match.class_id == settings.baseline->class_id)
      settings.of_class[identity] = to_text(match.modes);
  if (settings.of_class.empty())
    throw Error(
        fmt::format("{} is a reference of the class {}, and no device of BEFORE is of it; `assay baseline match` "
                    "tells the class of a run's devices",
                    file, settings.baseline->class_id));
}

// The run among `paths` that was measured until its verdict stood; nullopt: none.
std::optional<RunData> sequential_run(const std::vector<std::string>& paths) {
  for (const std::string& path : with_runs_inside(paths)) {
    if (is_importable(path)) continue;
    RunData run = read_run(path);
    if (run.plan.against) return run;
  }
  return std::nullopt;
}

std::string margins_text(const std::vector<std::string>& margins) {
  return margins.empty() ? format_percent(default_margin) : join(margins, ", ");
}

CompareResult result_of(const CompareOptions& options, const ReadSide& before, const ReadSide& after,
                        const CompareSettings& settings) {
  const std::vector<EnvironmentChange> changes =
      environment_changes(before.environment, after.environment, options.changed);
  const std::optional<RunData> grown = sequential_run(options.after);
  if (grown && after.side.run_ids.size() > 1)
    throw Error(
        fmt::format("{} added sessions until its verdict stood, so how many it has depends on their values, and "
                    "it can't be pooled with other runs; compare it alone",
                    grown->folder.string()));
  CompareResult result = grown ? look_again(before.side, *grown, across_hosts(options.changed), changes, settings)
                               : compare(before.side, after.side, changes, settings);
  if (grown)
    result.notes.push_back(
        fmt::format("AFTER added sessions until its verdicts against run {}{} stood (margin {}); its looks are taken "
                    "again here, each at its own error",
                    grown->plan.against->run_id,
                    grown->plan.against->run_id == before.side.run_ids.front() ? "" : ", which is not BEFORE,",
                    margins_text(grown->plan.against->margins)));
  if (const std::optional<RunData> first = sequential_run(options.before))
    result.notes.push_back(fmt::format(
        "BEFORE added sessions until its own verdicts against run {} stood, so how many it has depends on their values",
        first->plan.against->run_id));
  return result;
}

int command_compare(const CompareOptions& options) {
  CompareSettings settings;
  for (const std::string& margin : options.margins) add_margin(margin, settings);
  const bool hosts = across_hosts(options.changed);
  const ReadSide before = read_side("BEFORE", with_runs_inside(options.before), hosts);
  const ReadSide after = read_side("AFTER", with_runs_inside(options.after), hosts);
  check_margins(settings, before.side);
  if (!options.baseline.empty()) add_prior(baseline_path(options.baseline).string(), before, settings);
  for (const ReadSide* side : {&before, &after})
    for (const std::string& warning : side->warnings) fmt::print(stderr, "warning: {}\n", plain(warning));
  CompareResult result = result_of(options, before, after, settings);
  result.title =
      fmt::format("BEFORE {}   AFTER {}   margin {}", before.title, after.title, margins_text(options.margins));
  write_output(options.output, [&](std::ostream& out) { write_comparison(result, options.format, out); });
  return code(result.verdict);
}

int from_command_line(int argc, char** argv) {
  CompareOptions options;
  std::vector<std::string> pair, changed;
  Parser parser("compare");
  parser.positionals(pair);
  parser.lists("--before", options.before);
  parser.lists("--after", options.after);
  parser.texts("--margin", options.margins);
  parser.texts("--changed", changed);
  parser.text("--baseline", options.baseline);
  parser.text("--format", options.format);
  parser.text("-o,--output", options.output);
  if (!parser.parse(argc, argv)) return exit_code::pass;
  check_word("--format", options.format, comparison_formats());
  options.changed = comma_list(changed);
  if (parser.given("--baseline") && options.baseline.empty()) throw UsageError("--baseline needs a file");
  const bool named = !options.before.empty() || !options.after.empty();
  if (named ? !pair.empty() || options.before.empty() || options.after.empty() : pair.size() != 2)
    throw UsageError("compare needs BEFORE and AFTER, or --before RUN and --after RUN; see `assay help compare`");
  if (!named) {
    options.before = {pair[0]};
    options.after = {pair[1]};
  }
  return command_compare(options);
}

}  // namespace

extern const Verb compare_verb{"compare", "is it still what it was? a verdict on before and after", help,
                               from_command_line};

}  // namespace assay
