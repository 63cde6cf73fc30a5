// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See accept.h.
#include "harness/report/accept.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "harness/base/error.h"
#include "harness/base/json.h"
#include "harness/base/printed_json.h"
#include "harness/base/text.h"
#include "harness/base/units.h"

namespace assay {
namespace {

std::string metric_name(const AcceptedMetric& m) {
  std::string name = m.key.metric.empty() ? "-" : m.key.metric;
  if (!m.key.series.empty()) name += " " + m.key.series;
  return plain(name);
}

int rank(Outcome outcome) {  // worst first
  const int c = code(outcome);
  return c == exit_code::fail ? 0 : c == exit_code::error ? 1 : c == exit_code::inconclusive ? 2 : 3;
}

using Row = std::array<std::string, 6>;  // verdict, device, case, metric, value, why

std::vector<Row> rows_of(const AcceptResult& result) {
  std::vector<Row> rows;
  for (const AcceptedMetric& m : result.metrics)
    rows.push_back({std::string(word(m.verdict)), plain(m.key.device), plain(m.key.case_name), metric_name(m),
                    m.value ? plain(format_quantity(*m.value, m.unit)) : "-", plain(m.reason)});
  return rows;
}

Row contract_row(const RuleResult& r, const std::string& device, const std::string& value) {
  return {std::string(word(r.outcome)),
          device,
          plain(r.rule != nullptr ? r.rule->name : ""),
          r.comparison != nullptr ? plain(r.comparison->text) : "-",
          value,
          plain(r.reason)};
}

std::string value_text(const RuleResult& r) {
  return r.value && r.comparison != nullptr ? plain(format_quantity(*r.value, r.comparison->unit)) : "-";
}

// Worst first. What more than three devices keep, or all lack, is one line; what a device breaks is a line of its own.
std::vector<Row> contract_rows(const AcceptResult& result) {
  constexpr std::size_t few = 3;
  std::map<std::array<std::string, 4>, std::vector<const RuleResult*>> alike;  // rank, rule, comparison, series
  if (!result.contract) return {};
  for (const RuleResult& r : result.contract->results)
    alike[{std::to_string(rank(r.outcome)) + std::string(word(r.outcome)), r.rule != nullptr ? r.rule->name : "",
           r.comparison != nullptr ? r.comparison->text : "", r.key.series}]
        .push_back(&r);
  std::vector<Row> rows;
  for (auto& [key, results] : alike) {
    std::set<std::string> devices;
    for (const RuleResult* r : results) devices.insert(r->device);
    const bool broken = rank(results.front()->outcome) < rank(Outcome::not_run);
    if (broken || devices.size() <= few) {
      for (const RuleResult* r : results)
        rows.push_back(contract_row(*r, r->device.empty() ? "node" : plain(r->device), value_text(*r)));
      continue;
    }
    std::stable_sort(results.begin(), results.end(),
                     [](const RuleResult* x, const RuleResult* y) { return x->value < y->value; });
    const std::string low = value_text(*results.front()), high = value_text(*results.back());
    rows.push_back(contract_row(*results.front(), fmt::format("{} devices", devices.size()),
                                low == high ? low : low + " .. " + high));
  }
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());  // a pack may ask the same for two names of a machine
  return rows;
}

void print_rows(const std::vector<Row>& rows, std::ostream& out) {
  std::array<std::size_t, 5> widths{};
  for (const Row& row : rows)
    for (std::size_t i = 0; i < widths.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  for (const Row& row : rows)
    out << fmt::format("  {:<{}}  {:<{}}  {:<{}}  {:<{}}  {:>{}}  {}\n", row[0], widths[0], row[1], widths[1], row[2],
                       widths[2], row[3], widths[3], row[4], widths[4], row[5]);
}

std::string knobs_text(const std::map<std::string, std::string>& knobs) {
  std::vector<std::string> parts;
  for (const auto& [name, value] : knobs) parts.push_back(plain(name + "=" + value));
  return join(parts, ", ");
}

std::string class_text(const AcceptedDevice& d) {
  return d.match.class_id.empty() ? fmt::format("class UNKNOWN: {}", plain(d.match.reason))
                                  : fmt::format("class {}, reference {}", plain(d.match.class_id),
                                                d.baseline              ? plain(d.baseline_source)
                                                : d.other_class.empty() ? "none"
                                                                        : "given is of class " + plain(d.other_class));
}

// One line for each device, or, of a fleet, for all that are named and judged alike.
std::vector<std::string> device_lines(const AcceptResult& result) {
  constexpr std::size_t fleet = 8;
  std::vector<std::string> lines;
  std::map<std::string, std::size_t> alike;
  for (const AcceptedDevice& d : result.devices) {
    const std::string text = fmt::format("{}   {}", plain(d.name), class_text(d));
    if (result.devices.size() < fleet)
      lines.push_back(fmt::format("{}   {}", plain(d.identity), text));
    else
      ++alike[text];
  }
  for (const auto& [text, count] : alike) lines.push_back(fmt::format("{}   {}", counted(count, "device"), text));
  return lines;
}

std::string last_line(const AcceptResult& result) {
  return fmt::format("{} (exit code {})", word(result.verdict), code(result.verdict));
}

void write_console(const AcceptResult& result, std::ostream& out) {
  if (result.simulated) out << "SIMULATED: these numbers come from a script, not from hardware\n";
  if (!result.test_knobs.empty()) out << fmt::format("TEST KNOBS ACTIVE: {}\n", knobs_text(result.test_knobs));
  for (const std::string& line : device_lines(result)) out << line << '\n';
  out << '\n';
  print_rows(rows_of(result), out);
  if (result.contract) {
    out << fmt::format("\nContract {}\n", plain(result.contract_name));
    print_rows(contract_rows(result), out);
    for (const std::string& remark : result.contract->remarks) out << "  " << plain(remark) << '\n';
  }
  out << '\n' << plain(result.reason) << '\n' << last_line(result) << '\n';
}

std::string cell(std::string text) {
  for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2) text.replace(at, 1, "\\|");
  return text;
}

void write_markdown(const AcceptResult& result, std::ostream& out) {
  out << fmt::format("**{}**: {}\n\n", word(result.verdict), cell(plain(result.reason)));
  for (const std::string& line : device_lines(result)) out << "- " << cell(line) << '\n';
  out << "\n| verdict | device | case | metric | value | why |\n|---|---|---|---|---|---|\n";
  for (const std::vector<Row>& rows : {rows_of(result), contract_rows(result)})
    for (const Row& row : rows) {
      out << '|';
      for (const std::string& text : row) out << ' ' << cell(text) << " |";
      out << '\n';
    }
}

Json to_json(const Reference& r) {
  return {{"outcome", word(r.outcome)}, {"reason", r.reason}, {"bound", r.bound ? number(*r.bound) : Json(nullptr)}};
}

Json to_json(const AcceptedMetric& m) {
  return {
      {"device", m.key.device},
      {"benchmark", m.benchmark},
      {"case", m.key.case_name},
      {"metric", m.key.metric},
      {"series", m.key.series},
      {"unit", m.unit},
      {"better", word(m.better)},
      {"value", m.value ? number(*m.value) : Json(nullptr)},
      {"interval", m.interval ? Json{number(m.interval->first), number(m.interval->second)} : Json{nullptr, nullptr}},
      {"sessions", m.sessions},
      {"verdict", word(m.verdict)},
      {"limit", to_json(m.limit)},
      {"class", to_json(m.klass)},
      {"peers", to_json(m.peers)},
      {"history", to_json(m.history)},
      {"reason", m.reason}};
}

Json contract_json(const AcceptResult& result) {
  if (!result.contract) return nullptr;
  Json rules = Json::array();
  for (const RuleResult& r : result.contract->results)
    rules.push_back({{"rule", r.rule != nullptr ? r.rule->name : ""},
                     {"require", r.comparison != nullptr ? Json(r.comparison->text) : Json(nullptr)},
                     {"device", text_or_null(r.device)},
                     {"case", text_or_null(r.key.case_name)},
                     {"metric", text_or_null(r.key.metric)},
                     {"outcome", word(r.outcome)},
                     {"value", r.value ? number(*r.value) : Json(nullptr)},
                     {"reason", r.reason}});
  return {{"name", result.contract_name},        {"outcome", word(result.contract->outcome)},
          {"reason", result.contract->reason},   {"not_applicable", result.contract->not_applicable},
          {"remarks", result.contract->remarks}, {"rules", rules}};
}

void write_json(const AcceptResult& result, std::ostream& out) {
  Json json = {{"schema", "assay.accept.v1"}, {"verdict", word(result.verdict)}, {"exit_code", code(result.verdict)},
               {"reason", result.reason},     {"simulated", result.simulated},   {"test_knobs", result.test_knobs},
               {"identity", Json::array()},   {"metrics", Json::array()},        {"contract", contract_json(result)}};
  for (const AcceptedDevice& d : result.devices)
    json["identity"].push_back({{"device", d.identity},
                                {"name", d.name},
                                {"class", text_or_null(d.match.class_id)},
                                {"outcome", word(d.match.outcome)},
                                {"reason", d.match.reason},
                                {"candidates", d.match.candidates},
                                {"reference", d.baseline ? Json(d.baseline_source) : Json(nullptr)}});
  for (const AcceptedMetric& m : result.metrics) json["metrics"].push_back(to_json(m));
  out << printed(json, 1) << '\n';
}

}  // namespace

std::vector<std::string> acceptance_formats() { return {"console", "json", "markdown"}; }

void write_acceptance(const AcceptResult& result, const std::string& format, std::ostream& out) {
  if (format == "console") return write_console(result, out);
  if (format == "json") return write_json(result, out);
  if (format == "markdown") return write_markdown(result, out);
  throw UsageError(fmt::format("there is no format '{}'{}", format, suggestion(format, acceptance_formats())));
}

}  // namespace assay
