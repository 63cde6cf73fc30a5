// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// The CPU as a device on machines that this test isn't run on: their files are in tests/fixtures/machines.
#include <gmock/gmock.h>
#include <sched.h>

#include <numeric>

#include "harness/device/arm_cpu.h"
#include "harness/device/device.h"
#include "tests/unit/sample_record.h"
#include "tests/unit/small_root.h"

namespace assay {
namespace {

std::vector<int> range(int first, int last) {
  std::vector<int> cpus(static_cast<std::size_t>(last - first + 1));
  std::iota(cpus.begin(), cpus.end(), first);
  return cpus;
}

DeviceInfo machine(const std::string& name, const std::vector<int>& cpus) {
  const MachineRoot root(source_folder() / "tests/fixtures/machines", name);
  return cpu_device(root.path(), cpus);
}

bool told(const DeviceInfo& device, const std::string& fact) { return device.facts.count(fact) > 0; }

TEST(CpuFacts, GraceIsNamedAndEveryCoreCounts) {
  const DeviceInfo cpu = machine("grace", range(0, 143));
  EXPECT_EQ(cpu.name, "NVIDIA Grace (Arm Neoverse-V2)");
  EXPECT_EQ(cpu.fact("cpus"), 144);
  EXPECT_EQ(cpu.fact("cores"), 144);
  EXPECT_EQ(cpu.fact("sockets"), 2);
  EXPECT_EQ(cpu.fact("smt"), 1);
  EXPECT_EQ(cpu.fact("numa_nodes"), 2);
  EXPECT_EQ(cpu.fact("cache.l1d_bytes"), 65536);
  EXPECT_EQ(cpu.fact("cache.l2_bytes"), 1048576);
  EXPECT_EQ(cpu.fact("cache.l3_bytes"), 116736 * 1024);
  EXPECT_EQ(cpu.fact("cache.l3_shared_cpus"), 72);
  EXPECT_EQ(cpu.fact("cpu.sve2"), 1);
  EXPECT_EQ(cpu.labels.at("governor"), "performance");
  EXPECT_EQ(cpu.labels.at("CPU part"), "0xd4f");
  EXPECT_EQ(cpu.labels.at("transparent_huge_pages"), "always");
  EXPECT_FALSE(told(cpu, "turbo_on") || told(cpu, "cpu_quota"));
}

TEST(CpuFacts, EpycWithThreadsSeveralL3AndAControlGroup) {
  const DeviceInfo cpu = machine("epyc", range(0, 31));
  EXPECT_EQ(cpu.name, "AMD EPYC 9124 16-Core Processor");
  EXPECT_EQ(cpu.fact("cpus"), 32);
  EXPECT_EQ(cpu.fact("cores"), 16) << "core_id is unique nowhere here";
  EXPECT_EQ(cpu.fact("sockets"), 2);
  EXPECT_EQ(cpu.fact("smt"), 2);
  EXPECT_EQ(cpu.fact("numa_nodes"), 4);
  EXPECT_EQ(cpu.fact("cache.l3_bytes"), 32768 * 1024) << "of one instance";
  EXPECT_EQ(cpu.fact("cache.l3_shared_cpus"), 8);
  EXPECT_EQ(cpu.fact("cpu_family"), 25);
  EXPECT_EQ(cpu.fact("cpu_model"), 17);
  EXPECT_EQ(cpu.fact("turbo_on"), 1);
  EXPECT_EQ(cpu.fact("cpu_quota"), 2.5);
  EXPECT_EQ(cpu.fact("memory_bytes"), 527956524.0 * 1024);
  EXPECT_EQ(cpu.fact("available_bytes"), 3.0 * (1 << 30)) << "what the group leaves, not the machine";
  EXPECT_EQ(cpu.labels.at("governor"), "performance, schedutil");
}

TEST(CpuFacts, OnlyTheAllowedCpusCount) {
  const DeviceInfo cpu = machine("epyc", {8, 9, 24});
  EXPECT_EQ(cpu.fact("cpus"), 3);
  EXPECT_EQ(cpu.fact("cores"), 2);
  EXPECT_EQ(cpu.fact("sockets"), 1);
  EXPECT_EQ(cpu.labels.at("governor"), "performance");
}

TEST(CpuFacts, WithoutSysfsNothingIsInvented) {
  const DeviceInfo cpu = machine("no_sysfs", {0});
  EXPECT_EQ(cpu.name, "Some Xeon");
  EXPECT_EQ(cpu.fact("cpus"), 1);
  EXPECT_EQ(cpu.fact("memory_bytes"), 1 << 30);
  EXPECT_EQ(cpu.fact("cpu_model"), 207);
  EXPECT_EQ(cpu.labels.at("hypervisor"), "yes");
  EXPECT_EQ(cpu.labels.at("governor"), "not readable");
  for (const char* fact : {"cores", "sockets", "smt", "numa_nodes", "cache.l1d_bytes", "cache.l3_bytes", "cpu_family",
                           "available_bytes", "turbo_on"})
    EXPECT_FALSE(told(cpu, fact)) << fact;
}

TEST(CpuFacts, BigAndLittleCoresAreBothNamed) {
  const DeviceInfo both = machine("big_little", range(0, 4));
  EXPECT_EQ(both.name, "Arm Cortex-A55 + Arm Cortex-A76");
  EXPECT_EQ(both.fact("cores"), 5);
  EXPECT_EQ(both.fact("turbo_on"), 0);
  EXPECT_EQ(both.fact("cache.l1d_bytes"), 32768);
  const DeviceInfo big = machine("big_little", {4});
  EXPECT_EQ(big.name, "Arm Cortex-A76");
  EXPECT_FALSE(told(big, "cache.l1d_bytes")) << "its size is no number";
  EXPECT_EQ(machine("big_little", {5}).name, "ARM core 0x41:0xfff");
}

TEST(ArmCpu, ProductsByTheirFirmware) {
  const SmallRoot aws({{"sys/class/dmi/id/sys_vendor", "Amazon EC2\n"}}),
      altra({{"sys/bus/soc/devices/soc0/soc_id", "jep106:0a16:0001\n"}}), other({{"proc/stat", ""}});
  EXPECT_EQ(arm_product_name("0xd0c", aws.path()), "AWS Graviton2");
  EXPECT_EQ(arm_product_name("0xd40", aws.path()), "AWS Graviton3");
  EXPECT_EQ(arm_product_name("0xd4f", aws.path()), "AWS Graviton4");
  EXPECT_EQ(arm_product_name("0xd0c", altra.path()), "Ampere Altra");
  EXPECT_EQ(arm_product_name("0xd0c", other.path()), "");
  EXPECT_EQ(arm_core_name("0x41", "0xd49"), "Arm Neoverse-N2");
}

TEST(AllowedCpus, AreThoseOfTheMask) {
  cpu_set_t before, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0) << "this machine has more than 1024 CPUs";
  const std::vector<int> cpus = allowed_cpus();
  EXPECT_EQ(cpus.size(), static_cast<std::size_t>(CPU_COUNT(&before)));
  CPU_ZERO(&one);
  CPU_SET(static_cast<std::size_t>(cpus.back()), &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_THAT(allowed_cpus(), ::testing::ElementsAre(cpus.back()));
  sched_setaffinity(0, sizeof before, &before);
}

}  // namespace
}  // namespace assay
