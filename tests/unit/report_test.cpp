// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Reports of a made-up run: the console against tests/golden/report_console.txt, CSV read back by another library with
// every digit and every odd character, JSON's words, and the word of a run that was cut or lost its records.
#include "harness/report/report.h"

#include <gmock/gmock.h>
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wstringop-truncation"
#include <libfccp/csv.h>
#pragma GCC diagnostic pop

#include <fmt/format.h>

#include <cmath>
#include <sstream>

#include "harness/base/error.h"
#include "harness/base/text.h"
#include "harness/report/formats.h"
#include "harness/report/results.h"
#include "tests/unit/sample_record.h"

namespace assay {
namespace {

using namespace assay::testing;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string awkward = "a \"quoted\" reason, with a comma\nand a second line";

PlannedCase planned(const std::string& name, Coverage coverage, const std::string& reason = "",
                    const std::string& text = "") {
  PlannedCase c = sample_plan().cases[0];
  c.name = name;
  c.benchmark = name.substr(0, name.find('/', name.find('/') + 1));
  c.coverage = coverage;
  c.reason = reason;
  c.text = text;
  return c;
}

Record of_case(Record record, const std::string& name, int session) {
  record.case_name = name;
  record.benchmark = name.substr(0, name.find('/', name.find('/') + 1));
  PlannedCase owner;
  owner.name = name;
  owner.benchmark = record.benchmark;
  record.params = params_of(owner);
  record.session = session;
  return record;
}

// Two sessions: one case measured twice, one measured and failed, one with an error and nothing, one never begun.
Plan mixed_plan() {
  Plan plan = sample_plan();
  plan.sessions = 2;
  plan.cases = {planned(bandwidth_case, Coverage::required),
                planned("memory/latency/size:l1", Coverage::required),
                planned("compute/fma/type:f32", Coverage::required),
                planned("launch/fork_join", Coverage::required),
                planned("transfer/memcpy/node:other", Coverage::not_applicable, "missing_fact",
                        "numa_nodes is 1, 2 needed: copies between NUMA nodes need two"),
                planned("compute/gemm/library:own", Coverage::excluded, "profile", "not in profile quick"),
                planned("compute/gemm/library:vendor", Coverage::excluded, "budget", "no time left")};
  return plan;
}

std::vector<Record> mixed_records() {
  Record failed = of_case(full_record(), "memory/latency/size:l1", 2);
  failed.simulated = false;
  failed.test_knobs.clear();
  failed.metrics[0].limit = {};
  failed.metrics.resize(1);
  Record latency = of_case(measured_record(), "memory/latency/size:l1", 1);
  latency.metrics.resize(1);
  latency.metrics[0].metric = {"latency", "s", Better::lower, ""};
  latency.metrics[0].samples = {1.5e-9, 1.5e-9, 1.6e-9, 1.7e-9};
  latency.metrics[0].cycle_unit = "cycle";
  latency.metrics[0].cycle_samples = {4.65, 4.65, 4.96, 5.27};
  latency.metrics[0].limit = {1e-9, "attribute_clock", "4 cycles at 4 GHz"};
  Record second = of_case(measured_record(), bandwidth_case, 2);
  for (double& sample : second.metrics[0].samples) sample *= 1.1;
  for (double& sample : second.metrics[0].cycle_samples) sample *= 1.1;
  Record broken = of_case(error_record(), "compute/fma/type:f32", 1);
  broken.reason = awkward;
  std::vector<Record> records{of_case(measured_record(), bandwidth_case, 1), latency, broken, second, failed};
  for (std::size_t i = 0; i < records.size(); ++i) records[i].sequence = i + 1;
  return records;
}

struct Folder : TemporaryFolder {
  explicit Folder(const Plan& plan, const std::vector<Record>& records) { write_run(path(), plan, records); }
  RunData run() const { return read_run(path()); }
};

std::string report(const RunData& run, const std::string& format, Outcome* outcome = nullptr) {
  std::ostringstream out;
  const Outcome result = write_report({run}, format, out);
  if (outcome != nullptr) *outcome = result;
  return out.str();
}

// run.json as its records deserve it, but for the word.
void finish(const Folder& folder, const std::string& outcome) {
  const CoverageCounts counts = collect(folder.run()).counts;
  const Json run{{"schema", run_schema}, {"run_id", sample_plan().run_id},
                 {"outcome", outcome},   {"exit_code", code(outcome_of(outcome).value())},
                 {"interrupted", false}, {"coverage", to_json(counts)}};
  write_file_atomically(folder / "run.json", line(run));
}

TEST(ReportConsole, Golden) {
  const Folder folder(mixed_plan(), mixed_records());
  finish(folder, "FAIL");
  Outcome outcome = Outcome::measured;
  std::string text = report(folder.run(), "console", &outcome);
  EXPECT_EQ(outcome, Outcome::fail);
  for (std::size_t at; (at = text.find(folder.path().string())) != std::string::npos;)
    text.replace(at, folder.path().string().size(), "RUN");
  const std::string golden = read_file(source_folder() / "tests/golden/report_console.txt");
  EXPECT_EQ(text, golden) << "this is what is printed now:\n" << text;
}

TEST(ReportConsole, WhatWorkersPrintCannotDriveTheTerminal) {
  Record record = error_record();
  record.failure->stderr_tail = {"\x1b[31mred"};
  const Folder folder(sample_plan(), {record});
  EXPECT_THAT(report(folder.run(), "console"), Not(HasSubstr("\x1b")));
}

// A number of a run that went wrong is no result: its word stands where the number would be.
TEST(Report, WhatIsNotMeasuredGivesNoNumber) {
  Record failed = full_record();
  failed.simulated = false;
  failed.test_knobs.clear();
  Record invalid = measured_record();
  invalid.outcome = Outcome::invalid;
  invalid.reason = "bandwidth is 3 times its limit";
  for (const Record& record : {failed, invalid}) {
    const Folder folder(sample_plan(), {record});
    const CaseResults one = collect(folder.run()).cases.at(0);
    EXPECT_TRUE(one.metrics.empty());
    EXPECT_TRUE(one.curves.empty());
    const std::string text = report(folder.run(), "console");
    EXPECT_THAT(text, Not(HasSubstr("GB/s")));
    EXPECT_THAT(text, HasSubstr(fmt::format("threads:all  -       {:>6} ", word(record.outcome))));
    const std::string csv = report(folder.run(), "csv");
    EXPECT_THAT(csv, Not(HasSubstr("B/s")));
    EXPECT_THAT(csv, HasSubstr(std::string(word(record.outcome))));
  }
}

TEST(Report, CurvesAreShownWithWhatWasReadFromThem) {
  Record sweep = measured_record();
  sweep.curves = {{"latency_over_working_set", "working_set", "B", "latency", "s", {{8192, 1.5e-9}, {65536, 4e-9}}}};
  sweep.metrics.push_back(sample_metric("latency", 4));
  sweep.metrics.push_back(sweep.metrics.back());
  sweep.metrics[2].series = "bytes:8192";
  sweep.metrics[3].series = "bytes:65536";
  sweep.facts.push_back({"knee_1", "l1 at 48 KiB\x1b[31m"});
  sweep.series.push_back(sweep.series[0]);
  sweep.series.push_back(sweep.series[0]);
  sweep.series[1].label = "bytes:8192";
  sweep.series[2].label = "bytes:65536";
  sweep.iterations *= 3;
  sweep.bytes *= 3;
  sweep.operations *= 3;
  const Folder folder(sample_plan(), {sweep});
  const std::string text = report(folder.run(), "console");
  EXPECT_THAT(text, HasSubstr("\n" + bandwidth_case + "  latency over working_set\n"));
  EXPECT_THAT(text, HasSubstr("  8.0 KiB: 1.50 ns            64.0 KiB: 4.00 ns\n"));
  EXPECT_THAT(text, HasSubstr("  knee_1: l1 at 48 KiB\\x1b[31m\n"));
  EXPECT_THAT(text, HasSubstr("see below"));
  EXPECT_THAT(text, Not(HasSubstr("bytes:8192")));
  const Json json = Json::parse(report(folder.run(), "json"));
  EXPECT_EQ(json.at("runs").at(0).at("results").at(0).at("curves").at(0).at("points").at(1).at(1), 4e-9);
}

TEST(ReportCsv, EveryColumnReadsBack) {
  const Folder folder(mixed_plan(), mixed_records());
  const std::string path = (folder / "out.csv").string();
  const std::string text = report(folder.run(), "csv");
  write_file_atomically(path, text);
  io::CSVReader<12, io::trim_chars<>, io::double_quote_escape<',', '"'>> csv(path);
  csv.read_header(io::ignore_extra_column, "case", "session", "outcome", "reason", "metric", "median", "seed",
                  "cycle_median", "samples_disturbed", "disturbed", "share_of_limit", "n");
  std::string name, outcome, reason, metric, median, cycle, flagged, flags, share, n;
  int session = 0;
  std::uint64_t seed = 0;
  std::map<std::string, int> outcomes;
  bool second_seen = false;
  while (csv.read_row(name, session, outcome, reason, metric, median, seed, cycle, flagged, flags, share, n)) {
    ++outcomes[outcome];
    if (outcome == "ERROR") {
      EXPECT_EQ(reason, "a \"quoted\" reason, with a comma\\x0aand a second line");
      EXPECT_EQ(metric + median + n, "");
    }
    if (name != bandwidth_case || session != 2 || metric != "bandwidth") continue;
    second_seen = true;
    const Record second = mixed_records()[3];
    EXPECT_EQ(std::stod(median), summarise(second.metrics[0].samples).median);
    EXPECT_EQ(std::stod(cycle), summarise(second.metrics[0].cycle_samples).median);
    EXPECT_EQ(std::stod(share), summarise(second.metrics[0].samples).median / 2.5e10);
    EXPECT_EQ(seed, 18446744073709551615ULL);
    EXPECT_EQ(flagged, "1");
    EXPECT_EQ(flags, "steal;frequency");
    EXPECT_EQ(n, "4");
  }
  EXPECT_TRUE(second_seen);
  // Five rows with metrics, one of them failed; an error; three sessions without a record.
  EXPECT_EQ(outcomes, (std::map<std::string, int>{{"MEASURED", 5}, {"FAIL", 1}, {"ERROR", 1}, {"NOT_RUN", 3}}));
}

TEST(ReportCsv, QuotesByTheStandard) {
  const Folder folder(mixed_plan(), mixed_records());
  EXPECT_THAT(report(folder.run(), "csv"),
              HasSubstr(",\"a \"\"quoted\"\" reason, with a comma\\x0aand a second line\","));
}

TEST(ReportCsv, NoCellIsAFormula) {
  std::string text;
  for (const char* reason : {"=1+1", "+cmd", "@x", "-5", "-5 a", "=\"a\",2"}) {
    Record record = error_record();
    record.reason = reason;
    const Folder folder(sample_plan(), {record});
    text += report(folder.run(), "csv");
  }
  for (const char* cell : {",'=1+1,", ",'+cmd,", ",'@x,", ",-5,", ",'-5 a,", ",\"'=\"\"a\"\",2\","})
    EXPECT_THAT(text, HasSubstr(cell));
}

// Every text of a record and of a plan says it to the terminal.
TEST(Report, SteersNoTerminal) {
  const std::string evil = "\x1b[2J\xc2\x9bK\x7f\r";
  Plan plan = sample_plan();
  plan.sessions = 4;
  plan.profile += evil;
  plan.created_at += evil;
  plan.test_knobs = {{"ASSAY_TEST_" + evil, evil}};
  plan.devices[0].name += evil;
  plan.devices[0].id += evil;
  plan.cases[0].device_set = {plan.devices[0].id};
  plan.cases[0].name = "memory/stream/op:" + evil;
  PlannedCase out = plan.cases[0], absent = plan.cases[0];
  out.coverage = Coverage::excluded;
  out.reason = evil;
  absent.coverage = Coverage::not_applicable;
  absent.text = evil;
  plan.cases.insert(plan.cases.end(), {out, absent});
  std::vector<Record> records{full_record(), error_record(), measured_record()};
  for (std::size_t i = 0; i < records.size(); ++i) {
    Record& r = records[i];
    r.sequence = i + 1;
    r.session = static_cast<int>(i) + 1;
    r.case_name = plan.cases[0].name;
    r.params = params_of(plan.cases[0]);
    r.device_set = plan.cases[0].device_set;
    r.reason += r.outcome == Outcome::measured ? "" : evil;
    r.facts.push_back({"knee" + evil, evil});
    r.curves = {{evil, evil, evil, evil, evil, {{1, 2}}}};
    r.data += evil;
    if (r.failure) r.failure->detail += evil, r.failure->stderr_tail.push_back(evil);
    for (Mismatch& m : r.verification.first_mismatches)
      for (std::string* text : {&m.buffer, &m.expected, &m.actual, &m.actual_bits, &m.xor_bits}) *text += evil;
    for (Series& series : r.series) series.label = evil;
    for (MetricResult& m : r.metrics) {
      for (std::string* text : {&m.metric.name, &m.metric.unit, &m.cycle_unit, &m.limit.source}) *text += evil;
      m.series = evil;
    }
  }
  const Folder folder(plan, records);
  for (const char* format : {"console", "csv", "json"}) {
    const std::string text = report(folder.run(), format);
    for (const char* code : {"\x1b", "\xc2\x9b", "\x7f", "\r"}) EXPECT_THAT(text, Not(HasSubstr(code))) << format;
  }
}

TEST(ReportCsv, EachRowHasEachColumn) {
  const Folder folder(sample_plan(), {measured_record()});
  for (const std::string& row : split(trim(report(folder.run(), "csv")), '\n'))
    if (row.find('"') == std::string::npos) {
      EXPECT_EQ(split(row, ',').size(), csv_columns().size()) << row;
    }
}

TEST(ReportCsv, ColumnsAreDescribed) {
  const std::string text = read_file(source_folder() / "results/README.md");
  for (const std::string& column : csv_columns()) EXPECT_THAT(text, HasSubstr("`" + column + "`"));
}

TEST(ReportJson, WordCodeAndNumbers) {
  const Folder folder(mixed_plan(), mixed_records());
  finish(folder, "FAIL");
  const Json json = Json::parse(report(folder.run(), "json"));
  EXPECT_EQ(json.at("outcome"), "FAIL");
  EXPECT_EQ(json.at("exit_code"), 1);
  const Json& run = json.at("runs")[0];
  EXPECT_EQ(run.at("coverage").at("required"), 8);
  EXPECT_EQ(run.at("coverage").at("measured"), 3);
  EXPECT_EQ(run.at("coverage").at("not_run"), 3);
  const Json& first = run.at("results")[0];
  EXPECT_EQ(first.at("case"), bandwidth_case);
  EXPECT_EQ(first.at("outcome"), "MEASURED");
  EXPECT_EQ(first.at("metrics")[0].at("sessions").size(), 2U);
  const double one = summarise(mixed_records()[0].metrics[0].samples).median;
  EXPECT_DOUBLE_EQ(first.at("metrics")[0].at("median"), one * 1.05);
  EXPECT_EQ(run.at("results")[2].at("outcome"), "ERROR");
  EXPECT_EQ(run.at("results")[3].at("outcome"), "NOT_RUN");
  EXPECT_EQ(run.at("not_applicable").size(), 1U);
  EXPECT_EQ(run.at("excluded").size(), 2U);
}

TEST(ReportOutcome, CutRunIsIncompleteAlthoughAllRecordsAreThere) {
  const Folder folder(sample_plan(), {measured_record()});
  Outcome outcome = Outcome::measured;
  EXPECT_THAT(report(folder.run(), "console", &outcome), HasSubstr("--resume"));
  EXPECT_EQ(outcome, Outcome::incomplete);
  finish(folder, "MEASURED");
  EXPECT_THAT(report(folder.run(), "console", &outcome), HasSubstr("\nMEASURED (exit code 0)\n"));
  EXPECT_EQ(outcome, Outcome::measured);
}

TEST(ReportOutcome, MissingRecordsTakeTheWordAway) {
  const Folder folder(sample_plan(), {});
  finish(folder, "MEASURED");
  for (const std::string& format : report_formats()) {
    Outcome outcome = Outcome::measured;
    report(folder.run(), format, &outcome);
    EXPECT_EQ(outcome, Outcome::incomplete) << format;
  }
}

TEST(ReportOutcome, WhatRunJsonSaysAgainstTheRecordsIsToldAndTheWorseCounts) {
  const Folder good(sample_plan(), {measured_record()});
  finish(good, "FAIL");
  Results results = collect(good.run());
  EXPECT_EQ(results.outcome, Outcome::fail);
  ASSERT_FALSE(results.warnings.empty());
  EXPECT_THAT(results.warnings.back(), HasSubstr("run.json says FAIL"));
  const Folder bad(sample_plan(), {error_record()});
  finish(bad, "MEASURED");
  EXPECT_EQ(collect(bad.run()).outcome, Outcome::error);
}

TEST(ReportOutcome, SecondRecordOfASessionIsAnErrorWithItsLine) {
  Record later = measured_record();
  later.sequence = 2;
  const Folder folder(sample_plan(), {error_record(), later});
  for (const std::string& format : report_formats()) {
    try {
      report(folder.run(), format);
      ADD_FAILURE() << "no error from " << format;
    } catch (const Error& problem) {
      EXPECT_THAT(problem.what(), HasSubstr("records.jsonl line 2 is a second record of"));
    }
  }
}

TEST(ReportOutcome, MeasuredWithoutProofIsNotMeasured) {
  Record wrong = measured_record();
  wrong.verification.mismatches = 5;
  Record idle = measured_record();
  idle.iterations = 0;
  Record empty = measured_record();
  empty.metrics.clear();
  for (const auto& [record, outcome] :
       {std::pair{wrong, Outcome::fail}, {idle, Outcome::error}, {empty, Outcome::error}}) {
    const Folder folder(sample_plan(), {record});
    EXPECT_EQ(collect(folder.run()).outcome, outcome);
  }
}

TEST(ReportOutcome, RecordThatNobodyPlannedCountsNothing) {
  const Folder folder(sample_plan(), {of_case(measured_record(), "memory/other/a:b", 1)});
  const Results results = collect(folder.run());
  EXPECT_EQ(results.counts.measured, 0U);
  EXPECT_EQ(results.counts.not_run, 1U);
  ASSERT_FALSE(results.warnings.empty());
  EXPECT_THAT(results.warnings[0], HasSubstr("memory/other/a:b"));
}

TEST(Report, UnknownFormatIsAUsageErrorWithSuggestion) {
  const Folder folder(sample_plan(), {});
  std::ostringstream out;
  try {
    write_report({folder.run()}, "jsno", out);
    ADD_FAILURE() << "no error";
  } catch (const UsageError& problem) {
    EXPECT_THAT(problem.what(), HasSubstr("json"));
    EXPECT_EQ(problem.code(), exit_code::usage);
  }
}

}  // namespace
}  // namespace assay
