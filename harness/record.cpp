// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Record to JSON and back. The shape is described by results/schema/record.v1.json; samples are stored as columns
// (seconds[], iterations[], ...), which is both shorter and quicker to read than an object per sample.
#include "harness/record.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "harness/base/error.h"

namespace assay {
namespace {

template <class Get>
Json column(const std::vector<Sample>& samples, Get get) {
  Json values = Json::array();
  for (const Sample& sample : samples) values.push_back(get(sample));
  return values;
}

Json numbers(const std::vector<double>& values) {
  Json result = Json::array();
  for (double value : values) result.push_back(number(value));
  return result;
}

// 0 stands for "not measured" in a Sample; in JSON that is null.
Json measured(double value) { return value > 0 ? number(value) : Json(nullptr); }

Json to_json(const Series& series) {
  return {{"label", series.label},
          {"seconds", column(series.samples, [](const Sample& s) { return number(s.seconds); })},
          {"iterations", column(series.samples, [](const Sample& s) { return Json(s.iterations); })},
          {"clock_hz", column(series.samples, [](const Sample& s) { return measured(s.clock_hz); })},
          {"issue_ratio", column(series.samples, [](const Sample& s) { return measured(s.issue_ratio); })},
          {"disturbed", column(series.samples, [](const Sample& s) { return Json(s.disturbed); })},
          {"warmup_iterations", series.warmup_iterations},
          {"warmup_flat", series.warmup_flat},
          {"stop_reason", series.stop_reason},
          {"relative_error", number(series.relative_error)}};
}

Json to_json(const Summary& s) {
  return {{"n", s.n},           {"min", number(s.min)},       {"p5", number(s.p5)},
          {"q1", number(s.q1)}, {"median", number(s.median)}, {"mean", number(s.mean)},
          {"q3", number(s.q3)}, {"p95", number(s.p95)},       {"max", number(s.max)},
          {"sd", number(s.sd)}, {"cv", number(s.cv)}};
}

Json to_json(const MetricResult& result) {
  Json json = to_json(result.metric);
  json["series"] = result.series;
  json["samples"] = numbers(result.samples);
  json["summary"] = to_json(summarise(result.samples));
  if (result.cycle_unit.empty()) {
    json["per_cycle"] = nullptr;
  } else {
    json["per_cycle"] = {{"unit", result.cycle_unit},
                         {"samples", numbers(result.cycle_samples)},
                         {"summary", to_json(summarise(result.cycle_samples))}};
  }
  json["limit"] = {{"value", result.limit.value ? number(*result.limit.value) : Json(nullptr)},
                   {"kind", result.limit.kind.empty() ? "none" : result.limit.kind},
                   {"source", result.limit.source}};
  return json;
}

Json to_json(const Curve& curve) {
  Json points = Json::array();
  for (const CurvePoint& p : curve.points) points.push_back({number(p.x), number(p.y)});
  return {{"name", curve.name},     {"x_name", curve.x_name}, {"x_unit", curve.x_unit},
          {"y_name", curve.y_name}, {"y_unit", curve.y_unit}, {"points", points}};
}

Json to_json(const Mismatch& m) {
  return {{"buffer", m.buffer},
          {"index", m.index},
          {"expected", m.expected},
          {"actual", m.actual},
          {"expected_bits", m.expected_bits},
          {"actual_bits", m.actual_bits},
          {"xor_bits", m.xor_bits},
          {"second_read_bits", m.second_read_bits}};
}

Json to_json(const Verification& v) {
  return {{"method", v.method},
          {"elements_compared", v.elements_compared},
          {"mismatches", v.mismatches},
          {"nan_count", v.nan_count},
          {"max_error", number(v.max_error)},
          {"first_mismatches", [&] {
             Json list = Json::array();
             for (const Mismatch& m : v.first_mismatches) list.push_back(to_json(m));
             return list;
           }()}};
}

Json to_json(const Fact& fact) { return {{"name", fact.name}, {"value", fact.value}}; }

template <class T>
Json list(const std::vector<T>& items) {
  Json result = Json::array();
  for (const T& item : items) result.push_back(to_json(item));
  return result;
}

// --- reading -----------------------------------------------------------------------------------------------------

double real(const Json& json) { return json.is_null() ? std::nan("") : json.get<double>(); }
double real_or_zero(const Json& json) { return json.is_null() ? 0 : json.get<double>(); }
std::vector<double> reals(const Json& json) {
  std::vector<double> values;
  for (const Json& value : json) values.push_back(real(value));
  return values;
}

Series series_from(const Json& json) {
  Series series;
  series.label = json.at("label");
  const std::size_t n = json.at("seconds").size();
  for (const char* name : {"iterations", "clock_hz", "issue_ratio", "disturbed"})
    if (json.at(name).size() != n)
      throw Error(fmt::format("column '{}' has {} values, 'seconds' has {}", name, json.at(name).size(), n));
  for (std::size_t i = 0; i < n; ++i)
    series.samples.push_back({real(json.at("seconds")[i]), json.at("iterations")[i].get<std::uint64_t>(),
                              real_or_zero(json.at("clock_hz")[i]), real_or_zero(json.at("issue_ratio")[i]),
                              json.at("disturbed")[i].get<std::uint32_t>()});
  series.warmup_iterations = json.at("warmup_iterations");
  series.warmup_flat = json.at("warmup_flat");
  series.stop_reason = json.at("stop_reason");
  series.relative_error = real(json.at("relative_error"));
  return series;
}

MetricResult metric_from(const Json& json) {
  MetricResult result;
  result.metric = {json.at("name"), json.at("unit"), json.at("better") == "lower" ? Better::lower : Better::higher,
                   json.at("summary_text")};
  result.series = json.at("series");
  result.samples = reals(json.at("samples"));
  if (const Json& cycle = json.at("per_cycle"); !cycle.is_null()) {
    result.cycle_unit = cycle.at("unit");
    result.cycle_samples = reals(cycle.at("samples"));
  }
  const Json& limit = json.at("limit");
  if (!limit.at("value").is_null()) result.limit.value = limit.at("value").get<double>();
  result.limit.kind = limit.at("kind");
  result.limit.source = limit.at("source");
  return result;
}

Curve curve_from(const Json& json) {
  Curve curve{json.at("name"), json.at("x_name"), json.at("x_unit"), json.at("y_name"), json.at("y_unit"), {}};
  for (const Json& point : json.at("points")) curve.points.push_back({real(point.at(0)), real(point.at(1))});
  return curve;
}

Verification verification_from(const Json& json) {
  Verification v;
  v.method = json.at("method");
  v.elements_compared = json.at("elements_compared");
  v.mismatches = json.at("mismatches");
  v.nan_count = json.at("nan_count");
  v.max_error = real(json.at("max_error"));
  for (const Json& m : json.at("first_mismatches"))
    v.first_mismatches.push_back({m.at("buffer"), m.at("index"), m.at("expected"), m.at("actual"),
                                  m.at("expected_bits"), m.at("actual_bits"), m.at("xor_bits"),
                                  m.at("second_read_bits")});
  return v;
}

void read_work(const Json& json, Record& record) {
  const Json& phases = json.at("phases_s");
  record.setup_s = real(phases.at("setup"));
  record.warmup_s = real(phases.at("warmup"));
  record.measure_s = real(phases.at("measure"));
  record.verify_s = real(phases.at("verify"));
  record.wall_s = real(json.at("wall_s"));
  record.seed = json.at("seed");
  record.block_s = real(json.at("block_s"));
  const Json& work = json.at("work");
  record.iterations = work.at("iterations");
  record.bytes_per_iteration = real(work.at("bytes_per_iteration"));
  record.operations_per_iteration = real(work.at("operations_per_iteration"));
  record.bytes_formula = work.at("bytes_formula");
  record.operations_formula = work.at("operations_formula");
  record.data = work.at("data");
}

void read_surroundings(const Json& json, Record& record) {
  record.threads = json.at("placement").at("threads");
  record.cpus = json.at("placement").at("cpus").get<std::vector<int>>();
  const Json& memory = json.at("memory");
  record.host_resident_peak_bytes = memory.at("host_resident_peak_bytes");
  record.requested_bytes = memory.at("requested_bytes");
  record.huge_page_bytes = memory.at("huge_page_bytes");
  if (!memory.at("device_peak_bytes").is_null())
    record.device_peak_bytes = memory.at("device_peak_bytes").get<std::uint64_t>();
  const Json& noise = json.at("noise");
  record.involuntary_switches = noise.at("involuntary_switches");
  record.run_delay_s = real(noise.at("run_delay_s"));
  record.steal_s = real(noise.at("steal_s"));
  record.foreign_load = real(noise.at("foreign_load"));
  for (const Json& fact : json.at("facts")) record.facts.push_back({fact.at("name"), fact.at("value")});
  record.test_knobs = json.at("test_knobs").get<std::map<std::string, std::string>>();
}

}  // namespace

const std::vector<std::string>& disturbed_names() {
  static const std::vector<std::string> names{"involuntary_switches", "run_delay",   "steal",    "frequency",
                                              "foreign_load",         "shared_core", "throttled"};
  return names;
}

Summary summarise(std::vector<double> values) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  values.erase(std::remove_if(values.begin(), values.end(), [](double v) { return !std::isfinite(v); }), values.end());
  if (values.empty()) return {0, nan, nan, nan, nan, nan, nan, nan, nan, nan, nan};
  std::sort(values.begin(), values.end());
  const auto quantile = [&](double q) {
    const double at = q * static_cast<double>(values.size() - 1);
    const auto low = static_cast<std::size_t>(at);
    const std::size_t high = std::min(low + 1, values.size() - 1);
    return values[low] + (at - static_cast<double>(low)) * (values[high] - values[low]);
  };
  Summary s;
  s.n = values.size();
  const auto n = static_cast<double>(s.n);
  for (double v : values) s.mean += v / n;
  double squares = 0;
  for (double v : values) squares += (v - s.mean) * (v - s.mean);
  s.sd = s.n > 1 ? std::sqrt(squares / (n - 1)) : nan;
  s.cv = s.mean != 0 ? s.sd / std::fabs(s.mean) : nan;
  s.min = values.front();
  s.max = values.back();
  s.p5 = quantile(0.05);
  s.q1 = quantile(0.25);
  s.median = quantile(0.5);
  s.q3 = quantile(0.75);
  s.p95 = quantile(0.95);
  return s;
}

Json to_json(const Record& r) {
  Json failure = nullptr;
  if (r.failure)
    failure = {{"kind", r.failure->kind}, {"detail", r.failure->detail}, {"stderr_tail", r.failure->stderr_tail}};
  return {{"schema", record_schema},
          {"run_id", r.run_id},
          {"sequence", r.sequence},
          {"case", r.case_name},
          {"benchmark", r.benchmark},
          {"params", r.params},
          {"worker", r.worker},
          {"worker_version", r.worker_version},
          {"device_set", r.device_set},
          {"simulated", r.simulated},
          {"session", r.session},
          {"process", r.process},
          {"started_at", r.started_at},
          {"go_monotonic_ns", r.go_ns ? Json(*r.go_ns) : Json(nullptr)},
          {"outcome", word(r.outcome)},
          {"reason", text_or_null(r.reason)},
          {"failure", failure},
          {"phases_s",
           {{"setup", number(r.setup_s)},
            {"warmup", number(r.warmup_s)},
            {"measure", number(r.measure_s)},
            {"verify", number(r.verify_s)}}},
          {"wall_s", number(r.wall_s)},
          {"seed", r.seed},
          {"block_s", number(r.block_s)},
          {"work",
           {{"iterations", r.iterations},
            {"bytes_per_iteration", number(r.bytes_per_iteration)},
            {"operations_per_iteration", number(r.operations_per_iteration)},
            {"bytes_formula", r.bytes_formula},
            {"operations_formula", r.operations_formula},
            {"data", r.data}}},
          {"series", list(r.series)},
          {"metrics", list(r.metrics)},
          {"curves", list(r.curves)},
          {"verification", to_json(r.verification)},
          {"placement", {{"threads", r.threads}, {"cpus", r.cpus}}},
          {"memory",
           {{"host_resident_peak_bytes", r.host_resident_peak_bytes},
            {"requested_bytes", r.requested_bytes},
            {"huge_page_bytes", r.huge_page_bytes},
            {"device_peak_bytes", r.device_peak_bytes ? Json(*r.device_peak_bytes) : Json(nullptr)}}},
          {"noise",
           {{"involuntary_switches", r.involuntary_switches},
            {"run_delay_s", number(r.run_delay_s)},
            {"steal_s", number(r.steal_s)},
            {"foreign_load", number(r.foreign_load)}}},
          {"facts", list(r.facts)},
          {"test_knobs", r.test_knobs}};
}

Record record_from_json(const Json& json) try {
  if (json.at("schema") != record_schema)
    throw Error(fmt::format("a record of schema {}, this program reads {}", json.at("schema").dump(), record_schema));
  Record r;
  r.run_id = json.at("run_id");
  r.sequence = json.at("sequence");
  r.case_name = json.at("case");
  r.benchmark = json.at("benchmark");
  r.params = json.at("params").get<std::map<std::string, std::string>>();
  r.worker = json.at("worker");
  r.worker_version = json.at("worker_version");
  r.device_set = json.at("device_set").get<std::vector<std::string>>();
  r.simulated = json.at("simulated");
  r.session = json.at("session");
  r.process = json.at("process");
  r.started_at = json.at("started_at");
  if (!json.at("go_monotonic_ns").is_null()) r.go_ns = json.at("go_monotonic_ns").get<std::int64_t>();
  const std::optional<Outcome> outcome = outcome_of(json.at("outcome").get<std::string>());
  if (!outcome) throw Error("unknown outcome " + json.at("outcome").dump());
  r.outcome = *outcome;
  if (!json.at("reason").is_null()) r.reason = json.at("reason");
  if (const Json& f = json.at("failure"); !f.is_null())
    r.failure = Failure{f.at("kind"), f.at("detail"), f.at("stderr_tail").get<std::vector<std::string>>()};
  read_work(json, r);
  for (const Json& s : json.at("series")) r.series.push_back(series_from(s));
  for (const Json& m : json.at("metrics")) r.metrics.push_back(metric_from(m));
  for (const Json& c : json.at("curves")) r.curves.push_back(curve_from(c));
  r.verification = verification_from(json.at("verification"));
  read_surroundings(json, r);
  return r;
} catch (const Json::exception& problem) {
  throw Error(fmt::format("not a record: {}", problem.what()));
}

}  // namespace assay
