// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// CSV in long form (RFC 4180): one row per metric and session, numbers with every digit needed to read the same double
// back, empty where there is no value. Text is shown as on a terminal (plain), and never taken for a formula. The
// columns are described in results/README.md and only ever grow at the end. A record that isn't MEASURED, and a
// required case without a record, give one row each with empty metric columns, so that what went wrong is in the table
// too, and no number of it. Rows are written while records are read, so the size of a run doesn't matter.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iterator>

#include "harness/base/text.h"
#include "harness/parent/coverage.h"
#include "harness/report/formats.h"

namespace assay {
namespace {

// One line of the file under construction.
class Row {
 public:
  explicit Row(fmt::memory_buffer& buffer, bool first = true) : buffer_(buffer), first_(first) {}
  Row& text(std::string_view value) {
    separate();
    const auto ordinary = [](char c) { return c >= ' ' && c <= '~'; };
    if (!std::all_of(value.begin(), value.end(), ordinary))
      cell(plain(value));
    else
      cell(value);
    return *this;
  }
  template <class Integer>
  Row& whole(Integer value) {
    separate();
    fmt::format_to(std::back_inserter(buffer_), "{}", value);
    return *this;
  }
  Row& real(double value) {
    separate();
    if (std::isfinite(value)) fmt::format_to(std::back_inserter(buffer_), "{}", value);
    return *this;
  }
  Row& nothing(int columns) {
    for (int i = 0; i < columns; ++i) separate();
    return *this;
  }
  void end() { buffer_.push_back('\n'); }

 private:
  // A spreadsheet takes a cell that begins like a formula for one; an apostrophe before it makes it text.
  void cell(std::string_view value) {
    const bool formula =
        !value.empty() && std::string_view("=+-@").find(value[0]) != std::string_view::npos && !is_number(value);
    const bool quoted = value.find_first_of(",\"") != std::string_view::npos;
    if (quoted) buffer_.push_back('"');
    if (formula) buffer_.push_back('\'');
    for (const char c : value) {
      if (c == '"') buffer_.push_back('"');
      buffer_.push_back(c);
    }
    if (quoted) buffer_.push_back('"');
  }
  static bool is_number(std::string_view value) {
    const std::string text(value);
    char* end = nullptr;
    std::strtod(text.c_str(), &end);
    return end == text.c_str() + text.size();
  }
  void separate() {
    if (!first_) buffer_.push_back(',');
    first_ = false;
  }
  fmt::memory_buffer& buffer_;
  bool first_;
};

std::string words(const std::map<std::string, std::string>& values) {
  std::string text;
  for (const auto& [name, value] : values) {
    if (!text.empty()) text += ';';
    text += name;
    text += '=';
    text += value;
  }
  return text;
}

void summary(Row& row, const Summary& s) {
  row.whole(s.n);
  for (const double value : {s.min, s.p5, s.q1, s.median, s.mean, s.q3, s.p95, s.p99, s.max, s.sd, s.cv})
    row.real(value);
}

constexpr int metric_columns = 25;  // from "metric" to "disturbed"

void metric_part(Row& row, const Record& record, const MetricResult& result) {
  row.text(result.metric.name).text(result.series).text(result.metric.unit);
  row.text(word(result.metric.better));
  const Summary per_second = summarise(result.samples);
  summary(row, per_second);
  const Summary per_cycle = summarise(result.cycle_samples);
  row.text(result.cycle_unit).real(per_cycle.median).real(per_cycle.cv);
  row.real(result.limit.value.value_or(std::nan(""))).text(result.limit.kind);
  row.text(result.limit.source).real(share_of_limit(result.metric, result.limit, per_second.median));
  const Flags flags = flags_of(record, result);
  row.whole(flags.flagged).text(disturbed_text(flags.seen, ";"));
}

// Rows of one record: what they share is written once, before and after the metric's own columns.
class RecordRows {
 public:
  void write(const Record& record, fmt::memory_buffer& out) {
    head(record);
    tail(record);
    const bool measured = record.outcome == Outcome::measured && !record.metrics.empty();
    for (const MetricResult& metric : record.metrics) {
      if (!measured) break;
      out.append(head_);
      Row row(out, false);
      metric_part(row, record, metric);
      out.append(tail_);
    }
    if (measured) return;
    out.append(head_);
    Row(out, false).nothing(metric_columns);
    out.append(tail_);
  }

 private:
  void head(const Record& r) {
    head_.clear();
    Row row(head_);
    row.text(r.run_id).whole(r.sequence).text(r.case_name).text(r.benchmark).text(words(r.params));
    row.text(r.worker).text(r.worker_version).text(device_set_name(r.device_set)).whole(r.simulated ? 1 : 0);
    row.whole(r.session).whole(r.process).text(r.started_at).text(word(r.outcome)).text(r.reason);
  }
  void tail(const Record& r) {
    tail_.clear();
    Row row(tail_, false);
    row.whole(r.iterations).real(r.bytes).real(r.operations);
    row.whole(r.verification.elements_compared).whole(r.verification.mismatches);
    row.real(r.setup_s).real(r.warmup_s).real(r.measure_s).real(r.verify_s).real(r.wall_s);
    row.whole(r.threads).whole(r.host_resident_peak_bytes).whole(r.requested_bytes);
    for (const std::optional<std::uint64_t>& bytes :
         {r.device_peak_bytes, r.host_resident_rest_bytes, r.device_rest_bytes})
      bytes ? row.whole(*bytes) : row.nothing(1);
    row.whole(r.seed).text(words(r.test_knobs)).text(r.imported ? r.imported->format : "").end();
  }

  fmt::memory_buffer head_, tail_;
};

Record missing_record(const Plan& plan, const PlannedCase& planned, int session) {
  Record record;
  record.run_id = plan.run_id;
  record.case_name = planned.name;
  record.benchmark = planned.benchmark;
  record.params = params_of(planned);
  record.worker = planned.worker;
  record.device_set = planned.device_set;
  record.session = session;
  record.process = 0;
  record.outcome = Outcome::not_run;
  record.reason = "no record: the run ended before this case";
  record.test_knobs = plan.test_knobs;
  return record;
}

class Sink {
 public:
  explicit Sink(std::ostream& out) : out_(out) {}
  ~Sink() { flush(); }
  fmt::memory_buffer& buffer() {
    if (buffer_.size() > 1 << 16) flush();
    return buffer_;
  }

 private:
  void flush() {
    out_.write(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
    buffer_.clear();
  }
  std::ostream& out_;
  fmt::memory_buffer buffer_;
};

}  // namespace

const std::vector<std::string>& csv_columns() {
  static const std::vector<std::string> columns{
      "run_id", "sequence", "case", "benchmark", "params", "worker", "worker_version", "device_set", "simulated",
      "session", "process", "started_at", "outcome", "reason",
      // of the metric
      "metric", "series", "unit", "better", "n", "min", "p5", "q1", "median", "mean", "q3", "p95", "p99", "max", "sd",
      "cv", "cycle_unit", "cycle_median", "cycle_cv", "limit", "limit_kind", "limit_source", "share_of_limit",
      "samples_disturbed", "disturbed",
      // of the record
      "iterations", "bytes", "operations", "elements_compared", "mismatches", "setup_s", "warmup_s", "measure_s",
      "verify_s", "wall_s", "threads", "host_resident_peak_bytes", "requested_bytes", "device_peak_bytes",
      "host_resident_rest_bytes", "device_rest_bytes", "seed", "test_knobs", "imported"};
  return columns;
}

Outcome report_csv(const std::vector<RunData>& runs, std::ostream& out) {
  Sink sink(out);
  RecordRows rows;
  fmt::format_to(std::back_inserter(sink.buffer()), "{}\n", join(csv_columns(), ","));
  std::vector<Outcome> outcomes;
  for (const RunData& run : runs) {
    CoverageTally tally(run.plan);
    const RecordsEnd end =
        tally_records(run, tally, [&](std::int64_t, Record&& record) { rows.write(record, sink.buffer()); });
    warn(end.warning);
    for (std::size_t i = 0; i < run.plan.cases.size(); ++i)
      for (int session = 1; session <= run.plan.sessions_of(run.plan.cases[i]); ++session)
        if (!run.plan.imported && run.plan.cases[i].coverage == Coverage::required &&
            tally.find(i, session) == nullptr) {
          rows.write(missing_record(run.plan, run.plan.cases[i], session), sink.buffer());
        }
    const Judged judged = judge(run, tally.counts());
    warn(judged.warning);
    outcomes.push_back(judged.outcome);
  }
  return worst(outcomes);
}

}  // namespace assay
