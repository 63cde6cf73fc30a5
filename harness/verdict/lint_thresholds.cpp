// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See lint.h. Tables of published gates name the same thing in many ways ("h2d_d2h_gbps", "dtoh_htod_gbps", "h2d"), so
// the words in a metric's name decide what it is, first match first.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>

#include "harness/base/csv_file.h"
#include "harness/base/text.h"
#include "harness/base/units.h"
#include "harness/verdict/limits.h"
#include "harness/verdict/lint.h"
#include "harness/verdict/quantity.h"

namespace assay {
namespace {

struct Words {
  std::vector<const char*> all;  // each of them must be in the name
  std::optional<Kind> kind;      // nullopt: the class sets no limit for it
  const char* type = "";
};

const std::vector<Words>& vocabulary() {
  static const std::vector<Words> words{
      {{"power"}, Kind::power},
      {{"per_link_speed"}, Kind::link_rate},
      {{"ib_"}, std::nullopt},  // InfiniBand: the network is no fact of the GPU
      {{"efa"}, std::nullopt},
      {{"memory_bandwidth"}, Kind::memory},
      {{"memory bandwidth"}, Kind::memory},
      {{"stream"}, Kind::memory},
      {{"p2p", "bidir"}, Kind::peer_copy_both},
      {{"p2p"}, Kind::peer_copy},
      {{"nvlink_gbps"}, Kind::peer_copy},
      {{"h2d"}, Kind::host_copy},
      {{"d2h"}, Kind::host_copy},
      {{"htod"}, Kind::host_copy},
      {{"pcie"}, Kind::host_copy},
      {{"d2d"}, Kind::memory},
      {{"busbw"}, Kind::all_reduce},
      {{"allreduce"}, Kind::all_reduce},
      {{"all-reduce"}, Kind::all_reduce},
      {{"nccl"}, Kind::all_reduce},
      {{"dgemm"}, Kind::matmul, "f64"},
      {{"fp64"}, Kind::matmul, "f64"},
      {{"sm_stress"}, Kind::vector},
      {{"targeted_stress"}, Kind::vector},
      {{"gemm"}, Kind::matmul},
      {{"matmul"}, Kind::matmul},
  };
  return words;
}

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

const Words* meaning(const std::string& metric) {
  const std::string name = lower(metric);
  for (const Words& words : vocabulary())
    if (std::all_of(words.all.begin(), words.all.end(),
                    [&](const char* word) { return name.find(word) != std::string::npos; }))
      return &words;
  return nullptr;
}

// All numbers at the start: "400-450" and "60/120" are two, "42 (default)" is one.
std::vector<double> numbers_in(const std::string& text) {
  std::vector<double> numbers;
  const char* at = text.c_str();
  for (char* end = nullptr;; at = end + 1) {
    if (std::isdigit(static_cast<unsigned char>(*at)) == 0 && *at != '.' && *at != '-' && *at != '+') break;
    const double value = std::strtod(at, &end);
    if (end == at || !std::isfinite(value)) break;
    numbers.push_back(value);
    if (*end != '-' && *end != '/') break;
  }
  return numbers;
}

// "MB/s-like (lab value)" -> "MB/s", "TFLOP/s/GPU" -> "TFLOP/s"
std::optional<Quantity> unit_in(const std::string& text) {
  for (std::size_t length = text.size(); length > 0; --length) {
    if (length < text.size() && std::isalnum(static_cast<unsigned char>(text[length])) != 0) continue;
    if (auto unit = unit_of(text.substr(0, length))) return unit;
  }
  return std::nullopt;
}

Setting setting_of(const std::string& gpus) {
  Setting setting;
  const std::vector<double> numbers = numbers_in(gpus);
  if (gpus.find("node") != std::string::npos && !numbers.empty())
    setting.nodes = static_cast<int>(std::clamp(numbers[0], 0.0, 1e6));
  else if (!numbers.empty())
    setting.gpus = static_cast<int>(std::clamp(numbers[0], 1.0, 1e6));
  else
    setting.nodes = 0;  // "multi node", or not said
  return setting;
}

Linted fine(std::string reason) { return {0, false, std::move(reason)}; }
Linted flagged(std::string reason) { return {0, true, std::move(reason)}; }

Linted judge(const Threshold& row, double value, const PhysicalLimit& limit) {
  const std::string shown = format_quantity(value, limit.unit);
  if (value > limit.value)
    return flagged(fmt::format("{} {} {} can't be reached: {}", row.metric, row.op, shown, limit.why));
  if (row.op != "<=" && row.op != "<" && value < limit.plausible_from)
    return flagged(fmt::format("{} {} {} is {:.2g} % of what is possible and passes what is plainly broken: {}",
                               row.metric, row.op, shown, 100 * value / limit.value, limit.why));
  return fine(fmt::format("{} is {:.0f} % of what is possible: {}", shown, 100 * value / limit.value, limit.why));
}

}  // namespace

Linted lint_threshold(const Threshold& row, const ClassTable& table) {
  const std::vector<double> values = numbers_in(row.threshold);
  if (values.empty())
    return flagged(fmt::format("'{}' is no number, so nothing can be held against it", plain(row.threshold)));
  if (row.unit.empty()) return flagged(fmt::format("{} has no unit, so it can mean anything", plain(row.threshold)));
  if (row.unit[0] == '%') return fine("relative to something else, so no limit of the class applies");
  const Words* words = meaning(row.metric);
  const std::optional<Quantity> unit = unit_in(row.unit);
  const bool floor = row.op == ">=" || row.op == ">";
  if (floor && unit && !(values[0] > 0))
    return flagged(fmt::format("a floor of {} {} passes everything", row.threshold, row.unit));
  if (words == nullptr) return fine("the class sets no limit for this metric");
  if (!words->kind) return fine("a matter of the network, for which the class sets no limit");
  const GpuClass* gpu = table.find(row.gpu_class);
  if (gpu == nullptr)
    return fine(row.gpu_class.empty() ? "no class is named"
                                      : fmt::format("no limits of '{}' are known", row.gpu_class));
  Setting setting = setting_of(row.gpus);
  setting.type = words->type;
  const std::optional<PhysicalLimit> limit = physical_limit(*gpu, *words->kind, setting);
  if (!limit) return fine(fmt::format("{} tells no limit for this metric", gpu->id));
  if (!unit || !same_unit(unit->unit, limit->unit))
    return fine(fmt::format("'{}' can't be compared with a limit in {}", row.unit, limit->unit));
  Linted worst;
  for (const double value : values) {
    Linted one = judge(row, value * unit->value, *limit);
    if (!worst.flag) worst = std::move(one);
  }
  return worst;
}

std::vector<Linted> lint_thresholds(const std::filesystem::path& path, const ClassTable& table) {
  CsvFile file(path, {"gpu_class", "metric", "op", "threshold", "unit", "n_gpus"},
               {"provider", "sku_or_shape", "source"}, CsvFile::Others::skipped);
  std::vector<Linted> rows;
  while (file.next()) {
    rows.push_back(lint_threshold(
        {file.text("provider"), file.text("gpu_class"), file.text("sku_or_shape"), file.text("metric"), file.text("op"),
         file.text("threshold"), file.text("unit"), file.text("n_gpus"), file.text("source")},
        table));
    rows.back().line = file.line();
  }
  return rows;
}

Json to_json(const std::vector<Linted>& rows) {
  Json result = Json::array();
  for (const Linted& row : rows) result.push_back({{"line", row.line}, {"flag", row.flag}, {"reason", row.reason}});
  return result;
}

}  // namespace assay
