// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// From records to one side of a comparison: what counts as a session, and what would be one too many.
#include "harness/verdict/side.h"

#include <gtest/gtest.h>

#include <cmath>

#include "harness/base/error.h"
#include "tests/unit/sample_record.h"

namespace assay {
namespace {

using testing::measured_record;

DeviceInfo cpu() {
  DeviceInfo device;
  device.id = "cpu:0";
  return device;
}

// A record of session `session`, whose samples are `factor` times those of measured_record().
Record session_record(int session, double factor) {
  Record record = measured_record(8);
  record.session = record.process = session;
  for (MetricResult& metric : record.metrics)
    for (std::vector<double>* values : {&metric.samples, &metric.cycle_samples})
      for (double& value : *values) value *= factor;
  return record;
}

struct Builder : SideBuilder {
  explicit Builder(const std::string& run_id, int sessions = 2) {
    begin_run(run_id, {cpu()});
    const Record record = measured_record(8);
    require(record.case_name, record.benchmark, {"cpu:0"}, sessions);
  }
};

SideKey bandwidth() { return {"cpu:0", measured_record(8).case_name, "bandwidth", ""}; }

TEST(Side, EachSessionIsOneValueOnBothAxes) {
  Builder builder("run-1");
  builder.add(session_record(1, 1));
  builder.add(session_record(2, 1.01));
  builder.end_run();
  const Side side = builder.finish();
  const SideMetric& metric = side.metrics.at(bandwidth());
  EXPECT_EQ(metric.seconds.size(), 2U);
  EXPECT_EQ(metric.cycles.size(), 2U);
  EXPECT_EQ(metric.log_clock.size(), 2U);
  EXPECT_EQ(metric.samples, 16U);
  EXPECT_NEAR(metric.seconds[1].log_value - metric.seconds[0].log_value, std::log(1.01), 1e-12);
}

TEST(Side, ASessionWithoutARecordIsNotRun) {
  Builder builder("run-1");
  builder.add(session_record(1, 1));
  builder.end_run();
  const Side side = builder.finish();
  const SideCase& of_case = side.cases.at({"cpu:0", measured_record(8).case_name});
  EXPECT_EQ(of_case.measured, 1U);
  ASSERT_EQ(of_case.unmeasured.size(), 1U);
  EXPECT_EQ(of_case.unmeasured[0].outcome, Outcome::not_run);
}

TEST(Side, RunsFollowEachOtherAndCountOnce) {
  Builder builder("run-1", 1);
  builder.add(session_record(1, 1));
  builder.end_run();
  EXPECT_THROW(builder.begin_run("run-1", {cpu()}), Error) << "the same run twice";
  builder.begin_run("run-2", {cpu()});
  builder.require(measured_record(8).case_name, "memory/stream", {"cpu:0"}, 1);
  builder.add(session_record(1, 1.02));
  builder.end_run();
  EXPECT_EQ(builder.finish().metrics.at(bandwidth()).seconds.size(), 2U);
}

TEST(Side, TheCpusOfTwoHostsAreTwoDevices) {
  DeviceInfo device = cpu();
  EXPECT_EQ(device_identity(device, "node1"), "node1/cpu:0");
  EXPECT_EQ(device_identity(device, ""), "cpu:0");
  device.pci_address = "0000:17:00.0";
  EXPECT_EQ(device_identity(device, "node1"), "node1/0000:17:00.0");
  device.uuid = "GPU-1";
  EXPECT_EQ(device_identity(device, "node1"), "GPU-1");
  DeviceInfo imported;
  imported.kind = "imported";
  imported.labels = {{"host", "n7"}};
  for (const auto& [id, identity] : std::vector<std::pair<const char*, const char*>>{
           {"0", "n7/0"}, {"12", "n7/12"}, {"cpu:0", "n7/cpu:0"}, {"GPU-0", "GPU-0"}, {"b1e7", "b1e7"}, {"", ""}}) {
    imported.id = id;
    EXPECT_EQ(device_identity(imported, ""), identity) << "as written, but for a number that every host has";
  }
  SideBuilder builder;
  for (const char* host : {"node1", "node2"}) {
    builder.begin_run(host, {cpu()}, host);
    builder.require(measured_record(8).case_name, "memory/stream", {"cpu:0"}, 1);
    builder.add(session_record(1, host == std::string("node1") ? 1 : 1.01));
    builder.end_run();
  }
  EXPECT_EQ(builder.finish().metrics.count({"node1/cpu:0", measured_record(8).case_name, "bandwidth", ""}), 1U);
}

TEST(Side, CopiesAreNoSessions) {
  Builder builder("run-1");
  builder.add(session_record(1, 1));
  builder.add(session_record(2, 1));
  builder.end_run();
  EXPECT_THROW(builder.finish(), Error);
}

TEST(Side, ASessionThatWasRoundedIsACopy) {
  Builder builder("run-1");
  builder.add(session_record(1, 1));
  Record rounded = session_record(2, 1);
  for (MetricResult& metric : rounded.metrics)
    for (double& value : metric.samples) value = static_cast<double>(static_cast<float>(value));
  builder.add(rounded);
  builder.end_run();
  EXPECT_THROW(builder.finish(), Error);
}

TEST(Side, TwoSessionsOfOneProcessAreOneTooMany) {
  Builder builder("run-1");
  builder.add(session_record(1, 1));
  Record second = session_record(2, 1.01);
  second.process = 1;
  builder.add(second);
  EXPECT_THROW(builder.end_run(), Error);
}

TEST(Side, WhatThePlanDoesNotAskForProvesNothing) {
  Builder builder("run-1", 1);
  Record stray = session_record(1, 1);
  stray.case_name += "/of:another";
  builder.add(stray);
  builder.end_run();
  EXPECT_TRUE(builder.finish().metrics.empty());
}

TEST(Side, SamplesThatOthersDisturbedAreCounted) {
  Builder builder("run-1", 1);
  Record record = session_record(1, 1);
  for (Sample& sample : record.series[0].samples) sample.disturbed = disturbed::foreign_load;
  record.series[0].samples[0].disturbed = disturbed::frequency | disturbed::short_block;
  builder.add(record);
  builder.end_run();
  EXPECT_EQ(builder.finish().metrics.at(bandwidth()).disturbed, 7U);
}

TEST(Side, TwoDevicesOfOneIdentityAreRefused) {
  SideBuilder builder;
  DeviceInfo one = cpu(), other = cpu();
  one.id = "fake:a.toml";
  other.id = "fake:b.toml";
  one.uuid = other.uuid = "GPU-1";
  EXPECT_THROW(builder.begin_run("run-1", {one, other}), Error);
  other.uuid = "GPU-2";
  EXPECT_NO_THROW(builder.begin_run("run-2", {one, other}));
}

}  // namespace
}  // namespace assay
