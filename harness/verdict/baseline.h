// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// A baseline: what known-good devices of one class gave, as distributions and never as one number. It is a CSV file,
// results/baselines/<class>.csv; results/README.md documents its columns. Work is done in natural logarithms, so a
// spread of 0.01 is one per cent.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "harness/manifest.h"
#include "harness/stats/session.h"
#include "harness/verdict/classes.h"

namespace assay {

enum class Axis { second, cycle };

// Which number: all of it must be equal for two values to be compared.
struct MetricKey {
  std::string case_name, metric, series;
  Axis axis = Axis::second;
  auto operator<=>(const MetricKey&) const = default;
};
// "memory/stream/op:triad bandwidth", with the point of a sweep and the axis where they matter.
std::string to_text(const MetricKey& key);

struct BaselineRow {
  std::string class_id, benchmark;
  MetricKey key;
  std::string unit;  // SI base unit, or per cycle
  Better better = Better::higher;
  int devices = 0;   // that the figures are of
  int removed = 0;   // outliers that the cleaning left out
  int sessions = 0;  // of all these devices
  double log_mean = 0;
  double between_device_sd = 0;              // of the devices' means as they were observed
  std::optional<double> between_session_sd;  // inside a device; nullopt: one session each
  std::optional<double> within_session_sd;   // of the samples of a session, robust
  std::optional<double>
      clock_elasticity;            // d log(speed) / d log(clock): 1 compute-bound, 0 memory-bound; nullopt: not told
  std::optional<double> clock_hz;  // geometric mean over the devices
  bool provisional = true;         // fewer than 8 devices
  std::string date, driver_min, driver_max, tool_version, worker, modes, source;
  std::string origins;  // of the baseline, joined by blanks: in the first row of a file only
};

// What can't be in a baseline: another unit than an SI base unit, the wrong direction for it, a spread that says
// nothing,
// ... Asked before a row is written as well as when it is read.
struct RowProblem {
  const char* column;
  std::string text;
};
std::optional<RowProblem> row_problem(const BaselineRow& row);

struct Baseline {
  std::string class_id;
  std::vector<BaselineRow> rows;
  std::set<std::string> origins;  // baseline_origin() of every run and file that it was learned from
  // nullptr: the baseline says nothing about it.
  const BaselineRow* find(const MetricKey& key) const;
};

// How a baseline knows a run or a file again: 8 hex digits of the XXH3 of its id or hash.
std::string baseline_origin(const std::string& id);

// Fewer devices than this give a PROVISIONAL reference, and fewer than that none.
inline constexpr int devices_for_a_reference = 8, devices_for_a_provisional_one = 3;

const std::vector<std::string>& baseline_columns();
// Error (exit 3) with line and column for an unknown column, class or unit, another direction than the unit has, a
// number that must be positive and isn't, a row that is there twice, another class than the first row's.
Baseline read_baseline(const std::filesystem::path& path, const ClassTable& table);
// The same row by row: `visit(line, row, problem)` with the row, or with what is wrong with it. Only an unreadable file
// or header is an Error.
void visit_baseline(const std::filesystem::path& path, const ClassTable& table,
                    const std::function<void(std::uint64_t, const BaselineRow*, const std::string&)>& visit);
// Header and rows, sorted by key; numbers with all their digits.
std::string to_csv(const Baseline& baseline);
// All of results/baselines beside the program, sorted.
std::vector<std::filesystem::path> baseline_files();
// The one of a class, <class>.csv; nullopt when this class has none.
std::optional<std::filesystem::path> find_baseline(const std::string& class_id);
// What --baseline names: a file, or the class whose baseline it is. Error (exit 3) for what is neither.
std::filesystem::path baseline_path(const std::string& file_or_class);
// What the class knows of the spread between sessions: worth its own degrees of freedom, at most these; df 0: nothing.
inline constexpr double most_prior_df = 8;
stats::Prior session_prior(const BaselineRow& row);
// Why a metric of a run can't be held against the row ("" when it can): another unit, or another direction.
std::string conflict(const BaselineRow& row, const std::string& unit, Better better);

}  // namespace assay
