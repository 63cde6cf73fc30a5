// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// assay import --from csv: one row is one sample of one metric. Columns are explained in results/README.md.
// How to read it: `device` as written is the identity, so one name can't be on two hosts or of two classes; `session`
// numbers are as written and become 1, 2, ... in their order: for all devices of a host, where two of them share a
// number, else for each device; units become SI base units.
// Traps: rows may come in any order, so a key that is there twice shows only when all rows were read. A million rows
// are a usual size: a row is kept as numbers, its words once.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <unordered_map>

#include "harness/base/csv_reader.h"
#include "harness/base/error.h"
#include "harness/base/text.h"
#include "harness/import/import.h"
#include "harness/parent/gates.h"
#include "harness/verdict/quantity.h"

namespace assay {
namespace {

const std::vector<std::string> required{"host", "device", "device_class", "benchmark", "case", "metric",
                                        "unit", "better", "session",      "sample",    "value"};
const std::vector<std::string> optional{"clock_hz", "temperature_c", "power_w", "time", "driver"};
enum Column : std::size_t {
  host,
  device,
  device_class,
  benchmark,
  case_text,
  metric,
  unit,
  better,
  session,
  sample,
  value,
  clock_hz,
  temperature_c,
  power_w,
  time_text,
  driver
};

const double unknown = std::nan("");

// Where something was said first; what is said again must be the same.
struct Where {
  std::uint32_t file = 0, line = 0;
};

struct DeviceSaid {
  std::string id, host, device_class;
  Where where;
};
struct MetricSaid {
  std::string benchmark, name, unit;
  Quantity si;  // what one of `unit` is
  bool higher = true;
  Where where;
};
struct Place {
  std::uint32_t device = 0;
  std::string benchmark, case_name;
};

struct Row {
  std::uint32_t place = 0, metric = 0, driver = 0;
  Where where;
  std::uint64_t session = 0, sample = 0;
  double value = 0, clock_hz = unknown, temperature_c = unknown, power_w = unknown, time_s = unknown;

  auto key() const { return std::tie(place, session, metric, sample); }
};

// Numbers for texts, in order of appearance.
class Names {
 public:
  // The number, and whether it is new.
  std::pair<std::uint32_t, bool> of(std::string_view text) {
    if (!names_.empty() && text == names_[last_]) return {last_, false};
    const auto [found, is_new] = numbers_.emplace(text, static_cast<std::uint32_t>(names_.size()));
    if (is_new) names_.emplace_back(text);
    last_ = found->second;
    return {last_, is_new};
  }
  const std::string& text(std::uint32_t number) const { return names_[number]; }

 private:
  std::unordered_map<std::string, std::uint32_t> numbers_;
  std::vector<std::string> names_;
  std::uint32_t last_ = 0;
};

class Table {
 public:
  explicit Table(const std::vector<ImportText>& files) : files_(files) {
    for (std::uint32_t i = 0; i < files.size(); ++i) read(i);
  }
  void build(ImportBuilder& builder);

 private:
  void read(std::uint32_t file);
  std::uint32_t device_of(const CsvReader& row, Where here);
  std::uint32_t metric_of(const CsvReader& row, Where here);
  std::string at(Where where) const { return fmt::format("{} line {}", files_[where.file].name, where.line); }
  void refuse_doubles() const;
  void refuse_copies() const;
  void describe_devices(ImportBuilder& builder) const;
  void add_record(ImportBuilder& builder, const Row* begin, const Row* end) const;

  const std::vector<ImportText>& files_;
  Names device_names_, metric_names_, place_names_, drivers_;
  std::vector<DeviceSaid> devices_;
  std::vector<MetricSaid> metrics_;
  std::vector<Place> places_;
  std::vector<Row> rows_;
};

double optional_number(const CsvReader& row, Column column) {
  return row.raw(column).empty() ? unknown : row.number(column);
}
double optional_above_zero(const CsvReader& row, Column column) {
  return row.raw(column).empty() ? unknown : row.above_zero(column);
}

double optional_time(const CsvReader& row) {
  if (row.raw(time_text).empty()) return unknown;
  const std::optional<double> seconds = unix_time(row.text(time_text));
  if (!seconds)
    row.fail(time_text, fmt::format("'{}' names no instant; write 2026-11-30T17:05:01Z, or seconds since 1970",
                                    row.raw(time_text)));
  return *seconds;
}

std::uint32_t Table::device_of(const CsvReader& row, Where here) {
  const auto [number, is_new] = device_names_.of(row.text(device));
  const std::string_view on = row.text(host), of_class = row.text(device_class);
  if (is_new) devices_.push_back({std::string(row.raw(device)), std::string(on), std::string(of_class), here});
  const DeviceSaid& said = devices_[number];
  if (said.host != on)
    row.fail(host, fmt::format("the device {} is on {} in {}; one name can't be two devices: write what tells them "
                               "apart, best their UUIDs",
                               said.id, said.host, at(said.where)));
  if (said.device_class != of_class)
    row.fail(device_class,
             fmt::format("the device {} is of the class {} in {}", said.id, said.device_class, at(said.where)));
  return number;
}

std::uint32_t Table::metric_of(const CsvReader& row, Where here) {
  const std::string_view direction = row.text(better);
  if (direction != "higher" && direction != "lower")
    row.fail(better, fmt::format("'{}' is neither 'higher' nor 'lower'", direction));
  const std::string key = fmt::format("{}\n{}", row.text(benchmark), row.text(metric));
  const std::string_view in_unit = row.text(unit);
  const auto [number, is_new] = metric_names_.of(key);
  if (is_new)
    metrics_.push_back({std::string(row.raw(benchmark)), std::string(row.raw(metric)), std::string(in_unit),
                        unit_of(std::string(in_unit)).value_or(Quantity{1, std::string(in_unit)}),
                        direction == "higher", here});
  const MetricSaid& said = metrics_[number];
  if (said.unit != in_unit)
    row.fail(unit, fmt::format("'{}', but {} of {} is in {} in {}; a metric has one unit", in_unit, said.name,
                               said.benchmark, said.unit, at(said.where)));
  if (said.higher != (direction == "higher"))
    row.fail(better, fmt::format("'{}', but {} of {} is better {} in {}", direction, said.name, said.benchmark,
                                 said.higher ? "higher" : "lower", at(said.where)));
  if (const auto usual = direction_as_written(said.unit); is_new && usual && (*usual == Better::higher) != said.higher)
    row.fail(better, fmt::format("'{}', but {} is a {}", direction, in_unit,
                                 said.higher ? "time, and less of it is better" : "rate, and more of it is better"));
  return number;
}

// Numbers beside the unit and the clock that lead out of what a number can be.
void check_size(const CsvReader& row, double in_si, const Quantity& si, double clock) {
  if (!std::isnan(clock) && !possible_clock(clock))
    row.fail(clock_hz, fmt::format("'{}' is no clock in Hz: it is not from {:g} to {:g}", row.raw(clock_hz),
                                   slowest_clock_hz, fastest_clock_hz));
  const double per_cycle = std::isnan(clock) ? in_si : si.unit == "s" ? in_si * clock : in_si / clock;
  if (!std::isnormal(in_si) || !std::isnormal(per_cycle))
    row.fail(value, fmt::format("'{}' is beyond what a number can be, in {}{}", row.raw(value), si.unit,
                                std::isnormal(in_si) ? " or per cycle" : ""));
}

void Table::read(std::uint32_t file) {
  CsvReader row(files_[file].name, files_[file].text, required, optional);
  while (row.next()) {
    Row& r = rows_.emplace_back();
    r.where = {file, row.line()};
    const std::uint32_t device_number = device_of(row, r.where);
    r.metric = metric_of(row, r.where);
    const auto [place, is_new] =
        place_names_.of(fmt::format("{}\n{}\n{}", row.raw(device), row.raw(benchmark), row.text(case_text)));
    if (is_new)
      places_.push_back({device_number, std::string(row.raw(benchmark)),
                         full_case_name(std::string(row.raw(benchmark)), std::string(row.raw(case_text)))});
    r.place = place;
    r.session = row.whole(session);
    r.sample = row.whole(sample);
    r.value = row.above_zero(value);
    r.clock_hz = optional_above_zero(row, clock_hz);
    const Quantity& si = metrics_[r.metric].si;
    check_size(row, r.value * si.value, si, r.clock_hz);
    r.temperature_c = optional_number(row, temperature_c);
    r.power_w = optional_above_zero(row, power_w);
    r.time_s = optional_time(row);
    r.driver = drivers_.of(row.raw(driver).empty() ? row.raw(driver) : row.text(driver)).first;
  }
  if (row.line() == 1)
    throw Error(fmt::format("{} line 2, column 1: there is no row behind the header", files_[file].name));
}

// The first row, in reading order, whose key was there before. rows_ are sorted by key, equal ones in reading order.
void Table::refuse_doubles() const {
  const auto later = [](Where a, Where b) { return std::pair(a.file, a.line) < std::pair(b.file, b.line); };
  const Row *found = nullptr, *before = nullptr;
  for (std::size_t i = 1; i < rows_.size(); ++i)
    if (rows_[i].key() == rows_[i - 1].key() && (found == nullptr || later(rows_[i].where, found->where))) {
      found = &rows_[i];
      before = &rows_[i - 1];
    }
  if (found == nullptr) return;
  throw Error(fmt::format("{}, column sample: sample {} of session {} of {} ({}, {}) is in {} already",
                          at(found->where), found->sample, found->session, metrics_[found->metric].name,
                          places_[found->place].case_name, devices_[places_[found->place].device].id,
                          at(before->where)));
}

// A process that is written down twice is no second session. rows_ are sorted by case, session, metric and sample.
void Table::refuse_copies() const {
  struct Said {
    NamedSamples samples;
    std::size_t count = 0;
    const Row* first = nullptr;
  };
  std::map<std::uint32_t, std::map<std::uint64_t, Said>> devices;
  const auto later = [](Where a, Where b) { return std::pair(a.file, a.line) > std::pair(b.file, b.line); };
  for (std::size_t i = 0, from = 0; i < rows_.size(); from = i) {
    const Row& begin = rows_[from];
    const Place& place = places_[begin.place];
    Said& said = devices[place.device][begin.session];
    std::vector<double>& samples = said.samples[{place.case_name, metrics_[begin.metric].name}];
    for (; i < rows_.size() && rows_[i].place == begin.place && rows_[i].session == begin.session &&
           rows_[i].metric == begin.metric;
         ++i) {
      samples.push_back(rows_[i].value);
      ++said.count;
      if (said.first == nullptr || later(said.first->where, rows_[i].where)) said.first = &rows_[i];
    }
  }
  for (auto& [number, sessions] : devices) {
    std::vector<NamedSamples> samples;
    std::vector<const Said*> order;
    for (auto& [session, said] : sessions) {
      samples.push_back(std::move(said.samples));
      order.push_back(&said);
    }
    const auto copied = find_copied_session(samples);
    if (!copied) continue;
    const Said &one = *order[copied->first], &other = *order[copied->second];
    throw Error(
        fmt::format("{}, column session: session {} of {} has the same {} values as session {} ({}): that is "
                    "one process twice, and no second measurement",
                    at(other.first->where), other.first->session, devices_[number].id, other.count, one.first->session,
                    at(one.first->where)));
  }
}

void Table::describe_devices(ImportBuilder& builder) const {
  std::map<std::string, std::vector<std::string>> hosts;
  for (const DeviceSaid& said : devices_) {
    DeviceInfo& made = builder.device(said.id);
    made.name = said.device_class;
    made.labels = {{"host", said.host}, {"device_class", said.device_class}};
    hosts[said.host].push_back(said.id);
  }
  for (const auto& [name, devices] : hosts) builder.owe_together(devices);
}

// What was read beside the samples, as a curve over their numbers; nothing where no row has it.
void add_beside(Record& record, const std::string& name, const std::string& of, const std::string& si, const Row* begin,
                const Row* end, double Row::*column, double zero = 0) {
  if (std::all_of(begin, end, [&](const Row& row) { return std::isnan(row.*column); })) return;
  Curve& curve = record.curves.emplace_back();
  curve = {name + " beside " + of, "sample", "1", name, si, {}};
  for (const Row* row = begin; row != end; ++row)
    curve.points.push_back({static_cast<double>(row->sample), row->*column - zero});
}

// All rows of one case in one session, sorted by metric and sample.
void Table::add_record(ImportBuilder& builder, const Row* begin, const Row* end) const {
  const Place& place = places_[begin->place];
  const DeviceSaid& on = devices_[place.device];
  for (const Row* row = begin; row != end; ++row) {
    if (row->where.file != begin->where.file)
      throw Error(
          fmt::format("{}, column session: session {} of {} on {} has rows in {} too; all of a session belongs "
                      "in one file",
                      at(row->where), row->session, place.case_name, on.id, at(begin->where)));
    if (row->driver != begin->driver)
      throw Error(fmt::format("{}, column driver: '{}', but session {} of {} on {} ran with '{}' in {}", at(row->where),
                              drivers_.text(row->driver), row->session, place.case_name, on.id,
                              drivers_.text(begin->driver), at(begin->where)));
  }
  Record& record = builder.record(begin->where.file, {on.id, place.benchmark, place.case_name}, begin->session);
  builder.label(on.id, "driver_version", drivers_.text(begin->driver), begin->session);
  add_fact(record, "host", on.host);
  add_fact(record, "device_class", on.device_class);
  add_fact(record, "driver", drivers_.text(begin->driver));
  add_fact(record, "session_as_written", std::to_string(begin->session));
  double first_s = unknown;
  for (const Row* row = begin; row != end; ++row) first_s = std::fmin(first_s, row->time_s);
  if (std::isfinite(first_s)) record.started_at = utc_text(first_s);
  for (const Row* first = begin; first != end;) {
    const Row* last = std::find_if(first, end, [&](const Row& row) { return row.metric != first->metric; });
    const MetricSaid& said = metrics_[first->metric];
    std::vector<double> values, clocks;
    for (const Row* row = first; row != last; ++row) {
      values.push_back(row->value);
      clocks.push_back(row->clock_hz);
    }
    add_metric(record, said.name, said.unit, said.higher ? Better::higher : Better::lower, std::move(values), clocks);
    add_beside(record, "clock", said.name, "Hz", first, last, &Row::clock_hz);
    add_beside(record, "temperature", said.name, "degC", first, last, &Row::temperature_c);
    add_beside(record, "power", said.name, "W", first, last, &Row::power_w);
    if (std::isfinite(first_s)) add_beside(record, "time", said.name, "s", first, last, &Row::time_s, first_s);
    first = last;
  }
}

void Table::build(ImportBuilder& builder) {
  // Stable: equal keys stay in reading order, for the sentence about them.
  std::stable_sort(rows_.begin(), rows_.end(), [](const Row& a, const Row& b) { return a.key() < b.key(); });
  refuse_doubles();
  refuse_copies();
  describe_devices(builder);
  const Row* const end = rows_.data() + rows_.size();
  for (const Row* begin = rows_.data(); begin != end;) {
    const Row* last = std::find_if(
        begin, end, [&](const Row& row) { return row.place != begin->place || row.session != begin->session; });
    add_record(builder, begin, last);
    begin = last;
  }
}

// The header has a required column that no other table would have beside these.
bool recognises(const std::string& text) {
  const std::string header = text.substr(0, text.find('\n'));
  return header.find("benchmark") != std::string::npos && header.find("metric") != std::string::npos &&
         header.find("better") != std::string::npos && header.find("session") != std::string::npos &&
         header.find('{') == std::string::npos;
}

// A header with some of the columns, and which of those that must be there it hasn't.
std::string lacks(const std::string& text) {
  std::vector<std::string> missing;
  std::set<std::string> named;
  for (const std::string& name : split(text.substr(0, text.find('\n')), ',')) named.insert(trim(name));
  for (const std::string& name : required)
    if (named.count(name) == 0) missing.push_back(name);
  constexpr std::size_t least = 3;  // in common, for more than chance
  if (missing.empty() || required.size() - missing.size() < least) return {};
  return fmt::format("the header lacks {} {}; it needs all of {}", missing.size() == 1 ? "the column" : "the columns",
                     join(missing, ", "), join(required, ","));
}

void read(const std::vector<ImportText>& files, ImportBuilder& builder) { Table(files).build(builder); }

}  // namespace

REGISTER_IMPORT((ImportFormat{"csv", "a table with one row a sample (columns: results/README.md)", recognises, read,
                              false, lacks}));

}  // namespace assay
