// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See manifest.h.
#include "harness/manifest.h"

#include <fmt/format.h>

#include "harness/base/error.h"
#include "harness/base/file.h"

namespace assay {
namespace {

Json to_json(const CaseInfo& c) {
  Json needs = Json::array();
  for (const Need& need : c.needs) needs.push_back(assay::to_json(need));
  return {{"name", c.name}, {"params", c.params},           {"needs", needs},
          {"rank", c.rank}, {"setup_s", number(c.setup_s)}, {"share", number(c.share)}};
}

CaseInfo case_from(const Json& json) {
  CaseInfo c;
  c.name = json.at("name");
  c.params = json.at("params").get<std::map<std::string, std::string>>();
  for (const Json& need : json.at("needs")) c.needs.push_back({need.at("fact"), need.at("at_least"), need.at("why")});
  c.rank = json.at("rank");
  c.setup_s = json.at("setup_s");
  c.share = json.at("share");
  return c;
}

BenchmarkInfo benchmark_from(const Json& json) {
  BenchmarkInfo b;
  b.name = json.at("name");
  b.summary = json.at("summary");
  b.hidden = json.at("hidden");
  b.devices = json.at("devices").get<std::vector<std::string>>();
  for (const Json& m : json.at("metrics"))
    b.metrics.push_back(
        {m.at("name"), m.at("unit"), m.at("better") == "lower" ? Better::lower : Better::higher, m.at("summary_text")});
  for (const Json& c : json.at("cases")) b.cases.push_back(case_from(c));
  return b;
}

}  // namespace

Json to_json(const Metric& metric) {
  return {{"name", metric.name},
          {"unit", metric.unit},
          {"better", metric.better == Better::lower ? "lower" : "higher"},
          {"summary_text", metric.summary}};
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
  const Json json = Json::parse(read_file(path));
  if (json.at("schema") != manifest_schema)
    throw Error(fmt::format("{} has schema {}, this program reads {}; build assay and its workers together",
                            path.string(), json.at("schema").dump(), manifest_schema));
  Manifest manifest;
  manifest.worker = json.at("worker");
  manifest.version = json.at("version");
  manifest.commit = json.at("commit");
  manifest.devices = json.at("devices").get<std::vector<std::string>>();
  manifest.built = json.at("built").get<std::map<std::string, std::string>>();
  for (const Json& b : json.at("benchmarks")) manifest.benchmarks.push_back(benchmark_from(b));
  return manifest;
} catch (const Json::exception& problem) {
  throw Error(fmt::format("{} is damaged ({}); build the worker again", path.string(), problem.what()));
}

}  // namespace assay
