// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// CUDA rows of the reads out of order. A device fetches sectors of 32 bytes, so a word far from its neighbours costs
// four times its size.
//
//   single    one read for each thread and step. Bound by reads in flight: one for each of 2048 resident threads.
//   four      four independent reads before the first is added. Bound by sectors: DRAM bandwidth / 32 bytes.
#include "kernels/launch.cuh"
#include "kernels/ptx.cuh"
#include "kernels/random.h"

namespace assay::kernels {
namespace {

constexpr unsigned block_threads = 256, blocks_per_processor = 8, warp_threads = 32;
constexpr unsigned all_lanes = 0xFFFFFFFFu;

// Which word the i-th read wants.
struct ByTable {
  const std::uint32_t* index;
  __device__ std::uint64_t operator()(std::uint64_t i) const { return load<Hint::streaming>(index + i); }
};
struct ByFormula {
  std::uint64_t n, seed;
  __device__ std::uint64_t operator()(std::uint64_t i) const { return random_index(i, n, seed); }
};
struct ByStride {
  std::uint64_t stride;
  __device__ std::uint64_t operator()(std::uint64_t i) const { return i * stride; }
};

// *sum += iterations * the words of reads [0, m). One atomic addition for each warp.
template <int depth, class Where>
__device__ __forceinline__ void add_words(const std::uint64_t* data, const Where& where, std::uint64_t m,
                                          std::uint64_t iterations, std::uint64_t* sum) {
  unsigned long long mine = 0;
  for (std::uint64_t iteration = 0; iteration < iterations; ++iteration) {
    std::uint64_t i = grid_thread();
    for (; i + (depth - 1) * grid_threads() < m; i += depth * grid_threads()) {
      std::uint64_t word[depth];
#pragma unroll
      for (int d = 0; d < depth; ++d) {
        word[d] = load<Hint::normal>(data + where(i + static_cast<unsigned>(d) * grid_threads()));
      }
#pragma unroll
      for (int d = 0; d < depth; ++d) mine += word[d];
    }
    for (; i < m; i += grid_threads()) mine += load<Hint::normal>(data + where(i));
    forget_memory();
  }
  for (unsigned d = warp_threads / 2; d > 0; d /= 2) mine += __shfl_down_sync(all_lanes, mine, d);
  if (threadIdx.x % warp_threads == 0) atomicAdd(reinterpret_cast<unsigned long long*>(sum), mine);
}

// Pointers are parameters of their own: the rig of tests/simt checks those.
template <int depth>
__global__ void __launch_bounds__(block_threads)
    gather_words(const std::uint64_t* data, const std::uint32_t* index, std::uint64_t m, std::uint64_t iterations,
                 std::uint64_t* sum) {
  add_words<depth>(data, ByTable{index}, m, iterations, sum);
}
template <int depth, class Where>
__global__ void __launch_bounds__(block_threads) computed_words(const std::uint64_t* data, Where where, std::uint64_t m,
                                                                std::uint64_t iterations, std::uint64_t* sum) {
  add_words<depth>(data, where, m, iterations, sum);
}

// Zeroes the sum; false if that is all.
bool begin(const Exec& exec, std::size_t m, std::uint64_t iterations, std::uint64_t* sum) {
  cudaMemsetAsync(sum, 0, sizeof *sum, static_cast<cudaStream_t>(exec.stream));
  return m != 0 && iterations != 0;
}

template <int depth>
Shape shape_of(std::size_t m) {
  return grid_for(m / depth + 1, block_threads, blocks_per_processor);
}

template <int depth>
void gather(const Exec& exec, const std::uint64_t* data, const std::uint32_t* index, std::size_t m,
            std::uint64_t iterations, std::uint64_t* sum) {
  if (!begin(exec, m, iterations, sum)) return;
  launch(gather_words<depth>, shape_of<depth>(m), exec.stream, data, index, m, iterations, sum);
}

template <int depth>
void gather_computed(const Exec& exec, const std::uint64_t* data, std::size_t n, std::uint64_t seed, std::size_t m,
                     std::uint64_t iterations, std::uint64_t* sum) {
  if (!begin(exec, m, iterations, sum)) return;
  launch(computed_words<depth, ByFormula>, shape_of<depth>(m), exec.stream, data, ByFormula{n, seed}, m, iterations,
         sum);
}

template <int depth>
void strided(const Exec& exec, const std::uint64_t* data, std::size_t n, std::size_t stride, std::uint64_t iterations,
             std::uint64_t* sum) {
  const std::size_t m = n / stride + (n % stride != 0 ? 1 : 0);
  if (!begin(exec, m, iterations, sum)) return;
  launch(computed_words<depth, ByStride>, shape_of<depth>(m), exec.stream, data, ByStride{stride}, m, iterations, sum);
}

template <int depth>
constexpr RandomOps row = {gather<depth>, gather_computed<depth>, strided<depth>};

constexpr CudaVersion<RandomOps> versions[] = {{"single", &row<1>}, {"four", &row<4>}};

[[maybe_unused]] const bool announced = announce_cuda(versions);

}  // namespace
}  // namespace assay::kernels
