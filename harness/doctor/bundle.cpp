// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See bundle.h. Three visitors of bundle_fields.h: what makes facts fit to be shown, what writes them, what reads them.
// Trap: a fact that isn't in a bundle is "not in the bundle", never absent; anything else that is missing is an Error.
#include "harness/doctor/bundle.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "harness/base/error.h"
#include "harness/base/parse_json.h"
#include "harness/base/printed_json.h"
#include "harness/base/text.h"
#include "harness/build_info.h"
#include "harness/doctor/bundle_fields.h"
#include "harness/doctor/pci_config.h"
#include "harness/doctor/report.h"
#include "harness/doctor/tar_gz.h"

namespace assay::doctor {
namespace {

constexpr const char* schema = "assay.bundle.v1";
constexpr const char *facts_name = "assay-bundle/facts.json", *report_name = "assay-bundle/report.md";
constexpr std::size_t longest_text = 4096;

class Cleaner {
 public:
  explicit Cleaner(AllowedText& allowed) : allowed_(allowed) {}

  template <class T>
  void operator()(const char*, T& member, Form form = Form::none) {
    clean(member, form);
  }

 private:
  void clean(std::string& text, Form form) { text = allowed_(text, form); }
  void clean(unsigned& number, Form form) {
    if (form == Form::account) number = allowed_.account(number);
  }
  template <class T>
  std::enable_if_t<std::is_arithmetic_v<T>> clean(T&, Form) {}
  void clean(Config& config, Form) {
    Fact<std::string>& bytes = config.bytes;
    bytes.value = config_that_says(bytes->size(), all_ones(*bytes), redirects(*bytes).value_or(false));
    clean(bytes.source, Form::path);
  }
  template <class T>
  void clean(std::vector<T>& list, Form form) {
    for (T& one : list) clean(one, form);
  }
  template <class T>
  void clean(std::map<std::string, T>& map, Form form) {
    std::map<std::string, T> kept;
    for (auto& [name, value] : map) {
      if (!allowed_.has_name(name, form)) continue;
      clean(value, form == Form::package ? Form::long_version : form);
      kept[form == Form::package ? allowed_(name, form) : name] = value;
    }
    map = std::move(kept);
  }
  template <class T>
  void clean(Fact<T>& fact, Form form) {
    if (fact && form == Form::left_out) fact = {Known::not_in_bundle, {}, fact.source};
    if constexpr (std::is_same_v<T, double>)
      if (!std::isfinite(fact.value)) fact = {Known::unreadable, {}, fact.source};
    if (!fact) fact.value = {};
    clean(fact.value, form);
    clean(fact.source, Form::path);
  }
  template <class T>
  std::enable_if_t<std::is_class_v<T>> clean(T& part, Form) {
    fields(*this, part);
  }

  AllowedText& allowed_;
};

class Writer {
 public:
  template <class T>
  void operator()(const char* name, T& member, Form = Form::none) {
    json_[name] = json_of(member);
  }
  Json take() { return std::move(json_); }

 private:
  static Json json_of(std::string& text) { return text; }
  template <class T>
  static std::enable_if_t<std::is_arithmetic_v<T>, Json> json_of(T& value) {
    return value;
  }
  static Json json_of(Config& config) {
    const std::string& bytes = config.bytes.value;
    return fact_of(
        config.bytes,
        {{"bytes", bytes.size()}, {"all_ones", all_ones(bytes)}, {"redirects", redirects(bytes).value_or(false)}});
  }
  template <class T>
  static Json json_of(std::vector<T>& list) {
    Json json = Json::array();
    for (T& one : list) json.push_back(json_of(one));
    return json;
  }
  template <class T>
  static Json json_of(std::map<std::string, T>& map) {
    Json json = Json::object();
    for (auto& [name, value] : map) json[name] = json_of(value);
    return json;
  }
  template <class T>
  static Json json_of(Fact<T>& fact) {
    return fact_of(fact, json_of(fact.value));
  }
  template <class T>
  static Json fact_of(const Fact<T>& fact, Json value) {
    return {{"state", word(fact.state)}, {"value", fact ? std::move(value) : Json(nullptr)}, {"source", fact.source}};
  }
  template <class T>
  static std::enable_if_t<std::is_class_v<T>, Json> json_of(T& part) {
    Writer writer;
    fields(writer, part);
    return writer.take();
  }

  Json json_ = Json::object();
};

class Reader {
 public:
  Reader(const Json& json, std::string where) : json_(json), where_(std::move(where)) {}

  template <class T>
  void operator()(const char* name, T& member, Form = Form::none) {
    const auto found = json_.find(name);
    read(found == json_.end() ? nullptr : &*found, member, where_ + "." + name);
  }

 private:
  [[noreturn]] static void refuse(const std::string& where, const std::string& what) {
    throw Error(fmt::format("has {} {}", shown(where), what));
  }
  static void must(bool holds, const std::string& where, const char* kind) {
    if (!holds) refuse(where, fmt::format("where {} must stand", kind));
  }
  static const Json& there(const Json* json, const std::string& where) {
    if (json == nullptr) throw Error("lacks " + shown(where));
    return *json;
  }

  static void read(const Json* json, std::string& text, const std::string& where) {
    must(there(json, where).is_string(), where, "a text");
    text = *json;
    if (text.size() > longest_text) refuse(where, "with a text that is too long");
    for (const std::string& row : split(text, '\n'))
      if (plain(row) != row) refuse(where, "with characters that no text of a bundle has");
  }
  static void read(const Json* json, bool& value, const std::string& where) {
    must(there(json, where).is_boolean(), where, "true or false");
    value = *json;
  }
  static void read(const Json* json, double& value, const std::string& where) {
    must(there(json, where).is_number(), where, "a number");
    value = *json;
    must(std::isfinite(value), where, "a number");
  }
  template <class T>
  static std::enable_if_t<std::is_integral_v<T>> read(const Json* json, T& value, const std::string& where) {
    there(json, where);
    const bool fits = json->is_number_unsigned()
                          ? json->get<std::uint64_t>() <= static_cast<std::uint64_t>(std::numeric_limits<T>::max())
                          : std::is_signed_v<T> && json->is_number_integer() &&
                                json->get<std::int64_t>() >= static_cast<std::int64_t>(std::numeric_limits<T>::min());
    must(fits, where, "a whole number");
    value = json->get<T>();
  }
  static void read(const Json* json, Config& config, const std::string& where) {
    struct {
      std::uint64_t bytes = 0;
      bool ones = false, acs_redirects = false;
    } said;
    read_fact(json, config.bytes, where, [&](const Json& value, const std::string& below) {
      Reader reader(value, below);
      reader("bytes", said.bytes);
      reader("all_ones", said.ones);
      reader("redirects", said.acs_redirects);
      config.bytes.value = config_that_says(said.bytes, said.ones, said.acs_redirects);
    });
  }
  template <class T>
  static void read(const Json* json, std::vector<T>& list, const std::string& where) {
    must(there(json, where).is_array(), where, "a list");
    list.clear();
    for (std::size_t i = 0; i < json->size(); ++i)
      read(&(*json)[i], list.emplace_back(), fmt::format("{}[{}]", where, i));
  }
  template <class T>
  static void read(const Json* json, std::map<std::string, T>& map, const std::string& where) {
    must(there(json, where).is_object(), where, "an object");
    map.clear();
    for (const auto& [name, value] : json->items()) {
      std::string key;
      const Json text = name;
      read(&text, key, where);
      read(&value, map[key], where + "." + name);
    }
  }
  template <class T>
  static void read(const Json* json, Fact<T>& fact, const std::string& where) {
    read_fact(json, fact, where, [&](const Json& value, const std::string& below) { read(&value, fact.value, below); });
  }
  template <class T, class Read>
  static void read_fact(const Json* json, Fact<T>& fact, const std::string& where, const Read& read_value) {
    fact = {Known::not_in_bundle, {}, where.substr(where.find('.') + 1)};
    if (json == nullptr) return;
    must(json->is_object(), where, "an object");
    Reader reader(*json, where);
    std::string state;
    reader("state", state);
    reader("source", fact.source);
    constexpr Known all[] = {Known::value, Known::absent,     Known::denied,
                             Known::late,  Known::unreadable, Known::not_in_bundle};
    const auto known = std::find_if(std::begin(all), std::end(all), [&](Known one) { return word(one) == state; });
    if (known == std::end(all)) refuse(where, fmt::format("in the unknown state '{}'", shown(state)));
    fact.state = *known;
    if (fact)
      read_value(there(json->contains("value") ? &(*json)["value"] : nullptr, where + ".value"), where + ".value");
  }
  template <class T>
  static std::enable_if_t<std::is_class_v<T>> read(const Json* json, T& part, const std::string& where) {
    must(there(json, where).is_object(), where, "an object");
    Reader reader(*json, where);
    fields(reader, part);
  }

  const Json& json_;
  std::string where_;
};

bool same(const Answer& a, const Answer& b) {
  return a.state == b.state && (a.state != State::finding || a.severity == b.severity);
}

}  // namespace

Bundle make_bundle(const Case& one, const std::filesystem::path& results) {
  const std::string& commit = build_info().commit;
  Bundle bundle{build_info().version + (commit.empty() ? "" : " (" + commit + ")"), one.facts, {}};
  AllowedText allowed(results, one.knowledge);
  Cleaner cleaner(allowed);
  fields(cleaner, bundle.facts);
  constexpr double day_s = 86400;
  double& clock_s = bundle.facts.cluster.clock_s.value;
  clock_s = std::floor(clock_s / day_s) * day_s;
  const std::vector<Check> checks = all_checks(one.knowledge);
  const std::vector<Answer> here = judge(checks, one), there = judge(checks, {bundle.facts, one.knowledge});
  for (std::size_t i = 0; i < checks.size(); ++i)
    if (!same(here[i], there[i])) bundle.undecided.push_back(checks[i].id);
  return bundle;
}

Json to_json(const Bundle& bundle) {
  Facts facts = bundle.facts;
  Writer writer;
  fields(writer, facts);
  return {{"schema", schema}, {"assay", bundle.assay}, {"undecided", bundle.undecided}, {"facts", writer.take()}};
}

std::string packed(const Bundle& bundle, const Knowledge& knowledge) {
  const std::string text = printed(to_json(bundle), 1) + "\n";
  if (text.size() > most_bundle_bytes)
    throw Error(fmt::format("what is known of this machine has {} bytes, more than the {} that a bundle may hold",
                            text.size(), most_bundle_bytes));
  Report report{bundle.facts, knowledge, judge(checks_for(bundle, all_checks(knowledge)), {bundle.facts, knowledge})};
  report.verdict = verdict_of(report.answers, bundle.facts);
  return pack_tar_gz({{facts_name, text}, {report_name, to_markdown(report)}});
}

Bundle bundle_from_json(std::string_view text) {
  Json json;
  try {
    json = parse_json(text);
  } catch (const Json::exception& problem) {
    throw Error(fmt::format("has facts that are no JSON: {}", shown(reason_of(problem), 200)));
  }
  if (!json.is_object() || !json.contains("schema") || !json["schema"].is_string())
    throw Error(fmt::format("names no schema; {} is read", schema));
  if (const std::string named = json["schema"]; named != schema)
    throw Error(fmt::format("is of schema '{}', and this version of Assay reads {}", shown(named), schema));
  Bundle bundle;
  Reader reader(json, "bundle");
  reader("assay", bundle.assay);
  reader("undecided", bundle.undecided);
  reader("facts", bundle.facts);
  return bundle;
}

Bundle read_bundle(std::string_view file, const std::string& name) {
  try {
    const auto files = unpack_tar_gz(file, {{facts_name, most_bundle_bytes}, {report_name, most_bundle_bytes}});
    if (files.count(facts_name) == 0) throw Error(fmt::format("holds no {}", facts_name));
    return bundle_from_json(files.at(facts_name));
  } catch (const Error& problem) {
    throw Error(fmt::format("{} {}", shown(name), problem.what()));
  }
}

std::vector<Check> checks_for(const Bundle& bundle, std::vector<Check> checks) {
  for (Check& check : checks) {
    if (std::count(bundle.undecided.begin(), bundle.undecided.end(), check.id) == 0) continue;
    check.chain = true;  // it may be broken, so nobody can say that the machine is sound
    check.run = [](const Case&, Result& result) { result.cannot_know("what decides it", Known::not_in_bundle); };
  }
  return checks;
}

}  // namespace assay::doctor
