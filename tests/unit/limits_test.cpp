// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
#include "harness/verdict/limits.h"
#include "tests/unit/source_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay {
namespace {

using testing::HasSubstr;

const GpuClass& gpu(const char* id) {
  static const ClassTable table = read_class_table(source_folder() / "results");
  return *table.find(id);
}
double value(const char* id, Kind kind, const Setting& setting = {}) {
  const auto limit = physical_limit(gpu(id), kind, setting);
  return limit ? limit->value : 0;
}

TEST(Limits, ComeFromTheFactsOfTheClass) {
  EXPECT_DOUBLE_EQ(value("h200_sxm_141gb", Kind::memory), 4800e9);
  EXPECT_NEAR(value("a100_sxm4_80gb", Kind::host_copy), 31.5e9, 0.1e9);
  EXPECT_NEAR(value("a100_sxm4_80gb", Kind::host_copy_both), 63e9, 0.1e9);
  EXPECT_DOUBLE_EQ(value("gh200_96gb", Kind::host_copy), 450e9);
  EXPECT_DOUBLE_EQ(value("h100_sxm5_80gb", Kind::power), 700);
  EXPECT_DOUBLE_EQ(value("a100_sxm4_80gb", Kind::power), 500);  // may be set so high
  EXPECT_NEAR(value("h100_sxm5_80gb", Kind::link_rate), 26.56e9, 0.05e9);
  EXPECT_EQ(value("rtx_pro_6000_bw_server", Kind::memory), 0);  // not known, so no limit
}

TEST(Limits, PeersGoByNvlinkWhereItJoinsThem) {
  EXPECT_DOUBLE_EQ(value("h100_sxm5_80gb", Kind::peer_copy), 450e9);
  EXPECT_DOUBLE_EQ(value("h100_nvl_94gb", Kind::peer_copy), 300e9);
  EXPECT_NEAR(value("l40s", Kind::peer_copy), 31.5e9, 0.1e9);  // PCIe
}

TEST(Limits, AllReduceDependsOnWhoIsJoined) {
  EXPECT_DOUBLE_EQ(value("a100_sxm4_80gb", Kind::all_reduce, {8, 1, ""}), 300e9);
  EXPECT_DOUBLE_EQ(value("h100_sxm5_80gb", Kind::all_reduce, {8, 1, ""}), 787.5e9);   // switches that add
  EXPECT_DOUBLE_EQ(value("a100_pcie_80gb", Kind::all_reduce, {2, 1, ""}), 300e9);     // the bridge
  EXPECT_NEAR(value("a100_pcie_80gb", Kind::all_reduce, {4, 1, ""}), 31.5e9, 0.1e9);  // beyond it
  EXPECT_DOUBLE_EQ(value("h100_sxm5_80gb", Kind::all_reduce, {1, 0, ""}), 450e9);
  EXPECT_NEAR(value("b200_sxm", Kind::all_reduce, {1, 0, ""}), 504e9, 1e9);  // eight slots, many nodes
  EXPECT_DOUBLE_EQ(value("b200_sxm", Kind::all_reduce, {1, 2, ""}), 900e9);  // two nodes: half stays inside
  EXPECT_DOUBLE_EQ(value("gb200", Kind::all_reduce, {1, 2, ""}), 900e9);     // no PCIe in the way
  EXPECT_NEAR(physical_limit(gpu("h100_sxm5_80gb"), Kind::all_reduce, {1, 0, ""})->plausible_from, 1.35e9, 1e3);
}

TEST(Limits, TensorPeaksAreOfALowerClock) {
  EXPECT_NEAR(value("h100_sxm5_80gb", Kind::matmul, {1, 1, "bf16"}), 989.5e12 * 1980 / 1830, 1e9);
  EXPECT_NEAR(value("rtx_4090", Kind::matmul, {1, 1, "f32"}), 82.6e12 * 1.2, 1e9);  // runs above its printed boost
  EXPECT_DOUBLE_EQ(value("h100_sxm5_80gb", Kind::matmul, {1, 1, "f64"}), 67e12);
  EXPECT_DOUBLE_EQ(value("h100_sxm5_80gb", Kind::vector, {1, 1, "f64"}), 34e12);
}

TEST(Limits, OfOurOwnMetrics) {
  const GpuClass& h100 = gpu("h100_sxm5_80gb");
  const auto of = [&](const char* name, const char* metric, const char* unit) {
    const auto limit = limit_of_metric(h100, name, metric, unit);
    return limit ? limit->value : 0;
  };
  EXPECT_DOUBLE_EQ(of("memory/stream/op:triad/type:f64/size:dram", "bandwidth", "B/s"), 3352e9);
  EXPECT_EQ(of("memory/stream/op:triad/type:f64/size:l2", "bandwidth", "B/s"), 0);  // a cache is faster
  EXPECT_DOUBLE_EQ(of("compute/fma/type:f32", "rate", "FLOP/s"), 67e12);
  EXPECT_NEAR(of("transfer/host_device/direction:both/size:1GiB", "bandwidth", "B/s"), 126e9, 0.1e9);
  EXPECT_EQ(of("memory/latency/size:dram", "latency", "s"), 0);
  EXPECT_THAT(limit_of_metric(h100, "compute/gemm/type:bf16", "throughput", "op/s")->why, HasSubstr("h100_sxm5_80gb"));
}

}  // namespace
}  // namespace assay
