// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// CUDA rows of the atomic additions.
//
//   global    one atomic addition in L2 for each update: the one to measure contention with. Bound by L2, which adds
//             the 32 lanes of a warp one after another if they want one word.
//   warp      lanes of a warp that want the same counter add up by shuffles first (targets below 32): as many additions
//             as there are counters. Bound by L2 again, with up to a 32nd of the updates.
//   block     each block keeps counters of its own in shared memory (up to 1024 of them) and adds them at its end.
//             Bound by the atomics of shared memory; L2 sees one addition for each counter and block.
#include "kernels/atomics.h"
#include "kernels/launch.cuh"
#include "kernels/ptx.cuh"

namespace assay::kernels {
namespace {

constexpr unsigned block_threads = 256, blocks_per_processor = 8, warp_threads = 32, most_private = 1024;
constexpr unsigned all_lanes = 0xFFFFFFFFu;
using Word = unsigned long long;  // what atomicAdd takes

__global__ void __launch_bounds__(block_threads)
    add_global(Word* counters, std::uint64_t targets, std::uint64_t n, std::uint64_t iterations) {
  for (std::uint64_t iteration = 0; iteration < iterations; ++iteration) {
    for (std::uint64_t i = grid_thread(); i < n; i += grid_threads()) atomicAdd(counters + (i & (targets - 1)), i + 1);
  }
}

// Whole warps go through the loop, so that all lanes meet in the shuffles: a lane behind the end adds 0.
__global__ void __launch_bounds__(block_threads)
    add_warp(Word* counters, unsigned targets, std::uint64_t n, std::uint64_t iterations) {
  const unsigned lane = threadIdx.x % warp_threads;
  for (std::uint64_t iteration = 0; iteration < iterations; ++iteration) {
    for (std::uint64_t i = grid_thread(); i - lane < n; i += grid_threads()) {
      Word value = i < n ? i + 1 : 0;
      for (unsigned d = warp_threads / 2; d >= targets; d /= 2) value += __shfl_down_sync(all_lanes, value, d);
      if (lane < targets) atomicAdd(counters + lane, value);
    }
  }
}

__global__ void __launch_bounds__(block_threads)
    add_block(Word* counters, unsigned targets, std::uint64_t n, std::uint64_t iterations) {
  __shared__ Word mine[most_private];
  for (unsigned j = threadIdx.x; j < targets; j += block_threads) mine[j] = 0;
  __syncthreads();
  for (std::uint64_t iteration = 0; iteration < iterations; ++iteration) {
    for (std::uint64_t i = grid_thread(); i < n; i += grid_threads()) {
      atomicAdd(mine + (i & (targets - 1)), static_cast<Word>(i + 1));
    }
  }
  __syncthreads();
  for (unsigned j = threadIdx.x; j < targets; j += block_threads) atomicAdd(counters + j, mine[j]);
}

enum class Version { global, warp, block };

template <Version version>
void add(const Exec& exec, std::uint64_t* counters, std::size_t targets, std::size_t n, std::uint64_t iterations) {
  if (n == 0 || iterations == 0) return;
  auto* const words = reinterpret_cast<Word*>(counters);
  const Shape shape = grid_for(n, block_threads, blocks_per_processor);
  const auto few = static_cast<unsigned>(targets);
  if (version == Version::warp && targets < warp_threads) {
    launch(add_warp, shape, exec.stream, words, few, n, iterations);
  } else if (version == Version::block && targets <= most_private) {
    launch(add_block, shape, exec.stream, words, few, n, iterations);
  } else {
    launch(add_global, shape, exec.stream, words, targets, n, iterations);
  }
}

template <Version version>
constexpr AtomicsOps row = {add<version>};

constexpr CudaVersion<AtomicsOps> versions[] = {
    {"global", &row<Version::global>}, {"warp", &row<Version::warp>}, {"block", &row<Version::block>}};

[[maybe_unused]] const bool announced = announce_cuda(versions);

}  // namespace
}  // namespace assay::kernels
