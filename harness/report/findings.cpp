// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See findings.h.
#include "harness/report/findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>

#include "harness/base/clock.h"
#include "harness/base/parse_json.h"
#include "harness/base/printed_json.h"
#include "harness/base/text.h"
#include "harness/base/units.h"
#include "harness/parent/coverage.h"
#include "harness/report/parts.h"
#include "harness/stats/fleet.h"

namespace assay {
namespace {

constexpr std::size_t most_findings = 12;

// Telemetry is context: a line that can't be read, and a file that isn't there, is a temperature that nobody knows.
std::vector<Warmth> warmth_of(const RunData& run) {
  std::vector<Warmth> warmth;
  std::ifstream file(run.folder / "telemetry.jsonl");
  for (std::string line; std::getline(file, line);) {
    const Json sample = Json::parse(line, nullptr, false);
    if (!sample.is_object() || !sample.contains("at") || !sample.contains("temperature_celsius")) continue;
    const Json &at = sample["at"], &celsius = sample["temperature_celsius"];
    if (!at.is_string() || !celsius.is_number()) continue;
    const std::optional<double> unix_s = unix_time(at.get<std::string>());
    if (unix_s) warmth.push_back({*unix_s, celsius.get<double>()});
  }
  std::stable_sort(warmth.begin(), warmth.end(), [](const Warmth& a, const Warmth& b) { return a.unix_s < b.unix_s; });
  return warmth;
}

std::string host_of(const RunData& run) {
  const Json::json_pointer at("/environment/host");
  if (!run.run.is_object() || !run.run.contains(at) || !run.run.at(at).is_string()) return run.plan.run_id;
  return run.run.at(at).get<std::string>();
}

// "3 of 41 series (68 samples are needed)", "0 of 1 process (6 cases are needed)", "no process"
std::string share(std::size_t examined, std::size_t of, const char* one, const char* several,
                  const std::string& needed) {
  if (of == 0) return fmt::format("no {}", one);
  return fmt::format("{} of {} {}{}", examined, of, of == 1 ? one : several, examined < of ? " (" + needed + ")" : "");
}

Json finding_json(const Finding& f) {
  return {{"what", word(f.what)},
          {"suspected", f.suspected},
          {"disturbed", f.disturbed},
          {"run_id", f.run_id},
          {"device_set", f.device_set},
          {"benchmark", text_or_null(f.benchmark)},
          {"case", text_or_null(f.case_name)},
          {"metric", f.metric},
          {"series", f.series},
          {"session", f.session > 0 ? Json(f.session) : Json(nullptr)},
          {"seen_in_sessions", f.seen_in},
          {"looked_in_sessions", f.looked_in},
          {"begin_s", or_null(f.begin_s)},
          {"end_s", or_null(f.end_s)},
          {"begin_sample", f.begin_sample},
          {"change", number(f.change)},
          {"change_low", f.interval ? number(f.interval->low) : Json(nullptr)},
          {"change_high", f.interval ? number(f.interval->high) : Json(nullptr)},
          {"clock_change", or_null(f.clock_change)},
          {"temperature_change_kelvin", or_null(f.celsius_change)},
          {"throttled_share", or_null(f.throttled_share)},
          {"growth_bytes", or_null(f.growth_bytes)},
          {"growth_bytes_per_second", or_null(f.bytes_per_second)},
          {"samples", f.samples},
          {"samples_per_block", f.per_block},
          {"blocks", f.blocks},
          {"devices", f.devices},
          {"text", f.sentence}};
}

}  // namespace

void begin_run(Detector& detector, const RunData& run) {
  // The time of a scripted device is not that of the telemetry.
  const bool simulated =
      std::any_of(run.plan.devices.begin(), run.plan.devices.end(), [](const DeviceInfo& d) { return d.simulated; });
  detector.begin_run(run.plan.run_id, host_of(run), run.plan.devices,
                     simulated ? std::vector<Warmth>{} : warmth_of(run));
}

void print_findings(const Detections& found, bool name_runs, std::ostream& out) {
  if (!found.findings.empty()) out << "\nIn the series\n";
  for (std::size_t i = 0; i < std::min(most_findings, found.findings.size()); ++i) {
    const Finding& f = found.findings[i];
    std::string where = device_set_name(f.device_set);
    if (f.session > 0 && f.looked_in > 1) where += fmt::format(", session {}", f.session);
    if (name_runs) where += fmt::format(", run {}", f.run_id);
    out << fmt::format("  {:<9}{} {}  ({})\n            {}\n", word(f.what), f.suspected ? " suspected:" : "",
                       plain(f.case_name.empty() ? "every case" : f.case_name), plain(where), plain(f.sentence));
  }
  if (found.findings.size() > most_findings)
    out << fmt::format("  and {} more: --format json has all\n", found.findings.size() - most_findings);
  const std::size_t series = found.series_examined + found.series_too_short + found.series_unsteady,
                    memory = found.memory_examined + found.memory_too_short,
                    peers = found.peers_examined + found.peers_too_few;
  const bool nothing_examined = found.series_examined + found.memory_examined + found.peers_examined == 0;
  if (nothing_examined && found.series_unsteady == 0 && found.findings.empty()) {
    out << fmt::format(
        "not checked for throttling, leaks or stragglers: a series needs {} samples (--profile burn-in is long "
        "enough), a process {} cases, and peers are {} devices\n",
        shortest_series, fewest_cases_for_leak, stats::fewest_peers);
    return;
  }
  const std::string unsteady = found.series_unsteady == 0 ? "" : fmt::format("; {} not steady", found.series_unsteady);
  const std::string watched =
      found.series_examined == 0
          ? ""
          : fmt::format(", in {}the last {} of {}: what comes first is the reference",
                        found.series_examined == 1 ? "" : "at least ", format_percent(found.least_watched),
                        found.series_examined == 1 ? "it" : "each");
  out << fmt::format("looked at {}{}; memory of {}; {}",
                     share(found.series_examined, series, "series", "series",
                           fmt::format("{} samples are needed{}", shortest_series, unsteady)),
                     watched,
                     share(found.memory_examined, memory, "process", "processes",
                           fmt::format("{} cases are needed", fewest_cases_for_leak)),
                     share(found.peers_examined, peers, "value among peers", "values among peers",
                           fmt::format("{} devices are needed", stats::fewest_peers)));
  out << (nothing_examined || !found.findings.empty() ? "\n" : ": nothing found in these\n");
}

Json to_json(const Detections& found) {
  Json list = Json::array();
  for (const Finding& f : found.findings) list.push_back(finding_json(f));
  return {{"findings", list},
          {"series_examined", found.series_examined},
          {"series_too_short", found.series_too_short},
          {"series_unsteady", found.series_unsteady},
          {"least_watched", found.series_examined > 0 ? number(found.least_watched) : Json(nullptr)},
          {"memory_examined", found.memory_examined},
          {"memory_too_short", found.memory_too_short},
          {"peers_examined", found.peers_examined},
          {"peers_too_few", found.peers_too_few}};
}

}  // namespace assay
