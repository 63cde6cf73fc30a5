// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// CUDA row of the pointer chase: one version, since it measures a latency and there is nothing to make faster. Each
// chain is a block of one thread, so that chains lie on different multiprocessors as long as there are enough of them.
// Lines of 64 bytes are two sectors, half a line of a device's cache.
#include "kernels/chase.h"
#include "kernels/launch.cuh"
#include "kernels/ptx.cuh"

namespace assay::kernels {
namespace {

constexpr unsigned block_threads = 256, blocks_per_processor = 8;

__global__ void __launch_bounds__(block_threads)
    link_lines(ChaseLine* lines, const std::uint32_t* order, std::uint64_t n) {
  for (std::uint64_t i = grid_thread(); i < n; i += grid_threads()) {
    lines[order[i]].next = lines + order[i + 1 < n ? i + 1 : 0];
  }
}

__global__ void follow_lines(ChaseLine** position, std::uint64_t steps) {
  ChaseLine* line = position[blockIdx.x];
#pragma unroll 16
  for (std::uint64_t s = 0; s < steps; ++s) line = load<Hint::normal>(&line->next);
  position[blockIdx.x] = line;
}

void link(const Exec& exec, ChaseLine* lines, const std::uint32_t* order, std::size_t n) {
  if (n == 0) return;
  launch(link_lines, grid_for(n, block_threads, blocks_per_processor), exec.stream, lines, order, n);
}

void run(const Exec& exec, ChaseLine** position, std::uint64_t steps) {
  launch(follow_lines, {dim3(static_cast<unsigned>(exec.threads)), dim3(1)}, exec.stream, position, steps);
}

constexpr ChaseOps row = {link, run};
constexpr CudaVersion<ChaseOps> versions[] = {{"plain", &row}};

[[maybe_unused]] const bool announced = announce_cuda(versions);

}  // namespace
}  // namespace assay::kernels
