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
  bool any_bandwidth = false;  // whichever it is, the memory's is the greatest
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
      {{"mem_bw"}, Kind::memory},
      {{"mem bw"}, Kind::memory},
      {{"membw"}, Kind::memory},
      {{"hbm"}, Kind::memory},
      {{"dram"}, Kind::memory},
      {{"mem", "bandwidth"}, Kind::memory},
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
  static const Words some_bandwidth{{}, Kind::memory, "", true};
  return starts_with(name, "bandwidth") || name == "bw" ? &some_bandwidth : nullptr;
}

// All numbers at the start: "400-450" and "60/120" are two, "42 (default)" is one, "0x40" is none. `rest`: what stands
// behind them.
std::vector<double> numbers_in(const std::string& text, std::string* rest = nullptr) {
  std::vector<double> numbers;
  if (text.find_first_of("xX") < 3) return numbers;
  const char* at = text.c_str();
  for (char* end = nullptr;; ++at) {
    if (std::isdigit(static_cast<unsigned char>(*at)) == 0 && *at != '.' && *at != '-' && *at != '+') break;
    const double value = std::strtod(at, &end);
    if (end == at || !std::isfinite(value)) break;
    numbers.push_back(value);
    at = end;
    if (*at != '-' && *at != '/') break;
  }
  if (rest != nullptr) *rest = trim(at);
  return numbers;
}

// "3000 or 1", "3,000": what is behind the numbers holds another one, and nothing says which is meant. A remark in
// parentheses may.
bool has_more_numbers(const std::string& rest) {
  int depth = 0;
  for (const char c : rest) {
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (depth <= 0 && std::isdigit(static_cast<unsigned char>(c)) != 0) return true;
  }
  return false;
}

// "H100-SXM5-80GB " is meant to be h100_sxm5_80gb.
std::string class_meant(const std::string& written, const ClassTable& table) {
  std::string id = lower(trim(written));
  for (char& c : id)
    if (c == '-' || c == ' ') c = '_';
  return table.knows(id) ? id : written;
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

const char* unit_of_kind(Kind kind) {
  return kind == Kind::power ? "W" : kind == Kind::matmul || kind == Kind::vector ? "op/s" : "B/s";
}

bool ends_in_rate(const std::string& unit) { return unit.size() > 2 && unit.substr(unit.size() - 2) == "/s"; }

// Words that are easily misspelt, and then mean nothing to the vocabulary.
std::string misspelt(const std::string& metric) {
  static const std::vector<std::string> words{"bandwidth", "allreduce", "stream", "matmul", "power",
                                              "memory",    "stress",    "nvlink", "latency"};
  std::string name = lower(metric);
  std::replace(name.begin(), name.end(), ' ', '_');
  for (const std::string& part : split(name, '_')) {
    if (part.size() < 6 || std::find(words.begin(), words.end(), part) != words.end()) continue;
    if (const auto near = nearest(part, words, 1); !near.empty())
      return fmt::format("'{}' is no word for a metric; is {} meant?", shown(part), near.front());
  }
  return {};
}

// "" for a class that can be meant. Many tables name cards that we know nothing of; a name that is nearly one of ours
// and has its form is a slip.
std::string slipped_class(const std::string& id, const ClassTable& table) {
  if (id.find('_') == std::string::npos || id.find(' ') != std::string::npos || table.knows(id)) return {};
  const std::vector<std::string> ids = nearest(id, table.ids());
  return ids.empty() ? "" : fmt::format("'{}' is no known class; did you mean {}?", shown(id), join(ids, " or "));
}

enum class Bound { floor, ceiling, other };  // what the operator makes of the threshold
std::optional<Bound> bound_of(const std::string& op) {
  if (op == ">=" || op == ">") return Bound::floor;
  if (op == "<=" || op == "<") return Bound::ceiling;
  for (const char* known : {"==", "expect", "ref+tol", "crit/warn"})
    if (op == known) return Bound::other;
  return std::nullopt;
}

bool is_count(const std::string& unit) { return unit == "GPUs" || unit == "count"; }
bool is_relative(const std::string& unit) { return unit[0] == '%'; }  // "% vs baseline"

// A percentage is relative to something that nobody names: "-10 % against a baseline" and "10 % below the best" are
// meant.
std::string absurd_percentage(const std::string& text, double value) {
  constexpr double most_lost = -85, least = 0.01, most = 1000;
  if (value <= most_lost) return fmt::format("{} passes what is plainly broken", text);
  if (value > most || (value > 0 && value < least)) return fmt::format("{} is no percentage that can be meant", text);
  return {};
}

// What is bounded from the side on which nothing goes wrong; "" when it isn't.
std::string wrong_side(const Threshold& row, const std::optional<Quantity>& unit, Bound bound) {
  const std::string text = shown(fmt::format("{} {} {} {}", row.metric, row.op, row.threshold, row.unit));
  const std::string name = lower(row.metric);
  const auto better = unit ? usual_direction(unit->unit) : std::nullopt;
  if (bound == Bound::floor && better == Better::lower)
    return fmt::format("{} bounds a time from below, so what is slow passes", text);
  if (bound == Bound::floor && unit && unit->unit == "degC")
    return fmt::format("{} bounds a temperature from below, so what is hot passes", text);
  if (bound == Bound::floor && is_count(row.unit) &&
      (name.find("error") != std::string::npos || starts_with(name, "ecc")))
    return fmt::format("{} bounds errors from below, so what has many passes", text);
  if (bound == Bound::ceiling && row.unit == "GPUs")
    return fmt::format("{} bounds a number of devices from above, so a node that lost some passes", text);
  if (bound == Bound::ceiling && unit && ends_in_rate(unit->unit))
    return fmt::format("{} bounds a rate from above, so what is slow passes", text);
  return {};
}

// What is wrong with a row whatever its metric and class; "" when nothing is.
std::string nonsense(const Threshold& row, const std::vector<double>& values, Bound bound) {
  const std::string text = shown(fmt::format("{} {} {}", row.op, row.threshold, row.unit));
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  if (bound == Bound::floor && *least == 0) return fmt::format("a floor of {} passes everything", text);
  if (is_relative(row.unit)) {
    const std::string why = absurd_percentage(text, *least);
    return why.empty() ? absurd_percentage(text, *most) : why;
  }
  if (*least < 0) return fmt::format("'{}' is below 0, which nothing is", text);
  if (row.unit == "GPUs" && *least < 1) return fmt::format("'{}': a node without a device has nothing to judge", text);
  if (*least == 0 && !is_count(row.unit)) return fmt::format("'{}': no measurement gives 0", text);
  const std::vector<double> gpus = numbers_in(row.gpus);
  if (!gpus.empty() && gpus[0] < 1) return fmt::format("'{}' is no number of devices", shown(row.gpus));
  const Quantity unit = unit_in(row.unit).value_or(Quantity{1, row.unit});
  for (const double value : {*least, *most})
    if (const std::string why = value > 0 ? absurd(value * unit.value, unit.unit) : ""; !why.empty()) return why;
  return {};
}

Linted fine(std::string reason) { return {0, false, std::move(reason), true}; }  // as far as anybody knows
Linted flagged(std::string reason) { return {0, true, std::move(reason)}; }

Linted judge(const Threshold& row, double value, const PhysicalLimit& limit) {
  const std::string figure = format_quantity(value, limit.unit);
  if (value > limit.value)
    return flagged(fmt::format("{} {} {} can't be reached: {}", row.metric, row.op, figure, limit.why));
  if (row.op != "<=" && row.op != "<" && value < limit.plausible_from)
    return flagged(fmt::format("{} {} {} is {} of what is possible and passes what is plainly broken: {}", row.metric,
                               row.op, figure, format_percent(value / limit.value), limit.why));
  return {0, false,
          fmt::format("{} is {} of what is possible: {}", figure, format_percent(value / limit.value), limit.why)};
}

}  // namespace

Linted lint_threshold(const Threshold& row, const ClassTable& table) {
  std::string behind;
  const std::vector<double> values = numbers_in(row.threshold, &behind);
  if (values.empty())
    return flagged(fmt::format("'{}' is no number, so nothing can be held against it", shown(row.threshold)));
  if (has_more_numbers(behind))
    return flagged(fmt::format("'{}' is more than one number, and nothing says which counts", shown(row.threshold)));
  if (!behind.empty() && behind[0] != '(')
    return flagged(fmt::format("'{}' is more than a number: the unit has a column of its own", shown(row.threshold)));
  if (row.unit.empty()) return flagged(fmt::format("{} has no unit, so it can mean anything", shown(row.threshold)));
  std::optional<Quantity> unit = unit_in(row.unit);
  if (!unit && !is_count(row.unit) && !is_relative(row.unit))
    return flagged(fmt::format("'{}' is no unit that is known: {}, GPUs, count", shown(row.unit), known_units()));
  if (row.metric.empty()) return flagged("no metric is named, so nothing can be held against it");
  const std::optional<Bound> bound = bound_of(row.op);
  if (!bound)
    return flagged(fmt::format("'{}' is no comparison that is known: >=, >, <=, <, ==, expect, ref+tol, crit/warn",
                               shown(row.op)));
  const std::string class_id = class_meant(row.gpu_class, table);
  for (const std::string& why : {nonsense(row, values, *bound), slipped_class(class_id, table)})
    if (!why.empty()) return flagged(why);
  if (is_relative(row.unit)) return fine("relative to something else, so no limit of the class applies");
  const Words* words = meaning(row.metric);
  if (unit && unit->unit == "bit/s") unit = Quantity{unit->value / 8, "B/s"};
  if (words != nullptr && words->kind && (!unit || !same_unit(unit->unit, unit_of_kind(*words->kind))))
    return flagged(fmt::format("'{}' is no unit of {}, which is in {}", shown(row.unit), shown(row.metric),
                               unit_of_kind(*words->kind)));
  if (const std::string why = wrong_side(row, unit, *bound); !why.empty()) return flagged(why);
  if (words == nullptr) {
    const std::string slip = misspelt(row.metric);
    return slip.empty() ? fine("the class sets no limit for this metric") : flagged(slip);
  }
  if (!words->kind) return fine("a matter of the network, for which the class sets no limit");
  const GpuClass* gpu = table.find(class_id);
  if (gpu == nullptr)
    return fine(class_id.empty() ? "no class is named" : fmt::format("no limits of '{}' are known", shown(class_id)));
  Setting setting = setting_of(row.gpus);
  setting.type = words->type;
  std::optional<PhysicalLimit> limit = physical_limit(*gpu, *words->kind, setting);
  if (!limit) return fine(fmt::format("{} tells no limit for this metric", gpu->id));
  if (words->any_bandwidth) limit->plausible_from = limit->value * slipped_share;
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
