// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See record_reader.h. The shape is the one of record.cpp and results/schema/record.v1.json; a test holds the three
// together (writing, reading and writing again gives the same text).
#include "harness/parent/record_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>

namespace assay {
namespace {

using simdjson::dom::element;

[[noreturn]] void damaged(const std::string& field, const char* what) {
  throw DamagedRecord(fmt::format("field '{}' {}", field, what));
}

constexpr std::array<std::string_view, 2> directions{"higher", "lower"};
constexpr std::array<std::string_view, 4> stop_reasons{"relative_error", "max_time", "max_samples", "stopped"};
constexpr std::array<std::string_view, 4> limit_kinds{"spec", "attribute_clock", "measured_clock", "none"};
constexpr std::array<std::string_view, 11> failure_kinds{"signal",     "timeout",      "exit",         "protocol",
                                                         "library",    "exception",    "memory_limit", "start",
                                                         "unkillable", "unknown_fact", "device"};

// "2026-11-30T17:05:01Z", or with a fraction of the second; of a day that there was.
bool is_utc(std::string_view text) {
  constexpr std::string_view form = "0000-00-00T00:00:00";
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  if (text.size() <= form.size() || text.back() != 'Z') return false;
  for (std::size_t i = 0; i < form.size(); ++i)
    if (form[i] == '0' ? !digit(text[i]) : text[i] != form[i]) return false;
  const std::string_view rest = text.substr(form.size(), text.size() - form.size() - 1);
  if (!rest.empty() && (rest.size() == 1 || rest[0] != '.' || !std::all_of(rest.begin() + 1, rest.end(), digit)))
    return false;
  const auto part = [&](std::size_t at) { return static_cast<unsigned>((text[at] - '0') * 10 + text[at + 1] - '0'); };
  const std::chrono::year_month_day date(std::chrono::year(static_cast<int>(part(0) * 100 + part(2))),
                                         std::chrono::month(part(5)), std::chrono::day(part(8)));
  return date.ok() && part(11) < 24 && part(14) < 60 && part(17) <= 60;  // 60: a leap second
}

// The fields of one object. They are asked for in the order in which they are written, so each look-up is one
// comparison; any other order works too, only slower. `close` complains about fields nobody asked for.
class Fields {
 public:
  Fields(element json, std::string path) : path_(std::move(path)) {
    if (json.get(object_) != simdjson::SUCCESS) damaged(path_, "is not an object");
    next_ = object_.begin();
  }
  element at(std::string_view key) {
    ++asked_;
    if (next_ != object_.end() && next_.key() == key) {
      const element value = next_.value();
      ++next_;
      return value;
    }
    element value;
    if (object_.at_key(key).get(value) != simdjson::SUCCESS) damaged(name(key), "is missing");
    return value;
  }
  Fields object(std::string_view key) { return {at(key), name(key)}; }
  void close() const {
    if (object_.size() != asked_) damaged(path_.empty() ? "record" : path_, "has fields that the schema doesn't know");
  }
  std::string name(std::string_view key) const {
    return path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key);
  }

  std::string text(std::string_view key) {
    std::string_view value;
    if (at(key).get(value) != simdjson::SUCCESS) damaged(name(key), "is not a text");
    return std::string(value);
  }
  // One of a closed list.
  template <std::size_t n>
  std::string text_of(std::string_view key, const std::array<std::string_view, n>& words) {
    const std::string value = text(key);
    if (std::find(words.begin(), words.end(), value) == words.end())
      damaged(name(key), fmt::format("is '{}', not one of {}", value, fmt::join(words, ", ")).c_str());
    return value;
  }
  std::string text_or_null(std::string_view key) {
    const element value = at(key);
    if (value.is_null()) return {};
    std::string_view text;
    if (value.get(text) != simdjson::SUCCESS) damaged(name(key), "is neither a text nor null");
    return std::string(text);
  }
  bool boolean(std::string_view key) {
    bool value = false;
    if (at(key).get(value) != simdjson::SUCCESS) damaged(name(key), "is neither true nor false");
    return value;
  }
  std::uint64_t count(std::string_view key) {
    std::uint64_t value = 0;
    if (at(key).get(value) != simdjson::SUCCESS) damaged(name(key), "is not a whole number from 0");
    return value;
  }
  std::optional<std::uint64_t> count_or_null(std::string_view key) {
    const element value = at(key);
    if (value.is_null()) return std::nullopt;
    std::uint64_t number = 0;
    if (value.get(number) != simdjson::SUCCESS) damaged(name(key), "is not a whole number from 0");
    return number;
  }
  int small(std::string_view key) {
    const std::uint64_t value = count(key);
    if (value > std::numeric_limits<int>::max()) damaged(name(key), "is too large");
    return static_cast<int>(value);
  }
  double real(std::string_view key) {
    const element value = at(key);
    if (value.is_null()) return std::numeric_limits<double>::quiet_NaN();
    double number = 0;
    if (value.get(number) != simdjson::SUCCESS) damaged(name(key), "is not a number");
    return number;
  }
  double not_negative(std::string_view key) {
    const double value = real(key);
    if (value < 0) damaged(name(key), "is negative");
    return value;
  }
  simdjson::dom::array array(std::string_view key) {
    simdjson::dom::array values;
    if (at(key).get(values) != simdjson::SUCCESS) damaged(name(key), "is not a list");
    return values;
  }
  std::vector<double> reals(std::string_view key, double null_value = std::numeric_limits<double>::quiet_NaN()) {
    const simdjson::dom::array values = array(key);
    std::vector<double> result;
    result.reserve(values.size());
    for (const element value : values) {
      double number = null_value;
      if (!value.is_null() && value.get(number) != simdjson::SUCCESS)
        damaged(name(key), "has a value that is not a number");
      result.push_back(number);
    }
    return result;
  }
  std::vector<std::string> texts(std::string_view key) {
    std::vector<std::string> result;
    for (const element value : array(key)) {
      std::string_view text;
      if (value.get(text) != simdjson::SUCCESS) damaged(name(key), "has a value that is not a text");
      result.emplace_back(text);
    }
    return result;
  }
  // Calls take(key, value) for each field of an object of texts.
  template <class Take>
  void words(std::string_view key, Take take) {
    simdjson::dom::object object;
    if (at(key).get(object) != simdjson::SUCCESS) damaged(name(key), "is not an object");
    for (const auto field : object) {
      std::string_view text;
      if (field.value.get(text) != simdjson::SUCCESS) damaged(name(key), "has a value that is not a text");
      take(std::string(field.key), std::string(text));
    }
  }
  template <class Read>
  auto list(std::string_view key, Read read) {
    std::vector<decltype(read(std::declval<Fields&>()))> result;
    const simdjson::dom::array values = array(key);
    result.reserve(values.size());
    for (const element value : values) {
      Fields item(value, name(key));
      result.push_back(read(item));
      item.close();
    }
    return result;
  }

 private:
  simdjson::dom::object object_;
  simdjson::dom::object::iterator next_;
  std::size_t asked_ = 0;
  std::string path_;
};

Series read_series(Fields& f) {
  Series series;
  series.label = f.text("label");
  series.block_s = f.not_negative("block_s");
  series.bytes_per_iteration = f.not_negative("bytes_per_iteration");
  series.operations_per_iteration = f.not_negative("operations_per_iteration");
  const std::vector<double> seconds = f.reals("seconds");
  series.samples.resize(seconds.size());
  const auto fits = [&](const char* column, std::size_t size) {
    if (size != seconds.size()) damaged(f.name(column), "has another length than 'seconds'");
  };
  for (std::size_t i = 0; i < seconds.size(); ++i) {
    if (seconds[i] < 0) damaged(f.name("seconds"), "is negative");
    series.samples[i].seconds = seconds[i];
  }
  const auto whole = [&](const char* column, auto set) {
    const simdjson::dom::array values = f.array(column);
    fits(column, values.size());
    std::size_t i = 0;
    for (const element value : values) {
      std::uint64_t number = 0;
      if (value.get(number) != simdjson::SUCCESS)
        damaged(f.name(column), "has a value that is not a whole number from 0");
      set(series.samples[i++], number);
    }
  };
  whole("iterations", [](Sample& s, std::uint64_t v) { s.iterations = v; });
  const std::vector<double> clocks = f.reals("clock_hz", 0);
  fits("clock_hz", clocks.size());
  const std::vector<double> issue = f.reals("issue_ratio", 0);
  fits("issue_ratio", issue.size());
  for (std::size_t i = 0; i < seconds.size(); ++i) {
    series.samples[i].clock_hz = clocks[i];
    series.samples[i].issue_ratio = issue[i];
  }
  whole("disturbed", [&](Sample& s, std::uint64_t v) {
    if (v >= std::uint64_t{1} << disturbed_names().size()) damaged(f.name("disturbed"), "has an unknown bit");
    s.disturbed = static_cast<std::uint32_t>(v);
  });
  series.warmup_iterations = f.count("warmup_iterations");
  series.warmup_flat = f.boolean("warmup_flat");
  series.stop_reason = f.text_of("stop_reason", stop_reasons);
  series.relative_error = f.real("relative_error");
  return series;
}

// A summary is recomputed from its samples. A measured record has its work and its times to hold the samples against;
// an imported one has only what was written beside them, so there the two must agree.
void check_summary(Fields f, const std::string& whose, const std::vector<double>& samples) {
  const Summary made = summarise(samples);
  const auto same = [](double a, double b) {
    return std::fabs(a - b) <= 1e-9 * std::fabs(b) || (std::isnan(a) && std::isnan(b));
  };
  if (f.count("n") != made.n || !same(f.real("min"), made.min) || !same(f.real("median"), made.median) ||
      !same(f.real("mean"), made.mean) || !same(f.real("max"), made.max))
    throw Error(fmt::format("{} isn't that of its samples: the record was changed after it was imported", whose));
}

MetricResult read_metric(Fields& f, bool imported) {
  MetricResult result;
  result.metric.name = f.text("name");
  result.metric.unit = f.text("unit");
  result.metric.better = f.text_of("better", directions) == "lower" ? Better::lower : Better::higher;
  result.series = f.text("series");
  result.samples = f.reals("samples");
  const element summary = f.at("summary");
  if (imported) check_summary({summary, f.name("summary")}, "the summary of " + result.metric.name, result.samples);
  if (const element cycle = f.at("per_cycle"); !cycle.is_null()) {
    Fields c(cycle, f.name("per_cycle"));
    result.cycle_unit = c.text("unit");
    result.cycle_samples = c.reals("samples");
    const element of_cycles = c.at("summary");
    if (imported)
      check_summary({of_cycles, c.name("summary")}, "the summary per cycle of " + result.metric.name,
                    result.cycle_samples);
    c.close();
  }
  Fields limit = f.object("limit");
  if (const double value = limit.real("value"); std::isfinite(value)) result.limit.value = value;
  result.limit.kind = limit.text_of("kind", limit_kinds);
  result.limit.source = limit.text("source");
  limit.close();
  f.at("share_of_limit");  // recomputed
  return result;
}

Curve read_curve(Fields& f) {
  Curve curve;
  curve.name = f.text("name");
  curve.x_name = f.text("x_name");
  curve.x_unit = f.text("x_unit");
  curve.y_name = f.text("y_name");
  curve.y_unit = f.text("y_unit");
  for (const element point : f.array("points")) {
    simdjson::dom::array pair;
    if (point.get(pair) != simdjson::SUCCESS || pair.size() != 2)
      damaged(f.name("points"), "has a value that is no pair");
    CurvePoint xy{std::nan(""), std::nan("")};
    std::size_t at = 0;
    for (const element value : pair)
      if (double& target = at++ == 0 ? xy.x : xy.y; !value.is_null() && value.get(target) != simdjson::SUCCESS)
        damaged(f.name("points"), "has a value that is not a number");
    curve.points.push_back(xy);
  }
  return curve;
}

Mismatch read_mismatch(Fields& f) {
  Mismatch m;
  m.buffer = f.text("buffer");
  m.index = f.count("index");
  m.expected = f.text("expected");
  m.actual = f.text("actual");
  m.expected_bits = f.text("expected_bits");
  m.actual_bits = f.text("actual_bits");
  m.xor_bits = f.text("xor_bits");
  m.second_read_bits = f.text("second_read_bits");
  return m;
}

Verification read_verification(Fields f) {
  Verification v;
  v.method = f.text("method");
  v.elements_compared = f.count("elements_compared");
  v.mismatches = f.count("mismatches");
  v.nan_count = f.count("nan_count");
  v.max_error = f.real("max_error");
  v.first_mismatches = f.list("first_mismatches", read_mismatch);
  f.close();
  return v;
}

void read_imported(element json, Record& r) {
  if (json.is_null()) return;
  Fields f(json, "imported");
  r.imported = Imported{f.text("format"), f.text("file"), f.text("xxh3"), f.text_or_null("tool_version")};
  f.close();
}

void read_identity(Fields& f, Record& r) {
  r.run_id = f.text("run_id");
  r.sequence = f.count("sequence");
  r.case_name = f.text("case");
  r.benchmark = f.text("benchmark");
  f.words("params", [&](std::string key, std::string value) { r.params.emplace(std::move(key), std::move(value)); });
  r.worker = f.text("worker");
  r.worker_version = f.text("worker_version");
  r.device_set = f.texts("device_set");
  r.simulated = f.boolean("simulated");
  read_imported(f.at("imported"), r);
  r.session = f.small("session");
  r.process = f.small("process");
  r.started_at = f.text_or_null("started_at");
  if (!is_utc(r.started_at) && (!r.started_at.empty() || !r.imported))
    damaged("started_at", "is no time like 2026-11-30T17:05:01.123Z");
  if (const element go = f.at("go_monotonic_ns"); !go.is_null()) {
    std::int64_t ns = 0;
    if (go.get(ns) != simdjson::SUCCESS) damaged("go_monotonic_ns", "is not a whole number");
    r.go_ns = ns;
  }
}

void read_ending(Fields& f, Record& r) {
  const std::string text = f.text("outcome");
  const std::optional<Outcome> outcome = outcome_of(text);
  if (!outcome || !is_case_outcome(*outcome))
    damaged("outcome", fmt::format("is '{}', which is no outcome of a case", text).c_str());
  r.outcome = *outcome;
  r.reason = f.text_or_null("reason");
  if (const element failure = f.at("failure"); !failure.is_null()) {
    Fields g(failure, "failure");
    r.failure.emplace();
    r.failure->kind = g.text_of("kind", failure_kinds);
    r.failure->detail = g.text("detail");
    r.failure->stderr_tail = g.texts("stderr_tail");
    g.close();
  }
}

void read_work(Fields& f, Record& r) {
  Fields phases = f.object("phases_s");
  r.setup_s = phases.not_negative("setup");
  r.warmup_s = phases.not_negative("warmup");
  r.measure_s = phases.not_negative("measure");
  r.verify_s = phases.not_negative("verify");
  phases.close();
  r.wall_s = f.not_negative("wall_s");
  r.seed = f.count("seed");
  r.block_s = f.not_negative("block_s");
  Fields work = f.object("work");
  r.iterations = work.count("iterations");
  r.bytes = work.not_negative("bytes");
  r.operations = work.not_negative("operations");
  r.bytes_formula = work.text("bytes_formula");
  r.operations_formula = work.text("operations_formula");
  r.data = work.text("data");
  work.close();
}

void read_surroundings(Fields& f, Record& r) {
  Fields placement = f.object("placement");
  r.threads = placement.small("threads");
  for (const element cpu : placement.array("cpus")) {
    std::int64_t number = 0;
    if (cpu.get(number) != simdjson::SUCCESS || number < 0 || number > std::numeric_limits<int>::max())
      damaged("placement.cpus", "has a value that is not the number of a CPU");
    r.cpus.push_back(static_cast<int>(number));
  }
  placement.close();
  Fields memory = f.object("memory");
  r.host_resident_peak_bytes = memory.count("host_resident_peak_bytes");
  r.requested_bytes = memory.count("requested_bytes");
  r.huge_page_bytes = memory.count("huge_page_bytes");
  r.device_peak_bytes = memory.count_or_null("device_peak_bytes");
  r.host_resident_rest_bytes = memory.count_or_null("host_resident_rest_bytes");
  r.device_rest_bytes = memory.count_or_null("device_rest_bytes");
  memory.close();
  Fields noise = f.object("noise");
  r.involuntary_switches = noise.count("involuntary_switches");
  r.run_delay_s = noise.not_negative("run_delay_s");
  r.steal_s = noise.not_negative("steal_s");
  r.foreign_load = noise.not_negative("foreign_load");
  noise.count("samples");  // the last two are recomputed
  noise.count("samples_disturbed");
  noise.close();
  f.words("facts", [&](std::string key, std::string value) { r.facts.push_back({std::move(key), std::move(value)}); });
  f.words("test_knobs",
          [&](std::string key, std::string value) { r.test_knobs.emplace(std::move(key), std::move(value)); });
}

Record read_record(element json) {
  Fields f(json, "");
  if (const std::string schema = f.text("schema"); schema != record_schema)
    throw Error(fmt::format("schema is '{}', this program reads '{}'", schema, record_schema));
  Record r;
  read_identity(f, r);
  read_ending(f, r);
  read_work(f, r);
  const std::uint64_t compared = f.count("elements_compared");
  r.series = f.list("series", read_series);
  r.metrics = f.list("metrics", [&](Fields& metric) { return read_metric(metric, r.imported.has_value()); });
  r.curves = f.list("curves", read_curve);
  r.verification = read_verification(f.object("verification"));
  if (r.verification.elements_compared != compared)
    damaged("elements_compared", "differs from verification.elements_compared");
  read_surroundings(f, r);
  f.close();
  return r;
}

}  // namespace

Record RecordReader::read_padded(std::string_view text) {
  element json;
  if (const auto problem = parser_.parse(text.data(), text.size(), false).get(json); problem != simdjson::SUCCESS)
    throw DamagedRecord(fmt::format("not JSON ({})", simdjson::error_message(problem)));
  return read_record(json);
}

Record RecordReader::read(std::string_view text) {
  const simdjson::padded_string padded(text);
  return read_padded(std::string_view(padded));
}

}  // namespace assay
