// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// assay import --from google-benchmark: what --benchmark_out=FILE --benchmark_out_format=json writes
// (json_schema_version 1 and older). A file is one process, so one session; the repetitions of a name are its samples.
// Traps: `real_time` is the mean of its iterations; aggregates (mean, median, stddev, BigO) are computed from the
// repetitions and left out; user counters stand among the fixed keys and have no unit, so that only bytes_per_second
// and items_per_second become metrics; NaN is written as a bare word; a `cpu_time` of 0 is usual where the work is
// elsewhere, any other value that is no number above 0 is an error; the file doesn't say which device was measured,
// only on which host.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "harness/base/error.h"
#include "harness/base/text.h"
#include "harness/import/import.h"

namespace assay {
namespace {

// Keys that are no user counter.
constexpr std::array<std::string_view, 14> fixed_numbers{"family_index",
                                                         "per_family_instance_index",
                                                         "repetitions",
                                                         "repetition_index",
                                                         "threads",
                                                         "iterations",
                                                         "real_time",
                                                         "cpu_time",
                                                         "allocs_per_iter",
                                                         "max_bytes_used",
                                                         "rms",
                                                         "total_allocated_bytes",
                                                         "net_heap_growth",
                                                         "big_o"};

struct Known {
  const char* key;
  const char* unit;  // "": the row's time_unit
  Better better;
};
constexpr std::array<Known, 4> known_metrics{{{"real_time", "", Better::lower},
                                              {"cpu_time", "", Better::lower},
                                              {"bytes_per_second", "B/s", Better::higher},
                                              {"items_per_second", "item/s", Better::higher}}};

bool is_fixed(const std::string& key) {
  return std::find(fixed_numbers.begin(), fixed_numbers.end(), key) != fixed_numbers.end() ||
         std::any_of(known_metrics.begin(), known_metrics.end(), [&](const Known& known) { return key == known.key; });
}

std::string text_at(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found == json.end() ? std::string() : scalar_text(*found);
}

bool is_aggregate(const Json& row) {
  return text_at(row, "run_type") == "aggregate" || row.contains("aggregate_name") || row.contains("big_o") ||
         row.contains("rms");
}

std::string name_of(const Json& row) {
  const std::string run_name = text_at(row, "run_name"), name = text_at(row, "name");
  return run_name.empty() ? name : run_name;
}

struct OneName {
  std::vector<const Json*> repetitions, aggregates;
};

class OneFile : ImportProcess {
 public:
  using ImportProcess::ImportProcess;

  void read() {
    const Json root = parse_import_json(file_);
    if (!root.is_object() || !root.contains("benchmarks") || !root["benchmarks"].is_array())
      throw Error(fmt::format(
          "{} line 1, column 1: there is no list 'benchmarks', so this is no JSON of Google Benchmark", file_.name));
    read_context(root.contains("context") ? root["context"] : Json::object());
    std::vector<std::string> order;
    std::map<std::string, OneName> names;
    for (const Json& row : root["benchmarks"]) {
      const std::string name = row.is_object() ? name_of(row) : "";
      if (name.empty()) throw Error(fmt::format("{}: an entry of 'benchmarks' has no name", file_.name));
      check_import_name(file_, name);
      if (names.count(name) == 0) order.push_back(name);
      (is_aggregate(row) ? names[name].aggregates : names[name].repetitions).push_back(&row);
    }
    for (const std::string& name : order) read_name(name, names[name]);
    tell();
  }

 private:
  void read_context(const Json& context) {
    ImportedFile& source = builder_.file(index_);
    for (const auto& [key, value] : context.items()) {
      const std::string text = value.is_structured() ? line(value) : scalar_text(value);
      if (!text.empty()) source.environment[plain(key)] = plain(text);
    }
    source.tool_version = plain(text_at(context, "library_version"));
    if (const std::optional<double> at = unix_time(text_at(context, "date"))) started_at_ = utc_text(*at);
    const std::string host = plain(text_at(context, "host_name"));
    device_ = host.empty() ? "host without a name" : host;
    DeviceInfo& device = builder_.device(device_);
    if (!host.empty()) device.labels["host"] = host;
    builder_.owe(index_, device_, session_);
    if (context.contains("num_cpus") && context["num_cpus"].is_number())
      device.facts["cpus"] = context["num_cpus"].get<double>();
    if (const std::string build = text_at(context, "library_build_type"); build == "debug")
      builder_.note(
          fmt::format("{}: Google Benchmark was built without optimisation (library_build_type debug)", file_.name));
  }

  void read_name(const std::string& name, const OneName& rows) {
    const ImportPlace place{device_, name.substr(0, name.find('/')), name};
    aggregates_ += rows.aggregates.size();
    const auto with = [&](const char* key) -> const Json* {
      for (const Json* row : rows.repetitions)
        if (is_true(*row, key)) return row;
      return nullptr;
    };
    const Json *failed = with("error_occurred"), *skipped = with("skipped");
    if (failed == nullptr && skipped != nullptr)
      return builder_.skip(index_, place, session_, text_at(*skipped, "skip_message"));
    Record& record = builder_.record(index_, place, session_);
    record.started_at = started_at_;
    if (rows.repetitions.empty()) {
      record.outcome = Outcome::not_run;
      record.reason = "the file has only aggregates of it, and no repetition";
      return;
    }
    if (failed != nullptr) return fail_record(record, "Google Benchmark says: " + text_at(*failed, "error_message"));
    check_repetitions(rows.repetitions);
    for (const Known& known : known_metrics) read_metric(record, known, rows.repetitions);
    add_fact(record, "repetitions", std::to_string(rows.repetitions.size()));
    for (const char* key : {"threads", "iterations", "label"})
      add_fact(record, key, text_at(*rows.repetitions.front(), key));
    for (const auto& [key, value] : rows.repetitions.front()->items())
      if (value.is_number() && !is_fixed(key)) read_counter(record, key, rows.repetitions);
  }

  // "file: real_time of BM_Copy/64 (repetition 1) " and what is wrong with it.
  [[noreturn]] void fail(const Json& row, const std::string& key, const std::string& what) const {
    const std::string index = text_at(row, "repetition_index");
    throw Error(fmt::format("{}: {} of {}{} {}", file_.name, key, name_of(row),
                            index.empty() ? "" : fmt::format(" (repetition {})", plain(index)), what));
  }

  bool is_true(const Json& row, const char* key) const {
    const auto found = row.find(key);
    if (found == row.end()) return false;
    if (!found->is_boolean()) fail(row, key, fmt::format("is '{}', neither true nor false", plain(line(*found))));
    return found->get<bool>();
  }

  // A repetition counts once, and something was done in it.
  void check_repetitions(const std::vector<const Json*>& rows) const {
    std::set<std::string> seen;
    for (const Json* row : rows) {
      const std::string index = text_at(*row, "repetition_index");
      if (!index.empty() && !seen.insert(index).second)
        fail(*row, "an entry", "is there twice; give benchmarks that share a name names of their own");
      const auto iterations = row->find("iterations");
      if (iterations != row->end() && !(iterations->is_number_integer() && iterations->get<double>() > 0))
        fail(*row, "iterations", fmt::format("is '{}', no whole number above 0", plain(line(*iterations))));
    }
  }

  double value_of(const Json& row, const char* key) const {
    const auto found = row.find(key);
    if (found == row.end()) fail(row, key, "is missing");
    if (found->is_null()) fail(row, key, "is NaN, infinite or null: no number above 0");
    const double value = found->is_number() ? found->get<double>() : std::nan("");
    const bool no_cpu = value == 0 && std::string_view(key) == "cpu_time";
    if (!(std::isfinite(value) && value > 0) && !no_cpu)
      fail(row, key, fmt::format("is {}, no number above 0", plain(line(*found))));
    return value;
  }

  void read_metric(Record& record, const Known& known, const std::vector<const Json*>& rows) {
    const bool needed = std::string_view(known.key) == "real_time";
    if (!needed && std::none_of(rows.begin(), rows.end(), [&](const Json* row) { return row->contains(known.key); }))
      return;
    std::vector<double> values;
    bool no_cpu = false;
    for (const Json* row : rows) {
      const double value = value_of(*row, known.key);
      no_cpu = no_cpu || value == 0;
      values.push_back(value * (*known.unit == '\0' ? time_unit_s(*row) : 1));
    }
    if (no_cpu) {
      without_cpu_.push_back(record.case_name);
      builder_.drop_metric({device_, record.benchmark, record.case_name}, known.key);
    } else
      add_metric(record, known.key, *known.unit == '\0' ? "s" : known.unit, known.better, std::move(values));
  }

  // Nobody says what it counts, or which direction is good: shown, and not judged.
  void read_counter(Record& record, const std::string& key, const std::vector<const Json*>& rows) {
    std::vector<std::string> values;
    for (const Json* row : rows) values.push_back(text_at(*row, key.c_str()));
    add_fact(record, "counter " + plain(key), join(values, " "));
    counters_[plain(key)] = true;
  }

  double time_unit_s(const Json& row) const {
    const std::string unit = text_at(row, "time_unit");
    static const std::map<std::string, double> units{{"", 1e-9}, {"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}};
    const auto found = units.find(unit);
    if (found == units.end())
      throw Error(fmt::format("{}: {} has the time_unit '{}', which is none of ns, us, ms, s", file_.name,
                              shown(name_of(row)), shown(unit)));
    return found->second;
  }

  void tell() const {
    if (aggregates_ > 0)
      builder_.note(fmt::format("{}: {} {} left out; all is computed from the repetitions", file_.name,
                                counted(aggregates_, "aggregate"), aggregates_ == 1 ? "was" : "were"));
    if (!without_cpu_.empty())
      builder_.note(fmt::format("{}: cpu_time is 0 in {} ({}) and was left out there", file_.name, without_cpu_.front(),
                                counted(without_cpu_.size(), "case")));
    std::vector<std::string> counters;
    for (const auto& [key, there] : counters_) counters.push_back(key);
    if (!counters.empty())
      builder_.note(
          fmt::format("{}: the file doesn't say which unit and which good direction its counters have, so they "
                      "are facts and no metrics: {}",
                      file_.name, join(counters, ", ")));
  }

  std::string device_, started_at_;
  std::size_t aggregates_ = 0;
  std::vector<std::string> without_cpu_;
  std::map<std::string, bool> counters_;
};

void read(const std::vector<ImportText>& files, ImportBuilder& builder) {
  read_processes<OneFile>(files, "Google Benchmark", builder);
}

bool recognises(const std::string& text) {
  return text.find("\"benchmarks\"") != std::string::npos && text.find("\"time_unit\"") != std::string::npos &&
         text.find("\"real_time\"") != std::string::npos;
}

}  // namespace

REGISTER_IMPORT((ImportFormat{"google-benchmark", "JSON of Google Benchmark; one file is one process", recognises, read,
                              true}));

}  // namespace assay
