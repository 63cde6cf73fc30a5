// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// A plan as JSON and back (schema results/schema/plan.v1.json); plan.cpp makes plans.
#include <fmt/format.h>

#include <algorithm>

#include "harness/base/error.h"
#include "harness/base/file.h"
#include "harness/base/parse_json.h"
#include "harness/parent/plan.h"

namespace assay {
namespace {

Json case_json(const PlannedCase& c) {
  const bool has_fact = !c.fact.empty();
  return {{"name", c.name},
          {"benchmark", c.benchmark},
          {"worker", c.worker},
          {"device_set", c.device_set},
          {"coverage", word(c.coverage)},
          {"reason", text_or_null(c.reason)},
          {"text", text_or_null(c.text)},
          {"fact", text_or_null(c.fact)},
          {"fact_value", has_fact ? number(c.fact_value) : Json(nullptr)},
          {"fact_needed", has_fact ? number(c.fact_needed) : Json(nullptr)},
          {"estimate_s", c.estimate_s},
          {"deadline_s", c.deadline_s}};
}

std::string text_of(const Json& json, const char* key) {
  const Json& value = json.at(key);
  return value.is_null() ? std::string() : value.get<std::string>();
}
double number_of(const Json& json, const char* key) {
  const Json& value = json.at(key);
  return value.is_null() ? 0 : value.get<double>();
}

PlannedCase case_from_json(const Json& json) {
  PlannedCase c;
  c.name = json.at("name").get<std::string>();
  c.benchmark = json.at("benchmark").get<std::string>();
  c.worker = json.at("worker").get<std::string>();
  c.device_set = json.at("device_set").get<std::vector<std::string>>();
  const auto coverage = json.at("coverage").get<std::string>();
  bool known = false;
  for (const Coverage value : {Coverage::required, Coverage::not_applicable, Coverage::excluded})
    if (word(value) == coverage) {
      c.coverage = value;
      known = true;
    }
  if (!known) throw Error(fmt::format("'{}' is no kind of coverage", coverage));
  c.reason = text_of(json, "reason");
  c.text = text_of(json, "text");
  c.fact = text_of(json, "fact");
  c.fact_value = number_of(json, "fact_value");
  c.fact_needed = number_of(json, "fact_needed");
  c.estimate_s = json.at("estimate_s").get<double>();
  c.deadline_s = json.at("deadline_s").get<double>();
  return c;
}

Json worker_json(const PlannedWorker& w) {
  return {{"name", w.name},
          {"path", w.path.string()},
          {"version", w.version},
          {"commit", text_or_null(w.commit)},
          {"binary_xxh3", text_or_null(w.binary_xxh3)},
          {"manifest_xxh3", text_or_null(w.manifest_xxh3)},
          {"problem", text_or_null(w.problem)}};
}

ImportSource source_from_json(const Json& json) {
  ImportSource source;
  source.format = json.at("format").get<std::string>();
  for (const Json& file : json.at("files"))
    source.files.push_back({file.at("file").get<std::string>(), file.at("xxh3").get<std::string>(),
                            text_of(file, "tool_version"),
                            file.at("environment").get<std::map<std::string, std::string>>()});
  return source;
}

Json against_json(const Against& against) {
  return {{"folder", against.folder.string()},
          {"run_id", against.run_id},
          {"records_xxh3", against.records_xxh3},
          {"margins", against.margins},
          {"changed", against.changed}};
}

Against against_from_json(const Json& json) {
  return {json.at("folder").get<std::string>(), json.at("run_id").get<std::string>(),
          json.at("records_xxh3").get<std::string>(), json.at("margins").get<std::vector<std::string>>(),
          json.at("changed").get<std::vector<std::string>>()};
}

PlannedWorker worker_from_json(const Json& json) {
  return {json.at("name").get<std::string>(),
          json.at("path").get<std::string>(),
          json.at("version").get<std::string>(),
          text_of(json, "commit"),
          text_of(json, "binary_xxh3"),
          text_of(json, "manifest_xxh3"),
          text_of(json, "problem")};
}

Origin origin_from_json(const Json& json) {
  return {json.at("version").get<std::string>(),     text_of(json, "commit"),
          json.at("binary_xxh3").get<std::string>(), json.at("host").get<std::string>(),
          json.at("kernel").get<std::string>(),      json.at("architecture").get<std::string>()};
}

}  // namespace

Json to_json(const ImportSource& source) {
  Json files = Json::array();
  for (const ImportedFile& file : source.files)
    files.push_back({{"file", file.name},
                     {"xxh3", file.xxh3},
                     {"tool_version", text_or_null(file.tool_version)},
                     {"environment", file.environment}});
  return {{"format", source.format}, {"files", files}};
}

std::string_view word(Coverage coverage) {
  return coverage == Coverage::required ? "required" : coverage == Coverage::excluded ? "excluded" : "not_applicable";
}

int Plan::sessions_of(const PlannedCase& planned) const {
  if (decided.empty()) return sessions;
  const auto found = decided.find(planned.name);
  return found == decided.end() ? sessions : found->second;
}

double Plan::estimate_s() const {
  double sum = 0;
  for (const PlannedCase& c : cases)
    if (c.coverage == Coverage::required) sum += c.estimate_s * sessions_of(c);
  return sum;
}

Json to_json(const Origin& o) {
  return {{"version", o.version}, {"commit", text_or_null(o.commit)}, {"binary_xxh3", o.binary_xxh3}, {"host", o.host},
          {"kernel", o.kernel},   {"architecture", o.architecture}};
}

Json to_json(const Plan& plan) {
  Json devices = Json::array(), workers = Json::array(), cases = Json::array();
  for (const DeviceInfo& d : plan.devices) devices.push_back(to_json(d));
  for (const PlannedWorker& w : plan.workers) workers.push_back(worker_json(w));
  for (const PlannedCase& c : plan.cases) cases.push_back(case_json(c));
  return {{"schema", plan_schema},
          {"run_id", plan.run_id},
          {"created_at", plan.created_at},
          {"origin", to_json(plan.origin)},
          {"profile", plan.profile},
          {"policy", to_json(plan.policy)},
          {"sessions", plan.sessions},
          {"seed", plan.seed},
          {"budget_s", plan.budget_s ? Json(*plan.budget_s) : Json(nullptr)},
          {"max_memory_bytes", plan.max_memory_bytes},
          {"filters", plan.filters},
          {"excludes", plan.excludes},
          {"patience",
           {{"heartbeat_s", plan.patience.heartbeat_s},
            {"start_s", plan.patience.start_s},
            {"grace_s", plan.patience.grace_s}}},
          {"concurrent", plan.concurrent},
          {"imported", plan.imported ? to_json(*plan.imported) : Json(nullptr)},
          {"against", plan.against ? against_json(*plan.against) : Json(nullptr)},
          {"test_knobs", plan.test_knobs},
          {"devices", devices},
          {"workers", workers},
          {"cases", cases},
          {"estimate_s", plan.estimate_s()}};
}

Plan plan_from_json(const Json& json) {
  try {
    const auto schema = json.at("schema").get<std::string>();
    if (schema != plan_schema)
      throw Error(fmt::format("its schema is '{}', this assay reads '{}'", schema, plan_schema));
    Plan plan;
    plan.run_id = json.at("run_id").get<std::string>();
    plan.created_at = json.at("created_at").get<std::string>();
    plan.origin = origin_from_json(json.at("origin"));
    plan.profile = json.at("profile").get<std::string>();
    plan.policy = policy_from_json(json.at("policy"));
    const Json& sessions = json.at("sessions");
    if (!sessions.is_number_integer() || sessions < 1 || sessions > most_sessions)
      throw Error(fmt::format("sessions is {}, no number from 1 to {}", sessions.dump(), most_sessions));
    plan.sessions = sessions.get<int>();
    plan.seed = json.at("seed").get<std::uint64_t>();
    if (!json.at("budget_s").is_null()) plan.budget_s = json.at("budget_s").get<double>();
    plan.max_memory_bytes = json.at("max_memory_bytes").get<std::uint64_t>();
    plan.filters = json.at("filters").get<std::vector<std::string>>();
    plan.excludes = json.at("excludes").get<std::vector<std::string>>();
    const Json& patience = json.at("patience");
    plan.patience = {patience.at("heartbeat_s").get<double>(), patience.at("start_s").get<double>(),
                     patience.at("grace_s").get<double>()};
    plan.concurrent = json.at("concurrent").get<bool>();
    if (!json.at("imported").is_null()) plan.imported = source_from_json(json.at("imported"));
    if (const Json& against = json.at("against"); !against.is_null()) plan.against = against_from_json(against);
    plan.test_knobs = json.at("test_knobs").get<std::map<std::string, std::string>>();
    for (const Json& d : json.at("devices")) plan.devices.push_back(device_from_json(d));
    for (const Json& w : json.at("workers")) plan.workers.push_back(worker_from_json(w));
    for (const Json& c : json.at("cases")) plan.cases.push_back(case_from_json(c));
    return plan;
  } catch (const Json::exception& problem) {
    throw Error(reason_of(problem));
  }
}

Plan read_plan(const std::filesystem::path& path) {
  const std::string text = read_file(path);
  try {
    return plan_from_json(parse_json(text));
  } catch (const Json::exception&) {
    throw Error(fmt::format("{} is not JSON: it is damaged, or was cut; only a new run can replace it", path.string()));
  } catch (const Error& problem) {
    throw Error(fmt::format("{} is no plan that can be used: {}", path.string(), problem.what()));
  }
}

}  // namespace assay
