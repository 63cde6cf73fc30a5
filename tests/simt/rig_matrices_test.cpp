// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// The rig's ldmatrix, fragments of wmma, dynamic shared memory and copies that may be zeros: right by the manual's
// description, and one defect per kernel that must be seen with its file and line.
#include <cstring>

#include "in_order.h"
#include "kernels/bits.h"
#include "kernels/ptx.cuh"

namespace assay::simt {
namespace {

using kernels::launch;
using testing::AllOf;
using testing::HasSubstr;

class SimtRigMatrices : public InOrder {
 protected:
  static void expect_fault(cudaError_t launched, cudaError_t error, const char* what) {
    EXPECT_EQ(launched, cudaSuccess);
    EXPECT_EQ(cudaDeviceSynchronize(), error);
    EXPECT_THAT(fault(), AllOf(HasSubstr(what), HasSubstr("rig_matrices_test.cpp:")));
    reset();
  }
};

// Matrix x, row r, word w is 100 x + 10 r + w; `off` bytes off, or from global memory.
enum class From { shared, shared_off, global };

template <From from>
__global__ void read_matrices(unsigned* words, const unsigned* elsewhere) {
  alignas(16) __shared__ unsigned rows[32 * 4 + 4];
  const unsigned lane = threadIdx.x;
  for (unsigned w = 0; w < 4; ++w) rows[4 * lane + w] = lane / 8 * 100 + lane % 8 * 10 + w;
  if (lane < 4) rows[128 + lane] = 0;
  __syncthreads();
  std::uint32_t mine[4];
  const unsigned* row = from == From::global ? elsewhere : rows + 4 * lane + (from == From::shared_off ? 1 : 0);
  kernels::load_matrices(mine, row);
  for (unsigned x = 0; x < 4; ++x) words[32 * x + lane] = mine[x];
}

TEST_F(SimtRigMatrices, EachLaneGetsItsWordOfFourMatrices) {
  for (const Schedule schedule : all_schedules) {
    set_schedule(schedule);
    DeviceArray<unsigned> words(128);
    succeed(launch(read_matrices<From::shared>, {dim3(1), dim3(32)}, nullptr, words.data(), nullptr));
    const std::vector<unsigned> got = words.values();
    for (unsigned i = 0; i < 128; ++i) {
      ASSERT_EQ(got[i], i / 32 * 100 + i % 32 / 4 * 10 + i % 4) << i << ", " << name_of(schedule);
    }
  }
}

TEST_F(SimtRigMatrices, RowsAreAlignedAndInSharedMemory) {
  DeviceArray<unsigned> words(128);
  expect_fault(launch(read_matrices<From::shared_off>, {dim3(1), dim3(32)}, nullptr, words.data(), words.data()),
               cudaErrorMisalignedAddress, "aligned");
  expect_fault(launch(read_matrices<From::global>, {dim3(1), dim3(32)}, nullptr, words.data(), words.data()),
               cudaErrorIllegalAddress, "isn't in shared memory");
}

// C = 2 A * B for one pair of fragments, by columns of B.
enum class Fragment { right, rows_off, off, global };

template <Fragment fragment>
__global__ void multiply_once(const std::uint16_t* a, const std::uint16_t* b, float* c) {
  constexpr unsigned row = 24;
  alignas(32) __shared__ std::uint16_t tile_a[16 * row], tile_b[16 * row];
  auto* const sums = kernels::dynamic_shared<float>();  // 16 x 24
  for (unsigned i = 2 * threadIdx.x; i < 16 * row; i += 64) {
    for (unsigned j = i; j < i + 2; ++j) tile_a[j] = a[j], tile_b[j] = b[j];
  }
  __syncwarp();
  kernels::WmmaA of_a;
  kernels::WmmaB of_b;
  kernels::WmmaSum sum;
  kernels::wmma_clear(sum);
  const std::uint16_t* from = fragment == Fragment::global ? a : tile_a;
  kernels::wmma_load(of_a, from + (fragment == Fragment::off ? 8 : 0), fragment == Fragment::rows_off ? 20 : row);
  kernels::wmma_load(of_b, tile_b, row);
  kernels::wmma_multiply(sum, of_a, of_b);
  kernels::wmma_multiply(sum, of_a, of_b);
  kernels::wmma_store(sums, sum, row);
  __syncwarp();
  for (unsigned i = threadIdx.x; i < 256; i += 32) c[i] = sums[i / 16 * row + i % 16];
}

TEST_F(SimtRigMatrices, FragmentsMultiply) {
  constexpr int row = 24;
  std::vector<std::uint16_t> a(16 * row), b(16 * row);
  for (int i = 0; i < 16; ++i) {
    for (int p = 0; p < 16; ++p) {
      a[static_cast<std::size_t>(i * row + p)] = kernels::to_bf16(static_cast<float>(3 * i + p)).bits;
      b[static_cast<std::size_t>(i * row + p)] = kernels::to_bf16(static_cast<float>(7 * p - 5 * i)).bits;
    }
  }
  std::vector<float> expected;
  for (int i = 0; i < 16; ++i) {
    for (int j = 0; j < 16; ++j) {
      int sum = 0;
      for (int p = 0; p < 16; ++p) sum += 2 * (3 * i + p) * (7 * p - 5 * j);
      expected.push_back(static_cast<float>(sum));
    }
  }
  DeviceArray<std::uint16_t> device_a(a), device_b(b);
  DeviceArray<float> c(256);
  const kernels::Shape shape{dim3(1), dim3(32), 16 * row * sizeof(float)};
  const auto run = [&](auto kernel) {
    return launch(kernel, shape, nullptr, device_a.data(), device_b.data(), c.data());
  };
  for (const Schedule schedule : all_schedules) {
    set_schedule(schedule);
    succeed(run(multiply_once<Fragment::right>));
    EXPECT_EQ(c.values(), expected) << name_of(schedule);
  }
  const char* unaligned = "a fragment that isn't aligned";
  expect_fault(run(multiply_once<Fragment::rows_off>), cudaErrorMisalignedAddress, unaligned);
  expect_fault(run(multiply_once<Fragment::off>), cudaErrorMisalignedAddress, unaligned);
  expect_fault(run(multiply_once<Fragment::global>), cudaErrorIllegalAddress, "isn't in shared memory");
}

// 4 KiB of dynamic shared memory are filled with copies, of which the odd ones are zeros and name no memory at all.
enum class Defect { none, waits_for_less, fills_too_early, copies_to_global };

template <Defect defect>
__global__ void copy_or_clear(const unsigned* from, unsigned* to) {
  auto* tile = kernels::dynamic_shared<unsigned>();
  const unsigned lane = threadIdx.x;
  for (unsigned turn = 0; turn < 2; ++turn) {
    for (unsigned half = 0; half < 2; ++half) {
      unsigned* here = (defect == Defect::copies_to_global ? to : tile) + 512 * half + 4 * lane;
      const bool inside = lane % 2 == 0;
      kernels::copy_async16_or_zeros(here, inside ? from + 512 * half + 4 * lane : nullptr, inside);
      kernels::commit_async();
    }
    kernels::wait_async<defect == Defect::waits_for_less ? 1 : 0>();
    __syncthreads();
    for (unsigned k = 0; k < 8; ++k) to[8 * lane + k] = tile[1023 - (8 * lane + k)];
    if (defect != Defect::fills_too_early) __syncthreads();
  }
}

TEST_F(SimtRigMatrices, CopiesAreZerosWhereNothingIs) {
  std::vector<unsigned> numbers(1024), expected(1024);
  for (unsigned i = 0; i < 1024; ++i) {
    numbers[i] = i + 1;
    expected[1023 - i] = i / 4 % 2 == 0 ? i + 1 : 0;
  }
  constexpr std::size_t bytes = 4096;
  for (const Schedule schedule : all_schedules) {
    SCOPED_TRACE(name_of(schedule));
    set_schedule(schedule);
    DeviceArray<unsigned> from(numbers), to(1024);
    const kernels::Shape shape{dim3(1), dim3(128), bytes};
    succeed(launch(copy_or_clear<Defect::none>, shape, nullptr, from.data(), to.data()));
    EXPECT_EQ(to.values(), expected);
    expect_fault(launch(copy_or_clear<Defect::waits_for_less>, shape, nullptr, from.data(), to.data()),
                 cudaErrorLaunchFailure, "nobody in this block has written");
    expect_fault(launch(copy_or_clear<Defect::fills_too_early>, shape, nullptr, from.data(), to.data()),
                 cudaErrorLaunchFailure, "race on shared memory");
    expect_fault(launch(copy_or_clear<Defect::copies_to_global>, shape, nullptr, from.data(), to.data()),
                 cudaErrorIllegalAddress, "isn't in shared memory");
  }
}

TEST_F(SimtRigMatrices, MoreSharedMemoryThanUsualIsAskedFor) {
  DeviceArray<unsigned> from(1024), to(1024);
  const kernels::Shape shape{dim3(1), dim3(128), 64 << 10};
  EXPECT_EQ(launch(copy_or_clear<Defect::none>, shape, nullptr, from.data(), to.data()), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFuncSetAttribute(copy_or_clear<Defect::none>, cudaFuncAttributeMaxDynamicSharedMemorySize, 228 << 10),
            cudaErrorInvalidValue);
  succeed(cudaFuncSetAttribute(copy_or_clear<Defect::none>, cudaFuncAttributeMaxDynamicSharedMemorySize, 64 << 10));
  succeed(launch(copy_or_clear<Defect::none>, shape, nullptr, from.data(), to.data()));
  succeed(cudaFuncSetAttribute(copy_or_clear<Defect::none>, cudaFuncAttributeMaxDynamicSharedMemorySize, 48 << 10));
}

}  // namespace
}  // namespace assay::simt
