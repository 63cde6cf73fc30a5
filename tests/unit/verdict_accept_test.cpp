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

Contract contract_of(const std::string& require) {
  return parse_contract("name = \"buyer\"\nsummary = \"s\"\nsource = \"s\"\n[[rule]]\ncase = \"" + std::string(a_case) +
                            "\"\nrequire = \"" + require + "\"\n",
                        "buyer.toml");
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
  EXPECT_EQ(
      result.reason,
      "no reference of this class; 80 % of the physical limit; 1 device of its class here, and peers are 3 or more; "
      "no earlier run was given");
}

TEST(Accept, BeyondTheLimitIsInvalidNotGreat) {
  SideMetric metric = around(110, 3);
  metric.limit = 100;
  EXPECT_EQ(look(metric, {row(100, 0.003, 16)}).verdict, Outcome::invalid);
}

TEST(Accept, WhatNoDeviceShowsIsInvalidByAnyReference) {
  const Contract fast = contract_of("rate >= 90 op/s");
  EXPECT_EQ(look(around(1e200, 3), {}, &fast).verdict, Outcome::invalid);
  EXPECT_EQ(look(around(1e200, 3), {row(100, 0.003, 16)}).verdict, Outcome::invalid);
  EXPECT_EQ(look(around(9 * 100, 3), {row(100, 0.003, 16)}).verdict, Outcome::pass);
  const AcceptResult other = look(around(11 * 100, 3), {row(100, 0.003, 16)});
  EXPECT_EQ(other.verdict, Outcome::invalid) << other.reason;
  EXPECT_NE(other.reason.find("11 times as good as its class"), std::string::npos) << other.reason;
}

TEST(Accept, WhatTheReferenceHasAndTheRunLacksIsNotRun) {
  BaselineRow other = row(5, 0.01, 16);
  other.key.case_name = "memory/y";
  EXPECT_EQ(look(around(100, 3), {row(100, 0.003, 16), other}).verdict, Outcome::not_run);
}

// Of a case that the run does have.
TEST(Accept, AMetricThatTheReferenceHasIsNotRun) {
  BaselineRow other = row(5, 0.01, 16);
  other.key.metric = "latency";
  const AcceptResult result = look(around(100, 3), {row(100, 0.003, 16), other});
  EXPECT_EQ(result.verdict, Outcome::not_run);
  EXPECT_EQ(result.metrics.front().key.metric, "latency");
}

TEST(Accept, AnAxisThatTheReferenceHasIsNotRun) {
  const std::vector<BaselineRow> both{row(100, 0.003, 16), row(33, 0.001, 16, Axis::cycle)};
  EXPECT_EQ(look(around(100, 3), both).verdict, Outcome::not_run);
  EXPECT_EQ(look(around(90, 3), both).verdict, Outcome::fail);
}

TEST(Accept, NothingIsPassedOnAConstantOneSessionOrADisturbedRun) {
  SideMetric metric = around(100, 3);
  for (stats::Session& session : metric.seconds) session = {std::log(100.0), 0, 0, 20};
  EXPECT_EQ(look(metric, {row(100, 0.003, 16)}).verdict, Outcome::inconclusive);
  EXPECT_EQ(look(around(100, 1), {row(100, 0.003, 16)}).verdict, Outcome::inconclusive);
  metric = around(100, 3);
  metric.samples = 60, metric.disturbed = 31;
  EXPECT_EQ(look(metric, {row(100, 0.003, 16)}).verdict, Outcome::inconclusive);
  metric.disturbed = 30;
  EXPECT_EQ(look(metric, {row(100, 0.003, 16)}).verdict, Outcome::pass);
}

TEST(Accept, SamplesThatScatterAreNotLikeTheClass) {
  BaselineRow calm = row(100, 0.003, 16);
  calm.within_session_sd = 0.0025;
  EXPECT_EQ(look(around(100, 3), {calm}).verdict, Outcome::pass);
  calm.within_session_sd = 0.0004;
  const AcceptResult result = look(around(100, 3), {calm});
  EXPECT_EQ(result.verdict, Outcome::inconclusive);
  EXPECT_NE(result.reason.find("scatter 6 times"), std::string::npos) << result.reason;
}

TEST(Accept, AnotherWorkerOrModeIsAnotherThing) {
  BaselineRow other = row(100, 0.003, 16);
  other.worker = "cuda13";
  SideMetric metric = around(100, 3);
  metric.worker = "cuda12";
  const AcceptResult unlike = look(metric, {other});
  EXPECT_EQ(unlike.verdict, Outcome::inconclusive);
  EXPECT_NE(unlike.reason.find("measure with `assay run --worker cuda13`"), std::string::npos) << unlike.reason;
  metric.worker = "cuda13";
  EXPECT_EQ(look(metric, {other}).verdict, Outcome::pass);
  other.modes = "ecc=off";
  EXPECT_EQ(look(metric, {other}).verdict, Outcome::inconclusive);
  AcceptedDevice same = device("GPU-0", {other});
  same.match.modes = {{"ecc", "off"}};
  EXPECT_EQ(accept(side_of(metric), {same}, nullptr).verdict, Outcome::pass);
}

TEST(Accept, ARunThatIsPartOfItsReferenceSaysSo) {
  BaselineRow own = row(100, 0.003, 16);
  AcceptedDevice learned = device("GPU-0", {own});
  learned.baseline->origins = {baseline_origin("20261201T000000Z-1-abc")};
  Side side = side_of(around(100, 3));
  side.run_ids = {"20261201T000000Z-1-abc"};
  EXPECT_NE(accept(side, {learned}, nullptr).reason.find("learned from"), std::string::npos);
  side.run_ids = {"20261201T000000Z-2-abc"};
  EXPECT_EQ(accept(side, {learned}, nullptr).reason.find("learned from"), std::string::npos);
}

// Imported records carry no limit of their own.
TEST(Accept, BeyondTheLimitOfItsClassIsInvalid) {
  SideMetric metric = around(5e12, 3);
  metric.benchmark = "memory/stream", metric.unit = "B/s";
  Side side;
  const std::string stream = "memory/stream/op:copy/type:f64/size:dram";
  side.metrics[{"GPU-0", stream, "bandwidth", ""}] = metric;
  side.cases[{"GPU-0", stream}] = {"memory/stream", {}, 3};
  AcceptedDevice h100 = device("GPU-0", {});
  h100.gpu.emplace();
  h100.gpu->id = "h100_sxm5_80gb";
  h100.gpu->memory_bytes_per_second = 3.352e12;
  EXPECT_EQ(accept(side, {h100}, nullptr).verdict, Outcome::invalid);
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

// Sixteen devices of `sessions` sessions; number 5 gives `odd[s]` in session s, and `odd_cycles` per cycle (0: no
// clock).
AcceptResult node_with(const std::vector<double>& odd, double odd_cycles = 0) {
  Side side;
  std::vector<AcceptedDevice> devices;
  for (int d = 0; d < 16; ++d) {
    const std::string name = "GPU-" + std::to_string(d);
    const bool is_odd = d == 5;
    SideMetric metric = around(100 + 0.01 * d, odd.size(), odd_cycles > 0 ? is_odd ? odd_cycles : 33 : 0);
    for (std::size_t s = 0; is_odd && s < odd.size(); ++s) metric.seconds[s].log_value += std::log(odd[s] / 100);
    const Side one = side_of(metric, name);
    side.metrics.insert(one.metrics.begin(), one.metrics.end());
    side.cases.insert(one.cases.begin(), one.cases.end());
    devices.push_back(device(name, {row(100, 0.01, 16)}));
  }
  return accept(side, devices, nullptr);
}

TEST(Accept, AStragglerFailsWhenItIsSeenTwice) {
  const AcceptResult twice = node_with({98.5, 98.5});
  EXPECT_EQ(twice.metrics.front().key.device, "GPU-5");
  EXPECT_EQ(twice.metrics.front().verdict, Outcome::fail) << twice.metrics.front().reason;
  EXPECT_NE(twice.metrics.front().reason.find("twice"), std::string::npos) << twice.metrics.front().reason;
  EXPECT_EQ(twice.metrics.back().verdict, Outcome::pass);
}

TEST(Accept, AStragglerThatWasSeenOnceIsMeasuredAgain) {
  const AcceptResult single = node_with({98.5});
  const auto odd = std::find_if(single.metrics.begin(), single.metrics.end(),
                                [](const AcceptedMetric& m) { return m.key.device == "GPU-5"; });
  EXPECT_EQ(odd->verdict, Outcome::inconclusive) << odd->reason;
  EXPECT_NE(odd->reason.find("seen once: measure again"), std::string::npos) << odd->reason;
  const AcceptResult gone = node_with({97, 100});  // slow on the whole, but in one of two sessions
  EXPECT_EQ(gone.metrics.front().verdict, Outcome::inconclusive) << gone.metrics.front().reason;
  EXPECT_NE(gone.metrics.front().reason.find("not in both halves"), std::string::npos) << gone.metrics.front().reason;
  EXPECT_EQ(node_with({100, 100}).verdict, Outcome::pass);
}

// Odd and even sessions, not the first and the last: a drift falls on both, a turn of good and bad ones on one.
TEST(Accept, AStragglerIsSeenInOddAndInEvenSessions) {
  EXPECT_EQ(node_with({97, 97, 100, 100}).verdict, Outcome::fail);
  const AcceptResult by_turns = node_with({97, 100, 97, 100});
  EXPECT_EQ(by_turns.verdict, Outcome::inconclusive) << by_turns.reason;
}

TEST(Accept, PeersAreHeldAgainstEachOtherPerCycleToo) {
  const auto reason = [](const AcceptResult& result) { return result.metrics.front().reason; };
  EXPECT_NE(reason(node_with({98.5, 98.5}, 33)).find("clock is low"), std::string::npos);
  EXPECT_NE(reason(node_with({98.5, 98.5}, 32.5)).find("at the same clock"), std::string::npos);
  const AcceptResult hidden = node_with({100, 100}, 32.5);
  EXPECT_EQ(hidden.verdict, Outcome::fail);
  EXPECT_NE(reason(hidden).find("high clock hides"), std::string::npos) << reason(hidden);
}

TEST(Accept, HistoryIsAReferenceOfItsOwnAndPassesNothing) {
  const std::vector<BaselineRow> wide{row(100, 0.03, 16)};
  const Side before = side_of(around(100, 8));
  const auto with = [&](const SideMetric& now, const Side* history, const std::vector<BaselineRow>& rows) {
    return accept(side_of(now), {device("GPU-0", rows)}, nullptr, history).metrics.at(0);
  };
  EXPECT_EQ(with(around(100, 3), &before, wide).history.outcome, Outcome::pass);
  EXPECT_EQ(with(around(100, 3), &before, wide).verdict, Outcome::pass);
  const AcceptedMetric slower = with(around(95, 3), &before, wide);
  EXPECT_EQ(slower.klass.outcome, Outcome::pass);
  EXPECT_EQ(slower.history.outcome, Outcome::fail) << slower.history.reason;
  EXPECT_EQ(slower.verdict, Outcome::inconclusive) << "the class passes it, and it is slower than it was";
  EXPECT_NE(slower.reason.find("its own history"), std::string::npos) << slower.reason;
  const AcceptedMetric alone = with(around(100, 3), &before, {});
  EXPECT_EQ(alone.history.outcome, Outcome::pass);
  EXPECT_EQ(alone.verdict, Outcome::unknown) << "a history is no reference of a class";
  EXPECT_EQ(with(around(100, 3), nullptr, wide).history.outcome, Outcome::unknown);
  const Side other = side_of(around(100, 8), "GPU-1");
  EXPECT_EQ(with(around(100, 3), &other, wide).history.outcome, Outcome::unknown) << "another device's";
}

TEST(Accept, AShortHistoryTellsHowMuchIsMissing) {
  const auto history = [&](std::size_t sessions) {
    const Side before = side_of(around(100, sessions));
    return accept(side_of(around(80, 3)), {device("GPU-0", {})}, nullptr, &before).metrics.at(0).history;
  };
  EXPECT_EQ(history(2).outcome, Outcome::unknown);
  EXPECT_NE(history(2).reason.find("6 more are missing"), std::string::npos) << history(2).reason;
  EXPECT_EQ(history(5).outcome, Outcome::provisional);
  EXPECT_NE(history(5).reason.find("3 more are missing"), std::string::npos) << history(5).reason;
  EXPECT_EQ(history(8).outcome, Outcome::fail);
}

TEST(Accept, HistoryHasTwoAxes) {
  const Side before = side_of(around(100, 8, 33));
  const auto history = [&](const SideMetric& now) {
    return accept(side_of(now), {device("GPU-0", {})}, nullptr, &before).metrics.at(0).history;
  };
  EXPECT_NE(history(around(95, 3, 33)).reason.find("clock is low"), std::string::npos);
  EXPECT_NE(history(around(95, 3, 31)).reason.find("at the same clock"), std::string::npos);
  EXPECT_EQ(history(around(100, 3, 31)).outcome, Outcome::fail);
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

TEST(Accept, AContractHidesNoStraggler) {
  const Contract kept = contract_of("rate >= 70 op/s");
  Side side;
  std::vector<AcceptedDevice> devices;
  for (int d = 0; d < 16; ++d) {
    const std::string name = "GPU-" + std::to_string(d);
    const Side one = side_of(around(d == 5 ? 80 : 100 + 0.01 * d, 4), name);
    side.metrics.insert(one.metrics.begin(), one.metrics.end());
    side.cases.insert(one.cases.begin(), one.cases.end());
    devices.push_back(device(name, {}));
  }
  const AcceptResult result = accept(side, devices, &kept);
  EXPECT_EQ(result.contract->outcome, Outcome::pass);
  EXPECT_NE(code(result.verdict), exit_code::pass) << result.reason;
}

TEST(Accept, AContractHidesNoHistory) {
  const Contract kept = contract_of("rate >= 70 op/s");
  const Side before = side_of(around(100, 8)), like_now = side_of(around(80, 8));
  const auto now = [&](const Side& earlier) {
    return accept(side_of(around(80, 3)), {device("GPU-0", {})}, &kept, &earlier);
  };
  EXPECT_EQ(now(before).contract->outcome, Outcome::pass);
  EXPECT_NE(code(now(before).verdict), exit_code::pass) << now(before).reason;
  EXPECT_EQ(now(like_now).verdict, Outcome::pass) << now(like_now).reason;
}

TEST(Accept, AContractHidesNothingInvalidAndNoReferenceOfAnotherClass) {
  const Contract kept = contract_of("rate >= 70 op/s");
  SideMetric metric = around(110, 3);
  metric.limit = 100;
  EXPECT_EQ(look(metric, {}, &kept).verdict, Outcome::invalid);
  AcceptedDevice other = device("GPU-0", {});
  other.other_class = "b_class";
  const AcceptResult result = accept(side_of(around(100, 3)), {other}, &kept);
  EXPECT_EQ(result.verdict, Outcome::unknown);
  EXPECT_NE(result.reason.find("the reference given is of class b_class"), std::string::npos) << result.reason;
}

TEST(Accept, AContractIsJudgedByTheIntervalOfTheSessions) {
  const Contract kept = contract_of("rate >= 90 op/s");
  EXPECT_EQ(look(around(100, 1), {}, &kept).contract->outcome, Outcome::inconclusive);
  SideMetric constant = around(100, 5);
  for (stats::Session& session : constant.seconds) session = {std::log(100), 0, 0, 20};
  EXPECT_EQ(look(constant, {}, &kept).contract->outcome, Outcome::inconclusive);
  // What agrees to the ninth digit is a constant with rounding: no contract takes it for a measurement either.
  for (std::size_t s = 0; s < 5; ++s) constant.seconds[s].log_value += 1e-11 * static_cast<double>(s);
  const AcceptResult rounded = look(constant, {}, &kept);
  EXPECT_EQ(rounded.contract->outcome, Outcome::inconclusive) << rounded.contract->reason;
  EXPECT_NE(rounded.contract->reason.find("every sample is the same"), std::string::npos) << rounded.contract->reason;
  SideMetric noisy = around(100, 4);
  noisy.seconds[0].log_value -= 0.3;
  noisy.seconds[1].log_value += 0.3;
  EXPECT_EQ(look(noisy, {}, &kept).contract->outcome, Outcome::inconclusive);
  SideMetric disturbed = around(100, 3);
  disturbed.samples = 60, disturbed.disturbed = 40;
  EXPECT_EQ(look(disturbed, {}, &kept).contract->outcome, Outcome::inconclusive);
  EXPECT_EQ(look(around(100, 3), {}, &kept).verdict, Outcome::pass);
}

TEST(Accept, NothingMeasuredIsNoPass) {
  EXPECT_EQ(code(accept({}, {device("GPU-0", {})}, nullptr).verdict), exit_code::inconclusive);
}

TEST(Accept, TwoDevicesWithTheSameSamplesAreACopy) {
  const auto samples = [](double from) {
    std::vector<std::vector<double>> sessions(3);
    for (std::size_t i = 0; i < 24; ++i) sessions[i / 8].push_back(100 + std::sin(from + static_cast<double>(i * i)));
    return sessions;
  };
  Side side = side_of(around(100, 3));
  side.metrics.at({"GPU-0", a_case, "rate", ""}).raw = samples(1);
  SideMetric& other = side.metrics[{"GPU-1", a_case, "rate", ""}] = around(100, 3);
  other.raw = samples(1);
  for (double& sample : other.raw[1]) sample = std::round(1e4 * sample) / 1e4;  // an export with fewer digits
  side.cases[{"GPU-1", a_case}] = {"compute/x", {}, 3};
  const std::vector<BaselineRow> rows{row(100, 0.003, 16)};
  const AcceptResult result = accept(side, {device("GPU-0", rows), device("GPU-1", rows)}, nullptr);
  EXPECT_EQ(result.verdict, Outcome::inconclusive);
  EXPECT_NE(result.reason.find("is a copy"), std::string::npos) << result.reason;
  other.raw = samples(2);
  EXPECT_EQ(accept(side, {device("GPU-0", rows), device("GPU-1", rows)}, nullptr).verdict, Outcome::pass);
}

TEST(Accept, AReferenceThatIsMostlyTheRunItselfTellsNothing) {
  Side side = side_of(around(100, 3));
  side.run_ids = {"run-1"};
  AcceptedDevice one = device("GPU-0", {row(100, 0.003, 7)});
  one.baseline->rows.front().provisional = false;
  EXPECT_EQ(accept(side, {one}, nullptr).verdict, Outcome::pass);
  one.baseline->origins = {baseline_origin("run-1")};
  const AcceptResult self = accept(side, {one}, nullptr);
  EXPECT_EQ(self.verdict, Outcome::inconclusive);
  EXPECT_NE(self.reason.find("held against itself"), std::string::npos) << self.reason;
  one.baseline->rows.front().devices = 8;
  EXPECT_EQ(accept(side, {one}, nullptr).verdict, Outcome::pass) << "one of eight";
  one.baseline->rows.front().devices = 7;
  side.run_ids = {"run-2"};
  side.files = {"00ff"};
  one.baseline->origins = {baseline_origin("00ff")};
  EXPECT_EQ(accept(side, {one}, nullptr).verdict, Outcome::inconclusive) << "the file, under another run's id";
}

TEST(Accept, ARowPerCycleAloneIsMissedToo) {
  BaselineRow other = row(33, 0.001, 16, Axis::cycle);
  other.key.case_name = "compute/x/type:f64";
  const AcceptResult result = look(around(100, 3), {row(100, 0.003, 16), other});
  EXPECT_EQ(result.verdict, Outcome::not_run);
  EXPECT_EQ(result.metrics.front().key.case_name, "compute/x/type:f64");
}

}  // namespace
}  // namespace assay
