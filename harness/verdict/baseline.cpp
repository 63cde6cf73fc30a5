// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See baseline.h.
#include "harness/verdict/baseline.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>
#include <sstream>

#include "harness/base/csv_file.h"
#include "harness/base/error.h"
#include "harness/base/text.h"
#include "harness/verdict/quantity.h"

namespace assay {
namespace {

constexpr double most_log_sd = 0.5;  // a reference that varies by half says nothing

int count(const CsvFile& file, const char* column, int least) {
  const double value = file.required_number(column);
  if (value != std::floor(value) || value < least || value > 1e6)
    file.fail(column, fmt::format("{} is no whole number from {}", value, least));
  return static_cast<int>(value);
}

std::string word_of(const CsvFile& file, const char* column, const std::vector<std::string>& words) {
  const std::string word = file.required_text(column);
  if (std::find(words.begin(), words.end(), word) == words.end())
    file.fail(column, fmt::format("'{}' is not known{}", shown(word), suggestion(word, words)));
  return word;
}

void check_date(const CsvFile& file, const std::string& date) {
  static const std::string form = "dddd-dd-dd";
  bool good = date.size() == form.size();
  for (std::size_t i = 0; good && i < form.size(); ++i)
    good = form[i] == 'd' ? date[i] >= '0' && date[i] <= '9' : date[i] == form[i];
  if (!good) file.fail("date", fmt::format("'{}' is not of the form 2026-11-30", shown(date)));
}

BaselineRow read_row(const CsvFile& file, const ClassTable& table) {
  BaselineRow row;
  row.class_id = file.required_text("class");
  if (!is_class_name(row.class_id, table))
    file.fail("class",
              fmt::format("'{}' is no known class{}", shown(row.class_id), class_suggestion(row.class_id, table)));
  row.benchmark = file.required_text("benchmark");
  row.key.case_name = file.required_text("case");
  if (row.key.case_name != row.benchmark && !starts_with(row.key.case_name, row.benchmark + "/"))
    file.fail("case", fmt::format("'{}' is no case of {}", shown(row.key.case_name), shown(row.benchmark)));
  row.key.metric = file.required_text("metric");
  row.key.series = file.text("series");
  row.key.axis = word_of(file, "axis", {"second", "cycle"}) == "cycle" ? Axis::cycle : Axis::second;
  row.unit = file.required_text("unit");
  const std::string better = word_of(file, "better", {"higher", "lower"});
  row.better = better == "higher" ? Better::higher : Better::lower;
  row.devices = count(file, "devices", devices_for_a_provisional_one);
  row.removed = count(file, "removed", 0);
  row.sessions = count(file, "sessions", row.devices);
  row.log_mean = file.required_number("log_mean");
  row.between_device_sd = file.required_number("between_device_log_sd");
  row.between_session_sd = file.number("between_session_log_sd");
  row.within_session_sd = file.number("within_session_log_sd");
  row.clock_elasticity = file.number("clock_elasticity");
  row.clock_hz = file.number("clock_hz");
  if (const auto problem = row_problem(row)) file.fail(problem->column, problem->text);
  row.provisional = word_of(file, "status", {"REFERENCE", "PROVISIONAL"}) == "PROVISIONAL";
  if (!row.provisional && row.devices < devices_for_a_reference)
    file.fail("status",
              fmt::format("{} devices make it PROVISIONAL; a REFERENCE has {}", row.devices, devices_for_a_reference));
  row.date = file.required_text("date");
  check_date(file, row.date);
  row.driver_min = file.text("driver_min");
  row.driver_max = file.text("driver_max");
  row.tool_version = file.required_text("tool_version");
  row.worker = file.required_text("worker");
  row.modes = file.text("modes");
  row.source = file.required_text("source");
  row.origins = file.text("origins");
  return row;
}

std::string number_text(const std::optional<double>& value) { return value ? fmt::format("{}", *value) : ""; }

}  // namespace

std::string to_text(const MetricKey& key) {
  return fmt::format("{} {}{}{}", key.case_name, key.metric, key.series.empty() ? "" : " " + key.series,
                     key.axis == Axis::cycle ? " per cycle" : "");
}

std::optional<RowProblem> row_problem(const BaselineRow& row) {
  const std::optional<Quantity> unit = unit_of(row.unit);
  if (!unit || unit->value != 1)
    return RowProblem{"unit", fmt::format("'{}' is no SI base unit; write B/s, op/s, s, W, B/cycle, op/cycle or cycle",
                                          plain(row.unit))};
  const bool per_cycle = row.unit.find("cycle") != std::string::npos;
  if (per_cycle != (row.key.axis == Axis::cycle))
    return RowProblem{"unit",
                      fmt::format("'{}' is no unit of the axis '{}'", row.unit, per_cycle ? "second" : "cycle")};
  const auto word = [](Better better) { return better == Better::higher ? "higher" : "lower"; };
  const std::optional<Better> usual = usual_direction(row.unit);
  if (usual && *usual != row.better)
    return RowProblem{"better", fmt::format("is {}, but {} is better {}", word(row.better), row.unit, word(*usual))};
  if (std::fabs(row.log_mean) > 100)
    return RowProblem{"log_mean", fmt::format("{} is no logarithm of a metric", row.log_mean)};
  if (row.clock_elasticity && std::fabs(*row.clock_elasticity) > 3)
    return RowProblem{"clock_elasticity", fmt::format("{} is far from 0 to 1", *row.clock_elasticity)};
  const auto positive = [](const char* column, const std::optional<double>& value, double most) {
    return !value || (*value > 0 && *value <= most)
               ? std::nullopt
               : std::optional(RowProblem{column, fmt::format("{} is not above 0 and up to {}", *value, most)});
  };
  for (const auto& problem : {positive("between_device_log_sd", row.between_device_sd, most_log_sd),
                              positive("between_session_log_sd", row.between_session_sd, most_log_sd),
                              positive("within_session_log_sd", row.within_session_sd, most_log_sd),
                              positive("clock_hz", row.clock_hz, 1e11)})
    if (problem) return problem;
  return std::nullopt;
}

const BaselineRow* Baseline::find(const MetricKey& key) const {
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const BaselineRow& row) { return row.key == key; });
  return found == rows.end() ? nullptr : &*found;
}

const std::vector<std::string>& baseline_columns() {
  static const std::vector<std::string> columns{"class",
                                                "benchmark",
                                                "case",
                                                "metric",
                                                "series",
                                                "axis",
                                                "unit",
                                                "better",
                                                "devices",
                                                "removed",
                                                "sessions",
                                                "log_mean",
                                                "between_device_log_sd",
                                                "between_session_log_sd",
                                                "within_session_log_sd",
                                                "clock_elasticity",
                                                "clock_hz",
                                                "status",
                                                "date",
                                                "driver_min",
                                                "driver_max",
                                                "tool_version",
                                                "worker",
                                                "modes",
                                                "source",
                                                "origins"};
  return columns;
}

void visit_baseline(const std::filesystem::path& path, const ClassTable& table,
                    const std::function<void(std::uint64_t, const BaselineRow*, const std::string&)>& visit) {
  CsvFile file(path, {baseline_columns().begin(), baseline_columns().end() - 1}, {baseline_columns().back()});
  std::string class_id;
  std::set<MetricKey> seen;
  while (file.next()) {
    std::optional<BaselineRow> row;
    std::string problem;
    try {
      row = read_row(file, table);
      if (class_id.empty()) class_id = row->class_id;
      if (row->class_id != class_id)
        file.fail("class",
                  fmt::format("is {}, and the first row's is {}: one file is one class", row->class_id, class_id));
      if (!seen.insert(row->key).second) file.fail("metric", to_text(row->key) + " is there twice");
    } catch (const Error& wrong) {
      row.reset();
      problem = wrong.what();
    }
    visit(file.line(), row ? &*row : nullptr, problem);
  }
}

Baseline read_baseline(const std::filesystem::path& path, const ClassTable& table) {
  Baseline baseline;
  visit_baseline(path, table, [&](std::uint64_t, const BaselineRow* row, const std::string& problem) {
    if (row == nullptr) throw Error(problem);
    baseline.class_id = row->class_id;
    baseline.rows.push_back(*row);
    std::istringstream origins(row->origins);
    baseline.origins.insert(std::istream_iterator<std::string>(origins), {});
  });
  if (baseline.rows.empty())
    throw Error(fmt::format("{} has no row below its header, so it is no reference for anything", path.string()));
  return baseline;
}

std::string to_csv(const Baseline& baseline) {
  std::vector<const BaselineRow*> rows;
  for (const BaselineRow& row : baseline.rows) rows.push_back(&row);
  std::sort(rows.begin(), rows.end(), [](const BaselineRow* a, const BaselineRow* b) { return a->key < b->key; });
  std::string text = join(baseline_columns(), ",") + "\n";
  for (const BaselineRow* row : rows) {
    std::vector<std::string> cells{
        row->class_id,
        row->benchmark,
        row->key.case_name,
        row->key.metric,
        row->key.series,
        row->key.axis == Axis::cycle ? "cycle" : "second",
        row->unit,
        word(row->better),
        std::to_string(row->devices),
        std::to_string(row->removed),
        std::to_string(row->sessions),
        fmt::format("{}", row->log_mean),
        fmt::format("{}", row->between_device_sd),
        number_text(row->between_session_sd),
        number_text(row->within_session_sd),
        number_text(row->clock_elasticity),
        number_text(row->clock_hz),
        row->provisional ? "PROVISIONAL" : "REFERENCE",
        row->date,
        row->driver_min,
        row->driver_max,
        row->tool_version,
        row->worker,
        row->modes,
        row->source,
        row == rows.front() ? join({baseline.origins.begin(), baseline.origins.end()}, " ") : ""};
    for (std::string& cell : cells) cell = csv_cell(cell);
    text += join(cells, ",") + "\n";
  }
  return text;
}

std::string baseline_origin(const std::string& id) {
  return fmt::format("{:016x}", XXH3_64bits(id.data(), id.size())).substr(0, 8);
}

std::vector<std::filesystem::path> baseline_files() {
  std::error_code none_there;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(results_folder() / "baselines", none_there))
    if (entry.path().extension() == ".csv") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

std::optional<std::filesystem::path> find_baseline(const std::string& class_id) {
  const std::filesystem::path path = results_folder() / "baselines" / (class_id + ".csv");
  std::error_code unreadable;
  return std::filesystem::exists(path, unreadable) ? std::optional(path) : std::nullopt;
}

std::filesystem::path baseline_path(const std::string& file_or_class) {
  std::error_code unreadable;
  if (std::filesystem::exists(file_or_class, unreadable)) return file_or_class;
  const auto of_class = find_baseline(file_or_class);
  if (!of_class)
    throw Error(fmt::format("{} is neither a file nor a class that has a baseline in {}", file_or_class,
                            (results_folder() / "baselines").string()));
  return *of_class;
}

stats::Prior session_prior(const BaselineRow& row) {
  if (!row.between_session_sd) return {};
  const double df = std::min(most_prior_df, static_cast<double>(row.sessions - row.devices));
  return df > 0 ? stats::Prior{df, *row.between_session_sd} : stats::Prior{};
}

std::string conflict(const BaselineRow& row, const std::string& unit, Better better) {
  if (!same_unit(row.unit, unit))
    return fmt::format("the baseline has {} in {}, the run in {}", to_text(row.key), row.unit, unit);
  if (row.better != better)
    return fmt::format("the baseline takes {} of {} for better, the run {}",
                       row.better == Better::higher ? "more" : "less", to_text(row.key),
                       better == Better::higher ? "more" : "less");
  return {};
}

}  // namespace assay
