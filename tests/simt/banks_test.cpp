// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Bank conflicts: the counter against patterns whose number is known, and the versions of the families against what
// the heads of their files say.
#include <cuda_runtime.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include "device_array.h"
#include "gemm_numbers.h"
#include "kernels/launch.cuh"
#include "kernels/ptx.cuh"
#include "kernels/shared.h"
#include "kernels/transpose.h"
#include "runtime/rig.h"

namespace assay::simt {
namespace {

using kernels::launch;
using testing::HasSubstr;

// Wavefronts beyond the least for each access of a warp, over all lines that had some.
struct Total {
  std::uint64_t accesses = 0, wavefronts = 0, conflicts = 0;
  std::uint64_t per_access = 0;  // of the worst line
};
Total counted() {
  Total total;
  for (const BankConflicts& line : bank_conflicts()) {
    total.accesses += line.accesses;
    total.wavefronts += line.wavefronts;
    total.conflicts += line.conflicts;
    total.per_access = std::max(total.per_access, line.conflicts / line.accesses);
  }
  return total;
}

class SimtBanks : public testing::Test {
 protected:
  void SetUp() override {
    reset();
    set_schedule(Schedule::random);
    count_bank_conflicts(true);
  }
  void TearDown() override {
    count_bank_conflicts(false);
    set_schedule(Schedule::in_order);
    set_processors(2);
  }
};

template <class T>
__global__ void write_at_stride(T* out, unsigned stride) {
  __shared__ T table[32 * 33];
  table[threadIdx.x * stride] = static_cast<T>(threadIdx.x);
  __syncwarp();
  if (threadIdx.x == 40) out[0] = table[0];
}

template <class T>
Total at_stride(unsigned stride) {
  count_bank_conflicts(true);
  DeviceArray<T> out(1);
  succeed(launch(write_at_stride<T>, {dim3(1), dim3(32)}, nullptr, out.data(), stride));
  succeed(cudaDeviceSynchronize());
  return counted();
}

TEST_F(SimtBanks, WavefrontsOfAStride) {
  for (const auto& [stride, conflicts] : std::vector<std::pair<unsigned, unsigned>>{
           {1, 0}, {2, 1}, {3, 0}, {4, 3}, {8, 7}, {16, 15}, {31, 0}, {32, 31}, {33, 0}}) {
    const Total words = at_stride<unsigned>(stride);
    EXPECT_EQ(words.accesses, 1u);
    EXPECT_EQ(words.conflicts, conflicts) << "stride " << stride;
    EXPECT_EQ(words.wavefronts, conflicts + 1);
  }
  EXPECT_EQ(at_stride<unsigned char>(1).conflicts, 0u) << "four lanes in a word are one";
  // Pairs of words by half warps: 16 lanes of 2 banks each are 32 banks.
  EXPECT_EQ(at_stride<std::uint64_t>(1).wavefronts, 2u);
  EXPECT_EQ(at_stride<std::uint64_t>(1).conflicts, 0u);
  EXPECT_EQ(at_stride<std::uint64_t>(2).conflicts, 2u);
  EXPECT_EQ(at_stride<std::uint64_t>(16).conflicts, 30u);
  EXPECT_EQ(at_stride<std::uint64_t>(33).conflicts, 0u);
}

TEST_F(SimtBanks, AConflictHasAKernelAndALine) {
  at_stride<unsigned>(32);
  const std::vector<BankConflicts> lines = bank_conflicts();
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_THAT(lines[0].kernel, HasSubstr("write_at_stride"));
  EXPECT_THAT(lines[0].place, HasSubstr("banks_test.cpp:"));
}

TEST_F(SimtBanks, Transpose) {
  constexpr std::size_t side = 64;
  using kernels::cuda_versions;
  using kernels::TransposeOps;
  const std::vector<std::uint32_t> numbers(side * side, 1);
  const std::vector<std::uint64_t> wide(side * side, 1);
  const auto of_version = [&](std::size_t v) {
    count_bank_conflicts(true);
    DeviceArray<std::uint32_t> in(numbers), out(side * side);
    cuda_versions<TransposeOps>.first[v].ops->u32({}, out.data(), in.data(), side, side);
    succeed(cudaDeviceSynchronize());
    return counted();
  };
  const auto of_wide_version = [&](std::size_t v) {
    count_bank_conflicts(true);
    DeviceArray<std::uint64_t> in(wide), out(side * side);
    cuda_versions<TransposeOps>.first[v].ops->u64({}, out.data(), in.data(), side, side);
    succeed(cudaDeviceSynchronize());
    return counted();
  };
  EXPECT_EQ(of_version(0).accesses, 0u) << "direct: no shared memory";
  EXPECT_EQ(of_version(1).per_access, 31u) << "tiled: a column of 32 words in one bank";
  EXPECT_EQ(of_version(2).accesses, 2 * side * side / 32);
  EXPECT_EQ(of_version(2).conflicts, 0u) << "padded";
  EXPECT_EQ(of_wide_version(1).per_access, 30u);
  EXPECT_EQ(of_wide_version(2).conflicts, 0u);
}

TEST_F(SimtBanks, Shared) {
  using kernels::cuda_versions;
  using kernels::SharedOps;
  const std::vector<std::uint32_t> table(kernels::shared_words, 1);
  for (std::size_t v = 0; v < cuda_versions<SharedOps>.count; ++v) {
    for (const unsigned stride : {1, 2, 6, 32}) {
      count_bank_conflicts(true);
      DeviceArray<std::uint32_t> in(table), sums(kernels::shared_lanes);
      cuda_versions<SharedOps>.first[v].ops->read({1, nullptr}, in.data(), stride, 8, 1, sums.data());
      succeed(cudaDeviceSynchronize());
      EXPECT_EQ(counted().per_access, std::gcd(stride, 32u) - 1) << "version " << v << ", stride " << stride;
    }
  }
}

// Of wmma it isn't known which lane reads what.
using SimtGemmBanks = SimtBanks;  // so that the mutants of gemm.cu run it
TEST_F(SimtGemmBanks, Gemm) {
  using kernels::cuda_versions;
  using kernels::GemmBf16Ops;
  for (const std::size_t version : {1, 3}) {
    const GemmNumbers numbers(version == 1 ? kernels::GemmShape{33, 40, 72} : kernels::GemmShape{128, 256, 72});
    for (const std::size_t offset : {0, 1}) {  // the fast copies and those without an alignment
      count_bank_conflicts(true);
      numbers.check(*cuda_versions<GemmBf16Ops>.first[version].ops, offset);
      EXPECT_GT(counted().accesses, 500u);
      EXPECT_EQ(counted().conflicts, 0u) << "version " << version << ", offset " << offset;
    }
  }
}

}  // namespace
}  // namespace assay::simt
