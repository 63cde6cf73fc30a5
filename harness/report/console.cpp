// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// The report for people: what went wrong first, then a table per benchmark, then what was not measured and why, and
// last the word of the run with its exit code. `spread` is half the range of the session medians, or half the
// interquartile range of the samples when there is one session; `of limit` is the share of what is physically possible,
// where known. Numbers come from MEASURED records only; a case without one shows its word where the median would be.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>

#include "harness/base/text.h"
#include "harness/base/units.h"
#include "harness/report/findings.h"
#include "harness/report/formats.h"
#include "harness/report/parts.h"
#include "harness/report/results.h"

namespace assay {
namespace {

std::string per_cycle(const MetricResults& metric) {
  const double value = metric.cycle_median();
  return std::isfinite(value) ? plain(format_quantity(value, metric.cycle_unit)) : "-";
}

// Samples that something disturbed, and by what; in a row as "2/20", with the causes once for the whole run.
void add(Flags& all, const MetricResults& metric) {
  for (const SessionSummary& session : metric.sessions) {
    all.samples += session.disturbed.samples;
    all.flagged += session.disturbed.flagged;
    all.seen |= session.disturbed.seen;
  }
}

std::string disturbance(const MetricResults& metric) {
  Flags all;
  add(all, metric);
  return all.flagged == 0 ? "" : fmt::format("{}/{}", all.flagged, all.samples);
}

void print_disturbance(const Results& results, std::ostream& out) {
  Flags all;
  for (const CaseResults& one : results.cases) {
    std::set<std::string> counted;  // two metrics of one series have the same samples
    for (const MetricResults& metric : one.metrics)
      if (counted.insert(metric.series).second) add(all, metric);
  }
  if (all.flagged == 0) return;
  out << fmt::format("disturbed {} of {} samples (column `disturbed`), which are kept; by {}\n", all.flagged,
                     all.samples, disturbed_text(all.seen));
}

std::string short_name(const CaseResults& results, bool name_devices) {
  std::string name =
      results.planned.name.substr(std::min(results.planned.name.size(), results.planned.benchmark.size() + 1));
  if (name.empty()) name = "-";
  return plain(name_devices ? name + "  " + device_set_name(results.planned.device_set) : name);
}

// A metric with a value at each point of a sweep is shown as a curve, not as a row for each of its points.
bool shown_as_curve(const CaseResults& results, const MetricResults& metric) {
  if (metric.series.empty() || results.curves.empty()) return false;
  return std::count_if(results.metrics.begin(), results.metrics.end(),
                       [&](const MetricResults& other) { return other.metric.name == metric.metric.name; }) > 1;
}

void add_lines(const CaseResults& results, const Plan& plan, std::vector<Cells>& lines) {
  const Outcome outcome = results.outcome();
  std::string name = short_name(results, plan.devices.size() > 1);
  std::string sessions = fmt::format("{}/{}", results.measured(), results.required);
  if (results.metrics.empty()) {
    lines.push_back({name, "-", std::string(word(outcome)), "-", "-", "-", sessions, ""});
    return;
  }
  if (outcome != Outcome::measured) sessions += fmt::format(" {}", word(outcome));
  std::set<std::string> curves;
  for (const MetricResults& metric : results.metrics) {
    const bool curve = shown_as_curve(results, metric);
    if (curve && !curves.insert(metric.metric.name).second) continue;
    if (curve)
      lines.push_back({name, plain(metric.metric.name), "see below", "", "", "", sessions, ""});
    else
      lines.push_back({name, plain(trim(metric.metric.name + " " + metric.series)),
                       plain(format_quantity(metric.median(), metric.metric.unit)), format_percent(metric.spread()),
                       per_cycle(metric), format_percent(metric.share()), sessions, disturbance(metric)});
    name.clear();
  }
}

void print_results(const std::string& benchmark, std::vector<Cells> rows, std::ostream& out) {
  for (Cells& row : rows) row[0] = "  " + row[0];
  rows.insert(rows.begin(),
              {benchmark, "metric", "median", "spread", "per cycle", "of limit", "sessions", "disturbed"});
  out << '\n';
  print_table(rows, {2, 3, 4, 5, 6, 7}, out);
}

std::string quantity(double value, const std::string& unit) {
  return unit == "B" ? format_bytes(value) : format_quantity(value, unit);
}

// The points in rows, and what the benchmark read from them: the facts that only sweeps have.
void print_curves(const Results& results, const Plan& plan, std::ostream& out) {
  constexpr std::size_t in_a_row = 4, column = 28;
  if (plan.imported) return;  // theirs are no sweeps: what was read beside the samples
  for (const CaseResults& one : results.cases)
    for (const Curve& curve : one.curves) {
      out << fmt::format("\n{}  {} over {}{}\n", plain(one.planned.name), plain(curve.y_name), plain(curve.x_name),
                         plan.devices.size() > 1 ? "  " + plain(device_set_name(one.planned.device_set)) : "");
      std::string row;
      for (std::size_t i = 0; i < curve.points.size(); ++i) {
        const std::string point =
            plain(quantity(curve.points[i].x, curve.x_unit) + ": " + quantity(curve.points[i].y, curve.y_unit));
        const bool last = i % in_a_row + 1 == in_a_row || i + 1 == curve.points.size();
        row += last ? point : padded(point, column, false);
        if (!last) continue;
        out << "  " << row << '\n';
        row.clear();
      }
      for (const auto& [name, value] : one.facts)
        if (starts_with(name, "knee") || starts_with(name, "ridge"))
          out << fmt::format("  {}: {}\n", plain(name), plain(value));
    }
}

void print_head(const RunData& run, const Results& results, std::ostream& out) {
  const Plan& plan = run.plan;
  out << fmt::format("run {}   profile {}, {}{}, seed {}   {}\n", plain(plan.run_id), plain(plan.profile),
                     plan.against ? "up to " : "", counted(plan.sessions, "session"), plan.seed,
                     plain(plan.created_at));
  for (const DeviceInfo& device : plan.devices)
    out << fmt::format("{}   {}{}\n", plain(device.id), plain(device.name), device.simulated ? "   (simulated)" : "");
  if (plan.against)
    out << fmt::format("against {}   {}\n", plain(plan.against->run_id), plain(plan.against->folder.string()));
  if (plan.imported)
    for (const ImportedFile& file : plan.imported->files)
      out << fmt::format("IMPORTED from {} ({}{}): Assay saw nothing of the work behind these numbers\n",
                         plain(file.name), plan.imported->format,
                         file.tool_version.empty() ? "" : " " + plain(file.tool_version));
  print_unreal(results.simulated, results.test_knobs, out);
  for (const std::string& warning : results.warnings) out << "warning: " << plain(warning) << '\n';
}

void print_mismatch(const Mismatch& m, std::ostream& out) {
  const bool again = m.second_read_bits == m.actual_bits;
  out << fmt::format("           {}[{}]: {} expected, {} found; bits {} xor {}{}\n", plain(m.buffer), m.index,
                     plain(m.expected), plain(m.actual), plain(m.actual_bits), plain(m.xor_bits),
                     m.second_read_bits.empty() ? ""
                     : again                    ? "; the same when read again"
                                                : "; other bits when read again");
}

void print_ending(const CaseResults& results, const Ending& ending, const Plan& plan, std::ostream& out) {
  std::string where = device_set_name(results.planned.device_set);
  if (plan.sessions > 1) where += fmt::format(", session {}", ending.session);
  out << fmt::format("  {:<8} {}  ({})\n           {}\n", word(ending.outcome), plain(results.planned.name),
                     plain(where), plain(ending.reason));
  for (std::size_t i = 0; i < std::min<std::size_t>(3, ending.verification.first_mismatches.size()); ++i)
    print_mismatch(ending.verification.first_mismatches[i], out);
  if (!ending.failure) return;
  const std::vector<std::string>& tail = ending.failure->stderr_tail;
  for (std::size_t i = tail.size() > 3 ? tail.size() - 3 : 0; i < tail.size(); ++i)
    out << "           | " << plain(tail[i]) << '\n';
}

// Required cases that have no record in some session.
void print_missing(const Results& results, std::ostream& out) {
  constexpr std::size_t shown = 5;
  std::size_t count = 0;
  for (const CaseResults& one : results.cases) {
    const auto required = static_cast<std::size_t>(one.required);
    const std::size_t missing = required - std::min(one.endings.size(), required);
    if (missing == 0 || ++count > shown) continue;
    out << fmt::format("  {:<8} {}  ({}, {} of {} without a record)\n", word(Outcome::not_run), plain(one.planned.name),
                       plain(device_set_name(one.planned.device_set)), missing, counted(required, "session"));
  }
  if (count > shown)
    out << fmt::format("  {:<8} and {}\n", word(Outcome::not_run), counted(count - shown, "more case"));
}

// FAIL, then ERROR, then the others: the order of the exit codes.
void print_failures(const Results& results, const Plan& plan, std::ostream& out) {
  const CoverageCounts& counts = results.counts;
  if (counts.measured == counts.required) return;
  out << "\nWhat went wrong\n";
  for (const int wanted : {exit_code::fail, exit_code::error, exit_code::inconclusive})
    for (const CaseResults& one : results.cases)
      for (const Ending& ending : one.endings)
        if (code(ending.outcome) == wanted) print_ending(one, ending, plan, out);
  print_missing(results, out);
}

// Reasons with the number of cases that share them, in order of first appearance.
void print_not_applicable(const Plan& plan, std::ostream& out) {
  std::vector<std::pair<std::string, int>> reasons;
  for (const PlannedCase& planned : plan.cases) {
    if (planned.coverage != Coverage::not_applicable) continue;
    const std::string text = plain(planned.benchmark + ": " + planned.text);
    const auto found = std::find_if(reasons.begin(), reasons.end(), [&](const auto& r) { return r.first == text; });
    if (found == reasons.end())
      reasons.emplace_back(text, 1);
    else
      ++found->second;
  }
  if (!reasons.empty()) out << "\nNot applicable here\n";
  for (const auto& [text, count] : reasons) out << fmt::format("  {} ({})\n", text, counted(count, "case"));
}

// What the look before the run saw. Whoever reads the numbers must read this too.
void print_not_quiet(const RunData& run, std::ostream& out) {
  if (!run.run.is_object() || !run.run.contains("quiet_machine")) return;
  const Json& quiet = run.run.at("quiet_machine");
  if (!quiet.is_object() || quiet.value("quiet", true)) return;
  std::vector<std::string> reasons;
  for (const Json& reason : quiet.at("reasons")) reasons.push_back(plain(reason.get<std::string>()));
  out << fmt::format("NOT QUIET {} when it began: these rates may be lower than the machine's\n", join(reasons, "; "));
}

void print_run(const RunData& run, const Results& results, std::ostream& out) {
  print_head(run, results, out);
  print_failures(results, run.plan, out);
  std::vector<std::string> order;
  std::map<std::string, std::vector<Cells>> tables;
  for (const CaseResults& one : results.cases) {
    if (one.endings.empty()) continue;
    if (tables.count(one.planned.benchmark) == 0) order.push_back(one.planned.benchmark);
    add_lines(one, run.plan, tables[one.planned.benchmark]);
  }
  for (const std::string& benchmark : order) print_results(plain(benchmark), tables[benchmark], out);
  print_curves(results, run.plan, out);
  print_not_applicable(run.plan, out);
  out << '\n';
  if (results.wall_s > 0 && !results.simulated)  // a script's clock, and no load touches it
    out << fmt::format("time      {} in cases: {} measuring, {} warming up\n", format_duration(results.wall_s),
                       format_percent(results.measure_s / results.wall_s),
                       format_percent(results.warmup_s / results.wall_s));
  print_disturbance(results, out);
  if (!results.simulated) print_not_quiet(run, out);
  out << "coverage  " << plain(coverage_line(run.plan, results.counts)) << '\n';
  out << "folder    " << plain(run.folder.string()) << "  (records.jsonl has every sample)\n";
}

}  // namespace

Outcome report_console(const std::vector<RunData>& runs, std::ostream& out) {
  std::vector<Outcome> outcomes;
  Detector detector;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const Results results = collect(runs[i], &detector);
    outcomes.push_back(results.outcome);
    if (i > 0) out << '\n';
    print_run(runs[i], results, out);
    if (runs.size() > 1) out << fmt::format("outcome   {}\n", word(results.outcome));
  }
  print_findings(detector.finish(), runs.size() > 1, out);
  const Outcome outcome = worst(outcomes);
  out << last_line(outcome) << '\n';
  return outcome;
}

}  // namespace assay
