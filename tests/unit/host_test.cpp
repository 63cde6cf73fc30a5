// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
#include "harness/parent/host.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "harness/parent/progress.h"

namespace assay {
namespace {

TEST(Host, SampleHasItsFields) {
  HostSampler sampler;
  const Json sample = sampler.sample();
  EXPECT_EQ(sample.at("source"), "host");
  EXPECT_GT(sample.at("available_bytes").get<double>(), 1e6);
  EXPECT_GE(sample.at("cpu_busy").get<double>(), 0);
  EXPECT_LE(sample.at("cpu_busy").get<double>(), 1);
}

TEST(Host, PreflightNamesItsReasons) {
  Preflight quiet;
  EXPECT_EQ(quiet.text(), "the machine is quiet");
  EXPECT_EQ(to_json(quiet).at("quiet"), true);
  quiet.reasons = {"other programs use 40 % of the CPUs"};
  EXPECT_THAT(quiet.text(), testing::HasSubstr("not quiet: other programs use 40 %"));
  EXPECT_EQ(to_json(quiet).at("quiet"), false);
}

TEST(Host, PreflightJudgesLoadStealQuotaAndGovernor) {
  DeviceInfo cpu;
  cpu.facts = {{"cpus", 4}};
  cpu.labels = {{"governor", "not readable"}};
  EXPECT_THAT(preflight({0.04, 0.005}, cpu).reasons, testing::IsEmpty());
  cpu.facts["cpu_quota"] = 4;
  cpu.labels["governor"] = "performance";
  EXPECT_THAT(preflight({0, 0}, cpu).reasons, testing::IsEmpty());
  cpu.facts["cpu_quota"] = 2.5;
  cpu.labels["governor"] = "performance, powersave";
  using testing::HasSubstr;
  EXPECT_THAT(preflight({0.5, 0.02}, cpu).reasons,
              testing::ElementsAre(HasSubstr("50 % of the CPUs"), HasSubstr("2 % of the CPU time"),
                                   HasSubstr("the time of 2.5 CPUs where 4 may be used"), HasSubstr("powersave")));
}

TEST(Host, EnvironmentIsAnAllowList) {
  setenv("ASSAY_SECRET_TOKEN", "hush-hush", 1);
  setenv("OMP_WAIT_POLICY", "active", 1);
  const Json json = environment({});
  EXPECT_EQ(json.dump().find("hush-hush"), std::string::npos);
  EXPECT_FALSE(json.at("kernel").at("release").get<std::string>().empty());
  EXPECT_GT(json.at("memory_bytes").get<double>(), 1e6);
  EXPECT_EQ(json.at("variables").at("OMP_WAIT_POLICY"), "active");
  unsetenv("ASSAY_SECRET_TOKEN");
  unsetenv("OMP_WAIT_POLICY");
}

TEST(ShortResult, SaysTheNumberOrTheReason) {
  Record record;
  MetricResult result;
  result.metric = {"bandwidth", "B/s", Better::higher, ""};
  result.samples = {1e9, 2e9, 3e9};
  record.metrics = {result};
  EXPECT_EQ(short_result(record), "bandwidth 2.00 GB/s");
  record.reason = "no";
  EXPECT_EQ(short_result(record), "no");
  EXPECT_EQ(short_result({}), "");
}

}  // namespace
}  // namespace assay
