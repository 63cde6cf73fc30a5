// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See import.h: the registry of formats, and what they share.
#include "harness/import/import.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "harness/base/cycle_unit.h"
#include "harness/base/error.h"
#include "harness/base/file.h"
#include "harness/base/parse_json.h"
#include "harness/base/text.h"
#include "harness/stats/copies.h"
#include "harness/verdict/quantity.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

// A static inside a function, so that it exists before the first registration whatever the link order is.
std::vector<ImportFormat>& registry() {
  static std::vector<ImportFormat> all;
  return all;
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
