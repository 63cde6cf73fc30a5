// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See rules.h: reading a contract. Judging is in rules_judge.cpp.
#include "harness/verdict/rules.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <cmath>

#include "harness/base/error.h"
#include "harness/base/file.h"
#include "harness/base/text.h"
#include "harness/base/toml_table.h"
#include "harness/verdict/limits.h"
#include "harness/verdict/quantity.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

struct Sign {
  const char* text;
  Comparator comparator;
};
// The longer ones first: "<=" begins with "<".
constexpr Sign signs[] = {
    {">=", Comparator::at_least},          {"<=", Comparator::at_most}, {"\xe2\x89\xa5", Comparator::at_least},
    {"\xe2\x89\xa4", Comparator::at_most}, {">", Comparator::above},    {"<", Comparator::below}};
constexpr const char* how = "write for example \"bandwidth >= 3.9 TB/s\" or \"spread of bandwidth <= 3 %\"";
// No machine moves, computes or takes that: a prefix slipped.
constexpr double most_rate = 1e21, most_seconds = 1e6, least_seconds = 1e-12, most_watts = 1e6;

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

bool bare_number(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789.+-eE") == std::string::npos;
}

// Words that say what holds anyway: "on every GPU" for a bound, "in the node" for a spread.
std::string without_place(std::string text, bool spread) {
  const std::vector<std::string> places =
      spread ? std::vector<std::string>{" in the node", " in a node"}
             : std::vector<std::string>{" on every GPU", " on every device", " on each GPU", " on each device"};
  for (const std::string& place : places)
    if (ends_with(text, place)) return trim(text.substr(0, text.size() - place.size()));
  return text;
}

std::string absurd(const Comparison& c) {
  if (!(c.bound > 0)) return "the bound must be more than 0";
  if (c.spread && c.is_floor()) return "a spread can only be bounded from above";
  if (c.spread && c.bound > 100) return "a spread of more than 100 % bounds nothing";
  if (c.unit == "s" && (c.bound > most_seconds || c.bound < least_seconds)) return "no case takes so long, or so short";
  if (c.unit == "W" && c.bound > most_watts) return "no device draws that much";
  if (ends_with(c.unit, "/s") && c.bound > most_rate) return "no machine is that fast";
  return {};
}

Comparison parse_comparison(const TomlTable& table, const std::string& text) {
  const auto fail = [&](const std::string& why) { table.fail("require", fmt::format("'{}': {}", plain(text), why)); };
  const Sign* sign = nullptr;
  std::size_t at = std::string::npos;
  for (const Sign& s : signs)
    if (const std::size_t found = text.find(s.text); found < at) at = found, sign = &s;
  if (sign == nullptr) fail(fmt::format("there is no >=, <=, > or < in it; {}", how));
  Comparison c;
  c.text = text;
  c.comparator = sign->comparator;
  c.metric = trim(text.substr(0, at));
  if (starts_with(c.metric, "spread of ")) {
    c.spread = true;
    c.metric = trim(c.metric.substr(10));
  }
  if (c.metric.empty() || c.metric.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") != std::string::npos)
    fail(fmt::format("'{}' can't be the name of a metric; {}", plain(c.metric), how));
  const std::string right = without_place(trim(text.substr(at + std::string(sign->text).size())), c.spread);
  const std::optional<Quantity> bound = parse_quantity(right);
  if (!bound)
    fail(bare_number(right) ? fmt::format("the unit is missing behind {}; {}", right, how)
                            : fmt::format("'{}' is no number with a unit that is known; {}", plain(right), how));
  c.bound = bound->value;
  c.unit = bound->unit;
  c.axis = c.unit.find("cycle") == std::string::npos ? Axis::second : Axis::cycle;
  if (c.spread != (c.unit == "%"))
    fail(c.spread ? "a spread is given in %" : "a value in % needs something that it is a share of; write 'spread of'");
  if (const std::string why = absurd(c); !why.empty()) fail(why);
  return c;
}

// Two bounds on the same number that nothing can keep.
std::string contradiction(const Comparison& a, const Comparison& b) {
  if (a.metric != b.metric || a.spread != b.spread || !same_unit(a.unit, b.unit) || a.is_floor() == b.is_floor())
    return {};
  const Comparison& floor = a.is_floor() ? a : b;
  const Comparison& ceiling = a.is_floor() ? b : a;
  const bool strict = floor.comparator == Comparator::above || ceiling.comparator == Comparator::below;
  if (floor.bound < ceiling.bound || (floor.bound == ceiling.bound && !strict)) return {};
  return fmt::format("'{}' and '{}' contradict each other: no value keeps both", floor.text, ceiling.text);
}

bool overlap(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  return a.empty() || b.empty() || std::any_of(a.begin(), a.end(), [&](const std::string& x) {
           return std::find(b.begin(), b.end(), x) != b.end();
         });
}

bool same_subject(const Rule& a, const Rule& b) {
  return a.case_pattern == b.case_pattern && a.series == b.series && overlap(a.classes, b.classes) &&
         overlap(a.shapes, b.shapes) && (!a.node_devices || !b.node_devices || *a.node_devices == *b.node_devices);
}

void refuse_contradictions(const TomlTable& table, const Rule& rule, const std::vector<Rule>& earlier) {
  const auto against = [&](const Rule& other) {
    for (const Comparison& a : rule.require)
      for (const Comparison& b : other.require)
        if (const std::string why = contradiction(a, b); !why.empty()) table.fail("require", why);
  };
  against(rule);
  for (const Rule& other : earlier)
    if (same_subject(rule, other)) against(other);
  for (const Rule& other : earlier)
    if (rule.devices && other.devices && *rule.devices != *other.devices && overlap(rule.classes, other.classes) &&
        overlap(rule.shapes, other.shapes))
      table.fail("devices", fmt::format("{} and {} contradict each other", *other.devices, *rule.devices));
}

Rule parse_rule(TomlTable& table) {
  Rule rule;
  rule.classes = table.texts("classes").value_or(rule.classes);
  rule.shapes = table.texts("shapes").value_or(rule.shapes);
  if (const auto count = table.integer("node_devices", 1, 1'000'000)) rule.node_devices = static_cast<int>(*count);
  if (const auto count = table.integer("devices", 1, 1'000'000)) rule.devices = static_cast<int>(*count);
  rule.case_pattern = table.text("case").value_or("");
  rule.series = table.text("series").value_or("");
  for (const std::string& text : table.one_or_more_texts("require").value_or(std::vector<std::string>{}))
    rule.require.push_back(parse_comparison(table, text));
  rule.later = table.boolean("later").value_or(false);
  rule.comparable = table.word("comparable", {"same", "similar", "different"}).value_or("same");
  rule.published = table.text("published").value_or("");
  rule.note = table.text("note").value_or("");
  rule.source = table.text("source").value_or("");
  rule.name = table.text("name").value_or(rule.devices ? fmt::format("{} devices", *rule.devices) : rule.case_pattern);
  table.finish();
  if (rule.devices && !(rule.case_pattern.empty() && rule.require.empty()))
    table.fail("devices", "the number of devices is a rule of its own; move case and require to another [[rule]]");
  if (!rule.devices && rule.case_pattern.empty())
    table.fail("case", "is missing; name the case that is measured, as `assay list` shows it");
  if (!rule.devices && rule.require.empty()) table.fail("require", fmt::format("is missing; {}", how));
  return rule;
}

std::vector<NoRule> parse_no_rules(TomlTable& root, const char* key) {
  std::vector<NoRule> rows;
  for (TomlTable& table : root.tables(key)) {
    rows.push_back(
        {table.required_text("published"), table.required_text("reason"), table.text("source").value_or("")});
    table.finish();
  }
  return rows;
}

}  // namespace

bool Comparison::holds(double value) const {
  switch (comparator) {
    case Comparator::at_least:
      return value >= bound;
    case Comparator::above:
      return value > bound;
    case Comparator::at_most:
      return value <= bound;
    case Comparator::below:
      return value < bound;
  }
  return false;
}

Contract parse_contract(const std::string& text, const std::string& file) {
  const toml::table document = parse_toml(text, file);
  TomlTable root(document, file);
  Contract contract;
  contract.file = file;
  contract.name = root.text("name").value_or(fs::path(file).stem().string());
  contract.summary = root.text("summary").value_or("");
  contract.source = root.text("source").value_or("");
  for (TomlTable& table : root.tables("rule")) {
    Rule rule = parse_rule(table);
    refuse_contradictions(table, rule, contract.rules);
    contract.rules.push_back(std::move(rule));
  }
  contract.quarantined = parse_no_rules(root, "quarantined");
  contract.left_out = parse_no_rules(root, "left_out");
  root.finish();
  if (contract.rules.empty() && contract.quarantined.empty() && contract.left_out.empty())
    throw Error(fmt::format("{}:1: there is no [[rule]] in it, so it would pass everything", file));
  return contract;
}

std::vector<std::string> pack_names() {
  std::error_code failed;
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(results_folder() / "rules", failed))
    if (entry.path().extension() == ".toml") names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

Contract read_contract(const std::string& name_or_file) {
  if (name_or_file.find('/') != std::string::npos || ends_with(name_or_file, ".toml"))
    return parse_contract(read_file(name_or_file), name_or_file);
  const std::vector<std::string> names = pack_names();
  if (std::find(names.begin(), names.end(), name_or_file) == names.end())
    throw UsageError(fmt::format("there is no pack of rules '{}'; the name of a file ends in .toml{}",
                                 plain(name_or_file), suggestion(name_or_file, names)));
  const fs::path path = results_folder() / "rules" / (name_or_file + ".toml");
  return parse_contract(read_file(path), path.string());
}

namespace {

[[noreturn]] void refuse(const Contract& contract, const Rule& rule, const std::string& why) {
  throw Error(fmt::format("{}: rule '{}': {}", contract.file, plain(rule.name), why));
}

void check_metric(const Contract& contract, const Rule& rule, const Comparison& c,
                  const std::vector<const KnownMetric*>& metrics) {
  std::vector<std::string> names;
  const KnownMetric* found = nullptr;
  for (const KnownMetric* metric : metrics) {
    if (std::find(names.begin(), names.end(), metric->metric) == names.end()) names.push_back(metric->metric);
    if (metric->metric == c.metric) found = metric;
  }
  if (found == nullptr)
    refuse(contract, rule,
           fmt::format("{} has no metric '{}'{}", rule.case_pattern, c.metric, suggestion(c.metric, names)));
  if (c.spread) return;
  if (c.axis == Axis::second && !same_unit(c.unit, found->unit))
    refuse(
        contract, rule,
        fmt::format("'{}' is in {}, but {} of {} is in {}", c.text, c.unit, c.metric, rule.case_pattern, found->unit));
  const bool wrong_side = c.is_floor() != (found->better == Better::higher);
  const bool a_range = std::any_of(rule.require.begin(), rule.require.end(), [&](const Comparison& other) {
    return other.metric == c.metric && !other.spread && other.is_floor() != c.is_floor();
  });
  if (wrong_side && !a_range)
    refuse(contract, rule,
           fmt::format("'{}' bounds {} from the wrong side: {} is better", c.text, c.metric, word(found->better)));
}

void check_reachable(const Contract& contract, const Rule& rule, const Comparison& c, const ClassTable& table) {
  for (const std::string& id : rule.classes) {
    const GpuClass* gpu = table.find(id);
    if (gpu == nullptr || c.spread || !c.is_floor()) continue;
    const auto limit = limit_of_metric(*gpu, rule.case_pattern, c.metric, c.unit);
    if (limit && c.bound > limit->value)
      refuse(contract, rule, fmt::format("'{}' can't be kept: {}", c.text, limit->why));
  }
}

}  // namespace

void check_names(const Contract& contract, const std::vector<KnownMetric>& known, const ClassTable& table) {
  std::vector<std::string> cases;
  for (const KnownMetric& metric : known) cases.push_back(metric.case_name);
  for (const Rule& rule : contract.rules) {
    for (const std::string& id : rule.classes)
      if (!is_class_name(id, table))
        refuse(contract, rule, fmt::format("'{}' is no known class{}", plain(id), suggestion(id, table.ids())));
    for (const Comparison& c : rule.require) check_reachable(contract, rule, c, table);
    if (rule.devices || rule.later) continue;
    std::vector<const KnownMetric*> metrics;
    for (const KnownMetric& metric : known)
      if (fnmatch(rule.case_pattern.c_str(), metric.case_name.c_str(), 0) == 0) metrics.push_back(&metric);
    if (metrics.empty())
      refuse(contract, rule,
             fmt::format("no case is called '{}'{}", plain(rule.case_pattern), suggestion(rule.case_pattern, cases)));
    for (const Comparison& c : rule.require) check_metric(contract, rule, c, metrics);
  }
}

}  // namespace assay
