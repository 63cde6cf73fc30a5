// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Contracts: what is read, what is refused, and what becomes of a rule whose value is missing.
#include "harness/verdict/rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "harness/base/error.h"
#include "harness/base/file.h"
#include "tests/unit/source_folder.h"

namespace assay {
namespace {

using testing::HasSubstr;

const std::filesystem::path& results() {
  static const std::filesystem::path folder = source_folder() / "results";
  return folder;
}
const ClassTable& table() {
  static const ClassTable shipped = read_class_table(results());
  return shipped;
}

constexpr const char* triad = "memory/stream/op:triad/type:f64/size:dram";
const std::vector<KnownMetric>& known() {
  static const std::vector<KnownMetric> metrics{{triad, "bandwidth", "B/s", Better::higher},
                                                {"memory/latency/size:dram", "latency", "s", Better::lower},
                                                {"compute/fma/type:f32", "rate", "FLOP/s", Better::higher}};
  return metrics;
}

std::string rule(const std::string& keys) { return "[[rule]]\n" + keys + "\n"; }
std::string triad_rule(const std::string& require) {
  return rule("case = \"" + std::string(triad) + "\"\nrequire = " + require);
}

std::string complaint(const std::string& text) {
  try {
    Contract contract = parse_contract(text, "c.toml");
    check_names(contract, known(), table());
  } catch (const Error& problem) {
    EXPECT_EQ(problem.code(), exit_code::error);
    return problem.what();
  }
  return {};
}

TEST(Rules, AreReadAsComparisons) {
  const Contract contract = parse_contract(
      "name = \"x\"\n" + triad_rule("[\"bandwidth \xe2\x89\xa5 3.9TB/s on every GPU\", \"bandwidth < 4.8 TB/s\"]") +
          triad_rule("\"spread of bandwidth <= 3 % in the node\""),
      "c.toml");
  ASSERT_EQ(contract.rules.size(), 2);
  const Comparison& first = contract.rules[0].require.at(0);
  EXPECT_EQ(first.metric, "bandwidth");
  EXPECT_EQ(first.comparator, Comparator::at_least);
  EXPECT_DOUBLE_EQ(first.bound, 3.9e12);
  EXPECT_EQ(first.unit, "B/s");
  EXPECT_TRUE(first.holds(3.9e12));
  EXPECT_FALSE(first.holds(3.89e12));
  EXPECT_EQ(contract.rules[0].require.at(1).comparator, Comparator::below);
  EXPECT_FALSE(contract.rules[0].require.at(1).holds(4.8e12));
  EXPECT_TRUE(contract.rules[1].require.at(0).spread);
  EXPECT_DOUBLE_EQ(contract.rules[1].require.at(0).bound, 3);
}

TEST(Rules, WhatIsNoneIsRefusedWithItsPlace) {
  for (const auto& [text, words] : std::vector<std::pair<std::string, const char*>>{
           {"", "there is no [[rule]]"},
           {triad_rule("\"bandwidth 3.9 TB/s\""), "c.toml:3: rule #1.require: 'bandwidth 3.9 TB/s': there is no >="},
           {triad_rule("\"bandwidth >= 3.9\""), "the unit is missing behind 3.9"},
           {triad_rule("\"bandwidth >= 3.9 TB\""), "is in B, but bandwidth of"},
           {triad_rule("\"bandwidth >= 3.9 parsec\""), "no number with a unit that is known (B/s, bit/s"},
           {triad_rule("\"bandwidth >= three TB/s\""), "no number with a unit"},
           {triad_rule("\"bandwidth >= 2*2 TB/s\""), "no number with a unit"},
           {triad_rule("\"system('x') >= 1 TB/s\""), "can't be the name of a metric"},
           {triad_rule("\"bandwidth >= 0 TB/s\""), "must be more than 0"},
           {triad_rule("\"bandwidth >= -1 TB/s\""), "must be more than 0"},
           {triad_rule("\"bandwidth >= 3.9e12 TB/s\""), "nothing that a device shows"},
           {triad_rule("\"bandwidth >= 4.9e-324 B/s\""), "nothing that a device shows"},
           {triad_rule("\"bandwidth >= 1e-300 GB/s\""), "nothing that a device shows"},
           {triad_rule("[\"bandwidth <= 1e20 B/s\", \"bandwidth >= 1e-9 B/s\"]"), "nothing that a device shows"},
           {rule("case = \"memory/latency/*\"\nrequire = \"latency <= 900000 s\""), "nothing that a device shows"},
           {triad_rule("\"bandwidth >= 90 %\""), "needs something that it is a share of"},
           {triad_rule("\"spread of bandwidth >= 3 %\""), "bounded from above"},
           {triad_rule("\"spread of bandwidth <= 300 %\""), "bounds nothing"},
           {triad_rule("\"spread of bandwidth <= 3 GB/s\""), "given in %"},
           {triad_rule("[\"bandwidth >= 4 TB/s\", \"bandwidth <= 3 TB/s\"]"), "contradict each other"},
           {triad_rule("[\"bandwidth > 3 TB/s\", \"bandwidth <= 3 TB/s\"]"), "contradict each other"},
           {triad_rule("\"bandwidth >= 4 TB/s\"") + triad_rule("\"bandwidth <= 3 TB/s\""), "contradict each other"},
           {rule("devices = 8") + rule("devices = 4"), "8 and 4 contradict each other"},
           {rule("require = \"bandwidth >= 1 TB/s\""), "case: is missing"},
           {rule("case = \"x\""), "require: is missing"},
           {rule("devices = 8\ncase = \"x\""), "a rule of its own"},
           {rule("devices = 0"), "not between 1"},
           {triad_rule("\"bandwidth >= 3.9 TB/s\"\nclas = [\"a40\"]"), "did you mean classes"},
           {triad_rule("3.9"), "a list of texts is needed"},
           {"ruls = 1\n" + triad_rule("\"bandwidth >= 1 TB/s\""), "did you mean rule"},
           {"[[rule]\n", "c.toml:1: "},
           // Names.
           {rule("case = \"memory/stream/op:triad/type:f46/size:dram\"\nrequire = \"bandwidth >= 1 TB/s\""),
            "did you mean memory/stream/op:triad/type:f64"},
           {triad_rule("\"bandwith >= 1 TB/s\""), "did you mean bandwidth?"},
           {triad_rule("\"bandwidth >= 1 TB/s\"\nclasses = [\"h100_sxm_80gb\"]"), "did you mean h100_sxm5_80gb"},
           {triad_rule("\"bandwidth >= 1 Tbit/s\""), "is in bit/s, but bandwidth of"},
           {triad_rule("\"bandwidth <= 1 TB/s\""), "from the wrong side: higher is better"},
           {rule("case = \"memory/latency/*\"\nrequire = \"latency >= 1 us\""), "from the wrong side: lower is better"},
           {triad_rule("\"bandwidth >= 3.9 TB/s\"\nclasses = [\"h100_sxm5_80gb\"]"),
            "can't be kept: the memory of h100_sxm5_80gb"},
           {triad_rule("\"bandwidth >= 400 GB/s\"\nclasses = [\"h100_sxm5_80gb\"]"), "passes what is plainly broken"},
           {triad_rule("\"bandwidth >= 2900000000000000 mB/s\""), "no number with a unit"},
           {triad_rule("\"bandwidth <= 1 TB/s\"\nlater = true"), "from the wrong side: higher is better"},
           {triad_rule("\"bandwidth >= 1 TFLOP/s\"\nlater = true"), "is in op/s, but bandwidth of"},
           {rule("case = \"some/thing\"\nrequire = \"speed <= 2 TB/s\"\nlater = true"), "so what is slow passes"},
           {triad_rule("\"bandwidth >= 1 TB/s\"\nclasses = [\"cpu-tpyo\"]"), "'cpu-tpyo' is no known class"},
           {triad_rule("\"bandwidth >= 1 TB/s\"\nclasses = [\"fake-nothing\"]"), "is no known class"},
           {rule("case = \"" + std::string(400, 'x') + "\"\nrequire = \"bandwidth >= 1 TB/s\""), "more than 300"},
           {rule("case = \"*a*a*a*a*a*a*a*a*a\"\nrequire = \"bandwidth >= 1 TB/s\""), "more than 8 *"},
       }) {
    EXPECT_THAT(complaint(text), HasSubstr(words)) << text;
  }
  EXPECT_EQ(complaint(triad_rule("[\"bandwidth >= 2 TB/s\", \"bandwidth <= 3 TB/s\"]")), "");
  EXPECT_EQ(complaint(rule("case = \"some/thing\"\nrequire = \"speed >= 2 TB/s\"\nlater = true")), "");
  EXPECT_EQ(complaint(rule("case = \"compute/fma/*\"\nrequire = \"rate >= 60 TFLOP/s\"")), "");
}

TEST(Rules, MetricsOfOtherToolsCanBeNamed) {
  Contract contract =
      parse_contract(rule("case = \"copy\"\nrequire = \"nv/cold/bw/global/bytes_per_second >= 1 TB/s\""), "c.toml");
  EXPECT_EQ(contract.rules[0].require[0].metric, "nv/cold/bw/global/bytes_per_second");
  EXPECT_NO_THROW(
      check_names(contract, {{"copy", "nv/cold/bw/global/bytes_per_second", "B/s", Better::higher}}, table()));
}

DeviceValues device(const std::string& name, double bandwidth, const std::string& class_id = "h100_sxm5_80gb") {
  DeviceValues values;
  values.device = name;
  values.class_id = class_id;
  // Five quiet sessions of twenty samples.
  values.values[{triad, "bandwidth", "", Axis::second}] = {
      bandwidth, "B/s", Better::higher, {{bandwidth * 0.9999, bandwidth * 1.0001}}, {5, false, 100, 0}};
  return values;
}

MetricValue& value_of(DeviceValues& values) { return values.values.begin()->second; }

TEST(Judge, EachDeviceAndTheWorstCounts) {
  const Contract contract = parse_contract(triad_rule("\"bandwidth >= 2.8 TB/s\""), "c.toml");
  const Judgement good = judge(contract, {device("a", 2.9e12), device("b", 2.81e12)});
  EXPECT_EQ(good.outcome, Outcome::pass);
  EXPECT_EQ(good.results.size(), 2);
  EXPECT_EQ(good.reason, "every rule that applies is kept (2 checks)");
  EXPECT_EQ(judge(contract, {device("a", 2.9e12)}).reason, "every rule that applies is kept (1 check)");
  const Judgement bad = judge(contract, {device("a", 2.9e12), device("b", 2.7e12)});
  EXPECT_EQ(bad.outcome, Outcome::fail);
  EXPECT_EQ(bad.results[1].device, "b");
  EXPECT_EQ(bad.results[1].outcome, Outcome::fail);
  EXPECT_EQ(bad.reason, "1 of 2 checks FAIL (b): 2.70 TB/s breaks 'bandwidth >= 2.8 TB/s', by 3.6 %");
  // Rounded to three digits it would seem to keep the bound.
  EXPECT_EQ(judge(contract, {device("a", 2.7985e12)}).reason,
            "a: 2.80 TB/s breaks 'bandwidth >= 2.8 TB/s', by 0.054 %");
}

TEST(Judge, WhatIsMissingIsNeverPassedOver) {
  const Contract contract = parse_contract(triad_rule("\"bandwidth >= 2.8 TB/s\""), "c.toml");
  DeviceValues empty;
  empty.device = "b";
  const Judgement judgement = judge(contract, {device("a", 2.9e12), empty});
  EXPECT_EQ(judgement.outcome, Outcome::not_run);
  EXPECT_THAT(judgement.reason, HasSubstr("b has no bandwidth of memory/stream/op:triad"));
  EXPECT_EQ(judge(contract, {}).outcome, Outcome::unknown);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double none : {nan, 0.0, -1.0, std::numeric_limits<double>::infinity()})
    EXPECT_EQ(judge(contract, {device("a", none)}).outcome, Outcome::invalid) << none;
  DeviceValues other = device("a", 2.9e12);
  other.values.begin()->second.unit = "op/s";
  EXPECT_EQ(judge(contract, {other}).outcome, Outcome::invalid);
}

TEST(Judge, AValueWithoutEvidenceIsInconclusiveHoweverGood) {
  const Contract contract = parse_contract(triad_rule("\"bandwidth >= 2.8 TB/s\""), "c.toml");
  for (const double bandwidth : {3.3e12, 1e12}) {
    DeviceValues once = device("a", bandwidth);
    value_of(once).evidence.sessions = 1;
    value_of(once).interval.reset();
    EXPECT_EQ(judge(contract, {once}).outcome, Outcome::inconclusive);
    EXPECT_THAT(judge(contract, {once}).reason, HasSubstr("1 session can't tell"));
    DeviceValues constant = device("a", bandwidth);
    value_of(constant).evidence.constant = true;
    EXPECT_EQ(judge(contract, {constant}).outcome, Outcome::inconclusive);
    EXPECT_THAT(judge(contract, {constant}).reason, HasSubstr("every sample is the same"));
    DeviceValues disturbed = device("a", bandwidth);
    value_of(disturbed).evidence.disturbed = 51;
    EXPECT_EQ(judge(contract, {disturbed}).outcome, Outcome::inconclusive);
    EXPECT_THAT(judge(contract, {disturbed}).reason, HasSubstr("in 51 of 100 samples"));
    value_of(disturbed).evidence.disturbed = 50;
    EXPECT_NE(judge(contract, {disturbed}).outcome, Outcome::inconclusive);
  }
}

TEST(Judge, TheWholeIntervalKeepsOrBreaks) {
  const Contract contract = parse_contract(triad_rule("\"bandwidth >= 2.8 TB/s\""), "c.toml");
  DeviceValues noisy = device("a", 2.9e12);
  value_of(noisy).interval = {2.5e12, 3.3e12};
  EXPECT_EQ(judge(contract, {noisy}).outcome, Outcome::inconclusive);
  EXPECT_THAT(judge(contract, {noisy}).reason, HasSubstr("(between 2.50 TB/s and 3.30 TB/s) may keep or break"));
  value_of(noisy).interval = {2.81e12, 3e12};
  EXPECT_EQ(judge(contract, {noisy}).outcome, Outcome::pass);
  value_of(noisy).interval = {2.5e12, 2.79e12};
  EXPECT_EQ(judge(contract, {noisy}).outcome, Outcome::fail);
}

TEST(Judge, ASpreadIsJudgedByTheIntervalsAndCopiesAreNone) {
  const Contract contract = parse_contract(triad_rule("\"spread of bandwidth <= 3 %\""), "c.toml");
  const Judgement copies = judge(contract, {device("a", 2.9e12), device("b", 2.9e12)});
  EXPECT_EQ(copies.outcome, Outcome::invalid);
  EXPECT_THAT(copies.reason, HasSubstr("a copy"));
  DeviceValues noisy = device("b", 2.85e12);
  value_of(noisy).interval = {2.6e12, 3.1e12};
  EXPECT_EQ(judge(contract, {device("a", 2.9e12), noisy}).outcome, Outcome::inconclusive);
  DeviceValues once = device("b", 2.85e12);
  value_of(once).evidence.sessions = 1;
  value_of(once).interval.reset();
  EXPECT_EQ(judge(contract, {device("a", 2.9e12), once}).outcome, Outcome::inconclusive);
}

TEST(Judge, OnlyWhatMeasuresPasses) {
  const Contract counts = parse_contract(rule("devices = 1"), "c.toml");
  const Judgement counted = judge(counts, {device("a", 2.9e12)});
  EXPECT_EQ(counted.outcome, Outcome::unknown);
  EXPECT_THAT(counted.reason, HasSubstr("no rule of c measures anything on h100_sxm5_80gb: write one"));
  const Contract others =
      parse_contract(rule("devices = 1") + triad_rule("\"bandwidth >= 1 TB/s\"\nclasses = [\"a40\"]"), "c.toml");
  EXPECT_EQ(judge(others, {device("a", 2.9e12)}).outcome, Outcome::unknown);
  EXPECT_THAT(judge(others, {device("a", 2.9e12)}).remarks,
              testing::ElementsAre("1 rule does not apply: for other classes"));
}

TEST(Judge, ADeviceOfAnUnknownClassIsNotPassedOver) {
  const Contract contract =
      parse_contract(triad_rule("\"bandwidth >= 2.8 TB/s on every GPU\"\nclasses = [\"h100_sxm5_80gb\"]"), "c.toml");
  const Judgement judgement = judge(contract, {device("a", 2.9e12), device("b", 1e12, "")});
  EXPECT_EQ(judgement.outcome, Outcome::unknown);
  EXPECT_THAT(judgement.reason, HasSubstr("(b): its class is unknown"));
}

TEST(Judge, OnlyDevicesThatARuleMeasuresArePassed) {
  const std::string h100 = triad_rule("\"bandwidth >= 2.8 TB/s\"\nclasses = [\"h100_sxm5_80gb\"]");
  const Judgement mixed = judge(parse_contract(h100, "c.toml"), {device("a", 2.9e12), device("b", 1e12, "a40")});
  EXPECT_EQ(mixed.outcome, Outcome::unknown);
  EXPECT_THAT(mixed.reason, HasSubstr("1 of 2 checks UNKNOWN (b): no rule of c measures anything on a40"));
  // Counting it is no measuring.
  const Contract counts = parse_contract(h100 + rule("devices = 1\nclasses = [\"a40\"]"), "c.toml");
  EXPECT_EQ(judge(counts, {device("a", 2.9e12), device("b", 1e12, "a40")}).outcome, Outcome::unknown);
}

const std::string cpu_class = "cpu-authenticamd-25-17-1-c2-24gib-vm";

TEST(Judge, ACpuBesideGpusIsOutOfTheScopeOfAContractForGpus) {
  DeviceValues cpu = device("cpu", 1e10, cpu_class);
  const std::vector<DeviceValues> both{device("a", 2.9e12), cpu};
  const std::string h100 = triad_rule("\"bandwidth >= 2.8 TB/s\"\nclasses = [\"h100_sxm5_80gb\"]");
  const Judgement told = judge(parse_contract(h100, "c.toml"), both);
  EXPECT_EQ(told.outcome, Outcome::pass) << told.reason;
  EXPECT_THAT(told.remarks,
              testing::ElementsAre("1 device of " + cpu_class + " is not judged: the contract is for GPUs"));
  // A rule for all measures the CPU too where it has the case, and leaves it out where only GPUs have it.
  const Contract all = parse_contract(triad_rule("\"bandwidth >= 2.8 TB/s\""), "c.toml");
  EXPECT_EQ(judge(all, both).outcome, Outcome::fail);
  cpu.values.clear();
  EXPECT_EQ(judge(all, {device("a", 2.9e12), cpu}).outcome, Outcome::pass);
  EXPECT_EQ(judge(all, {cpu}).outcome, Outcome::not_run);
  // It is none of the devices that are counted.
  const Contract counts = parse_contract(h100 + rule("devices = 2"), "c.toml");
  EXPECT_EQ(judge(counts, both).outcome, Outcome::fail);
  // A contract that names CPUs leaves none out; and a CPU alone isn't passed over.
  const Contract other = parse_contract(h100 + triad_rule("\"bandwidth >= 1 GB/s\"\nclasses = [\"cpu-x\"]"), "c.toml");
  EXPECT_EQ(judge(other, both).outcome, Outcome::unknown);
  EXPECT_EQ(judge(parse_contract(h100, "c.toml"), {cpu}).outcome, Outcome::unknown);
}

TEST(Judge, EachDeviceOwesWhatAnotherOfItsClassHas) {
  const Contract contract = parse_contract(rule("case = \"bw/copy/*\"\nrequire = \"bandwidth >= 60 GB/s\""), "c.toml");
  const auto with = [](const std::string& name, const std::vector<MetricKey>& keys, const std::string& class_id) {
    DeviceValues values = device(name, 1e11, class_id);
    const MetricValue value = value_of(values);
    values.values.clear();
    for (const MetricKey& key : keys) values.values[key] = value;
    return values;
  };
  const MetricKey small{"bw/copy/size:0", "bandwidth", "", Axis::second},
      big{"bw/copy/size:1", "bandwidth", "", Axis::second};
  const MetricKey point{"bw/copy/size:1", "bandwidth", "bytes:64", Axis::second};
  const auto of = [&](const std::vector<MetricKey>& keys, const std::string& class_id = "h100_sxm5_80gb") {
    return judge(contract, {with("a", {small, big, point}, "h100_sxm5_80gb"), with("b", keys, class_id)});
  };
  EXPECT_EQ(of({small, big, point}).outcome, Outcome::pass);
  EXPECT_EQ(of({small, point}).outcome, Outcome::not_run);
  EXPECT_THAT(of({small, point}).reason,
              HasSubstr("b has no bw/copy/size:1 bandwidth, and another device of its class has"));
  EXPECT_THAT(of({small, big}).reason, HasSubstr("b has no bw/copy/size:1 bandwidth bytes:64"));
  EXPECT_EQ(of({small}, "a40").outcome, Outcome::pass) << "another class may have other cases";
  EXPECT_EQ(of({}, "a40").outcome, Outcome::not_run);
}

TEST(Judge, WhatNoDeviceShowsIsInvalid) {
  const Contract latency = parse_contract(rule("case = \"x\"\nrequire = \"latency <= 5 us\""), "c.toml");
  DeviceValues values = device("a", 1e-296);
  MetricValue value = value_of(values);
  value.unit = "s";
  value.better = Better::lower;
  values.values = {{{"x", "latency", "", Axis::second}, value}};
  EXPECT_EQ(judge(latency, {values}).outcome, Outcome::invalid);
  const Contract contract = parse_contract(triad_rule("\"bandwidth >= 2.8 TB/s\""), "c.toml");
  EXPECT_EQ(judge(contract, {device("a", 1e200)}).outcome, Outcome::invalid);
}

TEST(Judge, ASmallNodeMayBeOneThatLostDevices) {
  const std::string lax = triad_rule("\"bandwidth >= 1 TB/s\"\nclasses = [\"h100_sxm5_80gb\"]\nnode_devices = 1");
  const std::string strict = triad_rule("\"bandwidth >= 2.8 TB/s\"\nclasses = [\"h100_sxm5_80gb\"]\nnode_devices = 8");
  const std::string eight = rule("devices = 8\nshapes = [\"big\"]\nclasses = [\"h100_sxm5_80gb\"]");
  const Judgement lost = judge(parse_contract(eight + lax + strict, "c.toml"), {device("a", 2e12)});
  EXPECT_EQ(lost.outcome, Outcome::not_run);
  EXPECT_THAT(lost.reason, HasSubstr("the contract knows machine types with 8 (big)"));
  const Judgement smaller = judge(parse_contract(lax + strict, "c.toml"), {device("a", 2e12)});
  EXPECT_EQ(smaller.outcome, Outcome::not_run);
  EXPECT_THAT(smaller.reason, HasSubstr("the node has 1 such device, the contract knows nodes with 8: nothing tells"));
  EXPECT_THAT(smaller.remarks, testing::ElementsAre("1 rule does not apply: for nodes of another number of devices"));
  // Unless the contract says how many there must be.
  const Judgement told = judge(parse_contract(lax + strict + rule("devices = 1"), "c.toml"), {device("a", 2e12)});
  EXPECT_EQ(told.outcome, Outcome::pass) << told.reason;
}

TEST(Judge, ARuleForAnotherSizeOfNodeCoversTheSameNumberOnly) {
  const auto outcome = [](const std::string& small) {
    const std::string eight = triad_rule("\"bandwidth >= 2.8 TB/s\"\nnode_devices = 8");
    return judge(parse_contract(eight + small + rule("devices = 1"), "c.toml"), {device("a", 2.9e12)}).outcome;
  };
  EXPECT_EQ(outcome(triad_rule("\"bandwidth >= 2 TB/s\"\nnode_devices = 1")), Outcome::pass);
  EXPECT_EQ(outcome(triad_rule("\"other >= 2 TB/s\"\nnode_devices = 1\nlater = true")), Outcome::not_run);
  EXPECT_EQ(outcome(triad_rule("\"bandwidth <= 3 TB/s\"\nnode_devices = 1")), Outcome::not_run);
  EXPECT_EQ(outcome(triad_rule("\"bandwidth >= 2 TB/s\"\nnode_devices = 1\nclasses = [\"a40\"]")), Outcome::not_run);
}

TEST(Judge, APromiseOfDevicesIsBrokenByNoneOfThem) {
  const std::string all = triad_rule("\"bandwidth >= 100 GB/s\"");
  const std::string eight = "devices = 8\nclasses = [\"h100_sxm5_80gb\"]";
  const Judgement none = judge(parse_contract(all + rule(eight), "c.toml"), {device("a", 2e11, "l4")});
  EXPECT_EQ(none.outcome, Outcome::fail);
  EXPECT_THAT(none.reason, HasSubstr("the node has 0 such devices, and 8 are promised"));
  // Machine types are alternatives; that none of them can be meant is told.
  const std::string shape = rule(eight + "\nshapes = [\"p5\"]");
  const Contract shapes = parse_contract(all + shape, "c.toml");
  EXPECT_EQ(judge(shapes, {device("a", 2e11, "l4")}).outcome, Outcome::unknown);
  EXPECT_THAT(judge(shapes, {device("a", 2e11, "l4")}).reason,
              HasSubstr("machine types like p5, and none of their devices"));
  EXPECT_EQ(judge(shapes, {device("a", 2e11, "l4")}, "p5").outcome, Outcome::fail);
  const Contract two =
      parse_contract(all + shape + rule("devices = 1\nclasses = [\"l4\"]\nshapes = [\"g6\"]"), "c.toml");
  EXPECT_EQ(judge(two, {device("a", 2e11, "l4")}).outcome, Outcome::pass);
}

TEST(Judge, RulesOfOtherClassesDontApply) {
  const Contract contract =
      parse_contract(triad_rule("\"bandwidth >= 2.8 TB/s\"\nclasses = [\"h100_sxm5_80gb\"]"), "c.toml");
  const Judgement judgement = judge(contract, {device("a", 1e12, "a40")});
  EXPECT_EQ(judgement.outcome, Outcome::unknown);
  EXPECT_EQ(judgement.not_applicable, 1);
  EXPECT_THAT(judgement.reason, HasSubstr("no rule of c measures anything on a40"));
}

TEST(Judge, SpreadOfTheNode) {
  const Contract contract = parse_contract(triad_rule("\"spread of bandwidth <= 3 %\""), "c.toml");
  EXPECT_EQ(judge(contract, {device("a", 2.9e12), device("b", 2.85e12)}).outcome, Outcome::pass);
  const Judgement bad = judge(contract, {device("a", 2.9e12), device("b", 2.9e12), device("c", 2.7e12)});
  EXPECT_EQ(bad.outcome, Outcome::fail);  // though two are copies: a third is far off
  EXPECT_NEAR(*bad.results[0].value, 6.9, 0.01);
  EXPECT_EQ(judge(contract, {device("a", 2.9e12)}).outcome, Outcome::not_run);
  DeviceValues empty;
  empty.device = "b";
  EXPECT_EQ(judge(contract, {device("a", 2.9e12), device("c", 2.9e12), empty}).outcome, Outcome::not_run);
}

// 2.9 TB/s keeps what `big` machines must keep; whether this is one, nobody said.
TEST(Judge, ARuleForAMachineTypePassesOnlyWhereTheTypeIsTold) {
  const Contract contract = parse_contract(triad_rule("\"bandwidth >= 2.8 TB/s\"\nshapes = [\"big\"]"), "c.toml");
  const Judgement untold = judge(contract, {device("a", 2.9e12)});
  EXPECT_EQ(untold.outcome, Outcome::unknown);
  EXPECT_THAT(untold.reason, HasSubstr("--shape"));
  EXPECT_EQ(judge(contract, {device("a", 2.9e12)}, "big").outcome, Outcome::pass);
  EXPECT_EQ(judge(contract, {device("a", 2.5e12)}).outcome, Outcome::fail);
}

TEST(Judge, SizesAndShapesOfNodes) {
  const std::string text = rule("devices = 2\nshapes = [\"big\"]\nclasses = [\"h100_sxm5_80gb\"]") +
                           triad_rule("\"bandwidth >= 2.8 TB/s\"\nclasses = [\"h100_sxm5_80gb\"]\nnode_devices = 2");
  const Contract contract = parse_contract(text, "c.toml");
  const std::vector<DeviceValues> one{device("a", 2.9e12)}, two{device("a", 2.9e12), device("b", 2.9e12)};
  EXPECT_EQ(judge(contract, two).outcome, Outcome::pass);
  EXPECT_EQ(judge(contract, two).not_applicable, 1);  // how many a shape has, without a shape
  EXPECT_EQ(judge(contract, two, "big").results.size(), 3);
  EXPECT_EQ(judge(contract, one, "big").outcome, Outcome::fail);
  // A node that lost a device isn't passed over, though the rule is for two.
  EXPECT_EQ(judge(contract, one).outcome, Outcome::not_run);
  EXPECT_THAT(judge(contract, one).reason, HasSubstr("the node has 1 such device, the rule is for nodes of 2"));
  const Contract plain = parse_contract(rule("devices = 8"), "c.toml");
  EXPECT_EQ(judge(plain, two).outcome, Outcome::fail);
  EXPECT_EQ(judge(plain, {}).outcome, Outcome::fail);
}

TEST(Rules, WithoutClassesAreForThoseOfTheRun) {
  Contract lax = parse_contract(triad_rule("\"bandwidth >= 1 kB/s\""), "c.toml");
  EXPECT_NO_THROW(check_names(lax, known(), table()));
  EXPECT_NO_THROW(check_names(lax, known(), table(), {"cpu-authenticamd-25-17-1-c2-24gib-vm"}));
  EXPECT_THROW(check_names(lax, known(), table(), {"h100_sxm5_80gb"}), Error);
}

TEST(Rules, ComplaintsAboutLongTextsAreShort) {
  const std::string name(100000, 'b');
  for (const std::string& text :
       {triad_rule("\"" + name + " >= 1 TB/s\""), triad_rule("\"bandwidth >= 1 TB/s\"\n" + name + " = 1"),
        triad_rule("\"bandwidth >= 1 TB/s\"\nclasses = [\"" + name + "\"]"),
        triad_rule("\"bandwidth >= 1" + std::string(1000, '0') + " TB/s\"")}) {
    const std::string said = complaint(text);
    EXPECT_FALSE(said.empty());
    EXPECT_LT(said.size(), 400) << said;
  }
}

TEST(Packs, AreAllReadableAndTheirNamesKnown) {
  setenv("ASSAY_RESULTS_DIR", results().c_str(), 1);
  const std::vector<std::string> names = pack_names();
  EXPECT_GE(names.size(), 10);
  std::size_t rules = 0, quarantined = 0;
  for (const std::string& name : names) {
    Contract pack = read_contract(name);
    EXPECT_EQ(pack.name, name);
    EXPECT_FALSE(pack.summary.empty()) << name;
    check_names(pack, known(), table());
    rules += pack.rules.size();
    quarantined += pack.quarantined.size();
    for (const Rule& r : pack.rules) EXPECT_FALSE(r.source.empty() || r.published.empty()) << name << " " << r.name;
  }
  EXPECT_GT(rules, 150);
  EXPECT_GE(quarantined, 9);
  try {
    read_contract("azure-nch");
    FAIL();
  } catch (const Error& problem) {
    EXPECT_EQ(problem.code(), exit_code::error);
    EXPECT_THAT(problem.what(), HasSubstr("did you mean azure-nhc"));
  }
  unsetenv("ASSAY_RESULTS_DIR");
}

// One gate for all machines is nothing for those that can't reach it: the others of its pack are judged all the same.
TEST(Packs, GiveAnAnswerForEveryClass) {
  setenv("ASSAY_RESULTS_DIR", results().c_str(), 1);
  for (const std::string& name : pack_names()) {
    const Contract read = read_contract(name);
    for (const GpuClass& gpu : table().classes()) {
      Contract pack = read;
      ASSERT_NO_THROW(check_names(pack, known(), table(), {gpu.id})) << name << " " << gpu.id;
      const Judgement judgement = judge(pack, {device("a", 1e11, gpu.id)});
      EXPECT_NE(code(judgement.outcome), exit_code::pass) << name << " " << gpu.id;
      EXPECT_FALSE(judgement.reason.empty());
    }
  }
  Contract oci = read_contract("oci");
  unsetenv("ASSAY_RESULTS_DIR");
  check_names(oci, known(), table(), {"a100_sxm4_80gb", "h100_sxm5_80gb"});
  const Judgement judgement = judge(oci, {device("a", 1e12, "a100_sxm4_80gb"), device("h", 1e12)});
  EXPECT_THAT(judgement.remarks,
              testing::Contains(HasSubstr("is not asked of a100_sxm4_80gb: 'bandwidth >= 52 GB/s' can't "
                                          "be kept: PCIe 4.0 x16")));
  std::set<std::string> asked;
  for (const RuleResult& result : judgement.results)
    if (result.rule != nullptr && result.rule->case_pattern.find("host_device") != std::string::npos)
      asked.insert(result.device);
  EXPECT_THAT(asked, testing::ElementsAre("h"));
}

TEST(Packs, GiveAnAnswerOnDayOne) {
  setenv("ASSAY_RESULTS_DIR", results().c_str(), 1);
  const Contract dcgm = read_contract("dcgm");
  unsetenv("ASSAY_RESULTS_DIR");
  const Judgement judgement = judge(dcgm, {device("a", 1.5e12)});
  EXPECT_EQ(judgement.outcome, Outcome::fail);
  EXPECT_THAT(judgement.reason, HasSubstr("1.50 TB/s breaks 'bandwidth >= 1905 GB/s'"));
  EXPECT_EQ(judge(dcgm, {device("a", 2.9e12)}).outcome, Outcome::not_run);  // the rest of the pack isn't measured here
}

}  // namespace
}  // namespace assay
