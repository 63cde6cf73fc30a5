// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// assay report RUN...: the records of runs in another form. The exit code is that of the worst run, so that a script
// that only looks at the report can't take a failed run for a good one. A file that exists is never overwritten.
#include "harness/report/report.h"

#include "harness/commands/output.h"
#include "harness/options.h"

namespace assay {

int command_report(const ReportOptions& options) {
  check_report_format(options.format);
  std::vector<RunData> runs;
  for (const std::string& folder : options.runs) runs.push_back(read_run(folder));
  Outcome outcome = Outcome::error;
  write_output(options.output, [&](std::ostream& out) { outcome = write_report(runs, options.format, out); });
  return code(outcome);
}

}  // namespace assay
