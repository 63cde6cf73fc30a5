// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
#include "harness/base/cgroup.h"

#include <gtest/gtest.h>

#include "tests/unit/small_root.h"

namespace assay {
namespace {

constexpr const char* v2_mount = "29 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";

TEST(Cgroup, VersionTwoHasItsOwnLimitAndThoseAbove) {
  const SmallRoot root(
      {{"proc/self/cgroup", "0::/slurm/job_7\n"},
       {"proc/self/mountinfo", v2_mount},
       {"sys/fs/cgroup/slurm/memory.max", "8000000\n"},
       {"sys/fs/cgroup/slurm/memory.current", "5000000\n"},
       {"sys/fs/cgroup/slurm/memory.stat", "anon 4000000\nfile 1000000\ninactive_file 600000\n"},
       {"sys/fs/cgroup/slurm/cpu.max", "max 100000\n"},
       {"sys/fs/cgroup/slurm/job_7/memory.max", "max\n"},
       {"sys/fs/cgroup/slurm/job_7/memory.high", "6000000\n"},
       {"sys/fs/cgroup/slurm/job_7/memory.current", "100000\n"},
       {"sys/fs/cgroup/slurm/job_7/cpu.max", "150000 100000\n"},
       {"sys/fs/cgroup/slurm/job_7/cpu.stat", "usage_usec 9\nnr_throttled 3\nthrottled_usec 1500000\n"},
       {"sys/fs/cgroup/slurm/job_7/cpuset.cpus.effective", "0-3,8\n"},
       {"sys/fs/cgroup/slurm/job_7/memory.events", "oom 1\noom_kill 2\noom_group_kill 0\n"},
       {"proc/vmstat", "oom_kill 40\n"}});
  const Cgroup group("self", root.path());
  EXPECT_EQ(group.memory_limit(), 6000000U);
  EXPECT_EQ(group.memory_available(), 8000000U - (5000000U - 600000U));  // the limit above leaves less
  EXPECT_EQ(group.cpu_quota(), 1.5);
  EXPECT_EQ(group.cpu_throttled().times, 3U);
  EXPECT_DOUBLE_EQ(group.cpu_throttled().seconds, 1.5);
  EXPECT_EQ(group.cpuset(), "0-3,8");
  EXPECT_EQ(group.oom_kills(), 2U);
}

// Version 1 for memory and cpu, beside an empty version 2: what systemd calls hybrid.
TEST(Cgroup, VersionOneComesFirst) {
  const SmallRoot root(
      {{"proc/41/cgroup", "5:memory:/box\n4:cpu,cpuacct:/box/inner\n0::/box\n"},
       {"proc/self/mountinfo",
        "33 31 0:30 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"
        "34 31 0:31 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
        "35 31 0:32 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"},
       {"sys/fs/cgroup/unified/box/memory.max", "1\n"},
       {"sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"},
       {"sys/fs/cgroup/memory/box/memory.limit_in_bytes", "4000000\n"},
       {"sys/fs/cgroup/memory/box/memory.usage_in_bytes", "3000000\n"},
       {"sys/fs/cgroup/memory/box/memory.stat", "inactive_file 1\ntotal_inactive_file 500000\n"},
       {"sys/fs/cgroup/memory/box/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 7\n"},
       {"sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_quota_us", "50000\n"},
       {"sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_period_us", "100000\n"},
       {"sys/fs/cgroup/cpu,cpuacct/box/cpu.stat", "nr_throttled 4\nthrottled_time 250000000\n"},
       {"sys/fs/cgroup/cpu,cpuacct/box/inner/cpu.cfs_quota_us", "-1\n"},
       {"sys/fs/cgroup/cpu,cpuacct/box/inner/cpu.cfs_period_us", "100000\n"}});
  const Cgroup group("41", root.path());
  EXPECT_EQ(group.memory_limit(), 4000000U);
  EXPECT_EQ(group.memory_available(), 1500000U);
  EXPECT_EQ(group.cpu_quota(), 0.5);
  EXPECT_EQ(group.cpu_throttled().times, 4U);
  EXPECT_DOUBLE_EQ(group.cpu_throttled().seconds, 0.25);
  EXPECT_EQ(group.oom_kills(), 7U);
}

// A container of which /proc names the path on the host, while the mount shows its own group as the top.
TEST(Cgroup, ContainerThatSeesItsOwnGroupAsTheTop) {
  const char* mounts[] = {"36 30 0:31 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n",
                          "36 30 0:31 /elsewhere /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n"};
  for (const char* mount : mounts) {
    const SmallRoot root({{"proc/self/cgroup", "5:memory:/docker/abc\n"},
                          {"proc/self/mountinfo", mount},
                          {"sys/fs/cgroup/memory/memory.limit_in_bytes", "4000000\n"}});
    EXPECT_EQ(Cgroup("self", root.path()).memory_limit(), 4000000U) << mount;
    EXPECT_EQ(Cgroup("self", root.path()).memory_available(), 4000000U) << mount;
  }
}

TEST(Cgroup, UsageAboveItsLimitLeavesNothing) {
  const SmallRoot root({{"proc/self/cgroup", "0::/\n"},
                        {"proc/self/mountinfo", v2_mount},
                        {"sys/fs/cgroup/memory.max", "1000\n"},
                        {"sys/fs/cgroup/memory.current", "2000\n"}});
  EXPECT_EQ(Cgroup("self", root.path()).memory_available(), 0U);
}

TEST(Cgroup, NoGroupsNoLimits) {
  const SmallRoot root({{"proc/vmstat", "nr_free_pages 1\noom_kill 40\n"}});
  const Cgroup group("self", root.path());
  EXPECT_FALSE(group.memory_limit() || group.memory_available() || group.cpu_quota());
  EXPECT_EQ(group.cpu_throttled().times, 0U);
  EXPECT_EQ(group.cpuset(), "");
  EXPECT_EQ(group.oom_kills(), 40U);  // the counter of the machine
}

// Two counters must never be compared: after the group is gone there is nothing to count.
TEST(Cgroup, GroupThatVanishes) {
  SmallRoot root({{"proc/7/cgroup", "0::/gone\n"},
                  {"proc/self/mountinfo", v2_mount},
                  {"sys/fs/cgroup/gone/memory.events", "oom_kill 1\n"},
                  {"proc/vmstat", "oom_kill 40\n"}});
  const Cgroup group("7", root.path());
  EXPECT_EQ(group.oom_kills(), 1U);
  std::filesystem::remove_all(root.path() / "sys/fs/cgroup/gone");
  EXPECT_EQ(group.oom_kills(), 0U);
}

}  // namespace
}  // namespace assay
