// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Acceptance of sides that the test makes up, against references that it makes up.
#include <gtest/gtest.h>

#include <cmath>

#include "harness/verdict/accept.h"

namespace assay {
namespace {

constexpr const char* a_case = "compute/x/type:f32";

// Sessions 0.1 % apart around `value` per second and `per_cycle` per cycle.
SideMetric around(double value, std::size_t sessions, double per_cycle = 0) {
  SideMetric metric;
  metric.benchmark = "compute/x";
  metric.unit = "op/s";
  for (std::size_t s = 0; s < sessions; ++s) {
    const double wobble = 0.001 * (static_cast<double>(s % 3) - 1);
    metric.seconds.push_back({std::log(value) + wobble, 0.002, 1e-6, 20});
    if (per_cycle > 0) {
      metric.cycles.push_back({std::log(per_cycle) + wobble, 0.002, 1e-6, 20});
      metric.cycle_unit = "op/cycle";
    }
  }
  return metric;
}

Side side_of(const SideMetric& metric, const std::string& device = "GPU-0") {
  Side side;
  side.metrics[{device, a_case, "rate", ""}] = metric;
  side.cases[{device, a_case}] = {"compute/x", {}, metric.seconds.size()};
  return side;
}

BaselineRow row(double mean, double sd, int devices, Axis axis = Axis::second) {
  BaselineRow r;
  r.class_id = "a_class";
  r.benchmark = "compute/x";
  r.key = {a_case, "rate", "", axis};
  r.unit = axis == Axis::second ? "op/s" : "op/cycle";
  r.devices = devices;
  r.sessions = 3 * devices;
  r.log_mean = std::log(mean);
  r.between_device_sd = sd;
  r.between_session_sd = 0.001;
  r.provisional = devices < devices_for_a_reference;
  return r;
}

AcceptedDevice device(const std::string& identity, const std::vector<BaselineRow>& rows) {
  AcceptedDevice d;
  d.identity = identity;
  d.match = {Outcome::match, "a_class", "", "", {}, "for a test", {}};
  if (!rows.empty()) d.baseline = Baseline{"a_class", rows};
  d.baseline_source = "a_class.csv";
  return d;
}

AcceptResult look(const SideMetric& metric, const std::vector<BaselineRow>& rows, const Contract* contract = nullptr) {
  return accept(side_of(metric), {device("GPU-0", rows)}, contract);
}

TEST(Accept, InsideTheClassIsAPass) {
  const AcceptResult result = look(around(100, 3), {row(100, 0.003, 16)});
  EXPECT_EQ(result.verdict, Outcome::pass) << result.reason;
  EXPECT_NEAR(*result.metrics.at(0).klass.bound, 98, 0.1);  // the floor of 2 %
}

TEST(Accept, BelowItIsAFail) { EXPECT_EQ(look(around(95, 3), {row(100, 0.003, 16)}).verdict, Outcome::fail); }

TEST(Accept, TheTwoAxesAreNamed) {
  const std::vector<BaselineRow> both{row(100, 0.003, 16), row(33, 0.001, 16, Axis::cycle)};
  EXPECT_NE(look(around(95, 3, 33), both).reason.find("the clock is low"), std::string::npos);
  EXPECT_NE(look(around(95, 3, 31.3), both).reason.find("at the same clock"), std::string::npos);
  const AcceptResult hidden = look(around(100, 3, 31.3), both);
  EXPECT_EQ(hidden.verdict, Outcome::fail);
  EXPECT_NE(hidden.reason.find("high clock hides"), std::string::npos) << hidden.reason;
  EXPECT_EQ(look(around(100, 3, 33), both).verdict, Outcome::pass);
}

TEST(Accept, ANoisyDeviceOnTheLimitIsInconclusive) {
  SideMetric metric = around(98, 3);
  metric.seconds[0].log_value -= 0.02;
  metric.seconds[2].log_value += 0.02;
  EXPECT_EQ(look(metric, {row(100, 0.003, 16)}).verdict, Outcome::inconclusive);
}

TEST(Accept, FewReferencesAreProvisionalEitherWay) {
  EXPECT_EQ(look(around(100, 3), {row(100, 0.003, 5)}).verdict, Outcome::provisional);
  EXPECT_EQ(look(around(80, 3), {row(100, 0.003, 5)}).verdict, Outcome::provisional);
}

TEST(Accept, NoReferenceIsUnknownWithWhatCanBeSaid) {
  SideMetric metric = around(80, 3);
  metric.limit = 100;
  const AcceptResult result = look(metric, {});
  EXPECT_EQ(result.verdict, Outcome::unknown);
  EXPECT_NE(result.reason.find("80 % of the physical limit"), std::string::npos) << result.reason;
}

TEST(Accept, BeyondTheLimitIsInvalidNotGreat) {
  SideMetric metric = around(110, 3);
  metric.limit = 100;
  EXPECT_EQ(look(metric, {row(100, 0.003, 16)}).verdict, Outcome::invalid);
}

TEST(Accept, WhatTheReferenceHasAndTheRunLacksIsNotRun) {
  BaselineRow other = row(5, 0.01, 16);
  other.key.case_name = "memory/y";
  EXPECT_EQ(look(around(100, 3), {row(100, 0.003, 16), other}).verdict, Outcome::not_run);
}

TEST(Accept, ASessionThatEndedOtherwiseIsNotAccepted) {
  for (const Outcome ending : {Outcome::fail, Outcome::error, Outcome::invalid, Outcome::not_run}) {
    Side side = side_of(around(100, 3));
    side.cases[{"GPU-0", a_case}].unmeasured = {{ending, "for a test"}};
    EXPECT_EQ(accept(side, {device("GPU-0", {row(100, 0.003, 16)})}, nullptr).verdict, ending);
  }
}

TEST(Accept, SimulatedOrKnobbedIsInvalid) {
  Side side = side_of(around(100, 3));
  side.simulated = true;
  EXPECT_EQ(accept(side, {device("GPU-0", {row(100, 0.003, 16)})}, nullptr).verdict, Outcome::invalid);
  side.simulated = false;
  side.test_knobs["ASSAY_TEST_SLOWDOWN"] = "1.03";
  EXPECT_EQ(accept(side, {device("GPU-0", {row(100, 0.003, 16)})}, nullptr).verdict, Outcome::invalid);
}

TEST(Accept, AStragglerAmongItsPeersIsNotPassedByTheClass) {
  Side side;
  std::vector<AcceptedDevice> devices;
  for (int d = 0; d < 16; ++d) {
    const std::string name = "GPU-" + std::to_string(d);
    const Side one = side_of(around(d == 5 ? 98.5 : 100 + 0.01 * d, 3), name);
    side.metrics.insert(one.metrics.begin(), one.metrics.end());
    side.cases.insert(one.cases.begin(), one.cases.end());
    devices.push_back(device(name, {row(100, 0.01, 16)}));
  }
  const AcceptResult result = accept(side, devices, nullptr);
  EXPECT_EQ(result.metrics.front().key.device, "GPU-5");
  EXPECT_EQ(result.metrics.front().verdict, Outcome::inconclusive) << result.metrics.front().reason;
  EXPECT_EQ(result.metrics.back().verdict, Outcome::pass);
}

Contract contract_of(const std::string& require) {
  return parse_contract("name = \"buyer\"\nsummary = \"s\"\nsource = \"s\"\n[[rule]]\ncase = \"" + std::string(a_case) +
                            "\"\nrequire = \"" + require + "\"\n",
                        "buyer.toml");
}

TEST(Accept, AContractPassesOnItsOwnAndSaysSo) {
  const Contract kept = contract_of("rate >= 90 op/s"), broken = contract_of("rate >= 120 op/s");
  const AcceptResult passed = look(around(100, 3), {}, &kept);
  EXPECT_EQ(passed.verdict, Outcome::pass) << passed.reason;
  EXPECT_NE(passed.reason.find("class reference: none"), std::string::npos) << passed.reason;
  EXPECT_EQ(look(around(100, 3), {}, &broken).verdict, Outcome::fail);
  EXPECT_EQ(look(around(100, 3), {row(100, 0.003, 16)}, &broken).verdict, Outcome::fail);
  EXPECT_EQ(look(around(95, 3), {row(100, 0.003, 16)}, &kept).verdict, Outcome::fail) << "the class says no";
}

TEST(Accept, NothingMeasuredIsNoPass) {
  EXPECT_EQ(code(accept({}, {device("GPU-0", {})}, nullptr).verdict), exit_code::inconclusive);
}

}  // namespace
}  // namespace assay
