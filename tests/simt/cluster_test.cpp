// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Blocks that run together: clusters that read each other's shared memory, and cooperative launches. As in
// rig_test.cpp: right kernels pass in every schedule, a defect in each ends in an error that says where.
#include "in_order.h"
#include "kernels/ptx_cluster.cuh"

namespace assay::simt {
namespace {

using kernels::launch;
using kernels::Shape;
using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;

constexpr unsigned threads = 64;

class SimtCluster : public InOrder {
 protected:
  static Shape shape(unsigned blocks, unsigned cluster) {
    Shape s{dim3(blocks), dim3(threads)};
    s.cluster = cluster;
    return s;
  }
};

enum class Defect { none, no_first_barrier, no_last_barrier, no_middle_barrier };

// Every block of a cluster writes down its numbers, and takes those of the next one, mirrored; twice.
template <Defect defect>
__global__ void rotate(unsigned* data) {
  __shared__ unsigned tile[threads];
  const unsigned next = (kernels::cluster_rank() + 1) % kernels::cluster_blocks();
  unsigned value = data[blockIdx.x * threads + threadIdx.x];
  for (int turn = 0; turn < 2; ++turn) {
    tile[threadIdx.x] = value;
    if (defect != Defect::no_first_barrier) kernels::cluster_sync();
    value = kernels::map_shared(tile, next)[threads - 1 - threadIdx.x];
    if (turn == 0 ? defect != Defect::no_middle_barrier : defect != Defect::no_last_barrier) kernels::cluster_sync();
  }
  data[blockIdx.x * threads + threadIdx.x] = value;
}

std::vector<unsigned> counted(unsigned n) {
  std::vector<unsigned> numbers(n);
  for (unsigned i = 0; i < n; ++i) numbers[i] = i;
  return numbers;
}

TEST_F(SimtCluster, BlocksReadEachOthersSharedMemory) {
  for (const Schedule schedule : all_schedules) {
    for (const unsigned cluster : {2, 4, 8}) {
      set_schedule(schedule);
      DeviceArray<unsigned> data(counted(8 * threads));
      succeed(launch(rotate<Defect::none>, shape(8, cluster), nullptr, data.data()));
      const std::vector<unsigned> result = data.values();
      for (unsigned i = 0; i < 8 * threads; ++i) {
        const unsigned block = i / threads, from = block / cluster * cluster + (block % cluster + 2) % cluster;
        ASSERT_EQ(result[i], from * threads + i % threads) << name_of(schedule) << ", cluster " << cluster;
      }
    }
  }
}

template <Defect defect>
std::string fault_of(Schedule schedule, std::uint64_t seed = 1) {
  reset();
  set_schedule(schedule, seed);
  DeviceArray<unsigned> data(counted(4 * threads));
  succeed(launch(rotate<defect>, {dim3(4), dim3(threads), 0, 4}, nullptr, data.data()));
  cudaDeviceSynchronize();
  return fault();
}

TEST_F(SimtCluster, AMissingBarrierOfTheClusterIsFoundInEverySchedule) {
  for (const Schedule schedule : all_schedules) {
    EXPECT_THAT(fault_of<Defect::no_first_barrier>(schedule),
                AllOf(HasSubstr("before a barrier of the cluster"), HasSubstr("cluster_test.cpp:")));
    EXPECT_THAT(fault_of<Defect::no_middle_barrier>(schedule),
                AllOf(HasSubstr("race on shared memory"), HasSubstr("cluster_test.cpp:")));
  }
}

TEST_F(SimtCluster, ABlockThatEndsTooEarlyIsFoundInSomeOrder) {
  int found = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const std::string fault =
        fault_of<Defect::no_last_barrier>(seed % 2 == 0 ? Schedule::random : Schedule::priority, seed);
    found += fault.find("of a block that has ended") != std::string::npos ? 1 : 0;
  }
  EXPECT_GT(found, 5);
}

__global__ void one_block_stays_away(unsigned* data) {
  if (blockIdx.x == 0) {
    kernels::cluster_sync();
  } else if (threadIdx.x == 0) {
    __syncthreads();
  }
  data[blockIdx.x * threads + threadIdx.x] = 1;
}
__global__ void beyond_its_cluster(unsigned* data) {
  __shared__ unsigned one;
  kernels::cluster_sync();
  if (threadIdx.x == 0) *kernels::map_shared(&one, 2) = data[0];
  kernels::cluster_sync();
}
__global__ void arrives_twice(unsigned* data) {
  kernels::cluster_arrive();
  if (data[0] != 77777) kernels::cluster_arrive();
  kernels::cluster_wait();
}

TEST_F(SimtCluster, WrongUseIsAnErrorThatSaysWhere) {
  const auto expect = [&](void (*kernel)(unsigned*), const char* what) {
    for (const Schedule schedule : all_schedules) {
      reset();
      set_schedule(schedule);
      DeviceArray<unsigned> data(counted(2 * threads));
      succeed(launch(kernel, shape(2, 2), nullptr, data.data()));
      EXPECT_NE(cudaDeviceSynchronize(), cudaSuccess);
      EXPECT_THAT(fault(), HasSubstr(what));
    }
  };
  expect(one_block_stays_away, "the kernel");
  expect(beyond_its_cluster, "a rank that the cluster doesn't have");
  expect(arrives_twice, "a second arrival");
}

TEST_F(SimtCluster, SizesAreChecked) {
  DeviceArray<unsigned> data(counted(32 * threads));
  EXPECT_EQ(launch(rotate<Defect::none>, shape(6, 4), nullptr, data.data()), cudaErrorInvalidConfiguration);
  EXPECT_EQ(launch(rotate<Defect::none>, shape(16, 16), nullptr, data.data()), cudaErrorInvalidClusterSize);
  cudaGetLastError();
  succeed(cudaFuncSetAttribute(rotate<Defect::none>, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  succeed(launch(rotate<Defect::none>, shape(16, 16), nullptr, data.data()));
  succeed(cudaDeviceSynchronize());
  EXPECT_EQ(launch(rotate<Defect::none>, shape(32, 32), nullptr, data.data()), cudaErrorInvalidClusterSize);
}

// Blocks that wait for each other, by a counter in global memory.
__global__ void all_meet(unsigned* counter, unsigned* seen) {
  if (threadIdx.x != 0) return;
  __threadfence();
  atomicAdd(counter, 1u);
  while (atomicAdd(counter, 0u) < gridDim.x) __nanosleep(20);
  seen[blockIdx.x] = *counter;
}

TEST_F(SimtCluster, ACooperativeLaunchRunsAllBlocksTogether) {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeCooperative;
  attribute.val.cooperative = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(12);
  config.blockDim = dim3(threads);
  config.attrs = &attribute;
  for (const Schedule schedule : all_schedules) {
    set_schedule(schedule);
    DeviceArray<unsigned> counter(std::vector<unsigned>(1, 0)), seen(12);
    config.numAttrs = 1;
    succeed(cudaLaunchKernelEx(&config, all_meet, counter.data(), seen.data()));
    EXPECT_EQ(seen.values(), std::vector<unsigned>(12, 12)) << name_of(schedule);
  }
  DeviceArray<unsigned> counter(std::vector<unsigned>(1, 0)), seen(12);
  config.gridDim = dim3(1000);
  EXPECT_EQ(cudaLaunchKernelEx(&config, all_meet, counter.data(), seen.data()), cudaErrorCooperativeLaunchTooLarge);
  cudaGetLastError();
  set_schedule(Schedule::in_order);
  config.gridDim = dim3(12);
  config.numAttrs = 0;  // an ordinary one doesn't promise that
  succeed(cudaLaunchKernelEx(&config, all_meet, counter.data(), seen.data()));
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorLaunchTimeout);
  EXPECT_THAT(fault(), HasSubstr("spin"));
}

}  // namespace
}  // namespace assay::simt
