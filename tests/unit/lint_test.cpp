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

namespace assay {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const ClassTable& table() {
  static const ClassTable shipped = read_class_table(std::filesystem::path(ASSAY_SOURCE_DIR) / "results");
  return shipped;
}

TEST(LintThresholds, FlagsWhatIsImpossibleAndSaysWhy) {
  const auto rows =
      lint_thresholds(std::filesystem::path(ASSAY_SOURCE_DIR) / "tests/fixtures/verdict/thresholds.csv", table());
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
  EXPECT_THAT(lint(stream_row(2.97e3))[0].reason, HasSubstr("unit must be wrong"));
}

TEST(LintBaseline, SpreadsThatNoClassHas) {
  BaselineRow row = stream_row(2.97e12);
  row.between_device_sd = 1e-9;
  EXPECT_THAT(lint(row)[0].reason, HasSubstr("one measurement copied"));
  row.between_device_sd = 0.3;
  EXPECT_THAT(lint(row)[0].reason, HasSubstr("not one class"));
  row.between_device_sd = 0.9;  // what read_baseline() refuses is a flag
  EXPECT_TRUE(lint(row)[0].flag);
  EXPECT_THAT(lint(row)[0].reason, HasSubstr("line 2, column 13 (between_device_log_sd)"));
}

}  // namespace
}  // namespace assay
