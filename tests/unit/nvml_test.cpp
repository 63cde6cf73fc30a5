// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// GPUs without a GPU: the PCI bus as a folder of files, NVML as a stand-in library (tests/stand_in_nvml.cpp), and both
// together.
#include "harness/telemetry/nvml.h"

#include <gmock/gmock.h>

#include <fstream>

#include "harness/device/pci.h"
#include "tests/unit/sample_record.h"

namespace assay {
namespace {

using ::testing::HasSubstr;

void write(const std::filesystem::path& path, const std::string& text) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path) << text << '\n';
}

void add_pci(const std::filesystem::path& bus, const std::string& address, const std::string& vendor,
             const std::string& device_class) {
  write(bus / address / "vendor", vendor);
  write(bus / address / "class", device_class);
  write(bus / address / "device", "0x2330");
  write(bus / address / "subsystem_vendor", "0x10de");
  write(bus / address / "subsystem_device", "0x16c1");
  write(bus / address / "numa_node", address == "0000:17:00.0" ? "-1" : "1");
}

TEST(PciDevices, OnlyNvidiaDisplaysInOrderOfAddress) {
  const assay::testing::TemporaryFolder bus;
  add_pci(bus.path(), "0000:65:00.0", "0x10de", "0x030200");
  add_pci(bus.path(), "0000:17:00.0", "0x10de", "0x030000");
  add_pci(bus.path(), "0000:17:00.1", "0x10de", "0x040300");  // its audio function
  add_pci(bus.path(), "0000:01:00.0", "0x8086", "0x030000");
  std::filesystem::create_directory_symlink("/sys/bus/pci/drivers/vfio-pci", bus / "0000:65:00.0" / "driver");
  const std::vector<DeviceInfo> devices = nvidia_pci_devices(bus.path());
  ASSERT_EQ(devices.size(), 2U);
  EXPECT_EQ(devices[0].id, "cuda:0");
  EXPECT_EQ(devices[0].pci_address, "0000:17:00.0");
  EXPECT_EQ(devices[0].labels.at("driver"), "none");
  EXPECT_EQ(devices[0].facts.count("numa_node"), 0U);
  EXPECT_EQ(devices[1].id, "cuda:1");
  EXPECT_EQ(devices[1].labels.at("driver"), "vfio-pci");
  EXPECT_EQ(devices[1].labels.at("pci_id"), "10de:2330");
  EXPECT_EQ(devices[1].labels.at("subsystem"), "10de:16c1");
  EXPECT_EQ(devices[1].fact("numa_node"), 1);
}

TEST(PciDevices, NoBusIsNoDevice) { EXPECT_TRUE(nvidia_pci_devices("/nonexistent").empty()); }

TEST(Nvml, AbsentLibraryIsAnAnswer) {
  const NvmlAnswer answer = ask_nvml("libassay-not-there.so.1");
  EXPECT_FALSE(answer.loaded);
  EXPECT_THAT(answer.detail, HasSubstr("no NVML: "));
  EXPECT_TRUE(answer.devices.empty());
}

TEST(Nvml, MergesByAddressAndKeepsWhatOnlyOneSees) {
  DeviceInfo pci;
  pci.pci_address = "0000:17:00.0";
  pci.name = "NVIDIA device 10de:2330";
  pci.labels["driver"] = "nvidia";
  DeviceInfo seen;
  seen.pci_address = "0000:17:00.0";
  seen.name = "Some GPU";
  seen.uuid = "GPU-1";
  seen.facts["memory_bytes"] = 8e10;
  DeviceInfo other = seen;
  other.pci_address = "0000:99:00.0";
  const std::vector<DeviceInfo> merged = merge_gpus({pci}, {true, "", {seen, other}});
  ASSERT_EQ(merged.size(), 2U);
  EXPECT_EQ(merged[0].name, "Some GPU");
  EXPECT_EQ(merged[0].labels.at("driver"), "nvidia");
  EXPECT_EQ(merged[0].fact("memory_bytes"), 8e10);
  EXPECT_EQ(merged[1].id, "cuda:1");
}

#ifdef ASSAY_STAND_IN_NVML
TEST(Nvml, StandInLibrary) {
  const NvmlAnswer answer = ask_nvml(ASSAY_STAND_IN_NVML);
  ASSERT_TRUE(answer.loaded) << answer.detail;
  EXPECT_EQ(answer.detail, "driver 999.99.01, CUDA 13.2");
  ASSERT_EQ(answer.devices.size(), 2U);
  const DeviceInfo& gpu = answer.devices[0];
  EXPECT_EQ(gpu.name, "Stand-in GPU");
  EXPECT_EQ(gpu.uuid, "GPU-00000000-0000-0000-0000-000000000001");
  EXPECT_EQ(gpu.pci_address, "0000:17:00.0");
  EXPECT_EQ(gpu.fact("memory_bytes"), 80.0 * (1ULL << 30));
  EXPECT_EQ(gpu.fact("power_limit_w"), 700);
  EXPECT_EQ(gpu.fact("sm_clock_max_hz"), 1.98e9);
  EXPECT_EQ(gpu.fact("compute_capability"), 9);
  EXPECT_EQ(gpu.facts.count("memory_clock_max_hz"), 0U) << "the stand-in refuses this one";
  EXPECT_EQ(answer.devices[1].labels.at("nvml"), "no access to this device");
}
#endif

}  // namespace
}  // namespace assay
