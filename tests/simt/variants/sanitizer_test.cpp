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

#if defined(__SANITIZE_THREAD__)
extern "C" const char* __tsan_default_options() { return "halt_on_error=1"; }
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

TEST(SimtSanitizer, SeesARaceInsideABlockOnGlobalMemory) {
  for (const Schedule schedule : all_schedules) {
    set_schedule(schedule);
    run(neighbours<true>, 32);
    EXPECT_DEATH(run(neighbours<false>, 32), "data race") << name_of(schedule);
  }
  set_schedule(Schedule::in_order);
}

#endif

}  // namespace
}  // namespace assay::simt
