// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// CPUs and caches of machines that we don't have, from a sysfs that the test writes.
#include "harness/worker/placement.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "harness/base/error.h"
#include "harness/device/device.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

class Placement : public ::testing::Test {
 protected:
  Placement() : sysfs_(fs::temp_directory_path() / ("assay-placement-" + std::to_string(getpid()))) {}
  ~Placement() override { fs::remove_all(sysfs_); }
  Placement(const Placement&) = delete;
  Placement& operator=(const Placement&) = delete;

  void put(const std::string& file, const std::string& text) {
    fs::create_directories((sysfs_ / file).parent_path());
    std::ofstream(sysfs_ / file) << text << "\n";
  }
  void cache(int cpu, int index, const std::string& level, const std::string& type, const std::string& size,
             const std::string& shared) {
    const std::string folder = "cpu" + std::to_string(cpu) + "/cache/index" + std::to_string(index) + "/";
    put(folder + "level", level);
    put(folder + "type", type);
    put(folder + "size", size);
    put(folder + "shared_cpu_list", shared);
  }

  fs::path sysfs_;
};

TEST_F(Placement, OneThreadRunsOnTheLastOfTheFastest) {
  EXPECT_EQ(choose_cpus(1, {0, 1, 2, 3}, sysfs_), std::vector<int>{3}) << "all alike: away from the first one";
  for (int cpu = 0; cpu < 4; ++cpu)
    put("cpu" + std::to_string(cpu) + "/cpufreq/cpuinfo_max_freq", cpu < 2 ? "5000000" : "3800000");
  EXPECT_EQ(choose_cpus(1, {0, 1, 2, 3}, sysfs_), std::vector<int>{1});
  for (int cpu = 0; cpu < 4; ++cpu) put("cpu" + std::to_string(cpu) + "/cpu_capacity", cpu == 2 ? "1024" : "300");
  EXPECT_EQ(choose_cpus(1, {0, 1, 2, 3}, sysfs_), std::vector<int>{2}) << "what ARM says of its cores wins";
}

TEST_F(Placement, ATeamTakesTheFirstOnesAllowed) {
  EXPECT_EQ(choose_cpus(2, {4, 6, 9}, sysfs_), (std::vector<int>{4, 6}));
  EXPECT_EQ(choose_cpus(8, {4, 6, 9}, sysfs_), (std::vector<int>{4, 6, 9}));
}

TEST_F(Placement, SharedCachesCountOnceAndInstructionsNever) {
  for (int cpu = 0; cpu < 4; ++cpu) {  // two core complexes of two cores
    cache(cpu, 0, "1", "Data", "32K", std::to_string(cpu));
    cache(cpu, 1, "1", "Instruction", "64K", std::to_string(cpu));
    cache(cpu, 2, "2", "Unified", "1024K", std::to_string(cpu));
    cache(cpu, 3, "3", "Unified", "32M", cpu < 2 ? "0-1" : "2-3");
  }
  EXPECT_EQ(cache_bytes(1, {0}, sysfs_), 32U << 10);
  EXPECT_EQ(cache_bytes(1, {0, 1, 2}, sysfs_), 96U << 10);
  EXPECT_EQ(cache_bytes(3, {0, 1}, sysfs_), 32U << 20);
  EXPECT_EQ(cache_bytes(3, {1, 2}, sysfs_), 64U << 20) << "one CPU of each complex reaches both caches";
  EXPECT_EQ(last_cache_bytes({0, 1, 2, 3}, sysfs_), 64U << 20);
}

TEST_F(Placement, WithoutSysfsNothingIsInvented) {
  EXPECT_EQ(cache_bytes(3, {0, 1}, sysfs_), 0U);
  EXPECT_EQ(last_cache_bytes({0, 1}, sysfs_), 0U);
  EXPECT_EQ(first_of_core({0, 1}, sysfs_), (std::vector<bool>{true, true}));
}

TEST_F(Placement, OneOfTheSiblingsIsTheFirst) {
  for (int cpu = 0; cpu < 4; ++cpu)
    put("cpu" + std::to_string(cpu) + "/topology/thread_siblings_list", cpu % 2 == 0 ? "0,2" : "1,3");
  EXPECT_EQ(first_of_core({0, 1, 2, 3}, sysfs_), (std::vector<bool>{true, true, false, false}));
  EXPECT_EQ(first_of_core({3, 2}, sysfs_), (std::vector<bool>{true, true}));
}

TEST_F(Placement, ThreadsRunWhereTheyArePinned) {
  const std::vector<int> allowed = allowed_cpus();
  pin_team(allowed);
  EXPECT_EQ(cpus_in_use(static_cast<int>(allowed.size())), allowed);
}

TEST_F(Placement, ACpuThatIsNotThereIsAnError) { EXPECT_THROW(pin_team({100000}), Error); }

}  // namespace
}  // namespace assay
