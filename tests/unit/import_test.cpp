// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// The formats by small files of tests/fixtures/import; the real pair of nvbench files where it is there.
#include "harness/import/import.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>

#include "harness/base/error.h"
#include "harness/base/file.h"
#include "harness/parent/gates.h"
#include "harness/parent/workers.h"
#include "tests/unit/sample_record.h"

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::filesystem::path fixture(const std::string& name) {
  return assay::source_folder() / "tests/fixtures/import" / name;
}

const MetricResult& metric(const Record& record, const std::string& name) {
  for (const MetricResult& result : record.metrics)
    if (result.metric.name == name) return result;
  throw std::runtime_error(record.case_name + " has no metric " + name);
}

std::string fact(const Record& record, const std::string& name) {
  for (const Fact& f : record.facts)
    if (f.name == name) return f.value;
  return "none";
}

const Record& record(const ImportedRun& run, const std::string& case_name, int session = 1,
                     const std::string& device = "") {
  for (const Record& r : run.records)
    if (r.case_name == case_name && r.session == session && (device.empty() || r.device_set.front() == device))
      return r;
  throw std::runtime_error("no record of " + case_name);
}

// What importing a file with this content complains about.
std::string problem(const std::string& text, const std::string& format = {}) {
  const assay::testing::TemporaryFolder folder;
  write_file_atomically(folder / "x", text);
  try {
    import_files({folder / "x"}, format);
  } catch (const Error& e) {
    return e.what();
  }
  return {};
}

std::string all_notes(const ImportedRun& run) {
  std::string text;
  for (const std::string& note : run.notes) text += note + "\n";
  return text + run.one_process;
}

TEST(Import, FormatsRegisterThemselves) {
  EXPECT_THAT(import_formats(), ElementsAre("csv", "google-benchmark", "nvbench"));
  EXPECT_TRUE(is_importable(fixture("samples.csv")));
  EXPECT_TRUE(is_importable(fixture("nvbench.json")));
  EXPECT_TRUE(is_importable(fixture("google_benchmark.json")));
  EXPECT_FALSE(is_importable(fixture("../records.jsonl")));
  EXPECT_FALSE(is_importable(fixture("")));
  EXPECT_FALSE(is_importable(fixture("none")));
  EXPECT_THAT(problem("hello"), HasSubstr("x line 1, column 1: this is none of the formats csv, google-benchmark"));
  EXPECT_THAT(problem("host,device,metric,unit,value\n"),
              HasSubstr("looks like csv, but the header lacks the columns device_class"));
  EXPECT_THROW(import_files({fixture("nvbench.json")}, "nvbensh"), UsageError);
  EXPECT_THROW(import_files({}), UsageError);
}

TEST(Import, WhatIsImportedPassesTheGatesAndProvesNothing) {
  for (const char* name : {"samples.csv", "nvbench.json", "google_benchmark.json"})
    for (Record r : import_file(fixture(name)).records) {
      const Outcome before = r.outcome;
      apply_gates(r);
      EXPECT_EQ(r.outcome, before) << r.reason;
      ASSERT_TRUE(r.imported);
      EXPECT_EQ(r.imported->file, name);
      EXPECT_EQ(r.imported->xxh3, file_xxh3(fixture(name)));
      EXPECT_EQ(r.iterations, 0U);
      EXPECT_EQ(r.verification.elements_compared, 0U);
      EXPECT_EQ(fact(r, "imported"), r.imported->format);
    }
}

TEST(ImportCsv, RowsBecomeSessionsAndSamplesInSiUnits) {
  const ImportedRun run = import_file(fixture("samples.csv"));
  ASSERT_EQ(run.plan.devices.size(), 2U);
  EXPECT_EQ(run.plan.devices[0].id, "GPU-11");
  EXPECT_EQ(run.plan.devices[0].name, "H200 SXM");
  EXPECT_EQ(run.plan.devices[0].labels.at("host"), "n1");
  EXPECT_EQ(run.plan.devices[1].id, "GPU \"22\", new") << "the identity as written";
  EXPECT_EQ(run.plan.sessions, 2);
  ASSERT_EQ(run.records.size(), 3U);
  const Record& late = record(run, "memory/stream/op:copy", 2);
  EXPECT_EQ(fact(late, "session_as_written"), "10");
  EXPECT_EQ(late.benchmark, "memory/stream");
  EXPECT_EQ(late.params.at("op"), "copy");
  EXPECT_EQ(late.started_at, "2026-11-30T17:05:00.500Z") << "of the earliest row";
  EXPECT_EQ(fact(late, "driver"), "580.95");
  const MetricResult& bandwidth = metric(late, "bandwidth");
  EXPECT_EQ(bandwidth.metric.unit, "B/s");
  EXPECT_EQ(bandwidth.metric.better, Better::higher);
  EXPECT_THAT(bandwidth.samples, ElementsAre(4.1e12, 4e12)) << "by the number of the sample, not of the line";
  EXPECT_EQ(bandwidth.cycle_unit, "B/cycle");
  EXPECT_NEAR(bandwidth.cycle_samples.at(1), 4e12 / 1.98e9, 1e-6);
  EXPECT_FALSE(bandwidth.limit.value);
  const MetricResult& step = metric(late, "step");
  EXPECT_EQ(step.metric.unit, "s");
  EXPECT_EQ(step.metric.better, Better::lower);
  EXPECT_NEAR(step.samples.at(0), 2.5e-3, 1e-15);
  EXPECT_EQ(step.cycle_unit, "cycle");
  const Record& early = record(run, "memory/stream/op:copy", 1);
  EXPECT_EQ(early.started_at, "2026-11-29T16:05:00.000Z");
  ASSERT_EQ(early.curves.size(), 3U) << "clock, temperature and time; no power was given";
  EXPECT_EQ(early.curves[1].name, "temperature beside bandwidth");
  EXPECT_EQ(early.curves[1].points.at(0).y, 39);
  EXPECT_EQ(early.curves[2].name, "time beside bandwidth");
  const Curve& times = late.curves.at(3);
  ASSERT_EQ(times.points.size(), 2U);
  EXPECT_EQ(times.points[0].y, 0) << "since the earliest row of the record";
  EXPECT_EQ(times.points[1].y, 0.5);
  const Record& other = record(run, "bert/train");
  EXPECT_EQ(other.started_at, "") << "the file doesn't say";
  EXPECT_EQ(metric(other, "step").cycle_unit, "") << "no clock, no cycles";
  EXPECT_NEAR(metric(other, "step").samples.at(0), 250e-6, 1e-15) << "another benchmark, another unit";
}

const std::string header = "host,device,device_class,benchmark,case,metric,unit,better,session,sample,value\n";

TEST(ImportCsv, OneNameIsOneThing) {
  const std::string first = header + "h,d,c,b,x,m,s,lower,1,1,2\n";
  for (const auto& [row, words] : std::vector<std::pair<std::string, std::string>>{
           {"h2,d,c,b,y,m,s,lower,1,1,2\n", "x line 3, column 1 (host): the device d is on h in x line 2"},
           {"h,d,c2,b,y,m,s,lower,1,1,2\n",
            "x line 3, column 3 (device_class): the device d is of the class c in x line 2"},
           {"h,d,c,b,y,m,ms,lower,1,1,2\n", "x line 3, column 7 (unit): 'ms', but m of b is in s in x line 2"},
           {"h,d,c,b,y,m,s,higher,1,1,2\n", "x line 3, column 8 (better): 'higher', but m of b is better lower"},
           {"h,d,c,b,x,m,s,lower,1,1,3\n",
            "x line 3, column sample: sample 1 of session 1 of m (b/x, d) is in x line 2"},
       })
    EXPECT_THAT(problem(first + row), HasSubstr(words)) << row;
  EXPECT_EQ(problem(first + "h,d,c,b2,x,m,B/s,higher,1,1,2\n"), "") << "the m of another benchmark";
  EXPECT_EQ(problem(first + "h,d,c,b2,x,m,foo,higher,1,1,2\nh,d,c,b3,x,m,foo,lower,1,1,2\n"), "")
      << "nobody knows which direction of a foo is good";
  EXPECT_THAT(problem(first + "h,d,c,b2,x,m,foo/s,lower,1,1,2\n"), HasSubstr("foo/s is a rate"));
  EXPECT_EQ(problem(first + "h,d2,c2,b,x,m,s,lower,1,1,2\n"), "");
}

TEST(ImportCsv, TwoEqualSessionsAreACopyFromThreeValuesOn) {
  const auto rows = [](int session, const std::string& last, int count) {
    std::string text;
    for (int i = 1; i <= count; ++i)
      text += fmt::format("h,d,c,b,x,m,s,lower,{},{},{}\n", session, i, i == count ? last : std::to_string(i));
    return text;
  };
  EXPECT_EQ(problem(header + rows(1, "9", 2) + rows(2, "9", 2)), "") << "two values can be equal by chance";
  EXPECT_THAT(problem(header + rows(1, "9", 3) + rows(2, "9", 3)),
              HasSubstr("x line 5, column session: session 2 of d"));
  EXPECT_EQ(problem(header + rows(1, "9", 3) + rows(2, "8", 3)), "");
  EXPECT_EQ(problem(header + rows(1, "9", 3) + rows(2, "9", 3) + "h,d,c,b,y,m,s,lower,2,1,5\n"), "")
      << "not all of the two";
  std::string other = rows(1, "9", 3);
  for (std::size_t at = 0; (at = other.find("h,d,", at)) != std::string::npos; at += 4) other.replace(at, 4, "h,e,");
  EXPECT_EQ(problem(header + rows(1, "9", 3) + other), "") << "another device";
}

// The outcome of each session of a case on a device, in their order.
std::vector<Outcome> outcomes(const ImportedRun& run, const std::string& case_name, const std::string& device = "d") {
  std::vector<Outcome> all;
  for (const Record& r : run.records)
    if (r.case_name == case_name && r.device_set.front() == device) {
      EXPECT_EQ(r.session, static_cast<int>(all.size()) + 1);
      all.push_back(r.outcome);
    }
  return all;
}

ImportedRun imported(const std::string& rows) {
  const assay::testing::TemporaryFolder folder;
  write_file_atomically(folder / "x", header + rows);
  return import_files({folder / "x"});
}

constexpr Outcome measured = Outcome::measured, not_run = Outcome::not_run;

TEST(ImportCsv, ADeviceOwesItsCasesInAllOfItsSessions) {
  const ImportedRun run = imported(
      "h,d,c,b,x,m,s,lower,3,1,2\nh,d,c,b,x,m,s,lower,5,1,3\nh,d,c,b,x,m,s,lower,9,1,4\n"
      "h,d,c,b,y,m,s,lower,3,1,2\nh,d,c,b,y,m,s,lower,9,1,3\n");
  EXPECT_THAT(outcomes(run, "b/x"), ElementsAre(measured, measured, measured));
  EXPECT_THAT(outcomes(run, "b/y"), ElementsAre(measured, not_run, measured));
  EXPECT_THAT(record(run, "b/y", 2).reason, HasSubstr("x holds nothing of it in session 5 of d"));
  EXPECT_THAT(all_notes(run), HasSubstr("1 of 6 sessions of a case is NOT_RUN"));
}

TEST(ImportCsv, ACaseOwesItsMetricsInAllOfItsSessions) {
  const ImportedRun run = imported(
      "h,d,c,b,x,m,s,lower,1,1,2\nh,d,c,b,x,n,s,lower,1,1,5\nh,d,c,b,x,m,s,lower,2,1,3\n"
      "h,d,c,b,y,m,s,lower,1,1,2\nh,d,c,b,y,m,s,lower,2,1,3\n");
  EXPECT_THAT(outcomes(run, "b/x"), ElementsAre(measured, not_run));
  EXPECT_THAT(outcomes(run, "b/y"), ElementsAre(measured, measured)) << "it has no n anywhere";
  EXPECT_THAT(record(run, "b/x", 2).reason, HasSubstr("x lacks n in this session"));
  EXPECT_EQ(record(run, "b/x", 2).metrics.size(), 1U) << "what is there is kept";
}

TEST(ImportCsv, DevicesOfAHostOweTheSameSessions) {
  const std::string first = "h,d,c,b,x,m,s,lower,1,1,2\nh,d,c,b,x,m,s,lower,2,1,3\n";
  const ImportedRun holes = imported(first + "h,e,c,b,x,m,s,lower,2,1,3\n");
  EXPECT_THAT(outcomes(holes, "b/x", "e"), ElementsAre(not_run, measured));
  EXPECT_THAT(outcomes(holes, "b/x", "d"), ElementsAre(measured, measured));
  const ImportedRun other_host = imported(first + "h2,e,c,b,x,m,s,lower,2,1,3\n");
  EXPECT_THAT(outcomes(other_host, "b/x", "e"), ElementsAre(measured));
  const ImportedRun own_numbers = imported(first + "h,e,c,b,x,m,s,lower,7,1,3\n");
  EXPECT_THAT(outcomes(own_numbers, "b/x", "e"), ElementsAre(measured)) << "no session has both: each has its own";
}

TEST(ImportCsv, MoreHolesThanRowsAreRefusedNotAllocated) {
  std::string text = header;
  for (int i = 0; i < 400; ++i) text += fmt::format("h,d,c,b,{},m,s,lower,{},1,2\n", i, i);
  EXPECT_THAT(problem(text), HasSubstr("number the processes of each case 1, 2, ..."));
}

TEST(ImportCsv, SeveralDriversAreMixed) {
  const assay::testing::TemporaryFolder folder;
  const auto labels = [&](const std::string& first, const std::string& second) {
    write_file_atomically(folder / "x", "driver," + header + first + ",h,d,c,b,x,m,s,lower,1,1,2\n" + second +
                                            ",h,d,c,b,x,m,s,lower,2,1,3\n" + second + ",h,d,c,b,x,m,s,lower,4,1,4\n");
    return import_files({folder / "x"}).plan.devices.front().labels;
  };
  EXPECT_EQ(labels("535", "535").at("driver_version"), "535");
  EXPECT_EQ(labels("535", "550").at("driver_version"), "mixed: 535 in session 1, 550 in sessions 2 4");
  EXPECT_EQ(labels("", "550").at("driver_version"), "mixed: none told in session 1, 550 in sessions 2 4");
  EXPECT_EQ(labels("", "").count("driver_version"), 0U);
}

TEST(ImportCsv, AMillionSessionsAreRefusedNotAllocated) {
  std::string text = header;
  for (int i = 0; i < 1001; ++i) text += "h,d,c,b,x,m,s,lower," + std::to_string(i) + ",1,2\n";
  EXPECT_THAT(problem(text), HasSubstr("has 1001 sessions, 1000 at most are read"));
  EXPECT_EQ(problem(header + "h,d,c,b,x,m,s,lower,18446744073709551615,18446744073709551615,2\n"), "");
}

TEST(ImportCsv, BenchmarksThatShareACaseNameAreToldApart) {
  const ImportedRun run = import_files({[] {
    static const assay::testing::TemporaryFolder folder;
    write_file_atomically(folder / "x", header + "h,d,c,a,x,m,s,lower,1,1,2\nh,d,c,b,x,m,s,lower,1,1,3\n");
    return folder / "x";
  }()});
  EXPECT_EQ(run.records.at(0).case_name, "a/x");
  EXPECT_EQ(run.records.at(1).case_name, "b/x");
  EXPECT_THAT(problem(header + "h,d,c,a,b/x,m,s,lower,1,1,2\nh,d,c,a/b,x,m,s,lower,1,1,3\n"),
              HasSubstr("the benchmarks a and a/b both have a case a/b/x"));
}

TEST(ImportCsv, OneSessionIsInOneFileAndOneFileIsReadOnce) {
  const assay::testing::TemporaryFolder folder;
  write_file_atomically(folder / "a", header + "h,d,c,b,x,m,s,lower,1,1,2\n");
  write_file_atomically(folder / "b", header + "h,d,c,b,x,m,s,lower,1,2,2\n");
  write_file_atomically(folder / "c", header + "h,d,c,b,x,m,s,lower,2,1,2\n");
  write_file_atomically(folder / "d", header + "h,d,c,b,x,m,s,lower,1,1,2\n");
  const auto said = [&](const std::string& other) -> std::string {
    try {
      import_files({folder / "a", folder / other});
    } catch (const Error& e) {
      return e.what();
    }
    return {};
  };
  EXPECT_THAT(said("b"), HasSubstr("b line 2, column session: session 1 of b/x on d has rows in a line 2 too"));
  EXPECT_EQ(said("c"), "");
  EXPECT_THAT(said("d"), HasSubstr("d has the same content as a"));
}

TEST(ImportGoogleBenchmark, RepetitionsAreSamplesOfOneSession) {
  const ImportedRun run = import_file(fixture("google_benchmark.json"));
  const ImportedFile& file = run.plan.imported->files.at(0);
  EXPECT_EQ(file.tool_version, "v1.8.3");
  EXPECT_EQ(file.environment.at("executable"), "./bench");
  EXPECT_THAT(file.environment.at("caches"), HasSubstr("32768"));
  ASSERT_EQ(run.plan.devices.size(), 1U);
  EXPECT_EQ(run.plan.devices[0].id, "n1");
  EXPECT_EQ(run.plan.devices[0].facts.at("cpus"), 8);
  EXPECT_EQ(run.plan.sessions, 1);
  const Record& copy = record(run, "BM_Copy/64");
  EXPECT_EQ(copy.benchmark, "BM_Copy");
  EXPECT_EQ(copy.started_at, "2026-11-30T17:05:01.000Z");
  ASSERT_EQ(metric(copy, "real_time").samples.size(), 2U);
  EXPECT_NEAR(metric(copy, "real_time").samples[1], 2.1e-6, 1e-18);
  EXPECT_EQ(metric(copy, "real_time").metric.unit, "s");
  EXPECT_THAT(metric(copy, "bytes_per_second").samples, ElementsAre(3.2e10, 3.1e10));
  EXPECT_EQ(metric(copy, "bytes_per_second").metric.better, Better::higher);
  EXPECT_EQ(copy.metrics.size(), 2U) << "cpu_time has a 0";
  EXPECT_EQ(fact(copy, "counter hits"), "7 8");
  EXPECT_NEAR(metric(record(run, "BM_Old"), "real_time").samples.at(0), 9e-9, 1e-20);
  EXPECT_EQ(record(run, "BM_Fails").outcome, Outcome::error);
  EXPECT_THAT(record(run, "BM_Fails").reason, HasSubstr("no device"));
  EXPECT_EQ(record(run, "BM_OnlyMean").outcome, Outcome::not_run);
  EXPECT_EQ(run.records.size(), 4U);
  const std::string notes = all_notes(run);
  EXPECT_THAT(notes, HasSubstr("2 aggregates were left out"));
  EXPECT_THAT(notes, HasSubstr("cpu_time is 0 in BM_Copy/64 (1 case)"));
  EXPECT_THAT(notes, HasSubstr("facts and no metrics: hits"));
  EXPECT_THAT(notes, HasSubstr("one process a case"));
}

TEST(ImportGoogleBenchmark, ASkippedNameIsNoCase) {
  const ImportedRun run = import_file(fixture("google_benchmark.json"));
  int skipped = 0;
  for (const PlannedCase& planned : run.plan.cases)
    if (planned.coverage == Coverage::not_applicable) {
      ++skipped;
      EXPECT_EQ(planned.name, "BM_Skipped");
      EXPECT_EQ(planned.reason, "skipped");
      EXPECT_EQ(planned.text, "needs two NUMA nodes");
    }
  EXPECT_EQ(skipped, 1);
}

TEST(ImportGoogleBenchmark, EachFileIsASession) {
  const assay::testing::TemporaryFolder folder;
  const std::string text = read_file(fixture("google_benchmark.json"));
  write_file_atomically(folder / "1.json", text);
  write_file_atomically(folder / "2.json",
                        std::regex_replace(text, std::regex("\"real_time\": 2.1"), "\"real_time\": 2.2"));
  const ImportedRun run = import_files({folder / "1.json", folder / "2.json"}, "google-benchmark");
  EXPECT_EQ(run.plan.sessions, 2);
  EXPECT_EQ(record(run, "BM_Copy/64", 2).process, 2);
  EXPECT_EQ(record(run, "BM_Copy/64", 2).imported->file, "2.json");
  EXPECT_EQ(run.records[0].case_name, run.records[1].case_name);
  for (std::size_t i = 0; i < run.records.size(); ++i) EXPECT_EQ(run.records[i].sequence, i + 1);
}

ImportedRun three_files(const std::vector<std::string>& rows) {
  const assay::testing::TemporaryFolder folder;
  std::vector<std::filesystem::path> files;
  for (const std::string& row : rows) {
    files.push_back(folder / fmt::format("{}.json", files.size()));
    write_file_atomically(files.back(), R"({"context": {"host_name": "n1"}, "benchmarks": [)" + row + "]}");
  }
  return import_files(files, "google-benchmark");
}

std::string repetition(const std::string& name, const std::string& more) {
  return fmt::format(R"({{"name": "{}", "time_unit": "ns", {}}})", name, more);
}

TEST(ImportGoogleBenchmark, WhatOneFileLacksIsNotRun) {
  const std::string b = ", " + repetition("b", "\"real_time\": 7");
  const ImportedRun run = three_files({repetition("a", "\"real_time\": 1, \"cpu_time\": 3") + b,
                                       repetition("a", "\"real_time\": 2, \"cpu_time\": 4"),
                                       repetition("a", "\"real_time\": 3, \"cpu_time\": 0") + b});
  EXPECT_THAT(outcomes(run, "a", "n1"), ElementsAre(measured, measured, measured));
  EXPECT_EQ(record(run, "a", 1).metrics.size(), 1U) << "cpu_time can't be told in each";
  EXPECT_THAT(outcomes(run, "b", "n1"), ElementsAre(measured, not_run, measured));
  EXPECT_THAT(record(run, "b", 2).reason, HasSubstr("1.json holds nothing of it"));
  const ImportedRun empty = three_files({repetition("a", "\"real_time\": 1"), ""});
  EXPECT_THAT(outcomes(empty, "a", "n1"), ElementsAre(measured, not_run));
}

TEST(ImportGoogleBenchmark, AnErrorIsMoreThanASkip) {
  const std::string failed = repetition("a", "\"error_occurred\": true, \"error_message\": \"wrong result\"");
  const std::string skipped = repetition("a", "\"skipped\": true, \"skip_message\": \"later\"");
  for (const std::string& rows : {failed + ", " + skipped, skipped + ", " + failed}) {
    const ImportedRun run = three_files({rows});
    ASSERT_EQ(run.records.size(), 1U);
    EXPECT_EQ(run.records[0].outcome, Outcome::error);
    EXPECT_THAT(run.records[0].reason, HasSubstr("wrong result"));
  }
}

TEST(ImportGoogleBenchmark, BadFilesAreSentences) {
  const char* const format = "google-benchmark";
  EXPECT_THAT(problem("{\"context\": {},\n \"benchmarks\": [}", format),
              HasSubstr("x line 2, column 17: syntax error"));
  EXPECT_THAT(problem("{}", format), HasSubstr("x line 1, column 1: there is no list 'benchmarks'"));
  EXPECT_THAT(problem("[]", format), HasSubstr("there is no list 'benchmarks'"));
  EXPECT_THAT(problem(std::string(1000000, '['), format), HasSubstr("nested deeper"));
  EXPECT_THAT(problem("", format), HasSubstr("x line 1, column 1"));
  EXPECT_THAT(problem("{\"benchmarks\": []}", format), HasSubstr("x: nothing is in it that was measured"));
  EXPECT_THAT(problem("{\"benchmarks\": [1]}", format), HasSubstr("an entry of 'benchmarks' has no name"));
  EXPECT_THAT(problem("{\"benchmarks\": [{\"name\": \"a\", \"real_time\": 1, \"time_unit\": \"min\"}]}", format),
              HasSubstr("a has the time_unit 'min'"));
  EXPECT_THAT(problem("{\"benchmarks\": [{\"name\": \"a\", \"real_time\": 1, \"error_occurred\": 3}]}", format),
              HasSubstr("x: "));
}

TEST(ImportNvbench, StatesAreCasesAndSummariesAreMetrics) {
  const ImportedRun run = import_file(fixture("nvbench.json"));
  EXPECT_EQ(run.plan.imported->files.at(0).tool_version, "0.1.0");
  EXPECT_EQ(run.plan.imported->files.at(0).environment.at("nvbench.git_sha"), "348acbd6");
  ASSERT_EQ(run.plan.devices.size(), 3U);
  EXPECT_EQ(run.plan.devices[0].id, "NVIDIA H200 0") << "two alike are told apart by their index";
  EXPECT_EQ(run.plan.devices[0].name, "NVIDIA H200");
  EXPECT_EQ(run.plan.devices[0].facts.at("number_of_sms"), 132);
  EXPECT_EQ(run.plan.devices[0].labels.at("ecc_state"), "true");
  EXPECT_EQ(run.plan.devices[2].id, "NVIDIA L4");
  const Record& copy = record(run, "copy/Size:1048576/T:a/b", 1, "NVIDIA H200 0");
  EXPECT_EQ(copy.params.at("Size"), "1048576");
  ASSERT_EQ(copy.metrics.size(), 3U);
  EXPECT_THAT(metric(copy, "nv/cold/time/gpu/mean").samples, ElementsAre(0.001));
  EXPECT_EQ(metric(copy, "nv/cold/time/gpu/mean").metric.better, Better::lower);
  EXPECT_THAT(metric(copy, "nv/cold/time/gpu/mean").cycle_samples, ElementsAre(1980000.0));
  EXPECT_EQ(metric(copy, "nv/cold/bw/global/bytes_per_second").metric.unit, "B/s");
  EXPECT_EQ(fact(copy, "nv/cold/sample_size"), "499");
  EXPECT_EQ(fact(copy, "nv/cold/walltime"), "0.5");
  const Record& broken = record(run, "copy/Size:1048576/T:a/b", 1, "NVIDIA H200 1");
  EXPECT_EQ(broken.outcome, Outcome::error) << "it threw, and nvbench calls that skipped";
  EXPECT_THAT(broken.reason, HasSubstr("illegal memory access"));
  EXPECT_EQ(run.plan.cases.size(), 3U);
  for (const PlannedCase& planned : run.plan.cases) EXPECT_EQ(planned.coverage, Coverage::required);
  const Record& idle = record(run, "copy/Size:1048576/T:a/b", 1, "NVIDIA L4");
  EXPECT_EQ(idle.outcome, Outcome::not_run) << "all that this device was to do was left out";
  EXPECT_THAT(idle.reason, HasSubstr("Too little memory."));
  const std::string notes = all_notes(run);
  EXPECT_THAT(notes, HasSubstr("without any state, so not here: empty"));
  EXPECT_THAT(notes, HasSubstr("binary files beside it"));
}

TEST(ImportNvbench, LeftOutInOneProcessOnlyIsNotRun) {
  const assay::testing::TemporaryFolder folder;
  std::string text = read_file(fixture("nvbench.json"));
  write_file_atomically(folder / "1.json", text);
  const std::string said = "\"is_skipped\": false}";
  text.replace(text.find(said), said.size(), "\"is_skipped\": true, \"skip_reason\": \"no time\"}");
  write_file_atomically(folder / "2.json", text);
  const ImportedRun run = import_files({folder / "1.json", folder / "2.json"});
  const Record& second = record(run, "copy/Size:1048576/T:a/b", 2, "NVIDIA H200 0");
  EXPECT_EQ(second.outcome, Outcome::not_run);
  EXPECT_THAT(second.reason, HasSubstr("no time"));
  EXPECT_EQ(record(run, "copy/Size:1048576/T:a/b", 1, "NVIDIA H200 0").outcome, Outcome::measured);
}

TEST(ImportNvbench, ADeviceThatDidNothingIsNotRun) {
  const assay::testing::TemporaryFolder folder;
  std::string text = read_file(fixture("nvbench.json"));
  for (const std::string& said : {std::string("\"is_skipped\": false}"), std::string("Unexpected error")}) {
    const std::string into = said[0] == '"' ? "\"is_skipped\": true, \"skip_reason\": \"no time\"}" : "no time";
    for (std::size_t at = 0; (at = text.find(said, at)) != std::string::npos;) text.replace(at, said.size(), into);
  }
  write_file_atomically(folder / "x", text);
  const ImportedRun run = import_files({folder / "x"});
  EXPECT_FALSE(run.records.empty());
  for (const Record& r : run.records) EXPECT_EQ(r.outcome, Outcome::not_run) << r.case_name;
  for (const PlannedCase& planned : run.plan.cases) EXPECT_EQ(planned.coverage, Coverage::required) << planned.name;
}

TEST(ImportNvbench, BadFilesAreSentences) {
  const std::string good = read_file(fixture("nvbench.json"));
  const auto changed = [&](const std::string& what, const std::string& into) {
    std::string text = good;
    const std::size_t at = text.find(what);
    EXPECT_NE(at, std::string::npos) << what;
    text.replace(at, what.size(), into);
    return problem(text, "nvbench");
  };
  EXPECT_EQ(changed("\"Size\"", "\"Size\""), "");
  EXPECT_THAT(changed("1.0.0", "2.0.0"), HasSubstr("version 2.0.0 of nvbench's files is not known"));
  EXPECT_THAT(changed("\"device\": 1", "\"device\": 7"),
              HasSubstr("copy ran on device 7, which isn't among 'devices'"));
  EXPECT_THAT(changed("\"device\": 1", "\"device\": 0"), HasSubstr("copy/Size:1048576/T:a/b is there twice"));
  EXPECT_THAT(changed("\"is_skipped\": false", "\"is_skipped\": 0"), HasSubstr("this is no JSON of nvbench"));
  EXPECT_THAT(changed("\"devices\": [\n", "\"device\": [\n"),
              HasSubstr("'meta', 'devices' or 'benchmarks' is missing"));
  EXPECT_THAT(problem(good.substr(0, 500), "nvbench"), HasSubstr("x line 1"));
  EXPECT_THAT(problem("null", "nvbench"), HasSubstr("no JSON of nvbench"));
}

TEST(ImportNvbench, TheRealPair) {
  const auto folder = assay::source_folder() / "../shared/reference/stats/nvbench";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << folder << " isn't here: two files of real nvbench runs";
  for (const char* name : {"test_ref.json", "test_cmp.json"}) {
    const ImportedRun run = import_file(folder / name);
    EXPECT_EQ(run.records.size(), 88U);
    EXPECT_EQ(run.plan.cases.size(), 88U + 38U);
    EXPECT_EQ(run.plan.sessions, 1);
    ASSERT_EQ(run.plan.devices.size(), 2U);
    EXPECT_EQ(run.plan.devices[0].id, "Quadro GV100");
    std::size_t values = 0;
    for (const Record& r : run.records) {
      EXPECT_EQ(r.outcome, Outcome::measured) << r.reason;
      for (const MetricResult& m : r.metrics) values += m.samples.size();
    }
    EXPECT_EQ(values, 88U * 3 + 64U * 2) << "three times a state, two rates where bytes and items are counted";
    EXPECT_NEAR(metric(record(run, "simple", 1, "Quadro GV100"), "nv/cold/time/gpu/mean").samples.at(0), 1.0034e-3,
                1e-5);
  }
}

TEST(Import, TimesNameAnInstantOrNothing) {
  EXPECT_EQ(unix_time("1700000000.25"), 1700000000.25);
  EXPECT_EQ(unix_time("2026-11-30T17:05:01Z"), 1796058301);
  EXPECT_EQ(unix_time("2026-11-30 17:05:01.5Z"), 1796058301.5);
  EXPECT_EQ(unix_time("2026-11-30T18:35:01+01:30"), 1796058301);
  EXPECT_EQ(unix_time("2026-11-30T16:05:01-01:00"), 1796058301);
  for (const char* text : {"", "now", "2026-11-30T17:05:01", "2026-11-30", "-1", "1e300", "2026-13-30T17:05:01Z",
                           "2026-11-30T17:05:01.Z", "2026-11-30T17:05:01+1", "2026-11-30T17:05:01Zx", "nan"})
    EXPECT_FALSE(unix_time(text)) << text;
  EXPECT_EQ(utc_text(1796058301.5), "2026-11-30T17:05:01.500Z");
}

}  // namespace
}  // namespace assay
