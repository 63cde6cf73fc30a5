// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Learning from made-up fleets whose mean and spreads are known.
#include "harness/verdict/learn.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace assay {
namespace {

using testing::HasSubstr;

struct Fleet {
  int devices = 16, sessions = 3;
  double mean = 2.9e12, device_sd = 0.004, session_sd = 0.001, clock_sd = 0, elasticity = 0;
  unsigned seed = 1;
};

std::vector<SessionValue> values(const Fleet& fleet) {
  std::mt19937_64 random(fleet.seed);
  std::normal_distribution<double> normal;
  std::vector<SessionValue> all;
  for (int d = 0; d < fleet.devices; ++d) {
    const double clock = fleet.clock_sd * normal(random);
    const double device = std::log(fleet.mean) + fleet.device_sd * normal(random) + fleet.elasticity * clock;
    for (int s = 1; s <= fleet.sessions; ++s) {
      SessionValue v;
      v.device = fmt::format("GPU-{:02}", d);
      v.session = fmt::format("run{}/{}", d, s);
      v.class_id = "h100_sxm5_80gb";
      v.benchmark = "memory/stream";
      v.key = {"memory/stream/op:copy", "bandwidth", "", Axis::second};
      v.unit = "B/s";
      v.value = {device + fleet.session_sd * normal(random), 0.0008, 0, 20};
      v.clock_hz = 1.83e9 * std::exp(clock);
      v.conditions =
          std::make_shared<const Conditions>(Conditions{{"the worker", "cuda13"}, {"bytes per iteration", "1e9"}});
      v.worker = "cuda13", v.modes = "ecc=on";
      v.driver = d % 2 == 0 ? "580.95.05" : "580.105.08";
      all.push_back(v);
    }
  }
  return all;
}

Learned learn_from(const std::vector<SessionValue>& all) {
  return learn(all, "h100_sxm5_80gb", {"2026-11-30", "0.1.0", "a test"});
}
const BaselineRow& row_of(const Learned& learned) {
  EXPECT_TRUE(learned.refusals.empty()) << (learned.refusals.empty() ? "" : learned.refusals[0].reason);
  EXPECT_EQ(learned.baseline.rows.size(), 1);
  static const BaselineRow none;
  return learned.baseline.rows.empty() ? none : learned.baseline.rows[0];
}
std::string refusal_of(const Learned& learned, Outcome outcome) {
  EXPECT_TRUE(learned.baseline.rows.empty());
  EXPECT_EQ(learned.refusals.size(), 1);
  if (learned.refusals.empty()) return {};
  EXPECT_EQ(learned.refusals[0].outcome, outcome);
  return learned.refusals[0].reason;
}

TEST(Learn, GivesBackWhatAFleetWasMadeOf) {
  const Learned learned = learn_from(values({64, 5, 2.9e12, 0.004, 0.001, 0.01, 0}));
  const BaselineRow& row = row_of(learned);
  EXPECT_EQ(row.devices, 64);
  EXPECT_EQ(row.sessions, 320);
  EXPECT_EQ(row.removed, 0);
  EXPECT_NEAR(row.log_mean, std::log(2.9e12), 0.0015);
  EXPECT_NEAR(row.between_device_sd, 0.004, 0.001);
  EXPECT_NEAR(*row.between_session_sd, 0.001, 0.0001);
  EXPECT_NEAR(*row.within_session_sd, 0.0008 * 1.2533, 1e-6);
  EXPECT_NEAR(*row.clock_hz, 1.83e9, 0.01e9);
  EXPECT_NEAR(*row.clock_elasticity, 0, 0.15);
  EXPECT_FALSE(row.provisional);
  EXPECT_EQ(row.driver_min, "580.95.05");  // by numbers: 95 before 105
  EXPECT_EQ(row.driver_max, "580.105.08");
  EXPECT_EQ(row.class_id, "h100_sxm5_80gb");
  EXPECT_EQ(row.date, "2026-11-30");
}

TEST(Learn, ElasticityIsThatOfSpeed) {
  EXPECT_NEAR(*row_of(learn_from(values({64, 3, 6e13, 0.002, 0.0005, 0.02, 1}))).clock_elasticity, 1, 0.15);
  std::vector<SessionValue> latencies = values({64, 3, 6e13, 0.002, 0.0005, 0.02, -1});
  for (SessionValue& v : latencies) v.better = Better::lower, v.unit = "s";
  EXPECT_NEAR(*row_of(learn_from(latencies)).clock_elasticity, 1, 0.15);
  EXPECT_EQ(row_of(learn_from(values({}))).clock_elasticity, std::nullopt);  // all clocks equal
}

TEST(Learn, CleansOnceOnBothSides) {
  for (const double factor : {0.9, 1.1}) {
    std::vector<SessionValue> all = values({});
    for (SessionValue& v : all)
      if (v.device == "GPU-03") v.value.log_value += std::log(factor);
    const Learned learned = learn_from(all);
    EXPECT_EQ(row_of(learned).removed, 1);
    EXPECT_EQ(row_of(learned).devices, 15);
    EXPECT_NEAR(row_of(learned).log_mean, std::log(2.9e12), 0.004);
  }
}

TEST(Learn, FewDevicesAreProvisionalAndFewerRefused) {
  EXPECT_TRUE(row_of(learn_from(values({3}))).provisional);
  EXPECT_TRUE(row_of(learn_from(values({7}))).provisional);
  EXPECT_FALSE(row_of(learn_from(values({8}))).provisional);
  EXPECT_THAT(refusal_of(learn_from(values({2})), Outcome::inconclusive),
              HasSubstr("2 devices measured it, and a reference needs 3"));
  // Sessions of one device are no devices.
  EXPECT_THAT(refusal_of(learn_from(values({1, 20})), Outcome::inconclusive), HasSubstr("1 device measured it"));
  EXPECT_TRUE(learn_from({}).baseline.rows.empty());
}

// Four sick devices of a hundred are no mode of the class: they are cleaned away, and the row says how many.
TEST(Learn, AFewSlowDevicesAreNoMode) {
  const auto with_slow = [](int devices, const std::string& below) {
    std::vector<SessionValue> all = values({devices, 3, 2.9e12, 0.002, 0.0005});
    for (SessionValue& v : all)
      if (v.device < below) v.value.log_value -= 0.05;
    return learn_from(all);
  };
  const BaselineRow row = row_of(with_slow(50, "GPU-04"));
  EXPECT_EQ(row.removed, 4);
  EXPECT_EQ(row.devices, 46);
  EXPECT_THAT(refusal_of(with_slow(30, "GPU-04"), Outcome::mode_switch), HasSubstr("two groups, 4 and 26"));
}

TEST(Learn, StrangersAreCountedInOneSentence) {
  std::vector<SessionValue> all = values({12});
  for (SessionValue& v : all)
    if (v.device >= "GPU-08") v.class_id = "";
  const Learned learned = learn_from(all);
  ASSERT_EQ(learned.refusals.size(), 1);
  EXPECT_THAT(learned.refusals[0].reason, HasSubstr("4 devices (GPU-08 and others) are of class UNKNOWN"));
}

TEST(Learn, CopiesAreRefused) {
  std::vector<SessionValue> all = values({12});
  for (SessionValue& v : all) v.value = {std::log(2.5e12) + 1e-14 * v.value.log_value, 0, 0, 20};
  EXPECT_THAT(refusal_of(learn_from(all), Outcome::invalid), HasSubstr("exactly the same"));
  all = values({12});
  for (SessionValue& v : all) v.value.log_spread += 1e-5 * v.value.log_value;  // no two alike
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal;
  for (SessionValue& v : all)
    for (int i = 0; i < 20; ++i) v.samples.push_back(std::exp(v.value.log_value + 0.001 * normal(random)));
  EXPECT_TRUE(learn_from(all).refusals.empty());
  all.back().samples = all.front().samples;
  for (double& sample : all.back().samples) sample = static_cast<double>(static_cast<float>(sample));  // exported
  EXPECT_THAT(refusal_of(learn_from(all), Outcome::invalid), HasSubstr("GPU-11 have the same samples"));
}

TEST(Learn, TwoGroupsAreRefused) {
  std::vector<SessionValue> all = values({16, 3, 2.9e12, 0.002, 0.0005});
  for (SessionValue& v : all)
    if (v.device < "GPU-06") v.value.log_value += 0.05;
  EXPECT_THAT(refusal_of(learn_from(all), Outcome::mode_switch),
              HasSubstr("its devices fall into two groups, 10 and 6"));
  // Sessions that land in one of two modes.
  std::vector<SessionValue> modes = values({16, 4, 2.9e12, 0.001, 0.0003});
  for (SessionValue& v : modes)
    if (v.session.back() == '1') v.value.log_value += 0.03;
  EXPECT_THAT(refusal_of(learn_from(modes), Outcome::mode_switch), HasSubstr("its sessions fall into two groups"));
}

// One mode must not be taken for two: of 400 metrics of normal fleets few may be lost.
TEST(Learn, OneGroupIsRarelyRefused) {
  int refused = 0;
  for (unsigned seed = 0; seed < 400; ++seed) {
    Fleet fleet;
    fleet.devices = static_cast<int>(3 + seed % 30);
    fleet.seed = 100 + seed;
    refused += learn_from(values(fleet)).refusals.empty() ? 0 : 1;
  }
  EXPECT_LE(refused, 8);
}

TEST(Learn, RunsThatDifferAreRefused) {
  std::vector<SessionValue> all = values({});
  all.back().conditions =
      std::make_shared<const Conditions>(Conditions{{"the worker", "cuda13"}, {"bytes per iteration", "2e9"}});
  EXPECT_THAT(refusal_of(learn_from(all), Outcome::inconclusive),
              HasSubstr("bytes per iteration is 1e9 on GPU-00 and 2e9 on GPU-15"));
  all = values({});
  all.back().unit = "op/s";
  EXPECT_THAT(refusal_of(learn_from(all), Outcome::inconclusive), HasSubstr("its unit is B/s"));
  all = values({});
  all.back().conditions = std::make_shared<const Conditions>(Conditions{{"bytes per iteration", "1e9"}});
  EXPECT_THAT(refusal_of(learn_from(all), Outcome::inconclusive), HasSubstr("not told"));
  all = values({});
  for (SessionValue& v : all) v.value.log_value = 28, v.value.log_spread = 0;
  EXPECT_THAT(refusal_of(learn_from(all), Outcome::invalid), HasSubstr("exactly the same"));
}

TEST(Learn, DevicesOfAnotherClassAreNamed) {
  std::vector<SessionValue> all = values({});
  for (SessionValue& v : all)
    if (v.device == "GPU-05") v.class_id = "h100_pcie_80gb";
  const Learned learned = learn_from(all);
  ASSERT_EQ(learned.refusals.size(), 1);
  EXPECT_EQ(learned.refusals[0].reason, "GPU-05 is of class h100_pcie_80gb, not of h100_sxm5_80gb");
  EXPECT_EQ(learned.baseline.rows.at(0).devices, 15);
}

TEST(Versions, AreComparedByNumbers) {
  EXPECT_TRUE(older_version("580.95.05", "580.105.08"));
  EXPECT_FALSE(older_version("580.105.08", "580.95.05"));
  EXPECT_TRUE(older_version("580", "580.1"));
  EXPECT_FALSE(older_version("580.1", "580.1"));
  EXPECT_TRUE(older_version("580.a", "580.b"));
}

TEST(Learn, WritesNothingThatItsReaderRefuses) {
  std::vector<SessionValue> all = values({});
  for (SessionValue& v : all) v.unit = "foo";
  EXPECT_THAT(refusal_of(learn_from(all), Outcome::invalid), HasSubstr("column unit: 'foo' is no SI base unit"));
  for (SessionValue& v : all) v.unit = "B/s", v.better = Better::lower;
  EXPECT_THAT(refusal_of(learn_from(all), Outcome::invalid),
              HasSubstr("column better: is lower, but B/s is better higher"));
  Fleet wild;
  wild.device_sd = 1.5;
  EXPECT_THAT(refusal_of(learn_from(values(wild)), Outcome::invalid), HasSubstr("column between_device_log_sd"));
}

}  // namespace
}  // namespace assay
