// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See manifest.h.
#include "harness/manifest.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <stdexcept>
#include <type_traits>

#include "harness/base/error.h"
#include "harness/base/file.h"
#include "harness/base/parse_json.h"
#include "harness/base/text.h"

namespace assay {
namespace {

Json to_json(const CaseInfo& c) {
  Json needs = Json::array();
  for (const Need& need : c.needs) needs.push_back(assay::to_json(need));
  return {{"name", c.name}, {"params", c.params},           {"needs", needs},
          {"rank", c.rank}, {"setup_s", number(c.setup_s)}, {"share", number(c.share)}};
}

// --- reading: nothing is taken on trust, since a plan is made of it --------------------------------------------------

struct Damage : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Where it happened comes first: "benchmarks[2].cases[0].share is 0 ...".
[[noreturn]] void damaged(const std::string& where, const std::string& what) { throw Damage(where + " " + what); }

bool all_of(const std::string& text, const char* letters) {
  return !text.empty() && text.find_first_not_of(letters) == std::string::npos;
}

bool is_benchmark_name(const std::string& text) {
  constexpr const char* letters = "abcdefghijklmnopqrstuvwxyz0123456789_";
  const std::size_t slash = text.find('/');
  return slash != std::string::npos && all_of(text.substr(0, slash), letters) &&
         all_of(text.substr(slash + 1), letters);
}

// Of "parameter:value", as they follow the benchmark in a case's name.
bool is_parameter(const std::string& text) {
  const std::size_t colon = text.find(':');
  return colon != std::string::npos && colon + 1 < text.size() &&
         all_of(text.substr(0, colon), "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") &&
         std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c <= '~'; });
}

void check_case_name(const std::string& where, const std::string& name, const std::string& benchmark) {
  if (!starts_with(name, benchmark)) damaged(where, fmt::format("does not begin with {}", benchmark));
  const std::vector<std::string> parts = split(name.substr(benchmark.size()), '/');
  if (!parts.front().empty() || !std::all_of(parts.begin() + 1, parts.end(), is_parameter))
    damaged(where, fmt::format("is not {} with /parameter:value for each parameter", benchmark));
}

// An object that has these keys and no others.
void check_keys(const std::string& where, const Json& json, const std::vector<std::string>& keys) {
  if (!json.is_object()) damaged(where, "is no object");
  for (const auto& entry : json.items())
    if (std::find(keys.begin(), keys.end(), entry.key()) == keys.end())
      damaged(where, fmt::format("has an unknown key {}", Json(entry.key()).dump(-1, ' ', true)));
  for (const std::string& key : keys)
    if (!json.contains(key)) damaged(where, fmt::format("has no {}", key));
}

// Within [least, most]; `open`: more than `least`.
double real(const std::string& where, const Json& json, double least, double most, bool open = false) {
  const double value = json.is_number() ? json.get<double>() : std::nan("");
  if (!(value >= least && value <= most) || (open && value == least))
    damaged(where, fmt::format("is {}; it must be a number {} {:g} to {:g}", json.dump(-1, ' ', true),
                               open ? "above" : "from", least, most));
  return value;
}

template <class T, class Read>
std::vector<T> list_from(const std::string& where, const Json& json, Read read) {
  if (!json.is_array()) damaged(where, "is no array");
  std::vector<T> items;
  std::set<std::string> names;
  for (std::size_t i = 0; i < json.size(); ++i) {
    items.push_back(read(fmt::format("{}[{}]", where, i), json[i]));
    if constexpr (!std::is_same_v<T, Need>)
      if (!names.insert(items.back().name).second)
        damaged(fmt::format("{}[{}].name", where, i), "is there twice: " + items.back().name);
  }
  return items;
}

Need need_from(const std::string& where, const Json& json) {
  check_keys(where, json, {"fact", "at_least", "why"});
  constexpr double most = std::numeric_limits<double>::max();
  Need need{json["fact"], real(where + ".at_least", json["at_least"], -most, most), json["why"]};
  if (need.fact.empty()) damaged(where + ".fact", "is empty");
  if (need.why.empty()) damaged(where + ".why", "is empty; it says why the case needs the fact");
  return need;
}

Metric metric_from(const std::string& where, const Json& json) {
  check_keys(where, json, {"name", "unit", "better", "summary_text"});
  const std::string better = json["better"];
  if (better != "lower" && better != "higher") damaged(where + ".better", "is neither higher nor lower");
  Metric metric{json["name"], json["unit"], better == "lower" ? Better::lower : Better::higher, json["summary_text"]};
  if (metric.name.empty()) damaged(where + ".name", "is empty");
  return metric;
}

CaseInfo case_from(const std::string& where, const Json& json, const std::string& benchmark) {
  check_keys(where, json, {"name", "params", "needs", "rank", "setup_s", "share"});
  CaseInfo c;
  c.name = json["name"];
  check_case_name(where + ".name", c.name, benchmark);
  c.params = json["params"].get<std::map<std::string, std::string>>();
  c.needs = list_from<Need>(where + ".needs", json["needs"], need_from);
  if (!json["rank"].is_number_integer()) damaged(where + ".rank", "is no whole number");
  c.rank = static_cast<int>(real(where + ".rank", json["rank"], -1e6, 1e6));
  c.setup_s = real(where + ".setup_s", json["setup_s"], 0, 1e6);
  c.share = real(where + ".share", json["share"], 0, 1000, true);
  return c;
}

BenchmarkInfo benchmark_from(const std::string& where, const Json& json) {
  check_keys(where, json, {"name", "summary", "hidden", "devices", "metrics", "cases"});
  BenchmarkInfo b;
  b.name = json["name"];
  if (!is_benchmark_name(b.name)) damaged(where + ".name", "is not subject/name in lower case");
  b.summary = json["summary"];
  b.hidden = json["hidden"];
  b.devices = json["devices"].get<std::vector<std::string>>();
  b.metrics = list_from<Metric>(where + ".metrics", json["metrics"], metric_from);
  b.cases = list_from<CaseInfo>(where + ".cases", json["cases"],
                                [&](const std::string& at, const Json& entry) { return case_from(at, entry, b.name); });
  return b;
}

}  // namespace

Json to_json(const Metric& metric) {
  return {
      {"name", metric.name}, {"unit", metric.unit}, {"better", word(metric.better)}, {"summary_text", metric.summary}};
}

Json to_json(const Need& need) { return {{"fact", need.fact}, {"at_least", number(need.at_least)}, {"why", need.why}}; }

Json to_json(const Manifest& manifest) {
  Json benchmarks = Json::array();
  for (const BenchmarkInfo& b : manifest.benchmarks) {
    Json metrics = Json::array(), cases = Json::array();
    for (const Metric& m : b.metrics) metrics.push_back(to_json(m));
    for (const CaseInfo& c : b.cases) cases.push_back(to_json(c));
    benchmarks.push_back({{"name", b.name},
                          {"summary", b.summary},
                          {"hidden", b.hidden},
                          {"devices", b.devices},
                          {"metrics", metrics},
                          {"cases", cases}});
  }
  return {{"schema", manifest_schema}, {"worker", manifest.worker},   {"version", manifest.version},
          {"commit", manifest.commit}, {"devices", manifest.devices}, {"built", manifest.built},
          {"benchmarks", benchmarks}};
}

Manifest read_manifest(const std::filesystem::path& path) try {
  const Json json = parse_json(read_file(path));
  if (json.at("schema") != manifest_schema)
    throw Error(fmt::format("{} has schema {}, this program reads {}; build assay and its workers together",
                            path.string(), json.at("schema").dump(), manifest_schema));
  check_keys("it", json, {"schema", "worker", "version", "commit", "devices", "built", "benchmarks"});
  Manifest manifest;
  manifest.worker = json["worker"];
  manifest.version = json["version"];
  manifest.commit = json["commit"];
  manifest.devices = json["devices"].get<std::vector<std::string>>();
  manifest.built = json["built"].get<std::map<std::string, std::string>>();
  manifest.benchmarks = list_from<BenchmarkInfo>("benchmarks", json["benchmarks"], benchmark_from);
  return manifest;
} catch (const Damage& problem) {
  throw Error(fmt::format("{} is damaged: {}; build the worker again", path.string(), problem.what()));
} catch (const Json::exception& problem) {
  throw Error(fmt::format("{} is damaged ({}); build the worker again", path.string(), problem.what()));
}

}  // namespace assay
