// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// The sanitizer of this variant is awake inside kernels. Each of these has a defect that the rig's own
// eyes don't see, and must end the program with the sanitizer's report; without the defect it must pass.
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <vector>

#include "../device_array.h"
#include "../runtime/rig.h"
#include "kernels/launch.cuh"
#include "kernels/ptx_hopper.cuh"

#if defined(__SANITIZE_THREAD__)
extern "C" const char* __tsan_default_options() { return "halt_on_error=1"; }
// A look without an order, which kernels/evidence.cuh means: what it sees decides only whether a lock is worth taking.
extern "C" const char* __tsan_default_suppressions() { return "race:assay::kernels::load_again\n"; }
#endif

namespace assay::simt {
namespace {

using kernels::launch;

// An element for each thread.
void run(void (*kernel)(unsigned*, unsigned), unsigned argument, unsigned threads = 64) {
  DeviceArray<unsigned> data(std::vector<unsigned>(threads, 1));
  succeed(launch(kernel, {dim3(1), dim3(threads)}, nullptr, data.data(), argument));
  succeed(cudaDeviceSynchronize());
}

#if defined(__SANITIZE_ADDRESS__)

__global__ void local_array(unsigned* data, unsigned index) {
  unsigned local[4] = {1, 2, 3, 4};
  unsigned* volatile p = local;  // so that nothing but the address says what it is
  data[threadIdx.x] = p[index];
}
__global__ void behind_the_end(unsigned* data, unsigned distance) { data[threadIdx.x + distance] = 1; }
__global__ void shift(unsigned* data, unsigned distance) { data[threadIdx.x] = 1 << distance; }

TEST(SimtSanitizer, SeesALocalArrayLeft) {
  run(local_array, 3);
  EXPECT_DEATH(run(local_array, 4), "stack-buffer-overflow");
}
TEST(SimtSanitizer, SeesTheEndOfAnAllocation) {
  constexpr unsigned threads = 61;  // 64 would end where a page does, and that the rig sees itself
  run(behind_the_end, 0, threads);
  EXPECT_DEATH(run(behind_the_end, 1, threads), "AddressSanitizer: use-after-poison");
}
TEST(SimtSanitizer, SeesUndefinedBehaviour) {
  run(shift, 5);
  EXPECT_DEATH(run(shift, 40), "shift exponent 40 is too large");
}

#elif defined(__SANITIZE_THREAD__)

// Thread 0 and its neighbour; in different warps, so that no order is left but the barrier's.
template <bool with_barrier>
__global__ void neighbours(unsigned* data, unsigned distance) {
  data[threadIdx.x] = threadIdx.x;
  if (with_barrier) __syncthreads();
  const unsigned other = data[(threadIdx.x + distance) % 64];
  __syncthreads();
  data[threadIdx.x] = other;
}
// A word of shared memory used again in each turn: written, a barrier, read, and another barrier or none.
template <bool with_barrier>
__global__ void turns(unsigned* data, unsigned count) {
  __shared__ unsigned word;
  for (unsigned turn = 0; turn < count; ++turn) {
    if (threadIdx.x == turn % 64) word = turn;
    __syncthreads();
    data[threadIdx.x] += word;
    if (with_barrier) __syncthreads();
  }
}
// In both only the first warp stores, and the second one reads: behind an mbarrier, or at the same time.
template <bool with_wait>
__global__ void hand_over(unsigned* data, unsigned) {
  __shared__ unsigned words[32];
  __shared__ kernels::Mbarrier full;
  if (threadIdx.x == 0) kernels::init_barrier(&full, 32);
  __syncthreads();
  if (threadIdx.x < 32) {
    words[threadIdx.x] = threadIdx.x;
    kernels::arrive(&full);
  } else {
    if (with_wait) kernels::wait_barrier(&full, 0);
    data[threadIdx.x] = words[threadIdx.x - 32];
  }
}
__global__ void count_plainly(unsigned* data, unsigned) { ++data[0]; }
__global__ void count_together(unsigned* data, unsigned) { atomicAdd(data, 1u); }

// In every schedule: which one it is makes no difference to who is ordered behind whom.
void expect_race(void (*sound)(unsigned*, unsigned), void (*racy)(unsigned*, unsigned), unsigned argument) {
  for (const Schedule schedule : all_schedules) {
    set_schedule(schedule);
    run(sound, argument);
    EXPECT_DEATH(run(racy, argument), "data race") << name_of(schedule);
  }
  set_schedule(Schedule::in_order);
}

TEST(SimtSanitizer, SeesARaceInsideABlockOnGlobalMemory) { expect_race(neighbours<true>, neighbours<false>, 32); }
TEST(SimtSanitizer, SeesAMissingBarrierOnSharedMemory) { expect_race(turns<true>, turns<false>, 3); }
TEST(SimtSanitizer, SeesAMissingWait) { expect_race(hand_over<true>, hand_over<false>, 0); }
TEST(SimtSanitizer, SeesALostUpdate) { expect_race(count_together, count_plainly, 0); }

#endif

}  // namespace
}  // namespace assay::simt
