// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "kernels/cpu_peak.h"

namespace assay::kernels {
namespace {

int flop(std::string_view vendor, int family, int model) {
  const CpuPeak* peak = cpu_peak(vendor, family, model);
  return peak == nullptr ? 0 : peak->f32_flop_per_cycle;
}

TEST(CpuPeak, KnownModels) {
  EXPECT_EQ(flop("GenuineIntel", 6, 207), 64);      // Emerald Rapids: 2 pipes x 16 lanes x 2
  EXPECT_EQ(flop("GenuineIntel", 6, 63), 32);       // Haswell server
  EXPECT_EQ(flop("AuthenticAMD", 0x17, 0x01), 16);  // Zen
  EXPECT_EQ(flop("AuthenticAMD", 0x17, 0x31), 32);  // Zen 2
  EXPECT_EQ(flop("AuthenticAMD", 0x19, 0x11), 32);  // Zen 4
  EXPECT_EQ(flop("0x41", 8, 0xd4f), 32);            // Neoverse V2
}

TEST(CpuPeak, FromTheWordsOfCpuinfo) {
  const CpuPeak* xeon = cpu_peak({{"cpu_family", 6}, {"cpu_model", 143}}, {{"vendor_id", "GenuineIntel"}});
  ASSERT_NE(xeon, nullptr);
  EXPECT_EQ(xeon->f32_flop_per_cycle, 64);
  const CpuPeak* grace = cpu_peak({}, {{"CPU implementer", "0x41"}, {"CPU part", "0xd4f"}});
  ASSERT_NE(grace, nullptr);
  EXPECT_EQ(grace->f32_flop_per_cycle, 32);
  EXPECT_EQ(cpu_peak({}, {}), nullptr);
}

TEST(CpuPeak, AnUnknownCpuHasNoLimit) {
  EXPECT_EQ(cpu_peak("GenuineIntel", 6, 1), nullptr);
  EXPECT_EQ(cpu_peak("GenuineIntel", 19, 207), nullptr);
  EXPECT_EQ(cpu_peak("AuthenticAMD", 6, 207), nullptr);
  EXPECT_EQ(cpu_peak("", 0, 0), nullptr);
}

TEST(CpuPeak, ATeamHasTheCoresItRunsOn) {
  const std::map<std::string, std::string> intel{{"vendor_id", "GenuineIntel"}};
  const std::map<std::string, double> two_cores{{"cpu_family", 6}, {"cpu_model", 207}, {"cores", 2}};
  EXPECT_EQ(team_peak(two_cores, intel, 1).f32_flop_per_cycle, 64);
  EXPECT_EQ(team_peak(two_cores, intel, 1).l1_load_bytes_per_cycle, 128);
  EXPECT_EQ(team_peak(two_cores, intel, 4).f32_flop_per_cycle, 128);  // four threads on two cores
  const TeamPeak unknown = team_peak({{"cores", 2}}, intel, 2);
  EXPECT_EQ(unknown.f32_flop_per_cycle, 0);
  EXPECT_EQ(unknown.l1_load_bytes_per_cycle, 0);
  EXPECT_NE(unknown.flop_source, "");
}

}  // namespace
}  // namespace assay::kernels
