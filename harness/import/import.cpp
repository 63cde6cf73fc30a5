// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See import.h: the registry of formats, and what they share.
#include "harness/import/import.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <set>

#include "harness/base/clock.h"
#include "harness/base/cycle_unit.h"
#include "harness/base/error.h"
#include "harness/base/file.h"
#include "harness/base/parse_json.h"
#include "harness/base/text.h"
#include "harness/build_info.h"
#include "harness/parent/workers.h"
#include "harness/stats/copies.h"
#include "harness/verdict/comparability.h"
#include "harness/verdict/quantity.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_holes = 100000;

// A static inside a function, so that it exists before the first registration whatever the link order is.
std::vector<ImportFormat>& registry() {
  static std::vector<ImportFormat> all;
  return all;
}

std::string case_key(const std::string& device, const std::string& case_name) { return device + "\n" + case_name; }
std::string case_key(const Record& record) { return case_key(record.device_set.front(), record.case_name); }
std::string record_key(const ImportPlace& place, std::uint64_t session) {
  return fmt::format("{}\n{}", case_key(place.device, place.case_name), session);
}

const ImportFormat* recognise(const std::string& text) {
  for (const ImportFormat& format : registry())
    if (format.recognises(text)) return &format;
  return nullptr;
}

// What a file is that no format recognises, where that shows.
const char* kind_of(const std::string& text) {
  if (text.empty()) return "it is empty";
  if (starts_with(text, "\xff\xfe") || starts_with(text, "\xfe\xff")) return "it is UTF-16; save it as UTF-8";
  if (text.find('\0') != std::string::npos) return "it is no text";
  return "`assay import --from FORMAT` says what keeps it from being one";
}

const ImportFormat& find_format(const std::string& name, const ImportText& first) {
  if (name.empty()) {
    if (const ImportFormat* found = recognise(first.text)) return *found;
    for (const ImportFormat& format : registry())
      if (const std::string lacks = format.lacks == nullptr ? "" : format.lacks(first.text); !lacks.empty())
        throw Error(fmt::format("{} line 1: it looks like {}, but {}", first.name, format.name, lacks));
    throw Error(fmt::format("{} line 1, column 1: this is none of the formats {}; {}", first.name,
                            join(import_formats(), ", "), kind_of(first.text)));
  }
  for (const ImportFormat& format : registry())
    if (format.name == name) return format;
  throw UsageError(fmt::format("--from '{}' is not known{}", name, suggestion(name, import_formats())));
}

// "-nan", "Infinity", ... as C and C++ print them.
bool is_no_number(std::string_view word) {
  if (!word.empty() && word.front() == '-') word.remove_prefix(1);
  static constexpr std::array<std::string_view, 6> words{"NaN", "nan", "Infinity", "inf", "Inf", "INF"};
  return std::find(words.begin(), words.end(), word) != words.end();
}

// Words for "no number" outside of strings become null, of the same length where that is possible, so that the columns
// of complaints fit.
std::string with_nulls(const std::string& text) {
  std::string result;
  result.reserve(text.size());
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '\\' && i + 1 < text.size()) {
      (result += c) += text[++i];
      continue;
    }
    if (c == '"') quoted = !quoted;
    const bool word = !quoted && (c == '-' || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'));
    if (!word) {
      result += c;
      continue;
    }
    std::size_t end = i + 1;
    while (end < text.size() && ((text[end] >= 'A' && text[end] <= 'Z') || (text[end] >= 'a' && text[end] <= 'z')))
      ++end;
    const std::string_view found(text.data() + i, end - i);
    result += is_no_number(found) ? fmt::format("{:<{}}", "null", found.size()) : std::string(found);
    i = end - 1;
  }
  return result;
}

bool all_usable(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v) && v > 0; });
}

// Another date in the head of a file makes no other process of it.
void refuse_copied_files(const ImportedRun& run) {
  std::map<std::string, std::map<int, NamedSamples>> devices;  // by session
  std::map<std::pair<std::string, int>, std::string> files;
  for (const Record& record : run.records) {
    if (record.metrics.empty()) continue;
    files[{record.device_set.front(), record.session}] = record.imported->file;
    NamedSamples& said = devices[record.device_set.front()][record.session];
    for (const MetricResult& metric : record.metrics) said[{record.case_name, metric.metric.name}] = metric.samples;
  }
  for (const auto& [device, sessions] : devices) {
    std::vector<NamedSamples> samples;
    std::vector<std::string> names;
    for (const auto& [session, said] : sessions) {
      samples.push_back(said);
      names.push_back(files.at({device, session}));
    }
    if (const auto copied = find_copied_session(samples))
      throw Error(
          fmt::format("{} has the same values as {} in all its cases on {}: that is one process twice, and no "
                      "second measurement",
                      names[copied->second], names[copied->first], device));
  }
}

// A unit's factor or a clock may lead out of what a number holds; zero and infinity would be made up here.
void check_numbers(const Record& record, const MetricResult& result, const std::vector<double>& values,
                   const std::string& unit) {
  if (!std::all_of(values.begin(), values.end(), [](double v) { return std::isnormal(v) && v > 0; }))
    throw Error(fmt::format("{}: a value of {} of {} in {} is beyond what a number can be", record.imported->file,
                            result.metric.name, record.case_name, unit));
}

}  // namespace

ImportRegistration::ImportRegistration(const ImportFormat& format) {
  std::vector<ImportFormat>& all = registry();
  all.insert(std::lower_bound(all.begin(), all.end(), format,
                              [](const ImportFormat& a, const ImportFormat& b) { return a.name < b.name; }),
             format);
}

std::vector<std::string> import_formats() {
  std::vector<std::string> names;
  for (const ImportFormat& format : registry()) names.push_back(format.name);
  return names;
}

std::string import_formats_text() {
  std::string text;
  for (const ImportFormat& format : registry()) text += fmt::format("  {:<18} {}\n", format.name, format.summary);
  return text;
}

bool is_importable(const fs::path& file) {
  std::error_code unreadable;
  return fs::is_regular_file(file, unreadable) && recognise(read_file(file)) != nullptr;
}

ImportedRun import_files(const std::vector<fs::path>& paths, const std::string& format) {
  if (paths.empty()) throw UsageError("name a file to import");
  std::vector<ImportText> files;
  for (const fs::path& path : paths) {
    std::error_code unreadable;
    if (fs::is_directory(path, unreadable))
      throw Error(fmt::format("{} is a folder; name the files in it that are to be imported", path.string()));
    files.push_back({path.filename().string(), read_file(path)});
  }
  const ImportFormat& found = find_format(format, files.front());
  ImportBuilder builder(found.name, files, found.file_is_process);
  found.read(files, builder);
  ImportedRun run = builder.finish();
  if (found.file_is_process) refuse_copied_files(run);
  return run;
}

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

std::string full_case_name(const std::string& benchmark, const std::string& case_text) {
  const bool whole = case_text == benchmark || starts_with(case_text, benchmark + "/");
  return whole ? case_text : benchmark + "/" + case_text;
}

void add_metric(Record& record, const std::string& name, const std::string& unit, Better better,
                std::vector<double> values, const std::vector<double>& clock_hz) {
  const Quantity si = unit_of(unit).value_or(Quantity{1, unit});
  MetricResult& result = record.metrics.emplace_back();
  result.metric = {name, si.unit, better, ""};
  result.limit = {std::nullopt, "none", "imported: nothing is known of the device"};
  if (si.value != 1)
    for (double& value : values) value *= si.value;
  result.samples = std::move(values);
  check_numbers(record, result, result.samples, si.unit);
  const bool rate = si.unit != "s";
  if (cycle_unit_of(si.unit).empty() || clock_hz.size() != result.samples.size() || !all_usable(clock_hz)) return;
  result.cycle_unit = cycle_unit_of(si.unit);
  for (std::size_t i = 0; i < result.samples.size(); ++i)
    result.cycle_samples.push_back(rate ? result.samples[i] / clock_hz[i] : result.samples[i] * clock_hz[i]);
  check_numbers(record, result, result.cycle_samples, result.cycle_unit);
}

std::optional<std::pair<std::size_t, std::size_t>> find_copied_session(const std::vector<NamedSamples>& sessions) {
  std::map<std::pair<std::string, std::string>, std::size_t> places;
  for (const NamedSamples& session : sessions)
    for (const auto& [name, samples] : session) places.emplace(name, 0);
  std::size_t count = 0;
  for (auto& [name, place] : places) place = count++;
  std::vector<stats::SessionSamples> all(sessions.size(), stats::SessionSamples(count));
  for (std::size_t i = 0; i < sessions.size(); ++i)
    for (const auto& [name, samples] : sessions[i]) all[i][places.at(name)] = samples;
  return stats::find_copy(all);
}

void fail_record(Record& record, const std::string& reason) {
  record.outcome = Outcome::error;
  record.reason = plain(reason);
  record.failure = Failure{"exception", record.reason, {}};
  record.metrics.clear();
}

void check_import_name(const ImportText& file, const std::string& name) {
  if (plain(name) != name)
    throw Error(
        fmt::format("{}: the name '{}' has a character that is no printable text in UTF-8", file.name, plain(name)));
}

void add_fact(Record& record, const std::string& name, const std::string& value) {
  if (!value.empty()) record.facts.push_back({name, plain(value)});
}

Json parse_import_json(const ImportText& file) {
  try {
    return parse_json(with_nulls(file.text));
  } catch (const Json::exception& problem) {
    std::string reason = reason_of(problem);  // "parse error at line 3, column 5: syntax error while ..."
    const std::string begin = "parse error at ";
    if (starts_with(reason, begin)) reason = reason.substr(begin.size());
    throw Error(fmt::format("{} {}", file.name, shown(reason, 300)));
  }
}

void refuse_shape(const ImportText& file, const char* tool, const Json::exception& problem) {
  throw Error(fmt::format("{}: this is no JSON of {}: {}", file.name, tool, reason_of(problem)));
}

std::string scalar_text(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  return value.is_null() || value.is_structured() ? std::string() : value.dump();
}

}  // namespace assay
