// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See compare.h.
#include "harness/report/compare.h"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <set>

#include "harness/base/error.h"
#include "harness/base/json.h"
#include "harness/base/printed_json.h"
#include "harness/base/text.h"
#include "harness/base/units.h"
#include "harness/report/parts.h"

namespace assay {
namespace {

// "op:copy/type:f64" of "memory/stream/op:copy/type:f64": the benchmark stands above. "-" where it is all of the name.
std::string case_text(const MetricVerdict& v) {
  const std::string& name = v.key.case_name;
  if (name == v.benchmark) return "-";
  return plain(name.size() > v.benchmark.size() + 1 && starts_with(name, v.benchmark + "/")
                   ? name.substr(v.benchmark.size() + 1)
                   : name);
}

struct Counts {
  std::map<std::string, std::size_t> words;
  explicit Counts(const std::vector<MetricVerdict>& verdicts) {
    for (const MetricVerdict& v : verdicts) ++words[std::string(word(v.verdict))];
  }
  std::string text() const {
    std::vector<std::string> parts;
    for (const auto& [name, count] : words) parts.push_back(fmt::format("{} {}", count, name));
    return join(parts, ", ");
  }
};

Cells row_of(const MetricVerdict& v) {
  const auto [low, high] = v.interval();
  return {std::string(word(v.verdict)),
          case_text(v),
          metric_name(v.key),
          format_change(v.effect()),
          v.estimate ? fmt::format("{} .. {}", format_change(low), format_change(high)) : "-",
          v.estimate ? format_percent(v.detectable()) : "-",
          v.reason};
}

void print_rows(std::vector<Cells> rows, std::ostream& out) {
  rows.insert(rows.begin(), {"verdict", "case", "metric", "change", "interval", "would see", "why"});
  for (Cells& row : rows) {
    row.front() = "  " + row.front();
    row.back() = plain(row.back());
  }
  print_table(rows, {3, 4, 5}, out, console_width);
}

// Grouped by device and benchmark, the group with the worst metric first: the list is sorted already.
void print_verdicts(const std::vector<MetricVerdict>& verdicts, std::ostream& out) {
  std::vector<std::pair<std::string, std::vector<Cells>>> groups;
  for (const MetricVerdict& v : verdicts) {
    const std::string head = fmt::format("{}   {}", plain(v.benchmark), plain(v.key.device));
    auto group = std::find_if(groups.begin(), groups.end(), [&](const auto& g) { return g.first == head; });
    if (group == groups.end()) group = groups.insert(groups.end(), {head, {}});
    group->second.push_back(row_of(v));
  }
  for (const auto& [head, rows] : groups) {
    out << '\n' << head << '\n';
    print_rows(rows, out);
  }
}

std::string control_text(const ControlShift& c) {
  const bool slower = c.high<0, faster = c.low> 0;
  const std::string what =
      c.cases > 1 && (slower || faster)
          ? fmt::format("the machine as a whole is {} {}", format_percent(c.shift), slower ? "slower" : "faster")
      : slower || faster ? fmt::format("one case is {} {}", format_percent(c.shift), slower ? "slower" : "faster")
                         : "the machine as a whole is as fast as before, as far as can be told";
  return fmt::format(
      "control: {} ({} .. {}, by {} of plain arithmetic or copying); the changes above are not corrected for it", what,
      format_change(c.low), format_change(c.high), counted(c.cases, "case"));
}

// "" without one.
std::string prior_text(const CompareResult& result) {
  if (result.prior_class.empty()) return {};
  const auto used = std::count_if(result.metrics.begin(), result.metrics.end(),
                                  [](const MetricVerdict& v) { return v.prior.df > 0; });
  return fmt::format(
      "prior: the spread between sessions of {} of {} is moderated by that of the class {} ({}); their intervals "
      "are as right as that reference is",
      used, counted(result.metrics.size(), "metric"), plain(result.prior_class), plain(result.prior_source));
}

// "judged 10 times, after 3 to 12 of at most 12 sessions: 3 of 5 metrics are open": nothing for a single look. The
// error of each look is in JSON.
std::string looks_text(const CompareResult& result) {
  if (!result.looks) return {};
  const LooksTaken& taken = *result.looks;
  if (taken.looks.empty()) return fmt::format("looks: none; the first comes after {} sessions", taken.first);
  const std::size_t first = taken.looks.front().sessions, last = taken.looks.back().sessions;
  const std::string at = first == last ? std::to_string(last) : fmt::format("{} to {}", first, last);
  return fmt::format("looks: judged {}, after {} of at most {} sessions; {} of {} still open",
                     counted(taken.looks.size(), "time"), at, taken.cap, taken.looks.back().open,
                     counted(result.metrics.size(), "metric"));
}

void write_console(const CompareResult& result, std::ostream& out) {
  if (!result.title.empty()) out << plain(result.title) << '\n';
  print_unreal(result.simulated, result.test_knobs, out);
  if (!result.environment.empty()) out << "Different around the runs\n";
  for (const EnvironmentChange& c : result.environment)
    out << fmt::format("  {:<10} {}: {} before, {} after{}\n", c.area, plain(c.name), plain(c.before), plain(c.after),
                       c.named     ? "   (what is tested)"
                       : c.refuses ? "   (not named)"
                                   : "");
  if (result.refused) out << "Not compared: " << plain(result.reason) << '\n';
  print_verdicts(result.metrics, out);
  if (!result.nodes.empty()) {
    out << "\nAll devices together\n";
    print_verdicts(result.nodes, out);
  }
  out << '\n';
  if (result.control) out << control_text(*result.control) << '\n';
  if (!result.prior_class.empty()) out << prior_text(result) << '\n';
  if (result.looks) out << looks_text(result) << '\n';
  for (const std::string& note : result.notes) out << "note: " << plain(note) << '\n';
  if (!result.only_after.empty()) out << counted(result.only_after.size(), "metric") << " only in AFTER: not judged\n";
  if (!result.metrics.empty())
    out << fmt::format("{}: {}\n", counted(result.metrics.size(), "metric"), Counts(result.metrics).text());
  if (!result.reason.empty()) out << plain(result.reason) << '\n';
  out << last_line(result.verdict) << '\n';
}

void write_markdown(const CompareResult& result, std::ostream& out) {
  out << fmt::format("**{}**{}\n\n{}: {}\n", word(result.verdict),
                     result.reason.empty() ? "" : ": " + cell(result.reason), counted(result.metrics.size(), "metric"),
                     Counts(result.metrics).text());
  if (result.simulated || !result.test_knobs.empty()) out << '\n';
  print_unreal(result.simulated, result.test_knobs, out);
  std::set<std::string> devices;
  for (const MetricVerdict& v : result.metrics) devices.insert(v.key.device);
  const bool several = devices.size() > 1;
  out << fmt::format(
      "\n| verdict |{} case | metric | change | interval | would see | why |\n|---|{}---|---|---|---|---|---|\n",
      several ? " device |" : "", several ? "---|" : "");
  for (const std::vector<MetricVerdict>* verdicts : {&result.metrics, &result.nodes})
    for (const MetricVerdict& v : *verdicts) {
      const Cells row = row_of(v);
      out << fmt::format("| {} |{} {} | {} | {} | {} | {} | {} |\n", row[0],
                         several ? fmt::format(" {} |", cell(v.key.device)) : "", cell(v.key.case_name), cell(row[2]),
                         row[3], row[4], row[5], cell(row[6]));
    }
  if (!result.environment.empty()) out << "\n| different | before | after |\n|---|---|---|\n";
  for (const EnvironmentChange& c : result.environment)
    out << fmt::format("| {} | {} | {} |\n", cell(c.name), cell(c.before), cell(c.after));
  if (result.control) out << '\n' << control_text(*result.control) << '\n';
  if (!result.prior_class.empty()) out << '\n' << cell(prior_text(result)) << '\n';
  if (result.looks) out << '\n' << looks_text(result) << '\n';
  for (const std::string& note : result.notes) out << "\nNote: " << cell(note) << '\n';
}

Json to_json(const MetricVerdict& v) {
  const auto [low, high] = v.interval();
  Json json = {{"device", v.key.device},
               {"benchmark", v.benchmark},
               {"case", v.key.case_name},
               {"metric", v.key.metric},
               {"series", v.key.series},
               {"unit", v.unit},
               {"better", word(v.better)},
               {"verdict", word(v.verdict)},
               {"effect_percent", number(100 * v.effect())},
               {"interval_percent", {number(100 * low), number(100 * high)}},
               {"margin_percent", number(100 * v.margin)},
               {"alpha", number(v.alpha)},
               {"mde_percent", number(100 * v.detectable())},
               {"sessions", {v.before, v.after}},
               {"sessions_asked", or_null(v.asked)},
               {"session_sd_percent", v.estimate ? number(100 * v.estimate->session_sd) : Json(nullptr)},
               {"clock_effect_percent", v.clock_effect ? number(100 * *v.clock_effect) : Json(nullptr)},
               {"adjusted_p", or_null(v.adjusted_p)},
               {"prior_df", v.prior.df},
               {"disturbed_percent", number(100 * v.disturbed)},
               {"reason", v.reason}};
  json["cycles_effect_percent"] =
      v.cycles ? number(100 * stats::relative_change(v.cycles->worse, v.better)) : Json(nullptr);
  return json;
}

Json to_json(const LooksTaken& taken) {
  Json looks = Json::array(), boundaries = Json::array();
  for (const LookRow& look : taken.looks) looks.push_back({{"sessions", look.sessions}, {"open", look.open}});
  for (const auto& [before, planned] : taken.boundaries)
    for (std::size_t i = 0; i < planned.size(); ++i)
      boundaries.push_back({{"before_sessions", before},
                            {"sessions", taken.first + i},
                            {"information", number(planned[i].information)},
                            {"alpha", number(planned[i].alpha)},
                            {"spent", number(planned[i].spent)}});
  return {{"most_sessions", taken.cap}, {"alpha", number(taken.alpha)}, {"looks", looks}, {"boundaries", boundaries}};
}

void write_json(const CompareResult& result, std::ostream& out) {
  Json json = {{"schema", "assay.compare.v1"},
               {"verdict", word(result.verdict)},
               {"exit_code", code(result.verdict)},
               {"reason", text_or_null(result.reason)},
               {"simulated", result.simulated},
               {"test_knobs", result.test_knobs},
               {"environment_changes", Json::array()},
               {"control", nullptr},
               {"prior", nullptr},
               {"sequential", result.looks ? to_json(*result.looks) : Json(nullptr)},
               {"notes", result.notes},
               {"metrics", Json::array()},
               {"nodes", Json::array()},
               {"only_after", Json::array()}};
  for (const EnvironmentChange& c : result.environment)
    json["environment_changes"].push_back({{"area", c.area},
                                           {"name", c.name},
                                           {"before", c.before},
                                           {"after", c.after},
                                           {"named", c.named},
                                           {"refuses", c.refuses}});
  if (!result.prior_class.empty()) json["prior"] = {{"class", result.prior_class}, {"source", result.prior_source}};
  if (result.control)
    json["control"] = {{"cases", result.control->cases},
                       {"shift_percent", number(100 * result.control->shift)},
                       {"interval_percent", {number(100 * result.control->low), number(100 * result.control->high)}}};
  for (const MetricVerdict& v : result.metrics) json["metrics"].push_back(to_json(v));
  for (const MetricVerdict& v : result.nodes) json["nodes"].push_back(to_json(v));
  for (const SideKey& key : result.only_after)
    json["only_after"].push_back(
        {{"device", key.device}, {"case", key.case_name}, {"metric", key.metric}, {"series", key.series}});
  out << printed(json, 1) << '\n';
}

}  // namespace

std::vector<std::string> comparison_formats() { return {"console", "json", "markdown"}; }

void write_comparison(const CompareResult& result, const std::string& format, std::ostream& out) {
  if (format == "console") return write_console(result, out);
  if (format == "json") return write_json(result, out);
  if (format == "markdown") return write_markdown(result, out);
  throw UsageError(fmt::format("there is no format '{}'{}", format, suggestion(format, comparison_formats())));
}

}  // namespace assay
