// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See import.h: ImportBuilder, from what a file says to a run: what is owed and lacks, what was left out, what a device
// is, and the order of a run folder.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "harness/base/clock.h"
#include "harness/base/error.h"
#include "harness/base/text.h"
#include "harness/build_info.h"
#include "harness/import/import.h"
#include "harness/parent/workers.h"
#include "harness/verdict/comparability.h"

namespace assay {
namespace {

constexpr std::size_t most_holes = 100000;

std::string case_key(const std::string& device, const std::string& case_name) { return device + "\n" + case_name; }
std::string case_key(const Record& record) { return case_key(record.device_set.front(), record.case_name); }
std::string record_key(const ImportPlace& place, std::uint64_t session) {
  return fmt::format("{}\n{}", case_key(place.device, place.case_name), session);
}

}  // namespace

ImportBuilder::ImportBuilder(const std::string& format, const std::vector<ImportText>& files, bool files_are_processes)
    : files_are_processes_(files_are_processes) {
  run_.plan.imported.emplace();
  run_.plan.imported->format = format;
  run_.plan.seed = run_.plan.policy.seed = 0;  // nothing was computed from one of ours
  for (const ImportText& text : files) {
    ImportedFile file{text.name, text_xxh3(text.text), {}, {}};
    for (const ImportedFile& other : run_.plan.imported->files)
      if (other.xxh3 == file.xxh3)
        throw Error(fmt::format("{} has the same content as {}; the same numbers twice are no second measurement",
                                file.name, other.name));
    run_.plan.imported->files.push_back(std::move(file));
  }
}

DeviceInfo& ImportBuilder::device(const std::string& id) {
  const auto [found, is_new] = devices_.emplace(id, run_.plan.devices.size());
  if (is_new) {
    DeviceInfo& made = run_.plan.devices.emplace_back();
    made.id = made.name = id;
    made.kind = "imported";
  }
  return run_.plan.devices[found->second];
}

bool ImportBuilder::has_record(const ImportPlace& place, std::uint64_t session) const {
  return records_.count(record_key(place, session)) > 0;
}

void ImportBuilder::label(const std::string& device, const std::string& name, const std::string& value,
                          std::uint64_t session) {
  labels_[{device, name}][value].insert(session);
}

Record& ImportBuilder::record(std::size_t file, const ImportPlace& place, std::uint64_t session) {
  const auto owner = owners_.emplace(place.case_name, place.benchmark).first;
  if (owner->second != place.benchmark)
    throw Error(fmt::format("the benchmarks {} and {} both have a case {}; rename one", owner->second, place.benchmark,
                            place.case_name));
  const auto [found, is_new] = records_.emplace(record_key(place, session), run_.records.size());
  const ImportedFile& source = run_.plan.imported->files[file];
  if (!is_new) {
    Record& known = run_.records[found->second];
    if (known.imported->xxh3 != source.xxh3)
      throw Error(
          fmt::format("{} goes on with session {} of {} on {}, which began in {}; all of a session belongs in "
                      "one file",
                      source.name, session, place.case_name, place.device, known.imported->file));
    return known;
  }
  owe(file, place.device, session);
  written_.push_back(session);
  Record& made = run_.records.emplace_back();
  made.imported = Imported{run_.plan.imported->format, source.name, source.xxh3, source.tool_version};
  made.case_name = place.case_name;
  made.benchmark = place.benchmark;
  made.params = params_of(place.case_name, place.benchmark);
  made.worker = "import";
  made.worker_version = build_info().version;
  made.device_set = {place.device};
  made.outcome = Outcome::measured;
  add_fact(made, "imported", made.imported->format);
  return made;
}

void ImportBuilder::skip(std::size_t file, const ImportPlace& place, std::uint64_t session, const std::string& reason) {
  owe(file, place.device, session);
  skips_.push_back({file, place, session, plain(reason)});
}

void ImportBuilder::owe(std::size_t file, const std::string& device, std::uint64_t session) {
  sessions_[device].emplace(session, file);
}

std::vector<std::string> ImportBuilder::device_ids() const {
  std::vector<std::string> ids;
  for (const DeviceInfo& device : run_.plan.devices) ids.push_back(device.id);
  return ids;
}

void ImportBuilder::owe_together(const std::vector<std::string>& devices) { machines_.push_back(devices); }

ImportedRun ImportBuilder::finish() {
  if (run_.records.empty() && skips_.empty()) {
    std::vector<std::string> names;
    for (const ImportedFile& file : run_.plan.imported->files) names.push_back(file.name);
    throw Error(fmt::format("{}: nothing is in it that was measured", join(names, ", ")));
  }
  drop_metrics();
  join_machines();
  plan_skipped();
  plan_cases();
  fill_holes();
  fill_labels();
  drop_idle_devices();
  sort_and_number();
  run_.plan.run_id = new_run_id();
  run_.plan.created_at = utc_now();
  run_.plan.origin = origin();
  run_.plan.profile = "imported";
  if (run_.plan.sessions == 1)
    run_.one_process = fmt::format(
        "one process a case: how much one process differs from the next isn't known, so a difference from another run "
        "can't be told from that; {}",
        files_are_processes_ ? "give the files of several processes" : "number processes in column session");
  return std::move(run_);
}

void ImportBuilder::drop_metrics() {
  for (Record& record : run_.records)
    record.metrics.erase(
        std::remove_if(record.metrics.begin(), record.metrics.end(),
                       [&](const MetricResult& result) {
                         return dropped_.count({record.device_set.front(), record.case_name, result.metric.name}) > 0;
                       }),
        record.metrics.end());
}

void ImportBuilder::join_machines() {
  for (const std::vector<std::string>& machine : machines_) {
    std::map<std::uint64_t, std::size_t> all;
    std::size_t sum = 0;
    for (const std::string& device : machine) {
      all.insert(sessions_[device].begin(), sessions_[device].end());
      sum += sessions_[device].size();
    }
    if (sum == all.size()) continue;  // none is shared
    for (const std::string& device : machine) sessions_[device] = all;
  }
  for (const auto& [device, sessions] : sessions_)
    if (sessions.size() > most_sessions)
      throw Error(
          fmt::format("the device {} has {} sessions, {} at most are read", device, sessions.size(), most_sessions));
}

// Left out in one session and measured in another: NOT_RUN there, as is all that a device was to do which did nothing.
// Else a case that was left out in all sessions is no case of this run.
void ImportBuilder::plan_skipped() {
  std::map<std::string, bool> measured;  // device and case
  std::set<std::string> at_work;
  for (const Record& record : run_.records) {
    measured[case_key(record)] = true;
    at_work.insert(record.device_set.front());
  }
  for (const Skip& skipped : skips_) {
    const auto [found, is_new] = measured.emplace(case_key(skipped.place.device, skipped.place.case_name), false);
    if (found->second || at_work.count(skipped.place.device) == 0) {
      Record& left_out = record(skipped.file, skipped.place, skipped.session);
      left_out.outcome = Outcome::not_run;
      left_out.reason = "the tool left it out: " + skipped.reason;
    } else if (is_new) {
      PlannedCase& planned = run_.plan.cases.emplace_back();
      planned.name = skipped.place.case_name;
      planned.benchmark = skipped.place.benchmark;
      planned.worker = "import";
      planned.device_set = {skipped.place.device};
      planned.coverage = Coverage::not_applicable;
      planned.reason = "skipped";
      planned.text = skipped.reason;
    }
  }
}

void ImportBuilder::plan_cases() {
  std::set<std::string> known;
  for (const Record& record : run_.records) {
    if (!known.insert(case_key(record)).second) continue;
    PlannedCase& planned = run_.plan.cases.emplace_back();
    planned.name = record.case_name;
    planned.benchmark = record.benchmark;
    planned.worker = record.worker;
    planned.device_set = record.device_set;
  }
}

void ImportBuilder::fill_holes() {
  std::map<std::string, std::set<std::string>> metrics;  // of each case
  for (const Record& record : run_.records)
    for (const MetricResult& result : record.metrics) metrics[case_key(record)].insert(result.metric.name);
  std::size_t holes = 0;
  for (Record& record : run_.records) {
    std::set<std::string> lacking = metrics[case_key(record)];
    for (const MetricResult& result : record.metrics) lacking.erase(result.metric.name);
    if (record.outcome != Outcome::measured || lacking.empty()) continue;
    ++holes;
    record.outcome = Outcome::not_run;
    record.reason = fmt::format("{} lacks {} in this session, and other sessions have it", record.imported->file,
                                join({lacking.begin(), lacking.end()}, ", "));
  }
  const std::size_t incomplete = holes;
  for (const PlannedCase& planned : run_.plan.cases) {
    if (planned.coverage != Coverage::required) continue;
    const ImportPlace place{planned.device_set.front(), planned.benchmark, planned.name};
    for (const auto& [session, file] : sessions_[place.device]) {
      if (has_record(place, session)) continue;
      if (++holes > most_holes)
        throw Error(
            fmt::format("{} holds nothing of {} on {} in session {}, and so it is with {} more: all that a device has "
                        "in one session it owes in each; number the processes of each case 1, 2, ...",
                        run_.plan.imported->files[file].name, place.case_name, place.device, session, most_holes));
      Record& hole = record(file, place, session);
      hole.outcome = Outcome::not_run;
      hole.reason = fmt::format("{} holds nothing of it in session {} of {}, and other sessions have it",
                                hole.imported->file, session, place.device);
    }
  }
  if (holes > 0)
    note(fmt::format(
        "{} of {} sessions of a case {} NOT_RUN for what they lack ({} of them {} part of it): all that a "
        "device has in one session it owes in each; where each case had processes of its own, number these "
        "1, 2, ... for each case",
        holes, run_.records.size(), holes == 1 ? "is" : "are", incomplete, incomplete == 1 ? "has" : "have"));
}

// The file knows of it, and nothing was to be done on it.
void ImportBuilder::drop_idle_devices() {
  std::set<std::string> planned;
  for (const PlannedCase& one : run_.plan.cases) planned.insert(one.device_set.front());
  const auto idle = [&](const DeviceInfo& info) { return planned.count(info.id) == 0; };
  std::vector<DeviceInfo>& all = run_.plan.devices;
  for (const DeviceInfo& info : all)
    if (idle(info)) note(fmt::format("{} is in the files, and nothing that ran on it: it isn't here", info.id));
  all.erase(std::remove_if(all.begin(), all.end(), idle), all.end());
}

void ImportBuilder::fill_labels() {
  constexpr std::size_t shown_sessions = 12;
  for (const auto& [what, values] : labels_) {
    DeviceInfo& info = device(what.first);
    const std::string& first = values.begin()->first;
    if (values.size() == 1 && !first.empty() && info.facts.count(what.second) == 0) info.labels[what.second] = first;
    if (values.size() == 1) continue;
    info.facts.erase(what.second);
    std::vector<std::string> parts;
    for (const auto& [value, sessions] : values) {
      std::vector<std::string> numbers;
      for (const std::uint64_t session : sessions)
        if (numbers.size() < shown_sessions) numbers.push_back(std::to_string(session));
      parts.push_back(fmt::format("{} in {} {}{}", value.empty() ? "none told" : value,
                                  sessions.size() == 1 ? "session" : "sessions", join(numbers, " "),
                                  sessions.size() > shown_sessions ? " ..." : ""));
    }
    info.labels[what.second] = std::string(mixed_prefix) + join(parts, ", ");
  }
}

void ImportBuilder::sort_and_number() {
  std::map<std::string, std::size_t> order;
  for (std::size_t i = 0; i < run_.plan.cases.size(); ++i)
    order[case_key(run_.plan.cases[i].device_set.front(), run_.plan.cases[i].name)] = i;
  std::vector<std::pair<std::size_t, std::size_t>> places;  // of the case, of the record
  for (std::size_t i = 0; i < run_.records.size(); ++i) places.emplace_back(order.at(case_key(run_.records[i])), i);
  std::sort(places.begin(), places.end(), [this](const auto& a, const auto& b) {
    return std::pair(a.first, written_[a.second]) < std::pair(b.first, written_[b.second]);
  });
  std::map<std::string, std::map<std::uint64_t, int>> numbers;
  for (const auto& [device, sessions] : sessions_)
    for (const auto& [session, file] : sessions)
      numbers[device].emplace(session, static_cast<int>(numbers[device].size()) + 1);
  std::vector<Record> sorted;
  sorted.reserve(places.size());
  for (const auto& place : places) {
    Record& record = sorted.emplace_back(std::move(run_.records[place.second]));
    record.sequence = sorted.size();
    record.session = record.process = numbers.at(record.device_set.front()).at(written_[place.second]);
    run_.plan.sessions = std::max(run_.plan.sessions, record.session);
  }
  run_.records = std::move(sorted);
}

}  // namespace assay
