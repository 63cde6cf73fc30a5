// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// The shipped tables of classes and identities, and the decision which class a device is.
#include "harness/verdict/classes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "harness/base/error.h"
#include "tests/unit/source_folder.h"

namespace assay {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

constexpr double gib = 1073741824.0;

const ClassTable& table() {
  static const ClassTable shipped = read_class_table(source_folder() / "results");
  return shipped;
}

DeviceKey key(const char* device, const char* subdevice = "", double memory_gib = 0, double watts = 0) {
  DeviceKey k;
  k.vendor = "10de";
  k.device = device;
  if (*subdevice != '\0') k.subvendor = "10de", k.subdevice = subdevice;
  if (memory_gib > 0) k.memory_bytes = memory_gib * gib;
  if (watts > 0) k.power_limit_w = watts;
  return k;
}

TEST(ClassTable, HasEveryClassWithItsFactsAndSource) {
  EXPECT_EQ(table().classes().size(), 124);
  std::size_t with_limit = 0;
  for (const GpuClass& c : table().classes()) {
    EXPECT_FALSE(c.source.empty()) << c.id;
    EXPECT_TRUE(c.power_w) << c.id;
    EXPECT_LE(*c.power_w, *c.power_max_w) << c.id;
    if (c.memory_bytes_per_second) ++with_limit;
    EXPECT_TRUE(!c.nvlink_bytes_per_second || c.nvlink_generation > 0) << c.id;
  }
  EXPECT_GT(with_limit, 115);
  const GpuClass& h100 = *table().find("h100_sxm5_80gb");
  EXPECT_DOUBLE_EQ(*h100.memory_bytes_per_second, 3352e9);
  EXPECT_DOUBLE_EQ(*h100.nvlink_bytes_per_second, 450e9);
  EXPECT_DOUBLE_EQ(h100.operations_per_second.at("bf16"), 989.5e12);
  EXPECT_NEAR(*h100.memory_bytes, 79.6 * gib, 0.1 * gib);
}

TEST(ClassTable, EveryIdentityAgreesWithItsFamily) {
  std::set<std::string> classes;
  for (const Identity& i : table().identities()) {
    classes.insert(i.class_id);
    if (i.vendor != "10de" || i.compute_capability.empty() || i.family == "rubin") continue;
    EXPECT_EQ(family_of(i.compute_capability), i.family) << i.product;
  }
  for (const GpuClass& c : table().classes()) EXPECT_THAT(classes, Contains(c.id));
}

// A card that gives exactly what its own row says is found again, or other rows say the same.
TEST(ClassTable, EveryRowFindsItself) {
  std::size_t decided = 0;
  for (const Identity& i : table().identities()) {
    DeviceKey k;
    k.vendor = i.vendor, k.device = i.device, k.subvendor = i.subvendor, k.subdevice = i.subdevice;
    if (i.memory_gib) k.memory_bytes = *i.memory_gib * gib;
    k.power_limit_w = i.power_w;
    const ClassMatch match = table().match(k);
    if (match.outcome == Outcome::match) {
      ++decided;
      // A row of several products has no class of its own; its memory may decide between them.
      EXPECT_TRUE(i.class_id.empty() || match.class_id == i.class_id) << i.product << " is " << match.class_id;
    } else {
      EXPECT_FALSE(match.reason.empty());
    }
  }
  EXPECT_GT(decided, 1900);
}

TEST(ClassMatch, ByIdAndLongestSubsystem) {
  EXPECT_EQ(table().match(key("2330")).class_id, "h100_sxm5_80gb");
  EXPECT_EQ(table().match(key("2330")).outcome, Outcome::match);
  EXPECT_EQ(table().match(key("25b6", "14a9")).class_id, "a16");
  EXPECT_EQ(table().match(key("25b6", "157e")).class_id, "a2");
  EXPECT_EQ(table().match(key("2901", "20da", 178, 850)).class_id, "b200_sxm_850w");
  EXPECT_EQ(table().match(key("26b5", "176d")).class_id, "vgpu_l40");  // a guest is never the card
}

TEST(ClassMatch, OneIdOfTwoProductsIsDecidedByMemoryAndPower) {
  EXPECT_EQ(table().match(key("2d04", "", 15.9)).class_id, "rtx_5060_ti_16gb");
  EXPECT_EQ(table().match(key("2d04", "", 7.96)).class_id, "rtx_5060_ti_8gb");
  EXPECT_EQ(table().match(key("25b6", "", 15, 60)).class_id, "a2");
  const ClassMatch unknown = table().match(key("2d04"));
  EXPECT_EQ(unknown.outcome, Outcome::unknown);
  EXPECT_EQ(unknown.class_id, "");
  EXPECT_THAT(unknown.candidates, UnorderedElementsAre("rtx_5060_ti_8gb", "rtx_5060_ti_16gb"));
  EXPECT_THAT(unknown.reason, HasSubstr("the memory size"));
  EXPECT_THAT(table().match(key("25b6")).candidates, UnorderedElementsAre("a2", "a16"));
}

TEST(ClassMatch, AContradictionIsUnknown) {
  const ClassMatch modded = table().match(key("2684", "", 48));  // a 4090 with twice its memory
  EXPECT_EQ(modded.outcome, Outcome::unknown);
  EXPECT_THAT(modded.candidates, ElementsAre("rtx_4090"));
  EXPECT_THAT(modded.reason, HasSubstr("48.0 GiB"));
  EXPECT_EQ(table().match(key("2330", "", 79.6, 350)).outcome, Outcome::unknown);
  EXPECT_EQ(table().match(key("2330", "", 79.6, 700)).outcome, Outcome::match);
  EXPECT_EQ(table().match(key("20b2", "1463", 79.3, 500)).class_id, "a100_sxm4_80gb");  // may be set so high
  EXPECT_EQ(table().match(key("20b2", "1463", 79.3, 275)).outcome, Outcome::unknown);
  EXPECT_EQ(table().match(key("ffff")).outcome, Outcome::unknown);
  DeviceKey pcie = key("2330");
  pcie.form_factor = "pcie";
  EXPECT_EQ(table().match(pcie).outcome, Outcome::unknown);
}

TEST(ClassMatch, ByNameOnlyWithoutAnId) {
  DeviceKey named;
  named.name = "NVIDIA H200";
  EXPECT_EQ(table().match(named).class_id, "h200_sxm_141gb");
  named.name = "NVIDIA H200 NVL";
  EXPECT_EQ(table().match(named).class_id, "h200_nvl_141gb");
  named.name = "NVIDIA GeForce RTX 5060 Ti";
  EXPECT_EQ(table().match(named).outcome, Outcome::unknown);
  named.memory_bytes = 15.9 * gib;
  EXPECT_EQ(table().match(named).class_id, "rtx_5060_ti_16gb");
  EXPECT_EQ(table().match({}).outcome, Outcome::unknown);
  DeviceKey said;  // by an imported file
  said.name = "quadro_rtx_5000";
  EXPECT_EQ(table().match(said).class_id, "quadro_rtx_5000");
  said.name = "quadro_rtx_5001";
  EXPECT_EQ(table().match(said).outcome, Outcome::unknown);
  said = {};
  said.name = "quadro_rtx_5000";
  said.device = "1eb0";
  said.vendor = "1234";
  EXPECT_EQ(table().match(said).outcome, Outcome::unknown) << "an id says more than a name";
}

TEST(Family, IsARangeNotAList) {
  EXPECT_EQ(family_of("7.0"), "volta");
  EXPECT_EQ(family_of("7.2"), "volta");
  EXPECT_EQ(family_of("7.5"), "turing");
  EXPECT_EQ(family_of("8.7"), "ampere");
  EXPECT_EQ(family_of("8.9"), "ada");
  EXPECT_EQ(family_of("9.9"), "hopper");
  EXPECT_EQ(family_of("12.7"), "blackwell");
  EXPECT_EQ(family_of("13.0"), "after blackwell");
  for (const char* none : {"", "9", "9.", ".0", "9.0.1", "9.x", "sm_90"}) EXPECT_EQ(family_of(none), "") << none;
}

DeviceInfo cpu() {
  DeviceInfo device;
  device.kind = "cpu";
  device.facts = {{"cpu_family", 6}, {"cpu_model", 207}, {"cores", 2}, {"memory_bytes", 7.7 * gib}};
  device.labels = {{"vendor_id", "GenuineIntel"}, {"stepping", "2"}, {"hypervisor", "yes"}};
  return device;
}

TEST(CpuClass, IsItsFacts) {
  EXPECT_EQ(cpu_class(cpu()), "cpu-genuineintel-6-207-2-c2-8gib-vm");
  DeviceInfo big = cpu();
  big.facts["memory_bytes"] = 503.5 * gib;
  big.labels["hypervisor"] = "no";
  EXPECT_EQ(cpu_class(big), "cpu-genuineintel-6-207-2-c2-512gib-metal");
  DeviceInfo silent = cpu();
  silent.facts.erase("cores");
  EXPECT_EQ(cpu_class(silent), "");
  EXPECT_EQ(class_of(silent, table()).outcome, Outcome::unknown);
  EXPECT_EQ(class_of(cpu(), table()).outcome, Outcome::match);
}

TEST(Modes, StandBesideTheClass) {
  DeviceInfo device;
  device.kind = "cuda";
  device.labels = {{"pci_id", "10de:2330"}, {"ecc", "on"}, {"mig", "off"}};
  device.facts = {{"power_limit_w", 500}, {"default_power_limit_w", 700}};
  const ClassMatch match = class_of(device, table());
  EXPECT_EQ(match.class_id, "h100_sxm5_80gb");
  EXPECT_EQ(match.modes, (Modes{{"ecc", "on"}, {"mig", "off"}, {"power_limit", "500 W"}}));
}

TEST(ClassTable, DamagedTablesAreRefusedWithTheirLine) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("assay-classes-" + std::to_string(getpid()));
  const std::filesystem::path shipped = source_folder() / "results";
  std::filesystem::create_directories(folder);
  std::filesystem::copy_file(shipped / "identities.csv", folder / "identities.csv");
  const auto complaint = [&](const std::string& from, const std::string& to) -> std::string {
    std::ifstream in(shipped / "classes.csv");
    std::string text((std::istreambuf_iterator<char>(in)), {});
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
    std::ofstream(folder / "classes.csv") << text;
    try {
      read_class_table(folder);
    } catch (const Error& problem) {
      return problem.what();
    }
    return {};
  };
  EXPECT_THAT(complaint("HBM2,4096,900,", "HBM2,4096,-900,"),
              HasSubstr("classes.csv line 2, column 14 (memory_gb_per_s): must be more than 0"));
  EXPECT_THAT(complaint(",7.0,80,", ",7,80,"), HasSubstr("classes.csv line 2, column 5 (compute_capability)"));
  EXPECT_THAT(complaint("v100_sxm2_32gb,", "v100_sxm2_16gb,"),
              HasSubstr("classes.csv line 3, column 1 (class): v100_sxm2_16gb is there twice"));
  EXPECT_THAT(complaint("memory_gb,", "memory,"),
              HasSubstr("classes.csv line 1, column 10 (memory): there is no such column"));
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace assay
