// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
#include "harness/parent/workers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "harness/base/error.h"
#include "harness/device/pci.h"
#include "harness/parent/devices.h"

namespace assay {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

struct WorkersTest : testing::Test {
  WorkersTest() : folder(fs::temp_directory_path() / ("assay-workers-" + std::to_string(getpid()))) {
    fs::remove_all(folder);
    fs::create_directories(folder);
  }
  ~WorkersTest() override { fs::remove_all(folder); }
  void manifest(const std::string& file, const std::string& worker) const {
    std::ofstream(folder / file) << to_json(Manifest{worker, "1", "", {"cpu"}, {}, {}}).dump();
  }
  fs::path folder;
};

TEST_F(WorkersTest, FindsThemSortedAndSaysWhatIsMissing) {
  manifest("assay-worker-b.manifest.json", "b");
  manifest("assay-worker-a.manifest.json", "a");
  std::ofstream(folder / "assay-worker-a") << "x";
  std::ofstream(folder / "something-else.json") << "x";
  std::vector<WorkerFile> workers = find_workers(folder);
  ASSERT_EQ(workers.size(), 2U);
  EXPECT_EQ(workers[0].manifest.worker, "a");
  EXPECT_THAT(workers[1].problem, HasSubstr("assay-worker-b is missing"));
  fs::permissions(folder / "assay-worker-a", fs::perms::owner_all);
  EXPECT_EQ(find_workers(folder)[0].problem, "");
}

TEST_F(WorkersTest, ManifestOfAnotherWorkerIsRefused) {
  manifest("assay-worker-a.manifest.json", "b");
  EXPECT_THROW(find_workers(folder), Error);
}

TEST_F(WorkersTest, HashIsXxh3) {
  std::ofstream(folder / "f") << "";
  EXPECT_EQ(file_xxh3(folder / "f"), "2d06800538d394c2");  // XXH3_64bits of nothing, as its specification says
  std::ofstream(folder / "f") << "x";
  EXPECT_NE(file_xxh3(folder / "f"), "2d06800538d394c2");
  EXPECT_EQ(file_xxh3(folder / "none"), "");
}

TEST(Devices, GpusThatAreNotMeasured) {
  const auto gpu = [](int number, const char* address) {
    return DeviceInfo{.id = "cuda:" + std::to_string(number),
                      .kind = "cuda",
                      .name = "X",
                      .pci_address = address,
                      .labels = {{"driver", "nvidia"}}};
  };
  const std::vector<DeviceInfo> bus = {gpu(0, "0000:01:00.0"), gpu(1, "0000:02:00.0"), gpu(2, "0000:03:00.0")};
  const FoundDevice first{gpu(0, "0000:02:00.0"), std::nullopt}, second{gpu(1, "0000:03:00.0"), std::nullopt};
  EXPECT_THAT(unmeasured_gpus(bus, {first, second}, "; why"),
              testing::ElementsAre("the GPU at 0000:01:00.0 (X, driver nvidia) is not measured; why"));
  EXPECT_THAT(unmeasured_gpus({bus[1], bus[2]}, {first, second}, "; why"), testing::IsEmpty());
  EXPECT_THAT(unmeasured_gpus({bus[0]}, find_devices({"cpu:0"}), "; why"),
              testing::ElementsAre("the GPU at 0000:01:00.0 (X, driver nvidia) is not measured, the host is; why"));
}

TEST(Devices, NamedOnes) {
  EXPECT_EQ(find_devices({"cpu:0"}).at(0).info.kind, "cpu");
  const bool no_gpu = nvidia_pci_devices().empty();
  EXPECT_EQ(find_devices({}).at(0).info.id, no_gpu ? "cpu:0" : "cuda:0");
  EXPECT_TRUE(find_devices({"fake:default"}).at(0).info.simulated);
  EXPECT_TRUE(find_devices({"fake:default"}).at(0).rows.has_value());
  EXPECT_THROW(find_devices({"cpu:0", "cpu:0"}), UsageError);
  EXPECT_THROW(find_devices({"cuba:0"}), UsageError);
  EXPECT_THROW(find_devices({"cpu:"}), UsageError);
  try {
    find_devices({"cuda:99"});
    FAIL();
  } catch (const Error& problem) {
    EXPECT_EQ(problem.code(), exit_code::error);
    EXPECT_THAT(problem.what(), HasSubstr("cuda:99 is not here"));
  }
}

}  // namespace
}  // namespace assay
