// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
#include "harness/parent/store.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <fstream>

#include "harness/base/error.h"
#include "harness/base/file.h"
#include "harness/parent/run_data.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

struct StoreTest : testing::Test {
  StoreTest() : folder(fs::temp_directory_path() / ("assay-store-" + std::to_string(getpid()))) {
    fs::remove_all(folder);
    plan.run_id = "run-1";
    plan.created_at = "2026-11-30T17:00:00.000Z";
  }
  ~StoreTest() override { fs::remove_all(folder); }
  static Record record(const std::string& name) {
    Record r;
    r.case_name = name;
    r.started_at = "2026-11-30T17:00:00.000Z";
    r.outcome = Outcome::not_run;
    r.reason = "not here";
    return r;
  }
  fs::path folder;
  Plan plan;
};

TEST_F(StoreTest, WritesAndReadsBack) {
  {
    Store store = Store::create(folder, plan);
    for (const char* name : {"a", "b"}) {
      Record r = record(name);
      store.append(r);
    }
    store.telemetry({{"source", "host"}});
  }
  const RecordsFile file = read_records(folder / "records.jsonl", "run-1");
  ASSERT_EQ(file.records.size(), 2U);
  EXPECT_EQ(file.records[1].case_name, "b");
  EXPECT_EQ(file.records[1].sequence, 2U);
  EXPECT_EQ(file.records[1].run_id, "run-1");
  EXPECT_EQ(read_plan(folder / "plan.json").run_id, "run-1");
  EXPECT_EQ(begun_plan_xxh3(folder).size(), 16U);
}

TEST_F(StoreTest, ManyRecordsAtOnceAreTheSameLines) {
  std::vector<Record> many;
  for (int i = 0; i < 5000; ++i) many.push_back(record("case " + std::to_string(i)));
  Store store = Store::create(folder, plan);
  store.append(many);
  Record last = record("last");
  store.append(last);
  const RecordsFile file = read_records(folder / "records.jsonl", "run-1");
  ASSERT_EQ(file.records.size(), 5001U);
  for (std::size_t i = 0; i < file.records.size(); ++i) EXPECT_EQ(file.records[i].sequence, i + 1);
  EXPECT_EQ(file.records[4999].case_name, "case 4999");
  EXPECT_EQ(file.records[5000].case_name, "last");
}

TEST_F(StoreTest, NeverOverwrites) {
  fs::create_directories(folder);
  std::ofstream(folder / "precious") << "x";
  EXPECT_THROW(Store::create(folder, plan), Error);
  EXPECT_EQ(read_file(folder / "precious"), "x");
  EXPECT_THROW(Store::create(folder / "precious", plan), Error);
  fs::remove(folder / "precious");
  EXPECT_NO_THROW(Store::create(folder, plan));  // an empty folder is fine
  EXPECT_THROW(Store::create(folder, plan), Error);
}

TEST_F(StoreTest, ReopenCutsDamagedLinesAndGoesOn) {
  {
    Store store = Store::create(folder, plan);
    Record r = record("a");
    store.append(r);
  }
  for (const char* name : {"records.jsonl", "events.jsonl", "telemetry.jsonl"})
    std::ofstream(folder / name, std::ios::app) << "{\"schema\":\"ass";
  const RecordsFile before = read_records(folder / "records.jsonl", "run-1");
  EXPECT_FALSE(before.warning.empty());
  {
    Store store = Store::reopen(folder, plan, before.good_bytes, 2);
    Record r = record("b");
    store.append(r);
  }
  const RecordsFile after = read_records(folder / "records.jsonl", "run-1");
  EXPECT_EQ(after.warning, "");
  ASSERT_EQ(after.records.size(), 2U);
  EXPECT_EQ(after.records[1].sequence, 2U);
  for (const char* name : {"events.jsonl", "telemetry.jsonl"})
    EXPECT_EQ(read_file(folder / name).find("{\"schema\":\"ass\n"), std::string::npos) << name;
}

TEST_F(StoreTest, OnlyOneWriter) {
  const Store store = Store::create(folder, plan);
  EXPECT_THROW(Store::reopen(folder, plan, 0, 1), Error);
}

// The limit on the size of files stands in for a full disk: write() comes back short, as it does there.
TEST_F(StoreTest, FullDiskLeavesWholeLines) {
  Store store = Store::create(folder, plan);
  Record first = record("a");
  store.append(first);
  const auto size = fs::file_size(folder / "records.jsonl");
  rlimit old{};
  getrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{size + 100, old.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  Record second = record("b");
  std::string problem;
  try {
    store.append(second);
  } catch (const Error& e) {
    problem = e.what();
    EXPECT_EQ(e.code(), exit_code::error);
  }
  setrlimit(RLIMIT_FSIZE, &old);
  EXPECT_THAT(problem, testing::HasSubstr("records.jsonl"));
  EXPECT_EQ(fs::file_size(folder / "records.jsonl"), size);
  EXPECT_EQ(read_records(folder / "records.jsonl", "run-1").records.size(), 1U);
}

}  // namespace
}  // namespace assay
