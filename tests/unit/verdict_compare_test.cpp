// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Verdicts on sides that the test makes up, and environments that differ.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "harness/base/error.h"
#include "harness/verdict/compare.h"

namespace assay {
namespace {

constexpr const char* device = "GPU-1";
constexpr const char* a_case = "compute/x/type:f32";

// Sessions around `value`, 0.1 % apart, each of 20 samples; `clock`: of every session, 0 for none. No call gives the
// samples of another one.
SideMetric around(double value, std::size_t sessions, double clock = 0, double per_cycle = 0) {
  static int calls = 0;
  const double spread = 0.002 + 1e-9 * ++calls;
  SideMetric metric;
  metric.benchmark = "compute/x";
  metric.unit = "op/s";
  for (std::size_t s = 0; s < sessions; ++s) {
    const double wobble = 0.001 * (static_cast<double>(s % 3) - 1);
    metric.seconds.push_back({std::log(value) + wobble, spread, 1e-6, 20});
    if (clock > 0) {
      metric.log_clock.push_back(std::log(clock));
      metric.cycles.push_back({std::log(per_cycle) + wobble, 0.002, 1e-6, 20});
      metric.cycle_unit = "op/cycle";
    }
  }
  return metric;
}

Side side_of(const SideMetric& metric, const std::string& on = device) {
  Side side;
  side.metrics[{on, a_case, "rate", ""}] = metric;
  side.cases[{on, a_case}] = {"compute/x", {}, metric.seconds.size()};
  return side;
}

MetricVerdict only(const CompareResult& result) {
  EXPECT_EQ(result.metrics.size(), 1U);
  return result.metrics.empty() ? MetricVerdict{} : result.metrics.front();
}

CompareResult look(const Side& before, const Side& after, const std::vector<EnvironmentChange>& changes = {}) {
  return compare(before, after, changes, {});
}

TEST(Compare, UnchangedIsNoRegressionWithWhatWouldHaveBeenSeen) {
  const CompareResult result = look(side_of(around(100, 5)), side_of(around(100, 5)));
  const MetricVerdict v = only(result);
  EXPECT_EQ(result.verdict, Outcome::no_regression);
  EXPECT_NEAR(v.effect(), 0, 1e-9);
  EXPECT_GT(v.detectable(), 0.02);
  EXPECT_LT(v.detectable(), 0.03);
  EXPECT_NE(v.reason.find("would have been seen"), std::string::npos) << v.reason;
}

TEST(Compare, SessionsThatNobodyMeasuresAreNotAskedFor) {
  CompareSettings narrow;
  narrow.margin = 0.0001;  // far inside of what these sessions scatter
  const MetricVerdict v = only(compare(side_of(around(100, 5)), side_of(around(100, 5)), {}, narrow));
  EXPECT_EQ(v.verdict, Outcome::inconclusive);
  EXPECT_EQ(v.reason.find("would probably decide"), std::string::npos) << v.reason;
  EXPECT_NE(v.reason.find("quieter machine"), std::string::npos) << v.reason;
}

TEST(Compare, SlowerIsRegressedAndFasterImproved) {
  const MetricVerdict slower = only(look(side_of(around(100, 5)), side_of(around(95, 5))));
  EXPECT_EQ(slower.verdict, Outcome::regressed);
  EXPECT_NEAR(slower.effect(), -0.05, 1e-3);
  EXPECT_LT(slower.interval().first, slower.interval().second);
  EXPECT_EQ(look(side_of(around(100, 5)), side_of(around(106, 5))).verdict, Outcome::improved);
}

TEST(Compare, ALowerClockExplainsWhatThePerCycleAxisDoesNotShow) {
  const MetricVerdict v = only(look(side_of(around(100, 5, 3e9, 33)), side_of(around(96, 5, 2.88e9, 33))));
  EXPECT_EQ(v.verdict, Outcome::regressed);
  EXPECT_NE(v.reason.find("explained by a 4 % lower clock"), std::string::npos) << v.reason;
  ASSERT_TRUE(v.clock_effect);
  EXPECT_NEAR(*v.clock_effect, -0.04, 1e-9);
  const MetricVerdict same = only(look(side_of(around(100, 5, 3e9, 33)), side_of(around(96, 5, 3e9, 31.7))));
  EXPECT_NE(same.reason.find("3.9 % worse at the same clock"), std::string::npos) << same.reason;
  const MetricVerdict hidden = only(look(side_of(around(100, 5, 3e9, 33)), side_of(around(100, 5, 3.12e9, 31.7))));
  EXPECT_EQ(hidden.verdict, Outcome::no_regression);
  EXPECT_NE(hidden.reason.find("hides"), std::string::npos) << hidden.reason;
}

TEST(Compare, TooFewSessionsAreInconclusiveAndSayHowManyItTakes) {
  const MetricVerdict v = only(look(side_of(around(100, 3)), side_of(around(100, 3))));
  EXPECT_EQ(v.verdict, Outcome::inconclusive);
  EXPECT_NE(v.reason.find("too few"), std::string::npos) << v.reason;
  EXPECT_EQ(only(look(side_of(around(100, 1)), side_of(around(50, 1)))).verdict, Outcome::inconclusive);
}

TEST(Compare, WhatAfterLacksIsNeverPassedOver) {
  Side nothing;
  EXPECT_EQ(only(look(side_of(around(100, 5)), nothing)).verdict, Outcome::not_run);
  for (const Outcome ending : {Outcome::fail, Outcome::error, Outcome::invalid, Outcome::not_run}) {
    Side after = side_of(around(100, 5));
    after.cases[{device, a_case}].unmeasured = {{ending, "for a test"}};
    const CompareResult result = look(side_of(around(100, 5)), after);
    EXPECT_EQ(result.verdict, ending) << "four good sessions don't outweigh a bad one";
    EXPECT_NE(only(result).reason.find("for a test"), std::string::npos);
  }
}

TEST(Compare, WhatBeforeLacksIsNotRunToo) {
  Side before;
  before.cases[{device, a_case}] = {"compute/x", {{Outcome::error, "it crashed"}}, 0};
  const CompareResult result = look(before, side_of(around(100, 5)));
  EXPECT_EQ(result.verdict, Outcome::not_run);
  EXPECT_EQ(result.only_after.size(), 1U);
}

TEST(Compare, NothingIsToldFromADisturbedMachine) {
  Side before = side_of(around(100, 5)), after = side_of(around(90, 5));
  SideMetric& metric = after.metrics.begin()->second;
  metric.samples = 100;
  metric.disturbed = 40;
  EXPECT_EQ(look(before, after).verdict, Outcome::regressed);
  metric.disturbed = 60;
  const MetricVerdict v = only(look(before, after));
  EXPECT_EQ(v.verdict, Outcome::inconclusive);
  EXPECT_NE(v.reason.find("quiet machine"), std::string::npos) << v.reason;
}

TEST(Compare, ARunIsNotComparedWithItself) {
  Side side = side_of(around(100, 5));
  side.run_ids = {"run-1"};
  EXPECT_EQ(look(side, side).verdict, Outcome::inconclusive);
}

TEST(Compare, NothingIsPassedOnKnobs) {
  Side after = side_of(around(100, 5));
  after.test_knobs["ASSAY_TEST_SLOWDOWN"] = "1.01";
  EXPECT_EQ(look(side_of(around(100, 5)), after).verdict, Outcome::inconclusive);
  Side slow = side_of(around(90, 5));
  slow.test_knobs = after.test_knobs;
  EXPECT_EQ(look(side_of(around(100, 5)), slow).verdict, Outcome::regressed) << "a FAIL stays one";
}

TEST(Compare, NothingAtAllIsNoPass) { EXPECT_EQ(code(look({}, {}).verdict), exit_code::inconclusive); }

TEST(Compare, AnotherUnitIsAnotherMetric) {
  SideMetric other = around(100, 5);
  other.unit = "B/s";
  EXPECT_EQ(only(look(side_of(around(100, 5)), side_of(other))).verdict, Outcome::inconclusive);
}

TEST(Compare, SimulatedAndRealAreNotCompared) {
  Side simulated = side_of(around(100, 5));
  simulated.simulated = true;
  EXPECT_EQ(look(side_of(around(100, 5)), simulated).verdict, Outcome::inconclusive);
  Side other = side_of(around(100, 5));
  other.simulated = true;
  EXPECT_EQ(look(simulated, other).verdict, Outcome::no_regression);
  EXPECT_TRUE(look(simulated, other).simulated);
}

TEST(Compare, OneOfEightDevicesIsFoundAndTheNodeIsJudgedBeside) {
  Side before, after;
  for (int d = 0; d < 8; ++d) {
    const std::string name = "GPU-" + std::to_string(d);
    for (Side* side : {&before, &after}) {
      const Side one = side_of(around(side == &after && d == 3 ? 95 : 100, 5), name);
      side->metrics.insert(one.metrics.begin(), one.metrics.end());
      side->cases.insert(one.cases.begin(), one.cases.end());
    }
  }
  const CompareResult result = look(before, after);
  ASSERT_EQ(result.metrics.size(), 8U);
  EXPECT_EQ(result.metrics[0].key.device, "GPU-3");
  EXPECT_EQ(result.metrics[0].verdict, Outcome::regressed);
  EXPECT_EQ(result.metrics[1].verdict, Outcome::no_regression);
  ASSERT_EQ(result.nodes.size(), 1U);
  EXPECT_EQ(result.nodes[0].key.device, "all");
  EXPECT_NEAR(result.nodes[0].effect(), -0.0064, 2e-4);
}

TEST(Compare, MarginsByName) {
  CompareSettings settings;
  add_margin("1%", settings);
  add_margin("rate=6%", settings);
  EXPECT_DOUBLE_EQ(settings.margin.value(), 0.01);
  EXPECT_EQ(compare(side_of(around(100, 5)), side_of(around(95, 5)), {}, settings).verdict, Outcome::no_regression);
  add_margin("compute/x:rate=1%", settings);
  EXPECT_EQ(compare(side_of(around(100, 5)), side_of(around(95, 5)), {}, settings).verdict, Outcome::regressed);
  for (const char* bad :
       {"", "1", "0%", "-1%", "rate=", "=1%", "x%", "51%", "nan%", "rate=1", "0x1p0%", "2%", "rate=2%"})
    EXPECT_THROW(add_margin(bad, settings), UsageError) << bad;
}

TEST(Compare, TheMarginOfAMetricThatIsNotThereIsRefused) {
  CompareSettings settings;
  add_margin("rate=1%", settings);
  EXPECT_NO_THROW(check_margins(settings, side_of(around(100, 5))));
  add_margin("rte=1%", settings);
  EXPECT_THROW(check_margins(settings, side_of(around(100, 5))), UsageError);
}

TEST(Compare, AConstantOnEitherSideIsNoMeasurement) {
  SideMetric constant = around(100, 5);
  for (stats::Session& session : constant.seconds) session = {std::log(100.0) + 1e-13, 0, 0, 20};
  for (const CompareResult& result :
       {look(side_of(constant), side_of(around(100, 5))), look(side_of(around(100, 5)), side_of(constant))}) {
    EXPECT_EQ(result.verdict, Outcome::inconclusive);
    EXPECT_NE(only(result).reason.find("constant"), std::string::npos) << only(result).reason;
  }
}

TEST(Compare, TheSameSamplesOnBothSidesAreRefused) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  const auto sampled = [&](SideMetric metric) {
    for (const stats::Session& session : metric.seconds) {
      std::vector<double>& samples = metric.raw.emplace_back();
      for (int i = 0; i < 20; ++i) samples.push_back(std::exp(session.log_value + 0.002 * normal(random)));
    }
    return metric;
  };
  const SideMetric once = sampled(around(100, 5));
  EXPECT_EQ(look(side_of(once), side_of(sampled(around(100, 5)))).verdict, Outcome::no_regression);
  SideMetric half = sampled(around(100, 3));
  half.seconds.insert(half.seconds.end(), once.seconds.begin(), once.seconds.begin() + 3);
  half.raw.insert(half.raw.end(), once.raw.begin(), once.raw.begin() + 3);
  for (const SideMetric& after : {once, half}) {
    const CompareResult result = look(side_of(once), side_of(after));
    EXPECT_EQ(result.verdict, Outcome::inconclusive);
    EXPECT_NE(result.reason.find("same samples on both sides"), std::string::npos) << result.reason;
  }
  SideMetric single = around(100, 5), other = single;  // one sample a session
  for (std::size_t s = 0; s < 5; ++s) {
    single.seconds[s] = {4.6 + 0.001 * static_cast<double>(s), 0, 0, 1};
    single.raw.push_back({std::exp(single.seconds[s].log_value)});
  }
  other.seconds = single.seconds;
  other.raw = single.raw;
  EXPECT_NE(look(side_of(single), side_of(other)).reason.find("same samples"), std::string::npos);
  for (std::vector<double>& samples : other.raw) samples.front() *= 1.0001;
  EXPECT_EQ(look(side_of(single), side_of(other)).verdict, Outcome::no_regression);
}

TEST(Compare, AClockThatIsGoneIsNotPassedOver) {
  const MetricVerdict v = only(look(side_of(around(100, 5, 3e9, 33)), side_of(around(100, 5))));
  EXPECT_EQ(v.verdict, Outcome::not_run);
  EXPECT_NE(v.reason.find("per cycle"), std::string::npos) << v.reason;
  EXPECT_EQ(look(side_of(around(100, 5, 3e9, 33)), side_of(around(90, 5))).verdict, Outcome::regressed);
}

TEST(Compare, AChangeOfUnitIsNoImprovement) {
  EXPECT_EQ(look(side_of(around(1, 5)), side_of(around(1000, 5))).verdict, Outcome::inconclusive);
  EXPECT_EQ(look(side_of(around(1000, 5)), side_of(around(1, 5))).verdict, Outcome::regressed);
}

TEST(Compare, AWrongResultOfACaseThatBeforeLacksFails) {
  Side after = side_of(around(100, 5));
  after.cases[{device, "memory/new"}] = {"memory", {{Outcome::fail, "wrong words"}}, 0};
  const CompareResult result = look(side_of(around(100, 5)), after);
  EXPECT_EQ(result.verdict, Outcome::fail);
}

// A machine of two control cases and another one, before and after: the factors of each.
CompareResult machine(double fma, double copy, double other, double clock = 0) {
  Side before, after;
  const std::pair<const char*, double> cases[] = {{"compute/fma/type:f64/threads:one", fma},
                                                  {"memory/stream/op:copy/size:dram/threads:one", copy},
                                                  {a_case, other}};
  for (const auto& [name, factor] : cases)
    for (const bool is_after : {false, true}) {
      Side& side = is_after ? after : before;
      const double now = clock > 0 && is_after ? clock : 3e9;
      side.metrics[{device, name, "rate", ""}] =
          clock > 0 ? around(is_after ? 100 * factor : 100, 5, now, is_after ? 100 * factor / (now / 3e9) : 100)
                    : around(is_after ? 100 * factor : 100, 5);
      side.cases[{device, name}] = {"compute/x", {}, 5};
    }
  CompareSettings settings;
  settings.margin = 0.01;
  return compare(before, after, {}, settings);
}

MetricVerdict the_other(const CompareResult& result) {
  for (const MetricVerdict& v : result.metrics)
    if (v.key.case_name == a_case) return v;
  return {};
}

TEST(Compare, WhatTheControlCasesLostTooIsNoMetricsFault) {
  const CompareResult all = machine(0.97, 0.97, 0.97);
  EXPECT_EQ(the_other(all).verdict, Outcome::inconclusive) << the_other(all).reason;
  EXPECT_NE(the_other(all).reason.find("2 control cases"), std::string::npos) << the_other(all).reason;
  EXPECT_EQ(all.verdict, Outcome::regressed) << "a machine that got slower as a whole is slower";
  EXPECT_NE(all.reason.find("as a whole"), std::string::npos) << all.reason;
}

TEST(Compare, MoreThanTheControlCasesLostIsRegressed) {
  EXPECT_EQ(the_other(machine(0.97, 0.97, 0.94)).verdict, Outcome::regressed);
  EXPECT_EQ(the_other(machine(1, 1, 0.97)).verdict, Outcome::regressed);
  EXPECT_EQ(the_other(machine(1.03, 1.03, 0.97)).verdict, Outcome::regressed) << "they became faster";
  EXPECT_EQ(machine(1, 1, 0.97).reason, "");
}

TEST(Compare, ControlCasesThatDisagreeExcuseNothing) {
  EXPECT_EQ(the_other(machine(0.96, 1, 0.98)).verdict, Outcome::regressed);
  const CompareResult result = machine(0.96, 1, 0.98);
  ASSERT_TRUE(result.control);
  EXPECT_LT(result.control->low, -0.04) << "the interval holds what both of them did";
  EXPECT_GT(result.control->high, 0);
}

TEST(Compare, ALowerClockIsTellableAndIsNotExcused) {
  const CompareResult result = machine(0.97, 0.97, 0.97, 0.97 * 3e9);
  EXPECT_EQ(the_other(result).verdict, Outcome::regressed);
  EXPECT_NE(the_other(result).reason.find("lower clock"), std::string::npos) << the_other(result).reason;
}

// A reference of `sd` between sessions, with 40 degrees of freedom, for the rate of a_case.
CompareSettings with_prior(double sd, bool of_class = true) {
  BaselineRow row;
  row.class_id = "a_class";
  row.key = {a_case, "rate", "", Axis::second};
  row.unit = "op/s";
  row.devices = 20;
  row.sessions = 60;
  row.between_session_sd = sd;
  CompareSettings settings;
  settings.baseline = Baseline{"a_class", {row}};
  if (of_class) settings.of_class = {{device, ""}};
  return settings;
}

TEST(Compare, APriorOfTheClassIsUsedOnlyWhereItIsOfTheClass) {
  const Side before = side_of(around(100, 3)), after = side_of(around(100, 3));
  EXPECT_EQ(look(before, after).verdict, Outcome::inconclusive) << "3 sessions alone are too few";
  const CompareResult moderated = compare(before, after, {}, with_prior(0.001));
  EXPECT_EQ(moderated.verdict, Outcome::no_regression) << moderated.metrics.at(0).reason;
  EXPECT_EQ(moderated.metrics.at(0).prior.df, 8) << "however many the class has seen";
  EXPECT_EQ(moderated.prior_class, "a_class");
  const CompareResult foreign = compare(before, after, {}, with_prior(0.001, false));
  EXPECT_EQ(foreign.verdict, Outcome::inconclusive);
  EXPECT_EQ(foreign.metrics.at(0).prior.df, 0);
  EXPECT_EQ(compare(before, after, {}, with_prior(0.05)).verdict, Outcome::inconclusive) << "a noisy class";
  CompareSettings other_unit = with_prior(0.001);
  other_unit.baseline->rows[0].unit = "B/s";
  EXPECT_EQ(compare(before, after, {}, other_unit).metrics.at(0).prior.df, 0);
}

TEST(Compare, DevicesOfAnotherHostAreNotWhatAfterLacks) {
  const auto changes = environment_changes({{"environment", {{"host", "a"}}}}, {{"environment", {{"host", "b"}}}}, {});
  const CompareResult result = look(side_of(around(100, 5), "a/cpu:0"), side_of(around(100, 5), "b/cpu:0"), changes);
  EXPECT_EQ(result.verdict, Outcome::inconclusive);
  EXPECT_NE(result.reason.find("--changed host"), std::string::npos) << result.reason;
}

Json environment(const std::string& kernel, double memory = 1e9) {
  return {
      {"environment", {{"kernel", {{"release", kernel}}}, {"memory_bytes", memory}, {"available_bytes", memory / 2}}}};
}

TEST(Comparability, ADifferenceStopsUnlessItIsWhatIsTested) {
  const auto unnamed = environment_changes(environment("6.1"), environment("6.6"), {});
  ASSERT_EQ(unnamed.size(), 1U);
  EXPECT_EQ(unnamed[0].area, "kernel");
  EXPECT_NE(refusal(unnamed).find("--changed kernel"), std::string::npos) << refusal(unnamed);
  const CompareResult refused = look(side_of(around(100, 5)), side_of(around(90, 5)), unnamed);
  EXPECT_EQ(refused.verdict, Outcome::inconclusive);
  EXPECT_NEAR(only(refused).effect(), -0.1, 1e-2) << "the difference is shown beside";
  const auto named = environment_changes(environment("6.1"), environment("6.6"), {"kernel"});
  EXPECT_EQ(refusal(named), "");
  EXPECT_EQ(look(side_of(around(100, 5)), side_of(around(90, 5)), named).verdict, Outcome::regressed);
}

TEST(Comparability, WhatCantMatterIsLeftOutAndWhatIsUnknownIsNot) {
  EXPECT_TRUE(environment_changes(environment("6.1", 1e9), environment("6.1", 1.005e9), {}).empty());
  EXPECT_EQ(environment_changes(environment("6.1", 1e9), environment("6.1", 2e9), {}).size(), 1U);
  const Json odd = {{"environment", {{"gravity", 2}}}};
  const auto changes = environment_changes({{"environment", {{"gravity", 1}}}}, odd, {});
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_EQ(changes[0].area, "other");
  EXPECT_TRUE(changes[0].refuses);
  EXPECT_EQ(environment_changes(Json::object(), odd, {}).size(), 1U) << "absent is different, too";
}

// The whole of what --changed needs is told at once, also what it names already.
TEST(Comparability, TheAdviceRepeatsWhatIsNamed) {
  const auto machine = [](const char* kernel, const char* governor) {
    return Json{{"environment", {{"kernel", {{"release", kernel}}}, {"governor", governor}}}};
  };
  const auto changes = environment_changes(machine("6.1", "powersave"), machine("6.6", "performance"), {"kernel"});
  EXPECT_NE(refusal(changes).find("--changed clocks,kernel"), std::string::npos) << refusal(changes);
  EXPECT_EQ(unlike(changes).find("--changed"), std::string::npos) << "not everybody has that option";
  EXPECT_EQ(unlike_areas(changes), std::vector<std::string>{"clocks"});
}

TEST(Comparability, ADeviceThatOneSideHasIsOneChange) {
  const auto machine = [](const char* id) {
    return Json{{"device", {{"name", {{id, "a card"}}}, {"driver", {{id, "550"}}}, {"memory_bytes", {{id, 8e10}}}}}};
  };
  const auto changes = environment_changes(machine("GPU-1"), machine("GPU-2"), {});
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_EQ(changes[0].name + ": " + changes[0].before + ", " + changes[0].after, "devices: GPU-1, GPU-2");
  EXPECT_EQ(unlike_areas(changes), std::vector<std::string>{"machine"});
  EXPECT_TRUE(environment_changes(machine("GPU-1"), machine("GPU-1"), {}).empty());
}

TEST(Comparability, AnotherWorkerForTheSameDeviceIsNamedWithTheWayOut) {
  const auto by = [](const std::string& worker, const char* cuda) {
    return Json{{"workers", {{worker, {{"version", "1"}}}, {"cpu", {{"version", "1"}}}}},
                {"environment", {{"libraries", {{worker, {{"cuda", cuda}}}}}}},
                {"device", {{"runtime_cuda_version", {{"GPU-1", cuda}}}}}};
  };
  const auto changes = environment_changes(by("cuda12", "12.9"), by("cuda13", "13.0"), {});
  ASSERT_EQ(changes.size(), 2U);  // and not what the two were made with, too
  EXPECT_EQ(changes[0].area + changes[0].before + changes[0].after, "workercuda12cuda13");
  EXPECT_NE(refusal(changes).find("`assay run --worker cuda12`"), std::string::npos) << refusal(changes);
  EXPECT_EQ(unlike_areas(changes), std::vector<std::string>{"worker"});
  EXPECT_EQ(unlike(environment_changes(by("cuda12", "12.9"), by("cuda13", "13.0"), {"worker"})), "");
  EXPECT_TRUE(environment_changes(by("cuda12", "12.9"), by("cuda12", "12.9"), {}).empty());
  const std::string gone = refusal(environment_changes(by("torch", ""), by("cuda13", ""), {}));
  EXPECT_EQ(gone.find("--worker"), std::string::npos) << "they are no alternatives: " << gone;
  EXPECT_NE(gone.find("workers.cuda13"), std::string::npos) << gone;
}

TEST(Comparability, UnknownAreasAreWrongUsage) { EXPECT_THROW(environment_changes({}, {}, {"kernal"}), UsageError); }

// 9.7 % less of a rate is less than 10 %, and 9.7 % more of a time, too.
TEST(Compare, AMarginIsAShareOfTheMetricAsItIsPrinted) {
  CompareSettings settings;
  add_margin("10%", settings);
  const auto word_of = [&](double after, Better better) {
    SideMetric one = around(100, 5), other = around(after, 5);
    one.better = other.better = better;
    return compare(side_of(one), side_of(other), {}, settings).verdict;
  };
  EXPECT_EQ(word_of(90.5, Better::higher), Outcome::no_regression);
  EXPECT_EQ(word_of(89.5, Better::higher), Outcome::regressed);
  EXPECT_EQ(word_of(109.5, Better::lower), Outcome::no_regression);
  EXPECT_EQ(word_of(110.5, Better::lower), Outcome::regressed);
  EXPECT_NEAR(allowed_change(0.5, Better::higher), std::log(2), 1e-12);
}

TEST(Compare, NothingPassesOnDisturbedSamplesWhateverDecided) {
  SideMetric loose = around(100, 5), tight = around(100, 5);
  for (std::size_t i = 0; i < 5; ++i) {
    loose.seconds[i].log_spread = 0.03 + 0.001 * static_cast<double>(i);
    tight.seconds[i].log_spread = 0.006 + 0.0002 * static_cast<double>(i);
  }
  ASSERT_EQ(only(look(side_of(loose), side_of(tight))).verdict, Outcome::variance_better);
  for (SideMetric* side : {&loose, &tight}) side->samples = side->disturbed = 100;
  EXPECT_EQ(only(look(side_of(loose), side_of(tight))).verdict, Outcome::inconclusive);
}

TEST(Compare, ACrashInACaseThatBeforeLacksIsTold) {
  Side after = side_of(around(100, 5));
  after.cases[{device, "compute/y"}] = {"compute/y", {{Outcome::error, "ended by SIGSEGV"}}, 0};
  EXPECT_EQ(look(side_of(around(100, 5)), after).verdict, Outcome::error);
  after.cases[{device, "compute/y"}].unmeasured = {{Outcome::not_run, "too little memory"}};
  EXPECT_EQ(look(side_of(around(100, 5)), after).verdict, Outcome::no_regression);
}

}  // namespace
}  // namespace assay
