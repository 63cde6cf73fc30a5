// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// CUDA row of the clock stamps: one version, a handful of instructions. As many small blocks as there are
// multiprocessors: on an idle device each gets one, and which one a block has, it asks the hardware. If two blocks share
// one after all, either stamp is right as long as it is whole, so it is written as 16 bytes at once.
#include "kernels/launch.cuh"
#include "kernels/ptx.cuh"
#include "kernels/sm_clock.h"

namespace assay::kernels {
namespace {

constexpr unsigned block_threads = 32;

__global__ void __launch_bounds__(block_threads) write_stamps(SmClockStamp* stamps, std::uint64_t n) {
  const unsigned me = processor_number();
  if (threadIdx.x != 0 || me >= n) return;
  Pack<std::uint64_t> stamp;
  stamp.at[0] = cycle_count();
  stamp.at[1] = global_timer_ns();
  store16<Hint::normal>(reinterpret_cast<std::uint64_t*>(stamps + me), stamp);
}

void stamp(const Exec& exec, SmClockStamp* stamps, std::size_t n) {
  if (n == 0) return;
  const Shape shape{dim3(processors()), dim3(block_threads)};
  launch(write_stamps, shape, exec.stream, stamps, static_cast<std::uint64_t>(n));
}

constexpr SmClockOps row = {stamp};
constexpr CudaVersion<SmClockOps> versions[] = {{"plain", &row}};

[[maybe_unused]] const bool announced = announce_cuda(versions);

}  // namespace
}  // namespace assay::kernels
