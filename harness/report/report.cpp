// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See report.h: the table of formats, and what they share.
#include "harness/report/report.h"

#include <fmt/format.h>

#include <cstdio>

#include "harness/base/error.h"
#include "harness/base/text.h"
#include "harness/report/formats.h"

namespace assay {
namespace {

struct Format {
  const char* name;
  Outcome (*write)(const std::vector<RunData>& runs, std::ostream& out);
};
constexpr Format formats[] = {{"console", report_console}, {"csv", report_csv}, {"json", report_json}};

}  // namespace

std::vector<std::string> report_formats() {
  std::vector<std::string> names;
  for (const Format& format : formats) names.emplace_back(format.name);
  return names;
}

void check_report_format(const std::string& format) {
  const std::vector<std::string> names = report_formats();
  for (const std::string& name : names)
    if (name == format) return;
  throw UsageError(fmt::format("there is no report format '{}'{}", format, suggestion(format, names)));
}

Outcome write_report(const std::vector<RunData>& runs, const std::string& format, std::ostream& out) {
  check_report_format(format);
  for (const Format& known : formats)
    if (format == known.name) return known.write(runs, out);
  return Outcome::error;  // not reached: the format was checked
}

Judged judge(const RunData& run, const CoverageCounts& counts) {
  const std::string unlike = unlike_its_end(run, counts);
  if (run.run.is_null()) return {worst({outcome_of(counts), Outcome::incomplete}), unlike};
  const RunWord said = run_word(run.run);
  const Outcome proved = outcome_of(counts, said.interrupted);
  if (said.agrees(counts) && unlike.empty()) return {proved, ""};
  if (said.agrees(counts)) return {worst({proved, Outcome::incomplete}), unlike};
  return {worst({said.outcome, proved, Outcome::incomplete}),
          fmt::format("run.json says {} (exit code {}; {} of {} measured), but the records {} ({} of {} measured); the "
                      "worse counts",
                      word(said.outcome), said.exit_code, said.coverage.measured, said.coverage.required, word(proved),
                      counts.measured, counts.required)};
}

Flags flags_of(const Record& record, const MetricResult& metric) {
  Flags flags;
  for (const Series& series : record.series) {
    if (series.label != metric.series) continue;
    for (const Sample& sample : series.samples) {
      ++flags.samples;
      if (sample.disturbed != 0) ++flags.flagged;
      flags.seen |= sample.disturbed;
    }
  }
  return flags;
}

void warn(const std::string& text) {
  if (!text.empty()) fmt::print(stderr, "warning: {}\n", plain(text));
}

}  // namespace assay
