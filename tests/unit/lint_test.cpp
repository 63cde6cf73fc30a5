// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// The linter on a small table whose last column says what each row is (and is never read), and on baselines.
#include "harness/verdict/lint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "harness/base/error.h"
#include "harness/verdict/baseline.h"
#include "tests/unit/source_folder.h"

namespace assay {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const ClassTable& table() {
  static const ClassTable shipped = read_class_table(source_folder() / "results");
  return shipped;
}

TEST(LintThresholds, FlagsWhatIsImpossibleAndSaysWhy) {
  const auto rows =
      lint_thresholds(source_folder() / "tests/fixtures/verdict/thresholds.csv", table());
  ASSERT_EQ(rows.size(), 16);
  std::vector<std::uint64_t> flagged;
  for (const Linted& row : rows) {
    EXPECT_FALSE(row.reason.empty()) << row.line;
    if (row.flag) flagged.push_back(row.line);
  }
  EXPECT_THAT(flagged, ElementsAre(3, 4, 6, 8, 9, 10, 11, 16));
  EXPECT_THAT(rows[1].reason, HasSubstr("passes what is plainly broken"));
  EXPECT_THAT(rows[2].reason, HasSubstr("can't be reached: the memory of h100_sxm5_80gb moves at most 3352 GB/s"));
  EXPECT_THAT(rows[6].reason, HasSubstr("a ring over several nodes"));
  EXPECT_THAT(rows[7].reason, HasSubstr("passes everything"));
  EXPECT_THAT(rows[8].reason, HasSubstr("no unit"));
  EXPECT_THAT(rows[9].reason, HasSubstr("no number"));
  EXPECT_THAT(rows[12].reason, HasSubstr("no limits of 'some_other_card'"));
  EXPECT_EQ(to_json(rows)[0]["line"], 2);
  EXPECT_EQ(to_json(rows)[1]["flag"], true);
}

Linted lint_of(const char* gpu, const char* metric, const char* op, const char* threshold, const char* unit,
               const char* gpus) {
  return lint_threshold({"", gpu, "", metric, op, threshold, unit, gpus, ""}, table());
}
constexpr const char* h100 = "h100_sxm5_80gb";

TEST(LintThresholds, WhatPassesEverythingOrMeansNothingIsFlagged) {
  for (const auto& [gpu, metric, op, threshold, unit, gpus, words] : std::vector<
           std::tuple<const char*, const char*, const char*, const char*, const char*, const char*, const char*>>{
           {h100, "memory_bandwidth_min", "<=", "2000", "GB/s", "1", "bounds a rate from above"},
           {h100, "memory_bandwidth_min", "<", "99999", "GB/s", "1", "bounds a rate from above"},
           {h100, "memory_bandwidth_min", ">=", "3000", "W", "1", "'W' is no unit of"},
           {h100, "memory_bandwidth_min", ">=", "3000", "s", "1", "'s' is no unit of"},
           {h100, "memory_bandwidth_min", ">=", "3000", "bananas", "1",
            "'bananas' is no unit that is known: B/s, bit/s"},
           {h100, "some other thing", ">=", "50", "apples", "1", "'apples' is no unit that is known"},
           {h100, "nccl_ib_loopback_busbw_gbps", ">=", "50", "apples", "1", "'apples' is no unit that is known"},
           {"mi300x", "h2d", ">=", "50", "apples", "1", "'apples' is no unit that is known"},
           {h100, "some other thing", ">=", "50 apples", "GB/s", "1", "'50 apples' is more than a number"},
           {h100, "h2d", ">=", "50-60 apples", "GB/s", "1", "'50-60 apples' is more than a number"},
           {h100, "target_power", ">=", "600", "GB/s", "1", "'GB/s' is no unit of"},
           {"h100_sxm", "memory_bandwidth_min", ">=", "3000", "GB/s", "1",
            "'h100_sxm' is no known class; did you mean"},
           {h100, "memory_bandwith_min", ">=", "3000", "GB/s", "1", "is bandwidth meant?"},
           {h100, "", ">=", "3000", "GB/s", "1", "no metric is named"},
           {h100, "memory_bandwidth_min", "", "3000", "GB/s", "1", "'' is no comparison"},
           {h100, "memory_bandwidth_min", "=>>", "3000", "GB/s", "1", "'=>>' is no comparison"},
           {h100, "memory_bandwidth_min", "==", "0", "GB/s", "1", "no measurement gives 0"},
           {h100, "memory_bandwidth_min", "expect", "-5", "GB/s", "1", "is below 0"},
           {h100, "gpu_count", "==", "0", "GPUs", "1", "a node without a device"},
           {h100, "gpu_count", "==", "-8", "GPUs", "1", "is below 0"},
           {h100, "memory_bandwidth_min", ">=", "0", "%", "1", "passes everything"},
           {h100, "latency_us", "<=", "0", "us", "1", "no measurement gives 0"},
           {h100, "temperature", "<=", "5000", "degC", "1", "nothing that a device shows"},
           {h100, "nccl_busbw", ">=", "400", "GB/s", "0", "'0' is no number of devices"},
           {h100, "nccl_busbw", ">=", "400", "GB/s", "-3 nodes", "'-3 nodes' is no number of devices"},
           {h100, "h2d", ">=", "0x40", "GB/s", "1", "'0x40' is no number"},
           {h100, "h2d", ">=", "50-0", "GB/s", "1", "passes everything"},
           {h100, "h2d", ">=", "50", "Gb/s", "1", "passes what is plainly broken"},
           {h100, "latency_us", ">=", "5", "us", "1", "a time from below"},
           {h100, "temperature", ">=", "10", "degC", "1", "a temperature from below"},
           {h100, "ecc_errors", ">=", "1", "count", "1", "errors from below"},
           {h100, "ecc_errors", "<=", "1e18", "count", "1", "nothing that a device shows"},
           {h100, "gpus", "<=", "8", "GPUs", "8", "from above"},
           {h100, "memory_bandwidth", ">=", "-100", "%", "1", "passes what is plainly broken"},
           {h100, "memory_bandwidth", ">=", "-99.9", "% vs baseline", "1", "passes what is plainly broken"},
           {h100, "memory_bandwidth", ">=", "0.0001", "%", "1", "no percentage that can be meant"},
           {h100, "memory_bandwidth", "==", "1e30", "%", "1", "no percentage that can be meant"},
           {h100, "variation", "<=", "100000", "%", "1", "no percentage that can be meant"},
           {"H100_SXM5_80GB", "memory_bandwidth", ">=", "1", "GB/s", "1", "passes what is plainly broken"},
           {"h100-sxm5-80gb", "memory_bandwidth", ">=", "1", "GB/s", "1", "passes what is plainly broken"},
           {"h100_sxm5_80gb ", "memory_bandwidth", ">=", "1", "GB/s", "1", "passes what is plainly broken"},
           {"H100 SXM5 80GB", "memory_bandwidth", ">=", "1", "GB/s", "1", "passes what is plainly broken"},
           {h100, "mem_bw", ">=", "1", "GB/s", "1", "passes what is plainly broken"},
           {h100, "hbm_bandwidth", ">=", "1", "GB/s", "1", "passes what is plainly broken"},
           {h100, "bandwidth", ">=", "1", "B/s", "1", "nothing that a device shows"},
           {h100, "bandwidth", ">=", "1", "MB/s", "1", "passes what is plainly broken"},
           {h100, "bandwidth", ">=", "4", "TB/s", "1", "can't be reached"},
           {h100, "ib_bandwidth", ">=", "0.0000001", "B/s", "1", "nothing that a device shows"},
           {"", "memory_bandwidth", ">=", "1", "B/s", "1", "nothing that a device shows"},
           {h100, "busbw", ">=", "1", "GB/s", "", "passes what is plainly broken"},
           {h100, "memory_bandwidth", ">=", "3000 or 1", "GB/s", "1", "more than one number"},
           {h100, "memory_bandwidth", ">=", "3,000", "GB/s", "1", "more than one number"},
           {h100, "score", ">=", "1e-300", "points", "1", "no unit that is known"},
           {h100, "gemm_latency", "<=", "99999999", "s", "1", "nothing that a device shows"},
       }) {
    const Linted row = lint_of(gpu, metric, op, threshold, unit, gpus);
    EXPECT_TRUE(row.flag) << metric << " " << op << " " << threshold << " " << unit << ": " << row.reason;
    EXPECT_THAT(row.reason, HasSubstr(words));
  }
  EXPECT_FALSE(lint_of("mi300x", "some other thing", "==", "0", "count", "8").flag);
  EXPECT_FALSE(lint_of(h100, "h2d", ">=", "50", "GB/s", "1").flag);
  EXPECT_FALSE(lint_of(h100, "h2d", ">=", "50 (was 40)", "GB/s (one way)", "1").flag);
  EXPECT_FALSE(lint_of("mi300x", "training", ">=", "50", "tok/s", "1").flag);
  EXPECT_FALSE(lint_of(h100, "h2d", ">=", "400", "Gbit/s", "1").flag);
  EXPECT_FALSE(lint_of(h100, "temperature", "<=", "90", "degC", "1").flag);
  EXPECT_FALSE(lint_of(h100, "memory_bandwidth", ">=", "-10", "% vs baseline", "1").flag);
  EXPECT_FALSE(lint_of(h100, "gemm_spread", "<=", "10", "% below best", "1").flag);
  EXPECT_FALSE(lint_of(h100, "nccl_busbw", ">", "200 (default; earlier 400)", "GB/s", "8").flag);
  EXPECT_FALSE(lint_of(h100, "bandwidth", ">=", "25", "GB/s", "1").flag) << "of which link isn't said";
  EXPECT_FALSE(lint_of(h100, "latency_us", "<=", "5", "us", "1").flag);
}

TEST(LintThresholds, WhatIsHeldAgainstNothingIsTold) {
  EXPECT_TRUE(lint_of("mi300x", "training", ">=", "50", "tok/s", "1").unheld);
  EXPECT_TRUE(lint_of(h100, "training", ">=", "50", "tok/s", "1").unheld);
  EXPECT_FALSE(lint_of(h100, "h2d", ">=", "50", "GB/s", "1").unheld);
  EXPECT_FALSE(lint_of(h100, "h2d", ">=", "5000", "GB/s", "1").unheld);
}

TEST(LintThresholds, AMissingColumnIsAnError) {
  const auto path = std::filesystem::temp_directory_path() / ("assay-lint-" + std::to_string(getpid()) + ".csv");
  std::ofstream(path) << "gpu_class,metric,op,threshold\nx,y,>=,1\n";
  EXPECT_THROW(lint_thresholds(path, table()), Error);
  std::filesystem::remove(path);
}

BaselineRow stream_row(double bytes_per_second) {
  BaselineRow row;
  row.class_id = "h100_sxm5_80gb";
  row.benchmark = "memory/stream";
  row.key = {"memory/stream/op:triad/type:f64/size:dram", "bandwidth", "", Axis::second};
  row.unit = "B/s";
  row.devices = 8, row.sessions = 24;
  row.log_mean = std::log(bytes_per_second);
  row.between_device_sd = 0.004;
  row.between_session_sd = 0.001;
  row.provisional = false;
  row.date = "2026-11-30", row.tool_version = "1", row.worker = "cuda13", row.source = "a test";
  return row;
}

std::vector<Linted> lint(const BaselineRow& row) {
  const auto path = std::filesystem::temp_directory_path() / ("assay-lint-" + std::to_string(getpid()) + ".csv");
  std::ofstream(path) << to_csv({row.class_id, {row}});
  const auto rows = lint_baseline(path, table());
  std::filesystem::remove(path);
  return rows;
}

TEST(LintBaseline, HoldsEachRowAgainstItsClass) {
  EXPECT_FALSE(lint(stream_row(2.97e12))[0].flag);
  EXPECT_THAT(lint(stream_row(2.97e12))[0].reason, HasSubstr("89 %"));
  EXPECT_TRUE(lint(stream_row(3.4e12))[0].flag);
  EXPECT_THAT(lint(stream_row(3.4e12))[0].reason, HasSubstr("can't be reached"));
  EXPECT_TRUE(lint(stream_row(2.97e3))[0].flag);
  EXPECT_THAT(lint(stream_row(2.97e3))[0].reason, HasSubstr("would pass what is plainly broken"));
}

TEST(LintBaseline, WhatNoDeviceShowsIsFlaggedWithoutALimitOfTheClass) {
  BaselineRow row = stream_row(1);
  row.benchmark = "bw/copy";
  for (const char* metric : {"bandwidth", "latency"}) {
    row.key = {"bw/copy/size:big", metric, "", Axis::second};
    const bool rate = metric == std::string("bandwidth");
    row.unit = rate ? "B/s" : "s";
    row.better = rate ? Better::higher : Better::lower;
    row.log_mean = rate ? 25 : -12;
    EXPECT_FALSE(lint(row)[0].flag) << lint(row)[0].reason;
    row.log_mean = rate ? -90 : 90;
    EXPECT_TRUE(lint(row)[0].flag) << metric;
    EXPECT_THAT(lint(row)[0].reason, HasSubstr("nothing that a device shows"));
  }
}

TEST(LintBaseline, AGateThatPassesWhatIsBroken) {
  EXPECT_TRUE(lint(stream_row(0.14 * 3.352e12))[0].flag);
  EXPECT_FALSE(lint(stream_row(0.16 * 3.352e12))[0].flag);
  BaselineRow copy = stream_row(1e9);  // pageable: nobody knows how slow it may be
  copy.benchmark = "transfer/host_device";
  copy.key.case_name = "transfer/host_device/direction:h2d/memory:pageable/method:copy_engine/size:1GiB";
  EXPECT_FALSE(lint(copy)[0].flag);
}

TEST(LintBaseline, AMetricInAUnitThatItCantHave) {
  for (const char* unit : {"W", "bit/s", "Hz", "op/s"}) {
    BaselineRow row = stream_row(2.97e12);
    row.unit = unit;
    row.better = unit == std::string("W") ? Better::lower : Better::higher;
    EXPECT_TRUE(lint(row)[0].flag) << unit;
    EXPECT_THAT(lint(row)[0].reason, HasSubstr("only in B/s, B/cycle")) << unit;
  }
}

TEST(LintBaseline, ACaseOfAnotherBenchmark) {
  BaselineRow row = stream_row(2.97e12);
  row.key.case_name = "memory/streaming/op:triad/size:dram";
  EXPECT_TRUE(lint(row)[0].flag);
  EXPECT_THAT(lint(row)[0].reason, HasSubstr("is no case of memory/stream"));
}

TEST(LintBaseline, SpreadsThatNoClassHas) {
  BaselineRow row = stream_row(2.97e12);
  row.between_device_sd = 1e-9;
  EXPECT_THAT(lint(row)[0].reason, HasSubstr("one measurement copied"));
  row.between_device_sd = 0.3;
  EXPECT_THAT(lint(row)[0].reason, HasSubstr("not one class"));
  row.between_device_sd = 0.9;  // what read_baseline() refuses is a flag
  EXPECT_TRUE(lint(row)[0].flag);
  EXPECT_THAT(lint(row)[0].reason,
              testing::StartsWith("column 13 (between_device_log_sd)"));  // the line stands beside it
}

}  // namespace
}  // namespace assay
