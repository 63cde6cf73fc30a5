// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// The reader of fake devices: what a scenario says is what comes out, and what it misspells is refused with file, line
// and key.
#include "harness/device/scenario.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "harness/base/error.h"
#include "harness/base/file.h"
#include "tests/unit/source_folder.h"

namespace assay {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const std::string head = "name = \"t\"\n";  // line 1
const std::string one = R"([[benchmark]]
name = "a/b"
[[benchmark.metric]]
name = "rate"
unit = "FLOP/s"
median = 1.0e9
)";                                         // lines 2 to 7

std::string error_of(const std::string& text) {
  try {
    parse_scenario(text, "F.toml");
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), exit_code::error);
    return e.what();
  }
  return "no error";
}

std::filesystem::path fixtures() {
  return source_folder() / "tests" / "fixtures" / "scenarios";
}

TEST(Scenario, DefaultIsHealthyAndSimulated) {
  const Scenario s = read_scenario("fake:default");
  ASSERT_EQ(s.devices.size(), 1U);
  EXPECT_TRUE(s.devices[0].simulated);
  EXPECT_EQ(s.devices[0].kind, "fake");
  EXPECT_EQ(s.devices[0].id, "fake:default");
  EXPECT_EQ(s.devices[0].fact("clock_hz"), 1.5e9);
  EXPECT_FALSE(s.devices[0].pci_address.empty());
  EXPECT_FALSE(s.devices[0].uuid.empty());
  EXPECT_TRUE(s.overrides.empty());
}

TEST(Scenario, ManifestIsSortedAndSaysWhatACaseNeeds) {
  const Manifest m = fake_manifest(read_scenario("fake:default"));
  EXPECT_EQ(m.worker, "fake");
  ASSERT_EQ(m.benchmarks.size(), 4U);
  EXPECT_EQ(m.benchmarks[0].name, "compute/fma");
  EXPECT_EQ(m.benchmarks[3].name, "transfer/memcpy");
  ASSERT_EQ(m.benchmarks[3].cases.at(0).needs.size(), 1U);
  EXPECT_EQ(m.benchmarks[3].cases[0].needs[0].fact, "numa_nodes");
  EXPECT_EQ(m.benchmarks[2].cases.at(1).name, "memory/stream/op:triad/type:f64/size:dram");
  EXPECT_EQ(m.benchmarks[2].cases[1].params.at("op"), "triad");
  EXPECT_EQ(m.benchmarks[2].cases[1].rank, 10);
  EXPECT_EQ(m.benchmarks[1].metrics.at(0).better, Better::lower) << "a time is better when it is lower";
}

TEST(Scenario, EveryFixtureParsesAndTheExampleExplainsEveryKey) {
  int seen = 0;
  for (const auto& entry : std::filesystem::directory_iterator(fixtures())) {
    if (entry.path().extension() != ".toml") continue;
    EXPECT_NO_THROW(read_scenario("fake:" + entry.path().string())) << entry.path();
    ++seen;
  }
  EXPECT_GE(seen, 10);
  const std::string example = read_file(fixtures() / "example.toml");
  for (const FakeModelKey& key : fake_model_keys())
    EXPECT_THAT(example, HasSubstr(std::string("\n") + key.name + " = ")) << "not explained in example.toml";
  for (const std::string& fault : fake_fault_names())
    EXPECT_THAT(example, HasSubstr("\n#   " + fault + " ")) << "not explained in example.toml";
}

TEST(Scenario, ExampleShowsTheDefaults) {
  // A default that the example states wrongly would mislead whoever writes the next scenario. Deviations are named
  // here.
  const Scenario s = read_scenario("fake:" + (fixtures() / "example.toml").string());
  const FakeModel stated = s.benchmarks.at(0).model, built_in;
  for (const FakeModelKey& key : fake_model_keys()) {
    const std::string name = key.name;
    if (name == "session_sd" || name == "noise_sd" || name == "outlier_mean" || name == "sample_mode_shift" ||
        name == "session_mode_shift")
      continue;
    EXPECT_EQ(stated.*key.member, built_in.*key.member) << name;
  }
}

TEST(Scenario, AChangedTextIsAnotherScenarioOnTheSameDevice) {
  const DeviceInfo before = parse_scenario(head + one, "F.toml").devices.at(0);
  const DeviceInfo after = parse_scenario(head + one + "summary = \"x\"\n", "F.toml").devices.at(0);
  EXPECT_NE(before.labels.at("scenario"), after.labels.at("scenario"));
  EXPECT_EQ(before.uuid, after.uuid);
  EXPECT_EQ(before.labels.at("scenario"), parse_scenario(head + one, "F.toml").devices.at(0).labels.at("scenario"));
}

TEST(Scenario, FaultWordsStandInTheOrderOfTheEnumeration) {
  const std::vector<std::string>& names = fake_fault_names();
  ASSERT_EQ(names.size(), static_cast<std::size_t>(FakeFaultKind::skip) + 1);
  EXPECT_EQ(names[static_cast<std::size_t>(FakeFaultKind::crash)], "crash");
  EXPECT_EQ(names[static_cast<std::size_t>(FakeFaultKind::silent)], "silent");
  EXPECT_EQ(names[static_cast<std::size_t>(FakeFaultKind::no_samples)], "no_samples");
  EXPECT_EQ(names[static_cast<std::size_t>(FakeFaultKind::skip)], "skip");
}

TEST(Scenario, ModelThenBenchmarkThenOverrides) {
  const Scenario s = parse_scenario(head + "count = 2\n[model]\nnoise_sd = 0.1\nsession_sd = 0.2\n" + R"(
[[benchmark]]
name = "a/b"
cases = ["op:x", "op:y"]
session_sd = 0.3
[[benchmark.metric]]
name = "rate"
unit = "FLOP/s"
median = 1.0e9
[[override]]
cases = "a/b/op:y"
device = 1
session = 2
speed = 0.97
facts = { "ecc.corrected" = "2" }
[[override]]
cases = "*:x"
fault = "crash"
signal = "SIGABRT"
)",
                                    "F.toml");
  EXPECT_EQ(fake_case(s, "a/b/op:y", 0, 2).model.speed, 1);
  EXPECT_EQ(fake_case(s, "a/b/op:y", 1, 1).model.speed, 1);
  const FakeCase slow = fake_case(s, "a/b/op:y", 1, 2);
  EXPECT_EQ(slow.model.speed, 0.97);
  EXPECT_EQ(slow.model.noise_sd, 0.1);
  EXPECT_EQ(slow.model.session_sd, 0.3);
  EXPECT_EQ(slow.facts.at("ecc.corrected"), "2");
  EXPECT_EQ(slow.fault.kind, FakeFaultKind::none);
  const FakeCase crash = fake_case(s, "a/b/op:x", 0, 1);
  EXPECT_EQ(crash.fault.kind, FakeFaultKind::crash);
  EXPECT_EQ(crash.fault.signal, 6);
  EXPECT_THROW(fake_case(s, "a/b/op:z", 0, 1), Error);
}

TEST(Scenario, SeveralDevicesDifferInIdentityOnly) {
  const std::string file = (fixtures() / "example.toml").string();
  const std::vector<DeviceInfo> both = fake_devices("fake:" + file);
  ASSERT_EQ(both.size(), 2U);
  EXPECT_EQ(both[1].id, "fake:" + file + "#1");
  EXPECT_NE(both[0].uuid, both[1].uuid);
  EXPECT_NE(both[0].pci_address, both[1].pci_address);
  EXPECT_EQ(both[0].facts, both[1].facts);
  const std::vector<DeviceInfo> second = fake_devices("fake:" + file + "#1");
  ASSERT_EQ(second.size(), 1U);
  EXPECT_EQ(second[0].uuid, both[1].uuid);
  EXPECT_THROW(fake_devices("fake:" + file + "#2"), Error);
  EXPECT_THROW(fake_devices("fake:/nowhere/x.toml"), Error);
}

struct Bad {
  std::string text, place, why;
};

class BadScenario : public testing::TestWithParam<Bad> {};

TEST_P(BadScenario, IsRefusedWithFileLineAndKey) {
  const Bad& bad = GetParam();
  EXPECT_THAT(error_of(bad.text), AllOf(HasSubstr("F.toml:" + bad.place), HasSubstr(bad.why)));
}

INSTANTIATE_TEST_SUITE_P(
    Scenario, BadScenario,
    testing::Values(
        Bad{"name = ", "1: ", ""},                                      // no TOML
        Bad{one, "1: name", "missing"},                                 // a required key is missing
        Bad{head, "1: benchmark", "missing"},                           // nothing to run
        Bad{head + "sed = 2\n" + one, "2: sed", "did you mean seed"},   // unknown key
        Bad{head + "seed = \"2\"\n" + one, "2: seed", "whole number"},  // wrong type
        Bad{head + "seed = -1\n" + one, "2: seed", "not between"},      // out of range
        Bad{head + "real_time_factor = nan\n" + one, "2: real_time_factor", "not between"},
        Bad{head + "[model]\nnoise_ds = 0.1\n" + one, "3: model.noise_ds", "noise_sd"},
        Bad{head + "[model]\nrho = 1.5\n" + one, "3: model.rho", "1.5 is not between"},
        Bad{head + "[device]\nfacts = { a = \"x\" }\n" + one, "3: device.facts.a", "a number is needed"},
        Bad{head + one + "bettr = \"lower\"\n", "8: benchmark #1.metric #1.bettr", "better"},
        Bad{head + one + "better = \"less\"\n", "8: benchmark #1.metric #1.better", "'less' is not a known word"},
        Bad{head + "[[benchmark]]\nname = \"a\"\n", "2: benchmark #1.metric", "missing"},
        Bad{head + "[[benchmark]]\nname = \"a\"\ncases = "
                   "[\"op\"]\n[[benchmark.metric]]\nname=\"m\"\nunit=\"s\"\nmedian=1\n",
            "4: benchmark #1.cases", "NAME:VALUE"},
        Bad{head + "[[benchmark]]\nname = \"a\"\ncases = []\n[[benchmark.metric]]\nname=\"m\"\nunit=\"s\"\nmedian=1\n",
            "4: benchmark #1.cases", "empty"},
        Bad{head + one + one, "9: benchmark #2.name", "twice"},
        Bad{head + one + "[[override]]\ncases = \"a/c\"\nspeed = 0.5\n", "9: override #1.cases", "matches no case"},
        Bad{head + one + "[[override]]\nspeeed = 0.5\n", "9: override #1.speeed", "speed"},
        Bad{head + one + "[[override]]\ndevice = 1\nspeed = 0.5\n", "9: override #1.device", "not between"},
        Bad{head + one + "[[override]]\nfault = \"crsh\"\n", "9: override #1.fault", "crash"},
        Bad{head + one + "[[override]]\nsignal = \"SIGSEGV\"\n", "9: override #1.signal", "without the key fault"},
        Bad{head + one + "[[override]]\nfault = \"missing_metric\"\nmetric = \"bandwith\"\n", "10: override #1.metric",
            "no case has the metric"},
        Bad{head + one + "[[override]]\ndevice = 0\n", "8: override #1.cases", "changes nothing"}));

}  // namespace
}  // namespace assay
