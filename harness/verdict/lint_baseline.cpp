// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See lint.h: the part for baselines.
#include <fmt/format.h>

#include <cmath>
#include <string>
#include <vector>

#include "harness/base/error.h"
#include "harness/base/text.h"
#include "harness/base/units.h"
#include "harness/verdict/baseline.h"
#include "harness/verdict/limits.h"
#include "harness/verdict/lint.h"
#include "harness/verdict/quantity.h"

namespace assay {
namespace {

// Between-device spreads of healthy classes are 0.1 to 2 %: what is a hundred times less is one device copied.
constexpr double least_device_sd = 1e-6, most_device_sd = 0.15;

// What a word in a metric's name says of its unit: "" or the units that it can have.
std::string other_unit(const BaselineRow& row) {
  struct Word {
    const char* word;
    std::vector<const char*> units;
  };
  static const std::vector<Word> words{
      {"bandwidth", {"B/s", "B/cycle"}},
      {"busbw", {"B/s", "B/cycle"}},
      {"latency", {"s", "cycle"}},
      {"access_rate", {"op/s", "access/s", "op/cycle"}},
      {"throughput", {"op/s", "B/s", "op/cycle", "B/cycle", "sample/s", "token/s", "image/s"}},
      {"power", {"W"}},
      {"energy", {"J"}}};
  for (const Word& word : words) {
    if (row.key.metric.find(word.word) == std::string::npos || starts_with(row.key.metric, "latency_over")) continue;
    for (const char* unit : word.units)
      if (same_unit(row.unit, unit)) return {};
    return join({word.units.begin(), word.units.end()}, ", ");
  }
  return {};
}

Linted lint_row(const BaselineRow& row, const ClassTable& table) {
  const std::string name = to_text(row.key);
  if (const std::string units = other_unit(row); !units.empty())
    return {0, true, fmt::format("{} can't be in {}, only in {}", shown(name), row.unit, units)};
  if (row.between_device_sd < least_device_sd)
    return {0, true,
            fmt::format("{} devices that differ by {} in {} are one measurement copied", row.devices,
                        format_percent(row.between_device_sd), name)};
  if (row.between_device_sd > most_device_sd)
    return {
        0, true,
        fmt::format("devices that differ by {} in {} are not one class", format_percent(row.between_device_sd), name)};
  if (row.between_session_sd && *row.between_session_sd > most_device_sd)
    return {0, true,
            fmt::format("sessions that differ by {} in {} can't tell a fault from chance",
                        format_percent(*row.between_session_sd), name)};
  const double value = std::exp(row.log_mean);
  if (const std::string why = absurd(value, row.unit); !why.empty())
    return {0, true, fmt::format("{}: {}", shown(name), why)};
  const std::string figure = format_quantity(value, row.unit);
  const GpuClass* gpu = table.find(row.class_id);
  if (gpu == nullptr) return {0, false, fmt::format("{}; no limits of {} are known", figure, row.class_id), true};
  const auto limit =
      row.key.axis == Axis::cycle ? std::nullopt : limit_of_metric(*gpu, row.key.case_name, row.key.metric, row.unit);
  if (!limit) return {0, false, fmt::format("{}; the class sets no limit for it", figure), true};
  if (value > limit->value) return {0, true, fmt::format("{} of {} can't be reached: {}", figure, name, limit->why)};
  if (value < limit->plausible_from)
    return {0, true,
            fmt::format("{} of {} is {} of what is possible and would pass what is plainly broken: {}", figure, name,
                        format_percent(value / limit->value), limit->why)};
  return {0, false,
          fmt::format("{} is {} of what is possible: {}", figure, format_percent(value / limit->value), limit->why)};
}

}  // namespace

std::vector<Linted> lint_baseline(const std::filesystem::path& path, const ClassTable& table) {
  std::vector<Linted> rows;
  visit_baseline(path, table, [&](std::uint64_t line, const BaselineRow* row, const std::string& problem) {
    // The line is told beside the reason.
    const std::string place = fmt::format("{} line {}, ", path.string(), line);
    rows.push_back(row == nullptr
                       ? Linted{0, true, starts_with(problem, place) ? problem.substr(place.size()) : problem}
                       : lint_row(*row, table));
    rows.back().line = line;
  });
  return rows;
}

Baseline read_sound_baseline(const std::filesystem::path& path, const ClassTable& table) {
  for (const Linted& row : lint_baseline(path, table))
    if (row.flag)
      throw Error(fmt::format("{} line {}: {}; `assay baseline lint` shows all that is wrong with it", path.string(),
                              row.line, row.reason));
  return read_baseline(path, table);
}

}  // namespace assay
