// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
#include "harness/verdict/baseline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "harness/base/error.h"
#include "tests/unit/source_folder.h"

namespace assay {
namespace {

using testing::HasSubstr;

const ClassTable& table() {
  static const ClassTable shipped = read_class_table(source_folder() / "results");
  return shipped;
}

BaselineRow sample_row() {
  BaselineRow row;
  row.class_id = "h100_sxm5_80gb";
  row.benchmark = "memory/stream";
  row.key = {"memory/stream/op:copy", "bandwidth", "", Axis::second};
  row.unit = "B/s";
  row.devices = 16, row.removed = 1, row.sessions = 48;
  row.log_mean = std::log(2.9e12);
  row.between_device_sd = 0.0041;
  row.between_session_sd = 0.0012;
  row.within_session_sd = 0.0008;
  row.clock_elasticity = 0.03;
  row.clock_hz = 1.83e9;
  row.provisional = false;
  row.date = "2026-11-30", row.driver_min = "550.54.15", row.driver_max = "580.95.05";
  row.tool_version = "0.1.0+abc", row.worker = "cuda13", row.modes = "ecc=on;mig=off",
  row.source = "runs a, b and \"c\"";
  return row;
}

class BaselineTest : public testing::Test {
 protected:
  ~BaselineTest() override { std::filesystem::remove(path_); }
  Baseline read(const std::string& text) const {
    std::ofstream(path_) << text;
    return read_baseline(path_, table());
  }
  std::string complaint(const std::string& text) const {
    try {
      read(text);
    } catch (const Error& problem) {
      EXPECT_EQ(problem.code(), exit_code::error);
      return problem.what();
    }
    return {};
  }
  // The good row with one cell changed.
  std::string with(const std::string& column, const std::string& cell) const {
    const auto& columns = baseline_columns();
    const std::string header = to_csv({}), row =
                                               "h100_sxm5_80gb,memory/stream,memory/stream/op:copy,bandwidth,,second,"
                                               "B/"
                                               "s,higher,16,1,48,28.7,0.0041,0.0012,0.0008,0.03,1.83e9,REFERENCE,2026-"
                                               "11-30,550,580,0.1.0,cuda13,ecc=on,here,";
    std::vector<std::string> cells{""};
    for (const char c : row)
      if (c == ',')
        cells.emplace_back();
      else
        cells.back() += c;
    EXPECT_EQ(cells.size(), columns.size());
    for (std::size_t i = 0; i < columns.size(); ++i)
      if (columns[i] == column) cells[i] = cell;
    std::string text = header;
    for (std::size_t i = 0; i < cells.size(); ++i) text += (i == 0 ? "" : ",") + cells[i];
    return text + "\n";
  }
  const std::filesystem::path path_ =
      std::filesystem::temp_directory_path() / ("assay-baseline-" + std::to_string(getpid()) + ".csv");
};

TEST_F(BaselineTest, WhatIsWrittenIsReadBackToTheLastDigit) {
  BaselineRow lower = sample_row();
  lower.key.metric = "latency", lower.unit = "s", lower.better = Better::lower;
  lower.between_session_sd.reset(), lower.within_session_sd.reset(), lower.clock_elasticity.reset(),
      lower.clock_hz.reset();
  lower.devices = 5, lower.provisional = true;
  BaselineRow cycle = sample_row();
  cycle.key.axis = Axis::cycle, cycle.unit = "B/cycle";
  const Baseline before{"h100_sxm5_80gb", {lower, sample_row(), cycle}};
  const Baseline after = read(to_csv(before));
  EXPECT_EQ(after.class_id, before.class_id);
  ASSERT_EQ(after.rows.size(), 3);
  EXPECT_EQ(to_csv(after), to_csv(before));
  const BaselineRow* row = after.find(sample_row().key);
  ASSERT_NE(row, nullptr);
  EXPECT_EQ(row->log_mean, std::log(2.9e12));
  EXPECT_EQ(row->source, "runs a, b and \"c\"");
  EXPECT_EQ(row->clock_elasticity, 0.03);
  EXPECT_EQ(after.find(lower.key)->between_session_sd, std::nullopt);
  EXPECT_EQ(after.find({"memory/stream/op:copy", "bandwidth", "bytes:1", Axis::second}), nullptr);
}

TEST_F(BaselineTest, EveryWrongCellIsAnErrorWithLineAndColumn) {
  EXPECT_EQ(complaint(with("", "")), "");
  for (const auto& [column, cell, words] : std::vector<std::tuple<const char*, const char*, const char*>>{
           {"class", "h100_sxm_80gb", "is no known class; did you mean h100_sxm5_80gb"},
           {"class", "", "nothing is written here"},
           {"case", "compute/fma", "is no case of memory/stream"},
           {"axis", "minute", "not known"},
           {"unit", "", "nothing is written here"},
           {"unit", "GB/s", "is no SI base unit"},
           {"unit", "parsec", "is no SI base unit"},
           {"unit", "B/cycle", "no unit of the axis"},
           {"better", "more", "not known"},
           {"better", "lower", "B/s is better higher"},
           {"devices", "2", "no whole number from 3"},
           {"devices", "8.5", "no whole number"},
           {"devices", "5", "PROVISIONAL"},
           {"removed", "-1", "no whole number from 0"},
           {"sessions", "15", "no whole number from 16"},
           {"log_mean", "nan", "is no finite number"},
           {"log_mean", "2.9e12", "no logarithm"},
           {"between_device_log_sd", "0", "not above 0"},
           {"between_device_log_sd", "-0.1", "not above 0"},
           {"between_session_log_sd", "0", "not above 0"},
           {"within_session_log_sd", "1e999", "beyond what a number can be"},
           {"clock_elasticity", "95", "far from 0 to 1"},
           {"clock_hz", "0", "not above 0"},
           {"status", "GOOD", "not known"},
           {"date", "30.11.2026", "not of the form"},
           {"tool_version", "", "nothing is written here"},
           {"worker", "", "nothing is written here"},
           {"source", "", "nothing is written here"}}) {
    const std::string said = complaint(with(column, cell));
    EXPECT_THAT(said, HasSubstr(words)) << column << " = " << cell;
    EXPECT_THAT(said, HasSubstr(" line 2, column ")) << column;
  }
}

TEST_F(BaselineTest, FilesThatAreNone) {
  EXPECT_THAT(complaint(to_csv({})), HasSubstr("has no row"));
  EXPECT_THAT(complaint(with("", "") + with("", "").substr(to_csv({}).size())),
              HasSubstr(" line 3, column 4 (metric): memory/stream"));
  EXPECT_THAT(complaint("class,benchmark\n"), HasSubstr("column case: this column is missing"));
  std::string other = with("class", "a40");
  EXPECT_THAT(complaint(with("", "") + other.substr(to_csv({}).size())),
              HasSubstr(" line 3, column 1 (class): is a40"));
  std::string extra = to_csv({});
  extra.insert(extra.size() - 1, ",threshold");
  EXPECT_THAT(complaint(extra), HasSubstr("(threshold): there is no such column"));
}

TEST_F(BaselineTest, ClassesOfCpusAreKnownByTheirForm) {
  EXPECT_EQ(complaint(with("class", "cpu-genuineintel-6-207-2-c2-8gib-vm")), "");
}

TEST(Conflict, UnitAndDirectionMustBeTheSame) {
  EXPECT_EQ(conflict(sample_row(), "B/s", Better::higher), "");
  EXPECT_THAT(conflict(sample_row(), "op/s", Better::higher), HasSubstr("in B/s, the run in op/s"));
  EXPECT_THAT(conflict(sample_row(), "B/s", Better::lower), HasSubstr("takes more of"));
}

}  // namespace
}  // namespace assay
