// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
#include "harness/parent/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <set>

#include "harness/base/error.h"
#include "harness/parent/devices.h"
#include "harness/parent/profile.h"
#include "harness/parent/workers.h"

namespace assay {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

CaseInfo case_info(const std::string& name, int rank = 50, double setup_s = 0.1) {
  CaseInfo info;
  info.name = name;
  info.rank = rank;
  info.setup_s = setup_s;
  return info;
}

struct PlanTest : testing::Test {
  PlanTest() {
    BenchmarkInfo stream{"memory/stream", "", false, {"cpu"}, {{"bandwidth", "B/s", Better::higher, ""}}, {}};
    stream.cases = {case_info("memory/stream/op:copy", 30), case_info("memory/stream/op:triad", 10)};
    BenchmarkInfo gemm{"compute/gemm", "", false, {"cpu", "cuda"}, {}, {case_info("compute/gemm/type:f32", 20)}};
    BenchmarkInfo crash{"misbehave/crash", "", true, {"cpu"}, {}, {case_info("misbehave/crash")}};
    BenchmarkInfo peer{"transfer/p2p", "", false, {"cuda"}, {}, {case_info("transfer/p2p")}};
    CaseInfo numa = case_info("transfer/memcpy/node:other");
    numa.needs = {{"numa_nodes", 2, "copies between NUMA nodes need two"}};
    BenchmarkInfo memcpy{"transfer/memcpy", "", false, {"cpu"}, {}, {numa}};
    workers = {
        {{"cpu", "1", "abc", {"cpu"}, {}, {gemm, stream, crash, memcpy, peer}}, "/nowhere/assay-worker-cpu", ""}};
    profile.name = "test";
    profile.policy.warmup_max_s = 0;
    profile.policy.measure_min_s = profile.policy.measure_max_s = 0.9;
    devices = {{{"cpu:0", "cpu", "CPU", false, "", "", {{"numa_nodes", 1}}, {}}, std::nullopt}};
  }
  Plan make() const { return make_plan(options, profile, workers, devices); }
  std::vector<std::string> required(const Plan& plan) const {
    std::vector<std::string> names;
    for (const PlannedCase& c : plan.cases)
      if (c.coverage == Coverage::required) names.push_back(c.name);
    return names;
  }
  const PlannedCase& find(const Plan& plan, const std::string& name) const {
    for (const PlannedCase& c : plan.cases)
      if (c.name == name) return c;
    throw std::runtime_error(name + " is not in the plan");
  }
  std::string usage_error() const {
    try {
      make();
    } catch (const UsageError& problem) {
      return problem.what();
    }
    return "no error";
  }
  std::vector<WorkerFile> workers;
  Profile profile;
  PlanOptions options;
  std::vector<FoundDevice> devices;
};

TEST_F(PlanTest, EveryCaseIsThereWithItsReason) {
  const Plan plan = make();
  EXPECT_THAT(required(plan), ElementsAre("compute/gemm/type:f32", "memory/stream/op:copy", "memory/stream/op:triad"));
  const PlannedCase& numa = find(plan, "transfer/memcpy/node:other");
  EXPECT_EQ(numa.coverage, Coverage::not_applicable);
  EXPECT_EQ(numa.reason, "missing_fact");
  EXPECT_EQ(numa.fact, "numa_nodes");
  EXPECT_EQ(numa.fact_value, 1);
  EXPECT_EQ(numa.fact_needed, 2);
  EXPECT_THAT(numa.text, HasSubstr("numa_nodes is 1, 2 needed"));
  EXPECT_EQ(find(plan, "transfer/p2p").reason, "no_row");
  EXPECT_EQ(find(plan, "misbehave/crash").reason, "hidden");
}

TEST_F(PlanTest, WhatADeviceDoesNotTellIsNotZero) {
  CaseInfo info = case_info("memory/stream/op:copy");
  const auto judged = [&](const std::string& fact) {
    info.needs = {{fact, 1, "it wants one"}};
    PlannedCase c;
    judge_row(c, workers[0].manifest.benchmarks[1], info, devices[0].info);
    return c;
  };
  EXPECT_EQ(judged("nonsense").coverage, Coverage::required);
  EXPECT_EQ(judged("nonsense").reason, "unknown_fact");
  EXPECT_EQ(judged("nonsense").text, "the device does not tell nonsense; 1 needed: it wants one");
  EXPECT_EQ(judged("build.onednn").coverage, Coverage::not_applicable);
  EXPECT_EQ(judged("cpu.fma").reason, "unknown_fact");  // no flag at all is listed
  devices[0].info.facts["cpu.sse2"] = 1;
  EXPECT_EQ(judged("cpu.fma").coverage, Coverage::not_applicable);
  EXPECT_EQ(judged("cpu.sse2").reason, "");
}

TEST_F(PlanTest, HiddenCasesOnRequest) {
  options.hidden = true;
  EXPECT_EQ(find(make(), "misbehave/crash").coverage, Coverage::required);
}

TEST_F(PlanTest, FiltersAndExcludes) {
  options.filters = {"stream", "gemm"};
  options.excludes = {"op:copy$"};
  const Plan plan = make();
  EXPECT_THAT(required(plan), ElementsAre("compute/gemm/type:f32", "memory/stream/op:triad"));
  EXPECT_EQ(find(plan, "memory/stream/op:copy").coverage, Coverage::excluded);
  EXPECT_EQ(find(plan, "memory/stream/op:copy").reason, "filter");
}

TEST_F(PlanTest, WhatAFilterLeavesOutIsNotSaidToBeImpossible) {
  options.filters = {"stream"};
  EXPECT_EQ(find(make(), "transfer/memcpy/node:other").reason, "filter");
  EXPECT_EQ(find(make(), "transfer/memcpy/node:other").fact, "");
  EXPECT_EQ(find(make(), "transfer/p2p").reason, "filter");
  options.filters = {"stream", "memcpy"};
  EXPECT_EQ(find(make(), "transfer/memcpy/node:other").reason, "missing_fact");
  options.excludes = {"node:other"};
  EXPECT_EQ(find(make(), "transfer/memcpy/node:other").reason, "filter");
}

TEST_F(PlanTest, FilterReplacesTheChoiceOfTheProfile) {
  profile.filters = {"gemm"};
  EXPECT_THAT(required(make()), ElementsAre("compute/gemm/type:f32"));
  EXPECT_EQ(find(make(), "memory/stream/op:copy").reason, "profile");
  options.filters = {"copy"};
  EXPECT_THAT(required(make()), ElementsAre("memory/stream/op:copy"));
}

TEST_F(PlanTest, WrongFiltersAreUsageErrors) {
  options.filters = {"memory/strem"};
  EXPECT_THAT(usage_error(), HasSubstr("--filter 'memory/strem' matches no case; did you mean memory/stream"));
  options.filters = {"op:traid"};
  EXPECT_THAT(usage_error(), HasSubstr("did you mean op:triad"));
  options.filters = {"memory/stream/op:tirad"};
  EXPECT_THAT(usage_error(), HasSubstr("did you mean memory/stream/op:triad"));
  options.filters = {"("};
  EXPECT_THAT(usage_error(), HasSubstr("--filter '(' is no regular expression"));
  options.filters = {};
  options.excludes = {"nothing like that"};
  EXPECT_THAT(usage_error(), HasSubstr("--exclude 'nothing like that' matches no case"));
  options.excludes = {};
  options.filters = {"misbehave"};  // hidden: as good as not there
  EXPECT_THAT(usage_error(), HasSubstr("matches no case"));
  options.filters = {};
  options.worker = "cpuu";
  EXPECT_THAT(usage_error(), HasSubstr("there is no worker 'cpuu'; did you mean cpu?"));
}

TEST_F(PlanTest, NothingLeftIsAnError) {
  options.filters = {"node:other"};
  EXPECT_THROW(make(), Error);
}

TEST_F(PlanTest, BudgetKeepsWhatTellsMost) {
  options.budget_s = 2.5;  // a case takes 1 s, the process 0.3 s
  const Plan plan = make();
  EXPECT_THAT(required(plan), ElementsAre("memory/stream/op:triad", "compute/gemm/type:f32"));
  EXPECT_EQ(find(plan, "memory/stream/op:copy").reason, "budget");
  EXPECT_LE(plan.estimate_s(), 2.5);
  options.budget_s = 0.01;
  EXPECT_THAT(required(make()), ElementsAre("memory/stream/op:triad"));
  options.budget_s = 100;
  EXPECT_EQ(required(make()).size(), 3U);
}

TEST_F(PlanTest, BudgetCountsSessions) {
  options.budget_s = 2.8;
  options.sessions = 2;
  EXPECT_EQ(required(make()).size(), 1U);
}

TEST_F(PlanTest, ProfileBudgetIsThePlansReasonProfile) {
  profile.budget_s = 1.5;
  const Plan plan = make();
  EXPECT_THAT(required(plan), ElementsAre("memory/stream/op:triad"));
  EXPECT_EQ(find(plan, "memory/stream/op:copy").reason, "profile");
}

// The same cases, more often: not fewer of them.
TEST_F(PlanTest, AProfilesBudgetIsThatOfItsOwnSessionsAndOfOneDevice) {
  profile.budget_s = 2.5;
  const std::vector<std::string> cases = required(make());
  ASSERT_EQ(cases.size(), 2U);
  options.sessions = 7;
  EXPECT_EQ(required(make()), cases);
  devices.push_back(devices.front());
  devices.back().info.id = "cpu:1";
  EXPECT_EQ(required(make()).size(), 4U);
  options.concurrent = true;
  EXPECT_EQ(required(make()).size(), 4U);
}

TEST_F(PlanTest, ABudgetLeavesOutCasesAndNoDevice) {
  devices.push_back(devices.front());
  devices.back().info.id = "cpu:1";
  for (const double budget_s : {0.01, 2.7, 3.5, 4.7, 100.0}) {
    options.budget_s = budget_s;
    std::map<std::string, std::set<std::string>> on;
    for (const PlannedCase& c : make().cases)
      if (c.coverage == Coverage::required) on[c.device_set.front()].insert(c.name);
    EXPECT_EQ(on.size(), 2U) << budget_s;
    EXPECT_EQ(on["cpu:0"], on["cpu:1"]) << budget_s;
  }
}

// Devices of unlike kinds have no case in common: the least budget still asks something of each.
TEST_F(PlanTest, ABudgetLeavesSomethingToEveryDevice) {
  Manifest rows = workers[0].manifest;
  rows.benchmarks = {
      {"other/one", "", false, {"cpu"}, {}, {case_info("other/one/a:1", 90), case_info("other/one/a:2", 90)}}};
  devices.push_back(devices.front());
  devices.back().info.id = "cpu:1";
  devices.back().rows = rows;
  options.budget_s = 0.01;
  EXPECT_THAT(required(make()), ElementsAre("memory/stream/op:triad", "other/one/a:1"));
}

TEST_F(PlanTest, EstimatesAndDeadlines) {
  profile.deadline_factor = 4;
  profile.deadline_extra_s = 7;
  const Plan plan = make();
  const PlannedCase& c = find(plan, "memory/stream/op:copy");
  EXPECT_NEAR(c.estimate_s, 1.0, 1e-9);
  EXPECT_NEAR(c.deadline_s, 4 * 1.0 + 7, 1e-9);
}

TEST_F(PlanTest, OneWorkerPerCaseTheOneThatCanRunFirst) {
  WorkerFile other = workers[0];
  other.manifest.worker = "zpu";
  workers.push_back(other);
  EXPECT_EQ(find(make(), "memory/stream/op:copy").worker, "zpu");  // the later name: cuda13 before cuda12
  workers[1].problem = "missing";
  EXPECT_EQ(find(make(), "memory/stream/op:copy").worker, "cpu");
  options.worker = "zpu";
  const Plan plan = make();
  EXPECT_EQ(find(plan, "memory/stream/op:copy").worker, "zpu");
  ASSERT_EQ(plan.workers.size(), 1U);
  EXPECT_EQ(plan.workers[0].problem, "missing");
}

TEST_F(PlanTest, DeviceWithoutAWorkerIsAnError) {
  devices.push_back({{"cuda:0", "cuda", "", false, "", "", {}, {}}, std::nullopt});
  EXPECT_THROW(make(), Error);
}

TEST_F(PlanTest, ScriptedDeviceBringsItsRows) {
  Manifest rows = workers[0].manifest;
  rows.benchmarks = {{"other/one", "", false, {"cpu"}, {}, {case_info("other/one/a:1")}}};
  devices[0].rows = rows;
  EXPECT_THAT(required(make()), ElementsAre("other/one/a:1"));
}

TEST_F(PlanTest, TestKnobsAreRecorded) {
  setenv("ASSAY_TEST_SLOWDOWN", "1.03", 1);
  EXPECT_EQ(make().test_knobs.at("ASSAY_TEST_SLOWDOWN"), "1.03");
  unsetenv("ASSAY_TEST_SLOWDOWN");
  EXPECT_TRUE(make().test_knobs.empty());
}

TEST_F(PlanTest, JsonBothWays) {
  options.budget_s = 2.5;
  options.filters = {"."};
  options.seed = 18446744073709551615U;
  options.concurrent = true;
  const Json json = to_json(make());
  EXPECT_EQ(json, to_json(plan_from_json(json)));
  EXPECT_EQ(json.at("seed"), 18446744073709551615U);
  Plan other = make();
  other.against = Against{"/there/before", "run-1", "0123456789abcdef", {"1%"}, {"kernel"}};
  EXPECT_EQ(to_json(other), to_json(plan_from_json(to_json(other))));
  Json wrong = json;
  wrong["schema"] = "assay.plan.v2";
  EXPECT_THROW(plan_from_json(wrong), Error);
  wrong = json;
  wrong["cases"][0]["coverage"] = "maybe";
  EXPECT_THROW(plan_from_json(wrong), Error);
  wrong = json;
  wrong.erase("policy");
  EXPECT_THROW(plan_from_json(wrong), Error);
}

}  // namespace
}  // namespace assay
