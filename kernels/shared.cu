// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// CUDA rows of the reads from shared memory. A block is a group at a time; the table is brought in once for each block.
//
//   modulo    the index is wrapped at each step: three instructions for each load, so the multiprocessor issues
//             instructions rather than loads.
//   unrolled  the first words stand behind the last ones once more, so that eight loads in a row have fixed distances
//             and one index; the table comes by asynchronous copies. Bound by the banks.
#include "kernels/launch.cuh"
#include "kernels/ptx.cuh"
#include "kernels/shared.h"

namespace assay::kernels {
namespace {

constexpr unsigned block_threads = shared_lanes, blocks_per_processor = 8;
constexpr unsigned words = shared_words, granule = shared_steps_granule, copy_words = 4;

__global__ void __launch_bounds__(block_threads)
    read_modulo(const std::uint32_t* table, unsigned stride, std::uint64_t steps, std::uint64_t groups,
                std::uint32_t* sums) {
  __shared__ std::uint32_t here[words];
  for (unsigned i = threadIdx.x; i < words; i += block_threads) here[i] = table[i];
  __syncthreads();
  for (std::uint64_t g = blockIdx.x; g < groups; g += gridDim.x) {
    std::uint32_t sum = 0;
    for (std::uint64_t s = 0; s < steps; ++s) {
      sum += here[(threadIdx.x * stride + static_cast<unsigned>(s)) % words];
    }
    sums[g * block_threads + threadIdx.x] = sum;
    forget_memory();
  }
}

__global__ void __launch_bounds__(block_threads)
    read_unrolled(const std::uint32_t* table, unsigned stride, std::uint64_t steps, std::uint64_t groups,
                  std::uint32_t* sums) {
  alignas(16) __shared__ std::uint32_t here[words + granule];
  for (unsigned i = copy_words * threadIdx.x; i < words + granule; i += copy_words * block_threads) {
    copy_async16(here + i, table + i % words);
  }
  commit_async();
  wait_async<0>();
  __syncthreads();
  for (std::uint64_t g = blockIdx.x; g < groups; g += gridDim.x) {
    std::uint32_t sum = 0;
    unsigned at = threadIdx.x * stride % words;
    for (std::uint64_t s = 0; s < steps; s += granule) {
#pragma unroll
      for (unsigned k = 0; k < granule; ++k) sum += here[at + k];
      at = (at + granule) % words;
    }
    sums[g * block_threads + threadIdx.x] = sum;
    forget_memory();
  }
}

template <auto kernel>
void read(const Exec& exec, const std::uint32_t* table, std::size_t stride, std::size_t steps, std::size_t groups,
          std::uint32_t* sums) {
  if (groups == 0) return;
  const Shape shape = grid_for(groups * block_threads, block_threads, blocks_per_processor);
  launch(kernel, shape, exec.stream, table, static_cast<unsigned>(stride), steps, groups, sums);
}

constexpr SharedOps modulo = {read<read_modulo>}, unrolled = {read<read_unrolled>};
constexpr CudaVersion<SharedOps> versions[] = {{"modulo", &modulo}, {"unrolled", &unrolled, 80}};

[[maybe_unused]] const bool announced = announce_cuda(versions);

}  // namespace
}  // namespace assay::kernels
