// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// contradiction() of gates.h. Trap: a record can have hundreds of thousands of samples and thousands of metrics, so
// what is needed of a series is computed once, not once for each metric.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "harness/base/cycle_unit.h"
#include "harness/parent/gates.h"

namespace assay {
namespace {

constexpr double shortest_sample_s = 1e-6;  // no timer of a computer resolves a part of less
constexpr int most_threads = 65536;

bool positive(double value) { return std::isfinite(value) && value > 0; }
bool not_negative(double value) { return std::isfinite(value) && value >= 0; }

std::string odd_times(const Record& record) {
  if (!not_negative(record.setup_s) || !not_negative(record.warmup_s) || !not_negative(record.verify_s))
    return "a phase has no time";
  if (!positive(record.measure_s)) return "the measuring took no time";
  if (!positive(record.wall_s)) return "the case took no time";
  if (!positive(record.block_s)) return "block_s is not above 0";
  if (record.started_at.empty()) return "started_at is empty";
  const double phases = record.setup_s + record.warmup_s + record.measure_s + record.verify_s;
  if (phases > record.wall_s * 1.001 + 0.001)
    return fmt::format("its phases took {:.6g} s, the whole case {:.6g} s", phases, record.wall_s);
  return {};
}

std::string odd_placement(const Record& record) {
  if (record.threads < 1) return "it ran on no thread";
  const std::set<int> cpus(record.cpus.begin(), record.cpus.end());
  if (cpus.size() != record.cpus.size()) return "it names a CPU twice";
  if (!cpus.empty() && *cpus.begin() < 0) return "it names a CPU below 0";
  if (record.simulated) return {};
  if (cpus.empty()) return "it ran on no CPU";
  if (record.threads > most_threads) return fmt::format("it ran on {} threads", record.threads);
  return {};
}

// Sums of the same numbers in another order. An infinite sum equals nothing.
bool same_sum(double a, double b) {
  return std::isfinite(a) && std::isfinite(b) && std::fabs(a - b) <= 1e-9 * std::max(std::fabs(a), std::fabs(b));
}

struct Sums {
  std::uint64_t iterations = 0;
  double seconds = 0, bytes = 0, operations = 0;
};

std::string odd_sample(const Record& record, const Series& series, const Sample& sample, Sums& sums) {
  if (!positive(sample.seconds)) return fmt::format("a sample of series '{}' took no time", series.label);
  if (!record.simulated && sample.seconds < shortest_sample_s)
    return fmt::format("a sample of series '{}' took {:.3g} s, which no timer resolves", series.label, sample.seconds);
  if (sample.iterations == 0) return fmt::format("a sample of series '{}' has no iterations", series.label);
  if (sample.clock_hz != 0 && !possible_clock(sample.clock_hz))
    return fmt::format("a sample of series '{}' has a clock of {:.3g} Hz", series.label, sample.clock_hz);
  if (sample.iterations > std::numeric_limits<std::uint64_t>::max() - sums.iterations)
    return "its samples have more iterations than can be counted";
  sums.iterations += sample.iterations;
  sums.seconds += sample.seconds;
  sums.bytes += series.bytes_per_iteration * static_cast<double>(sample.iterations);
  sums.operations += series.operations_per_iteration * static_cast<double>(sample.iterations);
  return {};
}

std::string odd_series(const Record& record) {
  if (record.series.empty()) return "there is no series of samples";
  Sums sums;
  std::set<std::string_view> labels;
  for (const Series& series : record.series) {
    if (!labels.insert(series.label).second) return fmt::format("there are two series '{}'", series.label);
    if (!positive(series.block_s)) return fmt::format("block_s of series '{}' is not above 0", series.label);
    if (!positive(series.bytes_per_iteration + series.operations_per_iteration))
      return fmt::format("an iteration of series '{}' moves no bytes and does no operations", series.label);
    if (series.samples.empty()) return fmt::format("series '{}' has no samples", series.label);
    if (series.stop_reason.empty()) return fmt::format("series '{}' doesn't say why it ended", series.label);
    for (const Sample& sample : series.samples)
      if (std::string text = odd_sample(record, series, sample, sums); !text.empty()) return text;
  }
  if (sums.iterations != record.iterations)
    return fmt::format("its samples have {} iterations, its work {}", sums.iterations, record.iterations);
  if (!same_sum(sums.bytes, record.bytes))
    return fmt::format("its samples moved {:.6g} bytes, its work says {:.6g}", sums.bytes, record.bytes);
  if (!same_sum(sums.operations, record.operations))
    return fmt::format("its samples did {:.6g} operations, its work says {:.6g}", sums.operations, record.operations);
  if (sums.seconds > record.measure_s * 1.001)
    return fmt::format("its samples took {:.6g} s, its measuring {:.6g} s", sums.seconds, record.measure_s);
  return {};
}

// The amount that a rate of this unit counts; 0: none of them.
double amount_of(const std::string& unit, double bytes, double operations) {
  if (unit == "B/s") return bytes;
  if (unit == "op/s" || unit == "FLOP/s") return operations;
  return 0;
}

// A series and the best that its work and its time give.
struct Reach {
  const Series* series = nullptr;
  double bytes_s = 0, operations_s = 0;
};

class Reaches {
 public:
  explicit Reaches(const Record& record) {
    for (const Series& series : record.series) {
      double best = 0;  // iterations per second
      for (const Sample& sample : series.samples)
        best = std::max(best, static_cast<double>(sample.iterations) / sample.seconds);
      const Reach reach{&series, best * series.bytes_per_iteration, best * series.operations_per_iteration};
      by_label_[series.label] = reach;
      whole_.bytes_s = std::max(whole_.bytes_s, reach.bytes_s);
      whole_.operations_s = std::max(whole_.operations_s, reach.operations_s);
    }
  }
  // Of the series of this name, or, without a series, of the whole.
  const Reach& of(const std::string& label) const {
    const auto found = by_label_.find(label);
    return found == by_label_.end() ? whole_ : found->second;
  }

 private:
  std::map<std::string, Reach> by_label_;
  Reach whole_;
};

// Values per cycle are values per second, seen by the clock beside the same sample.
std::string odd_cycles(const MetricResult& result, const Series* series) {
  const std::string& name = result.metric.name;
  if (result.cycle_unit.empty())
    return result.cycle_samples.empty() ? "" : fmt::format("the samples of {} per cycle have no unit", name);
  if (const std::string unit = cycle_unit_of(result.metric.unit); result.cycle_unit != unit)
    return fmt::format("{} in {} can't be in '{}' per cycle", name, result.metric.unit, result.cycle_unit);
  if (result.cycle_samples.size() != result.samples.size())
    return fmt::format("{} has {} samples and {} per cycle", name, result.samples.size(), result.cycle_samples.size());
  if (series == nullptr || series->samples.size() != result.samples.size())
    return fmt::format("{} has values per cycle, but no clock beside its samples", name);
  for (std::size_t i = 0; i < result.samples.size(); ++i) {
    const double clock = series->samples[i].clock_hz, value = result.samples[i], cycle = result.cycle_samples[i];
    if (!positive(cycle)) return fmt::format("a sample of {} per cycle is not a number above 0", name);
    if (!positive(clock)) return fmt::format("{} has values per cycle, but no clock beside its samples", name);
    const double expected = result.metric.unit == "s" ? value * clock : value / clock;
    if (!(std::fabs(cycle - expected) <= 0.01 * expected))
      return fmt::format("a sample of {} is {:.6g} per cycle, but {:.6g} by its clock", name, cycle, expected);
  }
  return {};
}

std::string odd_values(const MetricResult& result, const Reach& reach) {
  const std::string &name = result.metric.name, &unit = result.metric.unit;
  const Series* series = reach.series;
  const bool derived = result.samples.size() == 1;  // one value from the whole: at most the best of its samples
  if (series == nullptr && !derived) return fmt::format("{} has samples, but no series", name);
  if (!derived && result.samples.size() != series->samples.size())
    return fmt::format("{} has {} samples, its series {}", name, result.samples.size(), series->samples.size());
  const double best = amount_of(unit, reach.bytes_s, reach.operations_s);
  const double amount =
      series == nullptr ? 0 : amount_of(unit, series->bytes_per_iteration, series->operations_per_iteration);
  for (std::size_t i = 0; i < result.samples.size(); ++i) {
    const double possible =
        derived ? best : amount * static_cast<double>(series->samples[i].iterations) / series->samples[i].seconds;
    if (possible > 0 && result.samples[i] > 1.001 * possible)
      return fmt::format("a sample of {} is more than its work and its time give", name);
  }
  return {};
}

std::string odd_metric(const MetricResult& result, const Reach& reach) {
  const std::string& name = result.metric.name;
  if (result.samples.empty()) return fmt::format("the metric {} has no samples", name);
  for (const double value : result.samples)
    if (!positive(value)) return fmt::format("a sample of {} is not a number above 0", name);
  static const std::array<std::string, 4> kinds{"none", "spec", "attribute_clock", "measured_clock"};
  if (std::find(kinds.begin(), kinds.end(), result.limit.kind) == kinds.end())
    return fmt::format("the limit of {} is of the unknown kind '{}'", name, result.limit.kind);
  if (result.limit.value && !positive(*result.limit.value)) return fmt::format("the limit of {} is not above 0", name);
  if (reach.series == nullptr && !result.series.empty())
    return fmt::format("{} is of the series '{}', which isn't there", name, result.series);
  if (std::string text = odd_values(result, reach); !text.empty()) return text;
  return odd_cycles(result, reach.series);
}

std::string odd_metrics(const Record& record) {
  if (record.metrics.empty()) return "it has no metric";
  const Reaches reaches(record);
  std::set<std::pair<std::string_view, std::string_view>> seen;
  for (const MetricResult& result : record.metrics) {
    if (!seen.emplace(result.metric.name, result.series).second)
      return fmt::format("it has the metric {} twice", result.metric.name);
    if (std::string text = odd_metric(result, reaches.of(result.series)); !text.empty()) return text;
  }
  return {};
}

// "a: bitwise; b: bitwise", "bitwise": no part allows a difference.
bool only_bitwise(std::string_view method) {
  constexpr std::string_view bitwise = "bitwise", between = "; ";
  for (;;) {
    const std::size_t end = method.find(between);
    const std::string_view part = method.substr(0, end);
    const std::size_t name = part.rfind(": ");
    if (part.substr(name == std::string_view::npos ? 0 : name + 2) != bitwise) return false;
    if (end == std::string_view::npos) return true;
    method.remove_prefix(end + between.size());
  }
}

std::string odd_verification(const Verification& v) {
  if (v.elements_compared == 0) return "elements_compared is 0";
  if (v.nan_count > 0) return fmt::format("{} elements are NaN, and none is wrong", v.nan_count);
  if (!v.first_mismatches.empty()) return "there is evidence of wrong elements, and none is counted";
  if (v.method.empty()) return "it doesn't say how it was verified";
  if (!not_negative(v.max_error)) return "max_error is not a number from 0";
  if (v.max_error > 0 && only_bitwise(v.method))
    return fmt::format("it was compared bitwise, and max_error is {:.3g}", v.max_error);
  return {};
}

// The values per cycle came from the values and the clocks beside them; those that a file gave for each sample are
// there as a curve.
std::string odd_imported_cycles(const Record& r, const MetricResult& result) {
  const std::string& name = result.metric.name;
  if (result.cycle_samples.size() != (result.cycle_unit.empty() ? 0 : result.samples.size()))
    return fmt::format("{} has {} samples and {} per cycle", name, result.samples.size(), result.cycle_samples.size());
  const auto beside = std::find_if(r.curves.begin(), r.curves.end(),
                                   [&](const Curve& curve) { return curve.name == "clock beside " + name; });
  for (std::size_t i = 0; i < result.cycle_samples.size(); ++i) {
    const double value = result.samples[i], cycle = result.cycle_samples[i];
    if (!positive(cycle)) return fmt::format("a sample of {} per cycle is not a number above 0", name);
    const double clock = result.metric.unit == "s" ? cycle / value : value / cycle;
    const bool told = beside != r.curves.end() && beside->points.size() == result.samples.size();
    if (told ? !(std::fabs(clock - beside->points[i].y) <= 1e-6 * clock) : !possible_clock(clock))
      return fmt::format("a sample of {} is {:.6g} and {:.6g} per cycle, which its clock doesn't give", name, value,
                         cycle);
  }
  return {};
}

// An imported record has metrics and nothing else: whatever would prove work is proof that nobody has.
std::string odd_import(const Record& r) {
  if (r.imported->format.empty() || r.imported->file.empty() || r.imported->xxh3.empty())
    return "it doesn't say where it was imported from";
  const bool times =
      r.setup_s > 0 || r.warmup_s > 0 || r.measure_s > 0 || r.verify_s > 0 || r.wall_s > 0 || r.block_s > 0;
  const bool work = r.iterations > 0 || r.bytes > 0 || r.operations > 0 || !r.series.empty();
  const Verification& v = r.verification;
  const bool compared = !v.method.empty() || v.elements_compared > 0 || v.nan_count > 0 || !v.first_mismatches.empty();
  if (times || work || compared || r.threads > 0 || !r.cpus.empty() || r.simulated)
    return "it was imported, and claims work that was done here";
  if (r.metrics.empty()) return "it has no metric";
  std::set<std::string_view> seen;
  for (const MetricResult& result : r.metrics) {
    const std::string& name = result.metric.name;
    if (!seen.insert(name).second) return fmt::format("it has the metric {} twice", name);
    if (result.limit.value || result.limit.kind != "none")
      return fmt::format("the limit of {} is of a device that nobody looked at", name);
    if (!result.series.empty()) return fmt::format("{} is of the series '{}', which isn't there", name, result.series);
    if (result.samples.empty()) return fmt::format("the metric {} has no samples", name);
    if (!std::all_of(result.samples.begin(), result.samples.end(), positive))
      return fmt::format("a sample of {} is not a number above 0", name);
    if (std::string text = odd_imported_cycles(r, result); !text.empty()) return text;
  }
  return {};
}

}  // namespace

std::string contradiction(const Record& record) {
  if (record.failure) return "it names a failure: " + record.failure->kind;
  if (!record.reason.empty()) return "it gives a reason: " + record.reason;
  if (record.imported) return odd_import(record);
  if (record.iterations == 0) return "iterations is 0";
  if (!(record.bytes > 0) && !(record.operations > 0)) return "neither bytes nor operations are above 0";
  // In this order: the metrics are judged by a series that is sound.
  for (const auto& odd : {odd_placement, odd_times, odd_series, odd_metrics})
    if (std::string text = odd(record); !text.empty()) return text;
  return odd_verification(record.verification);
}

}  // namespace assay
