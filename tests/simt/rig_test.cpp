// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// The rig sees what it is there for: small kernels with one defect each must end in an error that says where, or in a
// wrong result; the same kernels without the defect must pass in every schedule.
#include <cstring>

#include "in_order.h"
#include "kernels/ptx.cuh"

namespace assay::simt {
namespace {

using kernels::launch;
using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;

constexpr unsigned all_lanes = 0xFFFFFFFFu;

class SimtRig : public InOrder {
 protected:
  // The launch goes well, the next call tells the error, and so does every one after it until reset().
  static void expect_fault(cudaError_t launched, cudaError_t error) {
    EXPECT_EQ(launched, cudaSuccess);
    EXPECT_EQ(cudaDeviceSynchronize(), error) << fault();
    void* memory = nullptr;
    EXPECT_EQ(cudaMalloc(&memory, 16), error);
    cudaFree(memory);
    EXPECT_EQ(cudaGetLastError(), error);
    EXPECT_EQ(cudaGetLastError(), error) << "a fault of a kernel stays";
    EXPECT_THAT(fault(), AllOf(HasSubstr("kernel "), HasSubstr("block (0,0,0)"), HasSubstr("thread (")));
  }
};

// How many of the four schedules give another result than `expected`.
template <class Run>
int schedules_that_differ(const std::vector<unsigned>& expected, const Run& run) {
  int differ = 0;
  for (const Schedule schedule : all_schedules) {
    set_schedule(schedule);
    differ += run() != expected ? 1 : 0;
  }
  return differ;
}

// Barriers ------------------------------------------------------------------------------------------------------------

template <bool with_barrier>
__global__ void reverse_in_block(unsigned* data) {
  __shared__ unsigned tile[128];
  tile[threadIdx.x] = data[threadIdx.x];
  if (with_barrier) __syncthreads();
  data[threadIdx.x] = tile[127 - threadIdx.x];
}

TEST_F(SimtRig, AMissingBarrierIsARaceInEverySchedule) {
  std::vector<unsigned> numbers(128), reversed(128);
  for (unsigned i = 0; i < 128; ++i) numbers[i] = reversed[127 - i] = i + 1;
  for (const Schedule schedule : all_schedules) {
    reset();
    set_schedule(schedule);
    DeviceArray<unsigned> data(numbers), again(numbers);
    succeed(launch(reverse_in_block<true>, {dim3(1), dim3(128)}, nullptr, data.data()));
    EXPECT_EQ(data.values(), reversed) << name_of(schedule);
    expect_fault(launch(reverse_in_block<false>, {dim3(1), dim3(128)}, nullptr, again.data()), cudaErrorLaunchFailure);
    // Whoever comes first finds what is not written yet, or is found by the one who writes it.
    EXPECT_THAT(fault(), AnyOf(HasSubstr("race on shared memory"), HasSubstr("nobody in this block has written")));
    EXPECT_THAT(fault(), HasSubstr("rig_test.cpp:"));
  }
}

__global__ void neighbours(unsigned* data, bool synchronised) {
  __shared__ unsigned tile[32];
  tile[threadIdx.x] = threadIdx.x;
  if (synchronised) __syncwarp();
  data[threadIdx.x] = __shfl_sync(all_lanes, 0u, 0) + tile[threadIdx.x ^ 1];
}

TEST_F(SimtRig, AShuffleOrdersNoMemoryASyncwarpDoes) {
  for (const Schedule schedule : all_schedules) {
    reset();
    set_schedule(schedule);
    DeviceArray<unsigned> data(32);
    succeed(launch(neighbours, {dim3(1), dim3(32)}, nullptr, data.data(), true));
    EXPECT_EQ(data.values()[5], 4u);
    expect_fault(launch(neighbours, {dim3(1), dim3(32)}, nullptr, data.data(), false), cudaErrorLaunchFailure);
    EXPECT_THAT(fault(), HasSubstr("race on shared memory: a read while thread number"));
  }
}

__global__ void divergent_barrier(unsigned* data) {
  if (threadIdx.x < 16) {
    __syncthreads();
  } else {
    data[threadIdx.x] = 1;
    __syncthreads();
  }
}

TEST_F(SimtRig, ADivergentBarrierIsNamedWithBothPlaces) {
  DeviceArray<unsigned> data(64);
  expect_fault(launch(divergent_barrier, {dim3(1), dim3(64)}, nullptr, data.data()), cudaErrorLaunchFailure);
  EXPECT_THAT(fault(),
              AllOf(HasSubstr("divergent_barrier"), HasSubstr("rig_test.cpp:"), HasSubstr("divergent barrier")));
}

__global__ void early_exit(unsigned* data) {
  if (threadIdx.x == 63) return;
  data[threadIdx.x] = 1;
  __syncthreads();
}

TEST_F(SimtRig, AThreadMayNotLeaveBeforeABarrier) {
  DeviceArray<unsigned> data(64);
  expect_fault(launch(early_exit, {dim3(1), dim3(64)}, nullptr, data.data()), cudaErrorLaunchFailure);
  EXPECT_THAT(fault(), HasSubstr("leaves the kernel while others wait at a barrier"));
}

__global__ void count_votes(unsigned* data) {
  const auto odd = static_cast<int>(threadIdx.x % 2);
  const int counted = __syncthreads_count(odd);
  const int all = __syncthreads_and(odd);
  const int any = __syncthreads_or(threadIdx.x == 40);
  data[threadIdx.x] = static_cast<unsigned>(counted * 100 + all * 10 + any);
}

TEST_F(SimtRig, BarriersCountVotes) {
  EXPECT_EQ(schedules_that_differ(std::vector<unsigned>(96, 4801),
                                  [] {
                                    DeviceArray<unsigned> data(96);
                                    succeed(launch(count_votes, {dim3(1), dim3(96)}, nullptr, data.data()));
                                    return data.values();
                                  }),
            0);
}

__global__ void deadlock(unsigned* data) {
  if (threadIdx.x >= 32 && threadIdx.x < 48) {
    data[threadIdx.x] = __shfl_sync(all_lanes, data[threadIdx.x], 0);
  } else {
    __syncthreads();
  }
}

TEST_F(SimtRig, ADeadlockNamesWhoWaitsWhere) {
  DeviceArray<unsigned> data(std::vector<unsigned>(64, 1));
  expect_fault(launch(deadlock, {dim3(1), dim3(64)}, nullptr, data.data()), cudaErrorLaunchTimeout);
  EXPECT_THAT(fault(), AllOf(HasSubstr("16 wait in __shfl_sync at "), HasSubstr("48 wait in a barrier at ")));
}

__global__ void wait_for_other(unsigned* data, bool somebody_sets_it) {
  if (threadIdx.x == 0) {
    while (atomicAdd(data, 0u) == 0) __nanosleep(100);
  } else if (somebody_sets_it) {
    atomicExch(data, 1u);
  }
}

TEST_F(SimtRig, ASpinLoopEndsWhenAnotherThreadEndsIt) {
  const std::vector<unsigned> zero(1, 0);
  for (const Schedule schedule : all_schedules) {
    set_schedule(schedule);
    DeviceArray<unsigned> data(zero);
    succeed(launch(wait_for_other, {dim3(1), dim3(2)}, nullptr, data.data(), true));
    EXPECT_EQ(data.values()[0], 1u) << name_of(schedule);
  }
  set_schedule(Schedule::in_order);
  DeviceArray<unsigned> data(zero);
  expect_fault(launch(wait_for_other, {dim3(1), dim3(2)}, nullptr, data.data(), false), cudaErrorLaunchTimeout);
  EXPECT_THAT(fault(), HasSubstr("spin"));
}

template <class T>
__global__ void parts_of_words(T* data, unsigned shift) {
  __shared__ T tile[128 + 1];
  tile[threadIdx.x] = static_cast<T>(threadIdx.x);
  if (threadIdx.x >= shift) data[threadIdx.x] = tile[threadIdx.x - shift];
}

TEST_F(SimtRig, NeighboursInOneWordAreNoRaceTheSameByteIsOne) {
  for (const Schedule schedule : all_schedules) {
    reset();
    set_schedule(schedule);
    DeviceArray<unsigned char> bytes(128);
    DeviceArray<unsigned short> halves(128);
    succeed(launch(parts_of_words<unsigned char>, {dim3(1), dim3(128)}, nullptr, bytes.data(), 0u));
    succeed(launch(parts_of_words<unsigned short>, {dim3(1), dim3(128)}, nullptr, halves.data(), 0u));
    succeed(cudaDeviceSynchronize());
    EXPECT_EQ(bytes.values()[77], 77);
    expect_fault(launch(parts_of_words<unsigned short>, {dim3(1), dim3(128)}, nullptr, halves.data(), 1u),
                 cudaErrorLaunchFailure);
  }
}

// Warps ---------------------------------------------------------------------------------------------------------------

__global__ void shuffles(unsigned* data) {
  const unsigned me = threadIdx.x;
  const unsigned up = __shfl_up_sync(all_lanes, me, 1), down = __shfl_down_sync(all_lanes, me, 1, 8);
  const unsigned across = __shfl_xor_sync(all_lanes, me, 3), third = __shfl_sync(all_lanes, me, 3, 16);
  const unsigned votes = __ballot_sync(all_lanes, me % 4 == 0);
  const bool ends = __any_sync(all_lanes, me == 5) && !__all_sync(all_lanes, me != 5);
  data[me] = up + 100 * down + 10000 * across + 1000000 * third + (votes == 0x11111111u && ends ? 0 : 7);
}

TEST_F(SimtRig, ShufflesAndVotesMeanWhatCudaSays) {
  std::vector<unsigned> expected(32);
  for (unsigned i = 0; i < 32; ++i) {
    const unsigned up = i == 0 ? 0 : i - 1, down = i % 8 == 7 ? i : i + 1;
    expected[i] = up + 100 * down + 10000 * (i ^ 3) + 1000000 * (i < 16 ? 3 : 19);
  }
  EXPECT_EQ(schedules_that_differ(expected,
                                  [] {
                                    DeviceArray<unsigned> data(32);
                                    succeed(launch(shuffles, {dim3(1), dim3(32)}, nullptr, data.data()));
                                    return data.values();
                                  }),
            0);
}

__global__ void reads_absent_lane(unsigned* data) {
  if (threadIdx.x < 16) data[threadIdx.x] = __shfl_sync(0xFFFFu, data[threadIdx.x], 20);
}
__global__ void names_absent_lane(unsigned* data) { data[threadIdx.x] = __shfl_down_sync(all_lanes, threadIdx.x, 1); }

TEST_F(SimtRig, AShuffleFromAnAbsentLaneIsAnError) {
  DeviceArray<unsigned> data(std::vector<unsigned>(32, 1));
  expect_fault(launch(reads_absent_lane, {dim3(1), dim3(32)}, nullptr, data.data()), cudaErrorLaunchFailure);
  EXPECT_THAT(fault(), AllOf(HasSubstr("rig_test.cpp:"), HasSubstr("a lane which isn't in the mask")));
  reset();
  expect_fault(launch(names_absent_lane, {dim3(1), dim3(20)}, nullptr, data.data()), cudaErrorLaunchFailure);
  EXPECT_THAT(fault(), HasSubstr("names lane 20"));
}

__global__ void two_functions(unsigned* data) {
  if (threadIdx.x < 16) {
    __syncwarp();
  } else {
    data[0] = __shfl_sync(all_lanes, 1u, 0);
  }
}

TEST_F(SimtRig, LanesThatMeetInTwoFunctionsAreAnError) {
  DeviceArray<unsigned> data(1);
  expect_fault(launch(two_functions, {dim3(1), dim3(32)}, nullptr, data.data()), cudaErrorLaunchFailure);
  EXPECT_THAT(fault(), HasSubstr("lanes of a warp meet in __shfl_sync and in __syncwarp"));
}

// Memory --------------------------------------------------------------------------------------------------------------

__global__ void write_at(unsigned* data, std::size_t index) {
  if (threadIdx.x == 5) data[index] = 1;
}
__global__ void read_at(unsigned* data, std::size_t index) {
  if (threadIdx.x == 5) data[0] = data[index];
}

TEST_F(SimtRig, AnAccessOutsideOfAnAllocationIsFound) {
  for (const std::size_t elements : {64, 60}) {  // up to a page, and with a gap before it
    for (const std::size_t index : {elements, std::size_t{3000}, ~std::size_t{0}}) {
      const std::string where = index > elements + 3000 ? "4 bytes before an allocation of "
                                                        : std::to_string(4 * (index - elements)) +
                                                              " bytes behind the end of an allocation of ";
      for (const auto kernel : {write_at, read_at}) {
        reset();
        DeviceArray<unsigned> data(elements);
        expect_fault(launch(kernel, {dim3(1), dim3(32)}, nullptr, data.data(), index), cudaErrorIllegalAddress);
        EXPECT_THAT(fault(), HasSubstr(where));
      }
    }
  }
}

TEST_F(SimtRig, AFaultHasFileLineAndThread) {
  unsigned* null = nullptr;
  expect_fault(launch(write_at, {dim3(1), dim3(32)}, nullptr, null, std::size_t{0}), cudaErrorIllegalAddress);
  EXPECT_THAT(fault(), AllOf(HasSubstr("write_at"), HasSubstr("thread (5,0,0)"), HasSubstr("a null pointer")));
#if defined(__x86_64__)
  EXPECT_THAT(fault(), HasSubstr("rig_test.cpp:"));
#endif
}

TEST_F(SimtRig, AHostPointerIsNoArgument) {
  std::vector<unsigned> host(64);
  expect_fault(launch(write_at, {dim3(1), dim3(32)}, nullptr, host.data(), std::size_t{0}), cudaErrorIllegalAddress);
  EXPECT_THAT(fault(), HasSubstr("pointer argument 0"));
}

__global__ void misaligned(unsigned* data) { kernels::load16<kernels::Hint::normal>(data + 1); }

TEST_F(SimtRig, A16ByteAccessMustBeAligned) {
  DeviceArray<unsigned> data(64);
  expect_fault(launch(misaligned, {dim3(1), dim3(1)}, nullptr, data.data()), cudaErrorMisalignedAddress);
}

__global__ void uninitialised_shared(float* out) {
  __shared__ float value[32];
  if (threadIdx.x > 31) value[threadIdx.x - 32] = 1;
  out[threadIdx.x] = value[threadIdx.x];
}

TEST_F(SimtRig, UninitialisedSharedMemoryIsNotRead) {
  for (const Schedule schedule : all_schedules) {
    reset();
    set_schedule(schedule);
    DeviceArray<float> out(32);
    expect_fault(launch(uninitialised_shared, {dim3(1), dim3(32)}, nullptr, out.data()), cudaErrorLaunchFailure);
    EXPECT_THAT(fault(), AllOf(HasSubstr("nobody in this block has written"), HasSubstr("rig_test.cpp:")));
  }
}

TEST_F(SimtRig, UninitialisedDeviceMemoryIsNoZero) {
  for (const Schedule schedule : all_schedules) {
    set_schedule(schedule);
    EXPECT_NE(DeviceArray<float>(1).values()[0], 0.0f);
  }
}

__global__ void behind_its_array(unsigned* data, unsigned shift) {
  __shared__ unsigned first[32], second[32];
  first[threadIdx.x] = second[threadIdx.x] = threadIdx.x;
  __syncthreads();
  data[threadIdx.x] = first[threadIdx.x + shift] + second[threadIdx.x];
}

TEST_F(SimtRig, AnIndexBehindASharedArrayIsFound) {
  DeviceArray<unsigned> data(32);
  succeed(launch(behind_its_array, {dim3(1), dim3(32)}, nullptr, data.data(), 0u));
  succeed(cudaDeviceSynchronize());
  expect_fault(launch(behind_its_array, {dim3(1), dim3(32)}, nullptr, data.data(), 1u), cudaErrorIllegalAddress);
  EXPECT_THAT(fault(), AllOf(HasSubstr("an index outside of its array"), HasSubstr("thread (31,0,0)")));
}

template <bool waits>
__global__ void copy_through_shared(const unsigned* from, unsigned* to) {
  alignas(16) __shared__ unsigned tile[128];
  kernels::copy_async16(tile + 4 * threadIdx.x, from + 4 * threadIdx.x);
  kernels::commit_async();
  if (waits) kernels::wait_async<0>();
  __syncthreads();
  for (unsigned k = 0; k < 4; ++k) to[4 * threadIdx.x + k] = tile[127 - (4 * threadIdx.x + k)];
}

TEST_F(SimtRig, AnAsynchronousCopyNobodyWaitsForIsSeen) {
  std::vector<unsigned> numbers(128), reversed(128);
  for (unsigned i = 0; i < 128; ++i) numbers[i] = reversed[127 - i] = i + 1;
  for (const Schedule schedule : all_schedules) {
    reset();
    set_schedule(schedule);
    DeviceArray<unsigned> from(numbers), to(128);
    succeed(launch(copy_through_shared<true>, {dim3(1), dim3(32)}, nullptr, from.data(), to.data()));
    EXPECT_EQ(to.values(), reversed) << name_of(schedule);
    expect_fault(launch(copy_through_shared<false>, {dim3(1), dim3(32)}, nullptr, from.data(), to.data()),
                 cudaErrorLaunchFailure);
    EXPECT_THAT(fault(), HasSubstr("nobody in this block has written"));
  }
}

__global__ void lost_update(unsigned* counter) { *counter += 1; }

TEST_F(SimtRig, ALostUpdateShowsInTheRandomSchedule) {
  set_schedule(Schedule::random);
  DeviceArray<unsigned> counter(std::vector<unsigned>(1, 0));
  succeed(launch(lost_update, {dim3(1), dim3(256)}, nullptr, counter.data()));
  EXPECT_LT(counter.values()[0], 256u);
}

template <bool atomic>
__global__ void one_of_each_block(unsigned* counter, bool fenced) {
  if (threadIdx.x != 0) return;
  if (fenced) __threadfence();
  if (atomic) {
    atomicAdd(counter, 1u);
  } else {
    *counter += 1;
  }
}
__global__ void read_of_another_block(unsigned* data) { data[blockIdx.x] = data[blockIdx.x ^ 1] + 1; }

TEST_F(SimtRig, BlocksThatShareAWordWithoutAtomicsAreARace) {
  for (const Schedule schedule : all_schedules) {
    reset();
    set_schedule(schedule);
    DeviceArray<unsigned> data(std::vector<unsigned>(2, 0));
    succeed(launch(one_of_each_block<true>, {dim3(2), dim3(32)}, nullptr, data.data(), false));
    succeed(launch(one_of_each_block<false>, {dim3(1), dim3(32)}, nullptr, data.data(), false));  // a launch later
    succeed(launch(one_of_each_block<false>, {dim3(2), dim3(32)}, nullptr, data.data(), true));
    EXPECT_EQ(data.values()[0], 5u);
    succeed(launch(one_of_each_block<false>, {dim3(2), dim3(32)}, nullptr, data.data(), false));
    EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
    EXPECT_THAT(fault(), AllOf(HasSubstr("race on global memory"), HasSubstr("rig_test.cpp:")));
    reset();
    succeed(launch(read_of_another_block, {dim3(2), dim3(1)}, nullptr, data.data()));
    EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
    EXPECT_THAT(fault(), HasSubstr("race on global memory"));
  }
}

// Launches ------------------------------------------------------------------------------------------------------------

__global__ void nothing(unsigned* data) {
  if (data == nullptr) __syncthreads();
}

TEST_F(SimtRig, LimitsOfALaunchAreEnforced) {
  DeviceArray<unsigned> data(1);
  const auto start = [&](dim3 grid, dim3 block, std::size_t shared_bytes) {
    const cudaError_t error = launch(nothing, {grid, block, shared_bytes}, nullptr, data.data());
    EXPECT_EQ(cudaGetLastError(), error);
    return error;
  };
  EXPECT_EQ(start(dim3(1), dim3(1024), 0), cudaSuccess);
  EXPECT_EQ(start(dim3(1), dim3(1025), 0), cudaErrorInvalidConfiguration);
  EXPECT_EQ(start(dim3(1), dim3(32, 33), 0), cudaErrorInvalidConfiguration);
  EXPECT_EQ(start(dim3(1), dim3(1, 1, 65), 0), cudaErrorInvalidConfiguration);
  EXPECT_EQ(start(dim3(0), dim3(32), 0), cudaErrorInvalidConfiguration);
  EXPECT_EQ(start(dim3(1, 65536), dim3(32), 0), cudaErrorInvalidConfiguration);
  EXPECT_EQ(start(dim3(1), dim3(32), 48 << 10), cudaSuccess);
  EXPECT_EQ(start(dim3(1), dim3(32), (48 << 10) + 1), cudaErrorInvalidValue);
  succeed(cudaFuncSetAttribute(nothing, cudaFuncAttributeMaxDynamicSharedMemorySize, 64 << 10));
  EXPECT_EQ(start(dim3(1), dim3(32), 64 << 10), cudaSuccess);
  EXPECT_EQ(cudaFuncSetAttribute(nothing, cudaFuncAttributeMaxDynamicSharedMemorySize, 228 << 10),
            cudaErrorInvalidValue);
}

TEST_F(SimtRig, CopiesAreChecked) {
  DeviceArray<unsigned> data(4);
  unsigned host[8] = {};
  EXPECT_EQ(cudaMemcpy(data.data(), host, 17, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(host, host + 4, 16, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemset(data.data(), 0, 17), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFree(host), cudaErrorInvalidValue);
}

}  // namespace
}  // namespace assay::simt
