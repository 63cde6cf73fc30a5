// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Measured against claimed: what is a match, what none, and that nothing unmeasured is ever a match.
#include <gtest/gtest.h>

#include "harness/verdict/identity.h"

namespace assay {
namespace {

DeviceInfo a_card() {
  DeviceInfo device;
  device.id = "cuda:0";
  device.facts = {{"multiprocessors", 132}, {"memory_bytes", 1e11}, {"cache.l2_bytes", 5e7}};
  return device;
}

std::vector<ShownFact> sound() {
  return {{"multiprocessors", 132, "seen"},
          {"f32_lanes", 126, "timed"},
          {"memory_tested_bytes", 9.9e10, "written"},
          {"memory_wrong_bytes", 0, "written"}};
}

Outcome outcome_of(const DeviceInfo& device, const std::vector<ShownFact>& shown, const std::string& fact,
                   std::optional<double> lanes = 128) {
  for (const IdentityLine& line : judge_identity(device, lanes, shown))
    if (line.fact == fact) return line.outcome;
  ADD_FAILURE() << "no line of " << fact;
  return Outcome::error;
}

std::vector<ShownFact> with(const std::string& name, std::optional<double> value) {
  std::vector<ShownFact> shown = sound();
  for (ShownFact& fact : shown)
    if (fact.name == name) fact.value = value;
  return shown;
}

TEST(VerdictIdentity, ASoundCardMatchesInWhatWasMeasured) {
  for (const IdentityLine& line : judge_identity(a_card(), 128, sound())) {
    EXPECT_EQ(line.outcome == Outcome::match, line.shown.has_value()) << line.fact;
    EXPECT_FALSE(line.reason.empty()) << line.fact;
  }
  EXPECT_EQ(judge_identity(a_card(), 128, sound()).size(), 8u);
}

TEST(VerdictIdentity, WhatDiffersIsNamed) {
  for (const double seen : {131.0, 133.0, 66.0}) {
    EXPECT_EQ(outcome_of(a_card(), with("multiprocessors", seen), "multiprocessors"), Outcome::mismatch) << seen;
  }
  for (const auto& [lanes, expected] : std::vector<std::pair<double, Outcome>>{{64, Outcome::mismatch},
                                                                               {95, Outcome::mismatch},
                                                                               {100, Outcome::unknown},
                                                                               {116, Outcome::match},
                                                                               {134, Outcome::match},
                                                                               {138, Outcome::unknown},
                                                                               {142, Outcome::mismatch}}) {
    EXPECT_EQ(outcome_of(a_card(), with("f32_lanes", lanes), "f32_lanes"), expected) << lanes;
  }
  EXPECT_EQ(outcome_of(a_card(), with("memory_wrong_bytes", 8), "memory_bytes"), Outcome::mismatch);
  EXPECT_EQ(outcome_of(a_card(), with("memory_tested_bytes", 8.9e10), "memory_bytes"), Outcome::unknown);
}

TEST(VerdictIdentity, WhatNobodyMeasuredOrToldIsUnknown) {
  for (const char* name : {"multiprocessors", "f32_lanes"}) {
    EXPECT_EQ(outcome_of(a_card(), with(name, std::nullopt), name), Outcome::unknown) << name;
  }
  for (const char* name : {"memory_tested_bytes", "memory_wrong_bytes"}) {
    EXPECT_EQ(outcome_of(a_card(), with(name, std::nullopt), "memory_bytes"), Outcome::unknown) << name;
  }
  EXPECT_EQ(outcome_of(a_card(), sound(), "f32_lanes", std::nullopt), Outcome::unknown);
  for (const IdentityLine& line : judge_identity(a_card(), 128, {}))
    EXPECT_EQ(line.outcome, Outcome::unknown) << line.fact;
  DeviceInfo silent = a_card();
  silent.facts.clear();
  for (const IdentityLine& line : judge_identity(silent, std::nullopt, sound()))
    EXPECT_EQ(line.outcome, Outcome::unknown) << line.fact;
}

TEST(VerdictIdentity, ASimulatedDeviceIsNoCard) {
  DeviceInfo device = a_card();
  device.simulated = true;
  for (const IdentityLine& line : judge_identity(device, 128, sound()))
    EXPECT_EQ(line.outcome, Outcome::unknown) << line.fact;
  EXPECT_EQ(outcome_of(device, with("multiprocessors", 66), "multiprocessors"), Outcome::mismatch);
  EXPECT_EQ(outcome_of(device, with("memory_wrong_bytes", 8), "memory_bytes"), Outcome::mismatch);
  EXPECT_EQ(outcome_of(device, with("f32_lanes", 64), "f32_lanes"), Outcome::unknown) << "its time is made up";
}

}  // namespace
}  // namespace assay
