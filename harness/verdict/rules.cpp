// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See rules.h: reading a contract. Judging is in rules_judge.cpp.
#include "harness/verdict/rules.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <set>

#include "harness/base/error.h"
#include "harness/base/file.h"
#include "harness/base/text.h"
#include "harness/base/toml_table.h"
#include "harness/base/units.h"
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

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

// Our own metrics have small letters and _; those of other tools more ("nv/cold/bw/global/bytes_per_second", "P99.9").
bool in_a_metric(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || std::string("_-./:+").find(c) != std::string::npos;
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

std::string nonsense(const Comparison& c) {
  if (!(c.bound > 0)) return "the bound must be more than 0";
  if (c.spread && c.is_floor()) return "a spread can only be bounded from above";
  if (c.spread && c.bound > 100) return "a spread of more than 100 % bounds nothing";
  return absurd(c.bound, c.unit);
}

Comparison parse_comparison(const TomlTable& table, const std::string& text) {
  const auto fail = [&](const std::string& why) { table.fail("require", fmt::format("'{}': {}", shown(text), why)); };
  if (text.size() > 200) fail("no comparison is that long");
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
  if (c.metric.empty() || !std::all_of(c.metric.begin(), c.metric.end(), in_a_metric))
    fail(fmt::format("'{}' can't be the name of a metric; {}", shown(c.metric), how));
  const std::string right = without_place(trim(text.substr(at + std::string(sign->text).size())), c.spread);
  const std::optional<Quantity> bound = parse_quantity(right);
  if (!bound)
    fail(bare_number(right)
             ? fmt::format("the unit is missing behind {}; {}", shown(right), how)
             : fmt::format("'{}' is no number with a unit that is known ({}); {}", shown(right), known_units(), how));
  c.bound = bound->value;
  c.unit = bound->unit;
  c.axis = c.unit.find("cycle") == std::string::npos ? Axis::second : Axis::cycle;
  if (c.spread != (c.unit == "%"))
    fail(c.spread ? "a spread is given in %" : "a value in % needs something that it is a share of; write 'spread of'");
  if (const std::string why = nonsense(c); !why.empty()) fail(why);
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
  return fmt::format("'{}' and '{}' contradict each other: no value keeps both", shown(floor.text),
                     shown(ceiling.text));
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

// Bounds and numbers of devices that `rule` and one of `earlier`, or two of its own, make impossible together.
void refuse_contradictions(const TomlTable& table, const Rule& rule, const std::vector<const Rule*>& earlier) {
  const auto against = [&](const Rule& other) {
    for (const Comparison& a : rule.require)
      for (const Comparison& b : other.require)
        if (const std::string why = contradiction(a, b); !why.empty()) table.fail("require", why);
  };
  against(rule);
  for (const Rule* other : earlier) {
    if (same_subject(rule, *other)) against(*other);
    if (rule.devices && other->devices && *rule.devices != *other->devices && overlap(rule.classes, other->classes) &&
        overlap(rule.shapes, other->shapes))
      table.fail("devices", fmt::format("{} and {} contradict each other", *other->devices, *rule.devices));
  }
}

// Equal for rules that say the same.
std::string subject_and_bounds(const Rule& rule) {
  std::string text = fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n", rule.case_pattern, rule.series, join(rule.classes, ","),
                                 join(rule.shapes, ","), rule.node_devices.value_or(0), rule.devices.value_or(0));
  for (const Comparison& c : rule.require) text += c.text + "\n";
  return text;
}

// Longer than anything that is meant; such a text would fill screens, and such a pattern takes for ever to compare.
void refuse_length(const TomlTable& table, const char* key, const std::string& text, std::size_t most) {
  if (text.size() > most)
    table.fail(key, fmt::format("'{}' has {} characters, more than {}", shown(text), text.size(), most));
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
  rule.name = table.text("name").value_or(rule.devices ? counted(*rule.devices, "device") : rule.case_pattern);
  table.finish();
  refuse_length(table, "name", rule.name, 300);
  refuse_length(table, "case", rule.case_pattern, 300);
  if (std::count(rule.case_pattern.begin(), rule.case_pattern.end(), '*') > 8)
    table.fail("case", fmt::format("'{}' has more than 8 *", shown(rule.case_pattern)));
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
  std::vector<TomlTable> tables = root.tables("rule");
  contract.rules.reserve(tables.size());  // pointers into it stay good
  // Only rules about the same cases can contradict each other, and only one that says something new.
  std::map<std::string, std::vector<const Rule*>> earlier;
  std::set<std::string> said;
  for (TomlTable& table : tables) {
    contract.rules.push_back(parse_rule(table));
    const Rule& rule = contract.rules.back();
    if (!said.insert(subject_and_bounds(rule)).second) continue;
    refuse_contradictions(table, rule, earlier[rule.case_pattern]);
    earlier[rule.case_pattern].push_back(&rule);
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
    throw Error(fmt::format("there is no pack of rules '{}'; the name of a file ends in .toml{}", shown(name_or_file),
                            suggestion(name_or_file, names)));
  const fs::path path = results_folder() / "rules" / (name_or_file + ".toml");
  Contract contract = parse_contract(read_file(path), path.string());
  contract.pack = true;
  return contract;
}

namespace {

[[noreturn]] void refuse(const Contract& contract, const Rule& rule, const std::string& why) {
  throw Error(fmt::format("{}: rule '{}': {}", contract.file, shown(rule.name), why));
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
    refuse(
        contract, rule,
        fmt::format("{} has no metric '{}'{}", shown(rule.case_pattern), shown(c.metric), suggestion(c.metric, names)));
  if (c.spread) return;
  if (c.axis == Axis::second && !same_unit(c.unit, found->unit))
    refuse(contract, rule,
           fmt::format("'{}' is in {}, but {} of {} is in {}", shown(c.text), c.unit, c.metric,
                       shown(rule.case_pattern), found->unit));
  const bool wrong_side = c.is_floor() != (found->better == Better::higher);
  const bool a_range = std::any_of(rule.require.begin(), rule.require.end(), [&](const Comparison& other) {
    return other.metric == c.metric && !other.spread && other.is_floor() != c.is_floor();
  });
  if (wrong_side && !a_range)
    refuse(
        contract, rule,
        fmt::format("'{}' bounds {} from the wrong side: {} is better", shown(c.text), c.metric, word(found->better)));
}

// A bound that none can break, or none can keep, for one case of a class.
std::string absurd_for(const GpuClass& gpu, const std::string& case_name, const Comparison& c) {
  const auto limit = limit_of_metric(gpu, case_name, c.metric, c.unit);
  if (!limit) return {};
  if (c.bound > limit->value) return fmt::format("'{}' can't be kept: {}", shown(c.text), limit->why);
  if (c.bound < limit->plausible_from)
    return fmt::format("'{}' is {} of what is possible and passes what is plainly broken: {}", shown(c.text),
                       format_percent(c.bound / limit->value), limit->why);
  return {};
}

void check_bound(const Contract& contract, Rule& rule, const Comparison& c,
                 const std::vector<const KnownMetric*>& metrics, const ClassTable& table,
                 const std::vector<std::string>& present) {
  if (c.spread || !c.is_floor() || c.axis == Axis::cycle) return;
  std::set<std::string> cases{rule.case_pattern};
  for (const KnownMetric* metric : metrics)
    if (metric->metric == c.metric) cases.insert(metric->case_name);
  for (const std::string& id : rule.classes.empty() ? present : rule.classes)
    if (const GpuClass* gpu = table.find(id))
      for (const std::string& name : cases) {
        const std::string why = absurd_for(*gpu, name, c);
        if (why.empty()) continue;
        if (!contract.pack || !rule.classes.empty()) refuse(contract, rule, why);
        rule.set_aside.emplace(id, why);
      }
}

// What isn't measured yet has no unit and no direction here, but a rate is a rate.
void check_later(const Contract& contract, const Rule& rule, const Comparison& c) {
  const bool has_floor = std::any_of(rule.require.begin(), rule.require.end(), [&](const Comparison& other) {
    return other.metric == c.metric && other.is_floor();
  });
  if (!c.spread && ends_with(c.unit, "/s") && !has_floor)
    refuse(contract, rule, fmt::format("'{}' bounds a rate from above only, so what is slow passes", shown(c.text)));
}

}  // namespace

void check_names(Contract& contract, const std::vector<KnownMetric>& known, const ClassTable& table,
                 const std::vector<std::string>& present) {
  std::map<std::string, std::vector<const KnownMetric*>> by_pattern;  // many rules, few patterns
  for (Rule& rule : contract.rules) {
    for (const std::string& id : rule.classes)
      if (!is_class_name(id, table))
        refuse(contract, rule, fmt::format("'{}' is no known class{}", shown(id), class_suggestion(id, table)));
    if (rule.devices) continue;
    const auto [found, is_new] = by_pattern.try_emplace(rule.case_pattern);
    std::vector<const KnownMetric*>& metrics = found->second;
    if (is_new)
      for (const KnownMetric& metric : known)
        if (fnmatch(rule.case_pattern.c_str(), metric.case_name.c_str(), 0) == 0) metrics.push_back(&metric);
    if (metrics.empty() && !rule.later) {
      std::vector<std::string> cases;
      for (const KnownMetric& metric : known) cases.push_back(metric.case_name);
      refuse(contract, rule,
             fmt::format("no case is called '{}'{}", shown(rule.case_pattern), suggestion(rule.case_pattern, cases)));
    }
    for (const Comparison& c : rule.require) {
      const bool here = std::any_of(metrics.begin(), metrics.end(),
                                    [&](const KnownMetric* metric) { return metric->metric == c.metric; });
      if (here || !rule.later)
        check_metric(contract, rule, c, metrics);
      else
        check_later(contract, rule, c);
      check_bound(contract, rule, c, metrics, table, present);
    }
  }
}

}  // namespace assay
