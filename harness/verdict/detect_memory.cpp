// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Memory that does not come back (detect.h).
// Our own cases: a worker process frees everything between two of them, so what a case holds beyond its own request is
// the same for the tenth as for the first, but for libraries that are loaded when they are first needed: those come in
// a few unequal steps. A leak comes with every case. So: at least 6 cases, every step a rise of at least a quarter of
// the mean step, 32 MiB together. That has no chance among cases in any order (1 in 720 for the order alone).
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

// Growth in each of the steps, or nothing.
std::optional<double> growth_of(const std::vector<double>& held) {
  const double growth = held.back() - held.front(), mean = growth / static_cast<double>(held.size() - 1);
  if (growth < stats::LeakOptions{}.least_growth_bytes) return std::nullopt;
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
  process.cases.push_back({record.device_peak_bytes.value_or(0), record.host_resident_peak_bytes,
                           record.device_peak_bytes.has_value(), record.requested_bytes});
}

// What a case asked for is in the memory of its device: the host's for a CPU.
void Detector::find_growth(const Process& process) {
  if (process.cases.size() < fewest_cases_for_leak) {
    ++found_.memory_too_short;
    return;
  }
  ++found_.memory_examined;
  const bool on_device =
      std::all_of(process.cases.begin(), process.cases.end(), [](const Footprint& f) { return f.has_device; });
  for (const bool device : {true, false}) {
    if (device && !on_device) continue;
    std::vector<double> held;
    for (const Footprint& f : process.cases)
      held.push_back(static_cast<double>(device ? f.device : f.host) -
                     (device == on_device ? static_cast<double>(f.requested) : 0));
    const char* metric = device ? "device_peak_bytes" : "host_resident_peak_bytes";
    ++looked_[{process.run_id, set_name(process.device_set), "", metric, ""}];
    const std::optional<double> growth = growth_of(held);
    if (!growth) continue;
    Finding f;
    f.what = Anomaly::leak;
    f.run_id = process.run_id;
    f.device_set = process.device_set;
    f.session = process.session;
    f.metric = metric;
    f.growth_bytes = growth;
    const double first = static_cast<double>(device ? process.cases.front().device : process.cases.front().host);
    f.change = first > 0 ? *growth / first : 0;
    f.samples = process.cases.size();
    f.sentence = fmt::format(
        "each case left about {} of {} memory behind, {} after {} cases of one process: in a long run it is used up",
        format_bytes(*growth / static_cast<double>(held.size() - 1)), device ? "device" : "host", format_bytes(*growth),
        held.size());
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
