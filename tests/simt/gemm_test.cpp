// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Every version of the bf16 matrix product against the CPU row, bit by bit: odd integers, all different in their
// places, whose sums stay exact. Sizes lie around each step: elements, fragments, tiles, stages and their tails.
#include <gtest/gtest.h>

#include <vector>

#include "device_array.h"
#include "gemm_numbers.h"
#include "kernels/gemm_bf16.h"
#include "runtime/rig.h"

namespace assay::kernels {
namespace {

using simt::DeviceArray;
using simt::GemmNumbers;

constexpr std::size_t versions = 4;  // of gemm.cu, which come first

class SimtGemm : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_GE(cuda_versions<GemmBf16Ops>.count, versions);
    simt::reset();
  }
};

template <class Check>
void for_each_version(const Check& check) {
  for (std::size_t v = 0; v < versions; ++v) {
    SCOPED_TRACE(cuda_versions<GemmBf16Ops>.first[v].name);
    check(*cuda_versions<GemmBf16Ops>.first[v].ops);
  }
}

// All versions in all schedules.
void check_all(const std::vector<GemmShape>& shapes, std::size_t offset_in = 0, std::size_t offset_out = 0) {
  for (const GemmShape shape : shapes) {
    const GemmNumbers numbers(shape);
    for (const simt::Schedule schedule : simt::all_schedules) {
      SCOPED_TRACE(simt::name_of(schedule));
      simt::set_schedule(schedule, shape.m + shape.k);
      for_each_version([&](const GemmBf16Ops& ops) { numbers.check(ops, offset_in, offset_out); });
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

TEST_F(SimtGemm, SmallSizes) { check_all({{1, 1, 1}, {1, 1, 0}, {130, 258, 0}, {1, 3, 2}, {5, 1, 7}, {2, 3, 17}}); }

// Stages of 32, four of them, of which a copy brings eight.
TEST_F(SimtGemm, EachLengthOfThePipeline) {
  for (const std::size_t k : {8, 16, 24, 31, 32, 33, 40, 63, 64, 72, 96, 104, 127, 128, 136, 160, 168, 200}) {
    check_all({{17, 20, k}});
  }
}

TEST_F(SimtGemm, TilesAndTheirTails) {
  check_all({{31, 33, 9}, {32, 32, 32}, {63, 65, 40}, {64, 64, 64}, {65, 63, 33}, {1, 130, 24}, {130, 1, 24}});
  check_all({{128, 256, 40}, {127, 255, 17}, {129, 258, 8}});
}

// 18 rows of tiles of the pipeline: a group of 16, and one of two.
TEST_F(SimtGemm, GroupsOfTiles) {
  const GemmNumbers numbers({2177, 257, 8});
  numbers.check(*cuda_versions<GemmBf16Ops>.first[3].ops);
}

TEST_F(SimtGemm, PointersAtOddPlaces) {
  check_all({{20, 34, 40}}, 1, 0);
  check_all({{20, 34, 40}}, 4, 1);
  check_all({{20, 34, 40}}, 8, 2);
  check_all({{20, 35, 40}}, 8, 3);
}

TEST_F(SimtGemm, NothingToDo) {
  for_each_version([&](const GemmBf16Ops& ops) {
    for (const GemmShape shape : {GemmShape{0, 0, 0}, {0, 5, 3}, {5, 0, 3}}) {
      EXPECT_TRUE(ops.supports(shape, nullptr, nullptr, nullptr));
      EXPECT_TRUE(ops.run({1, nullptr}, shape, nullptr, nullptr, nullptr));
    }
    simt::succeed(cudaGetLastError());
  });
}

// Each is refused, and C keeps what it had.
TEST_F(SimtGemm, Refusals) {
  const GemmNumbers numbers({3, 4, 8});
  DeviceArray<std::uint16_t> a(numbers.a), b(numbers.b);
  DeviceArray<float> c(std::vector<float>(12, -1.0F));
  const auto* c_as_bf16 = reinterpret_cast<const std::uint16_t*>(c.data());
  auto* c_off = reinterpret_cast<float*>(reinterpret_cast<char*>(c.data()) + 2);
  const auto* a_off = reinterpret_cast<const std::uint16_t*>(reinterpret_cast<const char*>(a.data()) + 1);
  for_each_version([&](const GemmBf16Ops& ops) {
    const auto is_refused = [&](GemmShape s, const std::uint16_t* from_a, const std::uint16_t* from_b, float* to) {
      return !ops.supports(s, from_a, from_b, to) && !ops.run({1, nullptr}, s, from_a, from_b, to);
    };
    const GemmShape s{3, 4, 8}, row{3, 4, 7};
    EXPECT_TRUE(is_refused(s, nullptr, b.data(), c.data()));
    EXPECT_TRUE(is_refused(s, a.data(), nullptr, c.data()));
    EXPECT_TRUE(is_refused(s, a.data(), b.data(), nullptr));
    EXPECT_TRUE(is_refused(row, a_off, b.data(), c.data()));
    EXPECT_TRUE(is_refused(row, a.data(), a_off, c.data()));
    EXPECT_TRUE(is_refused({3, 3, 8}, a.data(), b.data(), c_off));
    EXPECT_TRUE(is_refused(s, c_as_bf16, b.data(), c.data()));
    EXPECT_TRUE(is_refused(s, a.data(), c_as_bf16, c.data()));
    EXPECT_TRUE(is_refused({std::size_t{1} << 40, 1, std::size_t{1} << 30}, a.data(), b.data(), c.data()));
  });
  simt::succeed(cudaGetLastError());
  EXPECT_EQ(c.values(), std::vector<float>(12, -1.0F));
}

TEST_F(SimtGemm, TableTensorCoresBeginAt80) {
  EXPECT_STREQ(cuda_versions<GemmBf16Ops>.find(75)->name, "tiled");
  EXPECT_STREQ(cuda_versions<GemmBf16Ops>.find(89)->name, "pipeline");
}

// 2^31 tiles of 128 x 256 are one more than a grid can have.
TEST_F(SimtGemm, ThePipelineTakesWhatAGridCanHold) {
  const CudaVersion<GemmBf16Ops>& version = cuda_versions<GemmBf16Ops>.first[3];
  ASSERT_STREQ(version.name, "pipeline");
  DeviceArray<float> c(1);
  EXPECT_TRUE(version.ops->supports({((std::size_t{1} << 31) - 1) * 128, 256, 0}, nullptr, nullptr, c.data()));
  EXPECT_FALSE(version.ops->supports({((std::size_t{1} << 31) - 1) * 128 + 1, 256, 0}, nullptr, nullptr, c.data()));
}

}  // namespace
}  // namespace assay::kernels
