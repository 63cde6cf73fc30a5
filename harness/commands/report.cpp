// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// assay report RUN...: the records of runs in another form. The exit code is that of the worst run, so that a script
// that only looks at the report can't take a failed run for a good one. A file that exists is never overwritten.
#include "harness/report/report.h"

#include "harness/base/error.h"
#include "harness/base/outcome.h"
#include "harness/commands/arguments.h"
#include "harness/commands/output.h"
#include "harness/commands/side_reader.h"
#include "harness/commands/verb.h"

namespace assay {
namespace {

std::string help() {
  return R"(assay report: show runs again from their records.

usage: assay report RUN... [options]

  RUN                         a run folder, or a folder of runs; a file of another tool becomes a run
                              with `assay import`
  --format console|csv|json   (default: console)
  -o, --output FILE           write there instead of to standard output; a file that is there is
                              not overwritten

It also looks inside the series: a rate that fell while it was measured (THROTTLE with the clock, a
sudden DROP, a slow DECAY), memory that did not come back (LEAK), and a device that is slower than
the others of its class (STRAGGLER; suspected until two sessions or runs show it). Findings stand
under "In the series" and in findings[] of JSON; they don't change the exit code. A series of fewer
than 68 samples is not looked at, and counted: --profile burn-in makes long ones.

examples
  assay report assay-run-20261130T170501Z-4711
  assay report before after --format csv -o both.csv

Exits as the worst of the runs did (codes: `assay help`), so that no script takes a FAIL for a pass.
)";
}

struct ReportOptions {
  std::vector<std::string> runs;
  std::string format = "console";  // console | csv | json
  std::string output;              // "": standard output
};

int command_report(const ReportOptions& options) {
  check_report_format(options.format);
  std::vector<RunData> runs;
  for (const std::string& folder : with_runs_inside(options.runs)) runs.push_back(read_run(folder));
  Outcome outcome = Outcome::error;
  write_output(options.output, [&](std::ostream& out) { outcome = write_report(runs, options.format, out); });
  return code(outcome);
}

int from_command_line(int argc, char** argv) {
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

}  // namespace

extern const Verb report_verb{"report", "a run as console table, CSV or JSON", help, from_command_line};

}  // namespace assay
