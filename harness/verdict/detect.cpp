// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See detect.h. What is about one series stands here, peers and memory in detect_peers.cpp and detect_memory.cpp.
#include "harness/verdict/detect.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "harness/base/clock.h"
#include "harness/base/text.h"
#include "harness/base/units.h"
#include "harness/verdict/detect_text.h"

namespace assay {
namespace {

constexpr double many_disturbed = 0.25;

// Of a sample that the run measured: where it is in time, and what was read beside it. `started_s`: when the first
// sample began, by the clock of the telemetry; NaN: not known.
TimedSeries timed(const MetricResult& metric, const Series& series, double started_s,
                  const std::vector<Warmth>& warmth) {
  TimedSeries timed;
  timed.better = metric.metric.better;
  timed.values = metric.samples;
  double at_s = 0;
  for (const Sample& sample : series.samples) {
    timed.at_s.push_back(at_s);
    at_s += sample.seconds;
    timed.clock_hz.push_back(sample.clock_hz > 0 ? sample.clock_hz : std::nan(""));
    timed.flags.push_back(sample.disturbed);
  }
  if (!std::isfinite(started_s) || warmth.empty()) return timed;
  constexpr double stale_s = 3;  // telemetry comes once a second
  for (const double at : timed.at_s) {
    const auto next = std::lower_bound(warmth.begin(), warmth.end(), started_s + at,
                                       [](const Warmth& w, double t) { return w.unix_s < t; });
    const bool fits = next != warmth.end() && next->unix_s - (started_s + at) < stale_s;
    timed.celsius.push_back(fits ? next->celsius : std::nan(""));
  }
  return timed;
}

// What was read beside an imported metric is in curves over the samples' numbers (import/csv.cpp).
std::vector<double> beside(const Record& record, const std::string& what, const MetricResult& metric) {
  std::vector<double> values;
  for (const Curve& curve : record.curves)
    if (curve.name == what + " beside " + metric.metric.name && curve.points.size() == metric.samples.size())
      for (const CurvePoint& point : curve.points) values.push_back(point.y);
  return values;
}

TimedSeries timed(const Record& record, const MetricResult& metric) {
  TimedSeries timed;
  timed.better = metric.metric.better;
  timed.values = metric.samples;
  timed.at_s = beside(record, "time", metric);
  if (std::any_of(timed.at_s.begin(), timed.at_s.end(), [](double t) { return !std::isfinite(t); }) ||
      !std::is_sorted(timed.at_s.begin(), timed.at_s.end()))
    timed.at_s.clear();
  timed.clock_hz = beside(record, "clock", metric);
  timed.celsius = beside(record, "temperature", metric);
  return timed;
}

// A sensor's reading that another tool wrote down as a metric is no rate that could fall.
bool is_reading(const std::string& unit) {
  constexpr std::array<std::string_view, 5> readings{"degC", "W", "J", "Hz", "%"};
  return std::find(readings.begin(), readings.end(), unit) != readings.end();
}

std::string explained(const Finding& f, const Change& change) {
  std::string text;
  if (change.throttled >= 0.5)
    text += fmt::format("; the device says that it throttled in {} of these samples", format_percent(change.throttled));
  if (f.clock_change && f.what == Anomaly::throttle)
    text += fmt::format("; the clock changed by {}: heat or a power limit", format_change(*f.clock_change));
  else if (f.clock_change)
    text += fmt::format("; the clock does not explain it ({})", format_change(*f.clock_change));
  if (f.celsius_change) text += fmt::format("; temperature {:+.0f} K", *f.celsius_change);
  if (f.disturbed)
    text +=
        fmt::format("; but in {} of these samples something else was at work ({}): measure again on a quiet machine",
                    format_percent(change.disturbed), disturbed_text(change.disturbances));
  return text;
}

std::string sentence_of(const Finding& f, const Change& change, Better better) {
  const auto when = [&](const std::optional<double>& second, std::size_t sample) {
    return f.begin_s ? fmt::format("second {:.1f}", *second) : fmt::format("sample {}", sample + 1);
  };
  std::string text = fmt::format("its {} {} {} {}", f.metric, better == Better::higher ? "fell" : "got worse",
                                 change.sudden ? "at" : "little by little from", when(f.begin_s, change.first));
  if (!change.lasting) text += ", until " + when(f.end_s, change.last);
  text += fmt::format(", by {}", format_percent(f.change));
  if (f.interval && f.interval->high < 0)
    text += fmt::format(" ({} to {})", format_percent(f.interval->high), format_percent(f.interval->low));
  else if (f.interval)
    text += fmt::format(" (up to {})", format_percent(f.interval->low));
  return text + explained(f, change);
}

bool worse(const Finding& a, const Finding& b) {
  return std::tuple(a.suspected, a.disturbed, -std::fabs(a.change)) <
         std::tuple(b.suspected, b.disturbed, -std::fabs(b.change));
}

}  // namespace

std::string_view word(Anomaly anomaly) {
  constexpr std::array<std::string_view, 5> words{"THROTTLE", "DROP", "DECAY", "LEAK", "STRAGGLER"};
  return words[static_cast<std::size_t>(anomaly)];
}

std::string set_name(const std::vector<std::string>& device_set) { return join(device_set, "+"); }

Finding finding_at(const Record& record) {
  Finding f;
  f.run_id = record.run_id;
  f.benchmark = record.benchmark;
  f.case_name = record.case_name;
  f.device_set = record.device_set;
  f.session = record.session;
  return f;
}

void Detector::begin_run(const std::string& run_id, const std::string& host, const std::vector<DeviceInfo>& devices,
                         std::vector<Warmth> warmth) {
  run_id_ = run_id;
  host_ = host;
  again_ = !run_ids_.insert(run_id).second;
  devices_.clear();
  for (const DeviceInfo& device : devices) devices_[device.id] = device;
  warmth_ = std::move(warmth);
}

void Detector::add(const Record& record) {
  if (again_ || record.outcome != Outcome::measured) return;
  add_footprint(record);
  for (const MetricResult& metric : record.metrics) add_peer(record, metric);
  if (record.imported) {
    for (const MetricResult& metric : record.metrics) {
      const TimedSeries series = timed(record, metric);
      if (metric.metric.unit == "B")
        add_foreign_memory(record, metric, series);
      else if (!is_reading(metric.metric.unit))
        add_series(record, metric, series);
    }
    return;
  }
  // Of metrics that were made from the same samples the first one stands for all.
  const std::optional<double> started_s = warmth_.empty() ? std::nullopt : unix_time(record.started_at);
  for (const Series& series : record.series)
    for (const MetricResult& metric : record.metrics)
      if (metric.series == series.label && metric.samples.size() == series.samples.size()) {
        const double first_s = started_s ? *started_s + record.setup_s + record.warmup_s : std::nan("");
        add_series(record, metric, timed(metric, series, first_s, warmth_));
        break;
      }
}

void Detector::add_series(const Record& record, const MetricResult& metric, const TimedSeries& series) {
  const SeriesLook look = look_at(series);
  found_.series_examined += look.look == Look::examined;
  found_.series_too_short += look.look == Look::too_short;
  found_.series_unsteady += look.look == Look::unsteady || look.look == Look::unusable;
  if (look.look != Look::examined) return;
  found_.least_watched = std::min(found_.least_watched, look.watched);
  ++looked_[{record.run_id, set_name(record.device_set), record.case_name, metric.metric.name, metric.series}];
  if (!look.change) return;
  const Change& change = *look.change;
  Finding f = finding_at(record);
  f.what = change.throttle() ? Anomaly::throttle : change.sudden ? Anomaly::drop : Anomaly::decay;
  f.metric = metric.metric.name;
  f.series = metric.series;
  f.disturbed = change.disturbed >= many_disturbed;
  const bool in_time = series.at_s.size() == series.values.size();
  f.begin_sample = change.first;
  if (in_time) f.begin_s = series.at_s[change.first];
  if (in_time && !change.lasting) f.end_s = series.at_s[change.last];
  f.change = change.change;
  f.interval = change.interval;
  f.clock_change = change.clock_change;
  f.celsius_change = change.celsius_change;
  if (!series.flags.empty()) f.throttled_share = change.throttled;
  f.samples = look.samples;
  f.per_block = look.per_block;
  f.blocks = look.blocks;
  f.sentence = sentence_of(f, change, metric.metric.better);
  found_.findings.push_back(std::move(f));
}

// Sessions with the same finding become one: the worst, which says how many there are.
void Detector::merge_sessions() {
  struct Merged {
    Finding worst;
    std::size_t seen = 0, earliest = 0, latest = 0;
  };
  std::map<std::tuple<Anomaly, std::string, std::string, std::string, std::string, std::string>, Merged> merged;
  for (const Finding& f : found_.findings) {
    const auto key = std::tuple(f.what, f.run_id, set_name(f.device_set), f.case_name, f.metric, f.series);
    const auto [at, is_new] = merged.try_emplace(key, Merged{f, 0, f.begin_sample, f.begin_sample});
    Merged& all = at->second;
    ++all.seen;
    all.earliest = std::min(all.earliest, f.begin_sample);
    all.latest = std::max(all.latest, f.begin_sample);
    if (!is_new && worse(f, all.worst)) all.worst = f;
  }
  found_.findings.clear();
  for (auto& [key, all] : merged) {
    Finding& f = all.worst;
    f.seen_in = all.seen;
    f.looked_in = looked_.at({f.run_id, set_name(f.device_set), f.case_name, f.metric, f.series});
    if (f.looked_in > 1) f.sentence += fmt::format("; in {} of {} sessions", f.seen_in, f.looked_in);
    if (f.what != Anomaly::leak && f.seen_in > 1 && f.seen_in == f.looked_in &&
        all.latest - all.earliest <= 2 * f.per_block)
      f.sentence += ", at the same point in each: the load's own phase, or the same heat";
    found_.findings.push_back(std::move(f));
  }
}

Detections Detector::finish() {
  for (const auto& [key, process] : processes_) find_growth(process);
  merge_sessions();
  for (const auto& [key, group] : peers_) find_stragglers(key, group);
  std::stable_sort(found_.findings.begin(), found_.findings.end(), worse);
  return std::move(found_);
}

}  // namespace assay
