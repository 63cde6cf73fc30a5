// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// The supervisor with a worker in shell: one record for each required case, whatever the worker does. More ways to
// misbehave are in cli/test_rogue_worker.
#include "harness/parent/supervisor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <fstream>

#include "harness/parent/run_data.h"
#include "harness/parent/workers.h"

namespace assay {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

const Metric rate{"rate", "B/s", Better::higher, ""};

Record good_record(const std::string& name) {
  Record r;
  r.case_name = name;
  r.benchmark = "a/b";
  r.worker = "t";
  r.worker_version = "1";
  r.device_set = {"cpu:0"};
  r.started_at = "2026-11-30T17:00:00.000Z";
  r.seed = 1;
  r.outcome = Outcome::measured;
  r.measure_s = r.wall_s = r.block_s = 1e-6;
  r.threads = 1;
  r.cpus = {0};
  r.iterations = 10;
  r.bytes = 10 * 100;
  r.series = {{"", 1e-6, 100, 0, {{1e-6, 10}}, 0, true, "max_time", 0}};  // 10 x 100 B in 1 us: 1 GB/s
  r.verification.elements_compared = 5;
  r.verification.method = "bitwise";
  MetricResult result;
  result.metric = rate;
  result.samples = {1e9};
  result.limit = {std::nullopt, "none", "for a test"};
  r.metrics = {result};
  return r;
}

struct SupervisorTest : testing::Test {
  SupervisorTest() : folder(fs::temp_directory_path() / ("assay-supervisor-" + std::to_string(getpid()))) {
    fs::remove_all(folder);
    fs::create_directories(folder);
    plan.run_id = "run-1";
    plan.created_at = "2026-11-30T17:00:00.000Z";
    plan.patience = {20, 20, 1};
    plan.devices = {{"cpu:0", "cpu", "", false, "", "", {}, {}}};
    plan.workers = {{"t", folder / "assay-worker-t", "1", "", "", ""}};
    declared[{"cpu:0", "t", "a/b"}] = {rate};
  }
  ~SupervisorTest() override { fs::remove_all(folder); }

  void add_case(const std::string& name) {
    PlannedCase c;
    c.name = "a/b/" + name;
    c.benchmark = "a/b";
    c.worker = "t";
    c.device_set = {"cpu:0"};
    c.deadline_s = 60;
    plan.cases.push_back(c);
    std::ofstream(folder / name) << line(to_json(good_record(c.name)));
  }
  // `behaviour`: lines of a case statement over the case's name; "good" is always there.
  void write_worker(const std::string& behaviour) {
    std::ofstream(folder / "assay-worker-t") << R"sh(#!/bin/sh
say() { echo "$1" >&3; }
say '{"type":"hello","schema":"assay.worker.v1","worker":"t","version":"1","commit":"","pid":1}'
while read -r line; do
  case $line in *'"quit"'*) exit 0;; esac
  id=$(echo "$line" | sed 's/.*"id":\([0-9]*\).*/\1/')
  name=$(echo "$line" | sed 's/.*"case":"\([^"]*\)".*/\1/')
  say "{\"type\":\"case_begin\",\"id\":$id}"
  say "{\"type\":\"ready\",\"id\":$id}"
  case ${name#a/b/} in
)sh" << behaviour << R"sh(
  esac
  say "{\"type\":\"record\",\"id\":$id,\"record\":$(cat )sh"
                                             << folder.string() << R"sh(/${name#a/b/})}"
  say "{\"type\":\"case_end\",\"id\":$id}"
done
)sh";
    fs::permissions(folder / "assay-worker-t", fs::perms::owner_all);
    plan.workers[0].binary_xxh3 = file_xxh3(folder / "assay-worker-t");
  }
  std::vector<Record> run(bool expect_finished = true) {
    CoverageTally tally(plan);
    const InterruptGuard interrupts;
    {
      Store store = Store::create(folder / "r", plan);
      Progress progress(true);
      Supervisor supervisor(plan, declared, store, progress, tally);
      EXPECT_EQ(supervisor.jobs_left(), plan.cases.size() * static_cast<std::size_t>(plan.sessions));
      EXPECT_EQ(supervisor.run(), expect_finished);
    }
    counts = tally.counts();
    return read_records(folder / "r" / "records.jsonl", "run-1").records;
  }
  fs::path folder;
  Plan plan;
  DeclaredMetrics declared;
  CoverageCounts counts;
};

TEST_F(SupervisorTest, OneRecordForEachCase) {
  for (const char* name : {"one", "crash", "two", "garbage", "three"}) add_case(name);
  write_worker("crash) echo last words >&2; kill -SEGV $$;;\n garbage) say boo;;");
  const std::vector<Record> records = run();
  ASSERT_EQ(records.size(), 5U);
  std::vector<Outcome> outcomes;
  std::vector<int> processes;
  for (const Record& r : records) {
    outcomes.push_back(r.outcome);
    processes.push_back(r.process);
  }
  EXPECT_THAT(outcomes,
              ElementsAre(Outcome::measured, Outcome::error, Outcome::measured, Outcome::error, Outcome::measured));
  EXPECT_THAT(processes, ElementsAre(1, 1, 2, 2, 3));
  EXPECT_EQ(records[1].failure->kind, "signal");
  EXPECT_EQ(records[1].failure->detail, "SIGSEGV");
  EXPECT_THAT(records[1].failure->stderr_tail, ElementsAre("last words"));
  EXPECT_EQ(records[3].failure->kind, "protocol");
  EXPECT_EQ(counts.measured, 3U);
  EXPECT_EQ(counts.error, 2U);
}

TEST_F(SupervisorTest, DeadlineAndHeartbeat) {
  add_case("late");
  add_case("silent");
  plan.cases[0].deadline_s = 0.5;
  plan.patience.heartbeat_s = 0.7;
  write_worker(R"(late) while sleep 0.05; do say "{\"type\":\"heartbeat\",\"id\":$id,\"phase\":\"measure\"}"; done;;
 silent) exec sleep 100;;)");
  const std::vector<Record> records = run();
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(records[0].failure->kind, "timeout");
  EXPECT_THAT(records[0].reason, HasSubstr("not at the end of the case"));
  EXPECT_EQ(records[1].failure->kind, "timeout");
  EXPECT_THAT(records[1].reason, HasSubstr("no heartbeat"));
}

TEST_F(SupervisorTest, ProgramThatIsMissing) {
  add_case("one");
  add_case("two");
  const std::vector<Record> records = run();
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(records[1].failure->kind, "start");
  EXPECT_THAT(records[1].reason, HasSubstr("No such file"));
}

TEST_F(SupervisorTest, SessionsAreProcesses) {
  add_case("one");
  plan.sessions = 3;
  write_worker("one) sed -i \"s/\\\"session\\\":[0-9]*/$(echo \"$line\" | grep -o '\"session\":[0-9]*')/\" " +
               (folder / "one").string() + ";;");
  const std::vector<Record> records = run();
  ASSERT_EQ(records.size(), 3U);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(records[static_cast<std::size_t>(i)].session, i + 1);
    EXPECT_EQ(records[static_cast<std::size_t>(i)].process, i + 1);
  }
}

TEST_F(SupervisorTest, InterruptKeepsWhatIsComplete) {
  add_case("one");
  add_case("interrupting");
  add_case("three");
  write_worker("interrupting) kill -INT " + std::to_string(getpid()) + "; exec sleep 100;;");
  const std::vector<Record> records = run(false);
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(records[0].outcome, Outcome::measured);
  EXPECT_EQ(counts.not_run, 2U);
}

// Both run at once. One is deaf to everything; the other goes on for longer than the first one is given to end, and
// each of its heartbeats must be heard meanwhile.
TEST_F(SupervisorTest, StoppingOneDeviceCostsTheOthersNothing) {
  add_case("both");
  plan.cases.push_back(plan.cases[0]);
  plan.cases[0].device_set = {"cpu:1"};  // looked at first, so the other one is next when the wait is over
  plan.devices.push_back({"cpu:1", "cpu", "", false, "", "", {}, {}});
  plan.concurrent = true;
  plan.patience.heartbeat_s = 1.5;
  plan.patience.grace_s = 4;
  declared[{"cpu:1", "t", "a/b"}] = {rate};
  write_worker(R"sh(both) read -r go
case $line in *cpu:1*) trap "" TERM; exec sleep 100;; esac
i=0; while [ $i -lt 60 ]; do say "{\"type\":\"heartbeat\",\"id\":$id,\"phase\":\"measure\"}"; sleep 0.1; i=$((i+1)); done;;)sh");
  const std::vector<Record> records = run();
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(records[0].device_set, std::vector<std::string>{"cpu:1"});
  EXPECT_THAT(records[0].reason, HasSubstr("no heartbeat"));
  EXPECT_EQ(records[1].outcome, Outcome::measured) << records[1].reason;
}

TEST_F(SupervisorTest, ALateWordAboutAnEarlierCaseCostsNothing) {
  add_case("one");
  add_case("two");
  write_worker(R"(one) (sleep 0.3; say "{\"type\":\"heartbeat\",\"id\":$id,\"phase\":\"measure\"}") & ;;
two) sleep 1;;)");
  const std::vector<Record> records = run();
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(records[1].outcome, Outcome::measured) << records[1].reason;
  EXPECT_EQ(records[1].process, 1);
}

TEST_F(SupervisorTest, WordsOfAnEarlierCaseAreNotTheLastOnesOfThis) {
  add_case("one");
  add_case("crash");
  write_worker("one) echo of the first >&2;;\n crash) echo of the second >&2; kill -SEGV $$;;");
  const std::vector<Record> records = run();
  ASSERT_EQ(records.size(), 2U);
  ASSERT_TRUE(records[1].failure);
  EXPECT_THAT(records[1].failure->stderr_tail, ElementsAre("of the second"));
}

TEST_F(SupervisorTest, AnotherBuildThanPlannedIsAnError) {
  add_case("one");
  plan.workers[0].commit = "abc";
  write_worker("");
  const std::vector<Record> records = run();
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(records[0].outcome, Outcome::error);
  EXPECT_THAT(records[0].reason,
              HasSubstr("version 1, but its manifest is of version 1 (abc); build the worker again"));
}

TEST_F(SupervisorTest, AProgramChangedDuringTheRunIsAnError) {
  add_case("one");
  add_case("crash");
  add_case("three");
  const std::string program = (folder / "assay-worker-t").string();
  write_worker("crash) cp -p " + program + " " + program + "x; echo '# another' >> " + program + "x; mv " + program +
               "x " + program + "; kill -SEGV $$;;");
  const std::vector<Record> records = run();
  ASSERT_EQ(records.size(), 3U);
  EXPECT_EQ(records[0].outcome, Outcome::measured) << records[0].reason;
  EXPECT_EQ(records[2].outcome, Outcome::error);
  EXPECT_THAT(records[2].reason, HasSubstr("the program of worker t was changed during the run"));
}

// What the worker says about time is held against the time that passed here.
TEST_F(SupervisorTest, ACaseCannotHaveTakenLongerThanItWasWaitedFor) {
  add_case("hours");
  add_case("good");
  Record r = good_record("a/b/hours");
  r.wall_s = 3600;
  std::ofstream(folder / "hours") << line(to_json(r));
  write_worker("");
  const std::vector<Record> records = run();
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(records[0].outcome, Outcome::error);
  EXPECT_EQ(records[0].failure->kind, "protocol");
  EXPECT_THAT(records[0].reason, HasSubstr("a case of 1 h 0 min that was sent"));
  EXPECT_EQ(records[1].outcome, Outcome::measured) << records[1].reason;
}

TEST_F(SupervisorTest, ARealDeviceIsNotSimulated) {
  add_case("one");
  Record r = good_record("a/b/one");
  r.simulated = true;
  std::ofstream(folder / "one") << line(to_json(r));
  write_worker("");
  const std::vector<Record> records = run();
  ASSERT_EQ(records.size(), 1U);
  EXPECT_THAT(records[0].reason, HasSubstr("a simulated record of a device that is real"));
}

// The worker ignores SIGTERM, and would be waited for an hour.
TEST_F(SupervisorTest, ASecondInterruptStopsAtOnce) {
  add_case("deaf");
  plan.patience.grace_s = 3600;
  const std::string parent = std::to_string(getpid());
  write_worker("deaf) trap '' TERM; kill -INT " + parent + "; sleep 0.5; kill -INT " + parent + "; exec sleep 1000;;");
  EXPECT_TRUE(run(false).empty());
}

}  // namespace
}  // namespace assay
