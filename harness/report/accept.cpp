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
#include "harness/report/parts.h"
#include "harness/verdict/rank.h"

namespace assay {
namespace {

// Verdict, device, case, metric, value, why.
std::vector<Cells> rows_of(const AcceptResult& result) {
  std::vector<Cells> rows;
  for (const AcceptedMetric& m : result.metrics)
    rows.push_back({std::string(word(m.verdict)), plain(m.key.device), plain(m.key.case_name), metric_name(m.key),
                    m.value ? plain(format_quantity(*m.value, m.unit)) : "-", plain(m.reason)});
  return rows;
}

Cells contract_row(const RuleResult& r, const std::string& device, const std::string& value) {
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
std::vector<Cells> contract_rows(const AcceptResult& result) {
  constexpr std::size_t few = 3;
  std::map<std::array<std::string, 4>, std::vector<const RuleResult*>> alike;  // rank, rule, comparison, series
  if (!result.contract) return {};
  for (const RuleResult& r : result.contract->results)
    alike[{std::to_string(rank(r.outcome)) + std::string(word(r.outcome)), r.rule != nullptr ? r.rule->name : "",
           r.comparison != nullptr ? r.comparison->text : "", r.key.series}]
        .push_back(&r);
  std::vector<Cells> rows;
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

void print_rows(std::vector<Cells> rows, const Cells& head, std::ostream& out) {
  rows.insert(rows.begin(), head);
  for (Cells& row : rows) row.front() = "  " + row.front();
  print_table(rows, {4}, out, console_width);
}

// What to do about a verdict that lacks nothing but something to hold the numbers against; "" for others.
std::string next_step(const AcceptResult& result) {
  if (result.verdict != Outcome::unknown) return {};
  return fmt::format(
      "to get a verdict: a reference of the class (--baseline FILE; `assay baseline learn` makes one from runs of {} "
      "devices of it that are known to be good), or a contract (--rules FILE|NAME)",
      devices_for_a_reference);
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

void write_console(const AcceptResult& result, std::ostream& out) {
  print_unreal(result.simulated, result.test_knobs, out);
  for (const std::string& line : device_lines(result)) out << line << '\n';
  out << '\n';
  print_rows(rows_of(result), {"verdict", "device", "case", "metric", "value", "why"}, out);
  if (result.contract) {
    out << fmt::format("\nContract {}\n", plain(result.contract_name));
    print_rows(contract_rows(result), {"verdict", "device", "rule", "require", "value", "why"}, out);
    for (const std::string& remark : result.contract->remarks) out << "  " << plain(remark) << '\n';
  }
  out << '\n' << plain(result.reason) << '\n';
  if (const std::string next = next_step(result); !next.empty()) out << next << '\n';
  out << last_line(result.verdict) << '\n';
}

void write_markdown(const AcceptResult& result, std::ostream& out) {
  out << fmt::format("**{}**: {}\n\n", word(result.verdict), cell(result.reason));
  if (result.simulated || !result.test_knobs.empty()) {
    print_unreal(result.simulated, result.test_knobs, out);
    out << '\n';
  }
  for (const std::string& line : device_lines(result)) out << "- " << cell(line) << '\n';
  if (const std::string next = next_step(result); !next.empty()) out << '\n' << cell(next) << '\n';
  out << "\n| verdict | device | case | metric | value | why |\n|---|---|---|---|---|---|\n";
  for (const std::vector<Cells>& rows : {rows_of(result), contract_rows(result)})
    for (const Cells& row : rows) {
      out << '|';
      for (const std::string& text : row) out << ' ' << cell(text) << " |";
      out << '\n';
    }
}

Json to_json(const Reference& r) {
  return {{"outcome", word(r.outcome)}, {"reason", r.reason}, {"bound", or_null(r.bound)}};
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
      {"value", or_null(m.value)},
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
                     {"value", or_null(r.value)},
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
