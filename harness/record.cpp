// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Record to JSON; parent/record_reader.cpp reads it back. The shape is described by results/schema/record.v1.json;
// samples are stored as columns (seconds[], iterations[], ...), which is both shorter and quicker to read than an
// object per sample.
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

Json or_null(const std::optional<std::uint64_t>& bytes) { return bytes ? Json(*bytes) : Json(nullptr); }

Json to_json(const Series& series) {
  return {{"label", series.label},
          {"block_s", number(series.block_s)},
          {"bytes_per_iteration", number(series.bytes_per_iteration)},
          {"operations_per_iteration", number(series.operations_per_iteration)},
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
  return {{"n", s.n},
          {"min", number(s.min)},
          {"p5", number(s.p5)},
          {"q1", number(s.q1)},
          {"median", number(s.median)},
          {"mean", number(s.mean)},
          {"q3", number(s.q3)},
          {"p95", number(s.p95)},
          {"p99", number(s.p99)},
          {"max", number(s.max)},
          {"sd", number(s.sd)},
          {"cv", number(s.cv)}};
}

Json to_json(const MetricResult& result) {
  const Summary summary = summarise(result.samples);
  Json json = to_json(result.metric);
  json.erase("summary_text");  // for people, and in the manifest
  json["series"] = result.series;
  json["samples"] = numbers(result.samples);
  json["summary"] = to_json(summary);
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
  json["share_of_limit"] = number(share_of_limit(result.metric, result.limit, summary.median));
  return json;
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

Json to_json(const std::vector<Fact>& facts) {
  Json json = Json::object();
  for (const Fact& fact : facts) json[fact.name] = fact.value;
  return json;
}

Json noise_json(const Record& r) {
  std::uint64_t samples = 0, flagged = 0;
  for (const Series& series : r.series)
    for (const Sample& sample : series.samples) {
      ++samples;
      if (sample.disturbed != 0) ++flagged;
    }
  return {{"involuntary_switches", r.involuntary_switches},
          {"run_delay_s", number(r.run_delay_s)},
          {"steal_s", number(r.steal_s)},
          {"foreign_load", number(r.foreign_load)},
          {"samples", samples},
          {"samples_disturbed", flagged}};
}

Json to_json(const Imported& imported) {
  return {{"format", imported.format},
          {"file", imported.file},
          {"xxh3", imported.xxh3},
          {"tool_version", text_or_null(imported.tool_version)}};
}

template <class T>
Json list(const std::vector<T>& items) {
  Json result = Json::array();
  for (const T& item : items) result.push_back(to_json(item));
  return result;
}

}  // namespace

const std::vector<std::string>& disturbed_names() {
  static const std::vector<std::string> names{"involuntary_switches", "run_delay",   "steal",     "frequency",
                                              "foreign_load",         "shared_core", "throttled", "short_block"};
  return names;
}

double share_of_limit(const Metric& metric, const Limit& limit, double median) {
  if (!limit.value || !(*limit.value > 0) || !(median > 0)) return std::nan("");
  return metric.better == Better::higher ? median / *limit.value : *limit.value / median;
}

Json to_json(const Curve& curve) {
  Json points = Json::array();
  for (const CurvePoint& p : curve.points) points.push_back({number(p.x), number(p.y)});
  return {{"name", curve.name},     {"x_name", curve.x_name}, {"x_unit", curve.x_unit},
          {"y_name", curve.y_name}, {"y_unit", curve.y_unit}, {"points", points}};
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
          {"imported", r.imported ? to_json(*r.imported) : Json(nullptr)},
          {"session", r.session},
          {"process", r.process},
          {"started_at", text_or_null(r.started_at)},
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
            {"bytes", number(r.bytes)},
            {"operations", number(r.operations)},
            {"bytes_formula", r.bytes_formula},
            {"operations_formula", r.operations_formula},
            {"data", r.data}}},
          {"elements_compared", r.verification.elements_compared},
          {"series", list(r.series)},
          {"metrics", list(r.metrics)},
          {"curves", list(r.curves)},
          {"verification", to_json(r.verification)},
          {"placement", {{"threads", r.threads}, {"cpus", r.cpus}}},
          {"memory",
           {{"host_resident_peak_bytes", r.host_resident_peak_bytes},
            {"requested_bytes", r.requested_bytes},
            {"huge_page_bytes", r.huge_page_bytes},
            {"device_peak_bytes", or_null(r.device_peak_bytes)},
            {"host_resident_rest_bytes", or_null(r.host_resident_rest_bytes)},
            {"device_rest_bytes", or_null(r.device_rest_bytes)}}},
          {"noise", noise_json(r)},
          {"facts", to_json(r.facts)},
          {"test_knobs", r.test_knobs}};
}

}  // namespace assay
