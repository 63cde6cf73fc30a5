// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Memory that does not come back (detect.h).
// Our own cases: a worker process frees everything between two of them, and what it holds then is the same after the
// tenth as after the first, but for libraries that are loaded when they are first needed: those come in a few unequal
// steps. A leak comes with every case. So: at least 6 cases, every step a rise of at least a quarter of the mean step,
// 4 MiB together (the kernel's count of resident pages is off by some). That has no chance among cases in any order
// (1 in 720 for the order alone). Where nothing was read at rest: peaks less what the case asked for, 32 MiB together.
// Memory as another program wrote it down (a metric in bytes with times): the minima of windows (stats/leak.h).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "harness/base/units.h"
#include "harness/stats/leak.h"
#include "harness/verdict/detect.h"
#include "harness/verdict/detect_text.h"

namespace assay {
namespace {

// Fields of a record's `memory`: after a case, and the high-water mark of it.
constexpr const char *device_rest = "device_rest_bytes", *device_peak = "device_peak_bytes",
                     *host_rest = "host_resident_rest_bytes", *host_peak = "host_resident_peak_bytes";
constexpr double least_at_rest_bytes = 4.0 * 1024 * 1024,
                 least_of_peaks_bytes = stats::LeakOptions{}.least_growth_bytes;

// Growth in each of the steps, or nothing.
std::optional<double> growth_of(const std::vector<double>& held, double least) {
  const double growth = held.back() - held.front(), mean = growth / static_cast<double>(held.size() - 1);
  if (growth < least) return std::nullopt;
  for (std::size_t i = 1; i < held.size(); ++i)
    if (held[i] - held[i - 1] < mean / 4) return std::nullopt;
  return growth;
}

}  // namespace

void Detector::add_footprint(const Record& record) {
  if (record.imported) return;
  Process& process = processes_[{record.run_id, set_name(record.device_set), record.process}];
  process.device_set = record.device_set;
  process.run_id = record.run_id;
  process.session = record.session;
  ++process.cases;
  const auto hold = [&](const char* metric, std::optional<std::uint64_t> bytes, std::uint64_t requested) {
    if (bytes) process.held[metric].push_back(static_cast<double>(*bytes) - static_cast<double>(requested));
  };
  // What a case asked for is in the memory of its device: the host's for a CPU.
  const bool on_device = record.device_peak_bytes.has_value();
  hold(device_rest, record.device_rest_bytes, 0);
  hold(host_rest, record.host_resident_rest_bytes, 0);
  hold(device_peak, record.device_peak_bytes, record.requested_bytes);
  hold(host_peak, record.host_resident_peak_bytes, on_device ? 0 : record.requested_bytes);
}

void Detector::find_growth(const Process& process) {
  if (process.cases < fewest_cases_for_leak) {
    ++found_.memory_too_short;
    return;
  }
  ++found_.memory_examined;
  for (const auto& [rest, peak] : {std::pair{device_rest, device_peak}, std::pair{host_rest, host_peak}}) {
    // The first of the two that is known of every case.
    const auto of = [&](const char* metric) {
      const auto at = process.held.find(metric);
      return at != process.held.end() && at->second.size() == process.cases ? &at->second : nullptr;
    };
    const bool at_rest = of(rest) != nullptr;
    const std::vector<double>* held = at_rest ? of(rest) : of(peak);
    if (held == nullptr) continue;
    const char* metric = at_rest ? rest : peak;
    ++looked_[{process.run_id, set_name(process.device_set), "", metric, ""}];
    const std::optional<double> growth = growth_of(*held, at_rest ? least_at_rest_bytes : least_of_peaks_bytes);
    if (!growth) continue;
    Finding f;
    f.what = Anomaly::leak;
    f.run_id = process.run_id;
    f.device_set = process.device_set;
    f.session = process.session;
    f.metric = metric;
    f.growth_bytes = growth;
    f.change = held->front() > 0 ? *growth / held->front() : 0;
    f.samples = process.cases;
    f.sentence = fmt::format(
        "each case left about {} of {} memory behind, {} after {} cases of one process: in a long run it is used up",
        format_bytes(*growth / static_cast<double>(held->size() - 1)), rest == device_rest ? "device" : "host",
        format_bytes(*growth), held->size());
    found_.findings.push_back(std::move(f));
  }
}

void Detector::add_foreign_memory(const Record& record, const MetricResult& metric, const TimedSeries& series) {
  const auto leak =
      series.at_s.size() == series.values.size() ? stats::leak_in_windows(series.at_s, series.values) : std::nullopt;
  if (!leak) {
    ++found_.memory_too_short;
    return;
  }
  ++found_.memory_examined;
  ++looked_[{record.run_id, set_name(record.device_set), record.case_name, metric.metric.name, metric.series}];
  if (leak->found != stats::Leak::leak && leak->found != stats::Leak::slowing) return;
  Finding f = finding_at(record);
  f.what = Anomaly::leak;
  f.suspected = leak->found == stats::Leak::slowing;
  f.metric = metric.metric.name;
  f.series = metric.series;
  f.growth_bytes = leak->growth_bytes;
  f.bytes_per_second = leak->bytes_per_second;
  f.begin_s = series.at_s.front();
  f.change = leak->growth_bytes / series.values.front();
  f.samples = series.values.size();
  f.sentence = fmt::format("its {} grew by {} in {} ({} an hour){}", f.metric, format_bytes(leak->growth_bytes),
                           format_duration(series.at_s.back() - series.at_s.front()),
                           format_bytes(3600 * leak->bytes_per_second),
                           f.suspected ? ", ever more slowly: a cache that fills, or a leak; watch it longer"
                                       : " and did not come back: in a long run it is used up");
  found_.findings.push_back(std::move(f));
}

}  // namespace assay
