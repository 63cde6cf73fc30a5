// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// CUDA rows of the reductions: one block for a tile at a time, a thread is a lane of reduce.h. The order of the
// additions is fixed, so the versions differ only in how lanes get at each other's numbers.
//
//   shared    all eight steps of the tree in shared memory, a barrier after each. Bound by barriers: nine for each tile.
//   shuffle   the last five steps, those inside the first warp, by shuffles: four barriers for each tile.
//   vector    the four elements of a lane by accesses of 16 bytes, where x is aligned to them; else as shuffle. Bound
//             by DRAM, if 8 blocks of 256 threads are resident.
#include "kernels/launch.cuh"
#include "kernels/ptx.cuh"
#include "kernels/reduce.h"

namespace assay::kernels {
namespace {

enum class Op { sum, maximum };
enum class Version { shared, shuffle, vector };

constexpr unsigned block_threads = reduce_lanes, blocks_per_processor = 8, warp_threads = 32;
constexpr unsigned all_lanes = 0xFFFFFFFFu;

template <Op op>
__device__ __forceinline__ double join(double a, double b) {
  if constexpr (op == Op::sum) return a + b;
  return a > b || a != a ? a : b;
}
template <Op op>
__device__ __forceinline__ double identity() {
  if constexpr (op == Op::sum) return 0;
  return -HUGE_VAL;  // minus infinity
}

// The four elements of lane `lane` of the tile that begins at `begin`.
template <Op op, Version version, typename T>
__device__ __forceinline__ double lane_value(const T* x, std::uint64_t n, std::uint64_t begin, unsigned lane) {
  const std::uint64_t first = begin + reduce_lane_elements * lane;
  double element[reduce_lane_elements];
  if (version == Version::vector && first + reduce_lane_elements <= n) {
    constexpr unsigned size = Pack<T>::size;
#pragma unroll
    for (unsigned p = 0; p < reduce_lane_elements / size; ++p) {
      const Pack<T> pack = load16<Hint::streaming>(x + first + p * size);
#pragma unroll
      for (unsigned k = 0; k < size; ++k) element[p * size + k] = static_cast<double>(pack.at[k]);
    }
  } else {
#pragma unroll
    for (unsigned k = 0; k < reduce_lane_elements; ++k) {
      element[k] = first + k < n ? static_cast<double>(load<Hint::streaming>(x + first + k)) : identity<op>();
    }
  }
  return join<op>(join<op>(join<op>(element[0], element[1]), element[2]), element[3]);
}

// The tree over the lanes of a block; valid in lane 0. All threads call it. It ends with a barrier: `shared` is free
// again.
template <Op op, Version version>
__device__ __forceinline__ double tree(double value, double* shared) {
  constexpr unsigned last_shared = version == Version::shared ? 1 : warp_threads;
  const unsigned lane = threadIdx.x;
  shared[lane] = value;
  __syncthreads();
  for (unsigned d = block_threads / 2; d >= last_shared; d /= 2) {
    if (lane < d) {
      value = join<op>(value, shared[lane + d]);
      shared[lane] = value;
    }
    __syncthreads();
  }
  if constexpr (version != Version::shared) {
    if (lane < warp_threads) {
      for (unsigned d = warp_threads / 2; d > 0; d /= 2) {
        const double other = __shfl_down_sync(all_lanes, value, d);
        if (lane < d) value = join<op>(value, other);
      }
    }
  }
  return value;
}

template <Op op, Version version, typename T>
__global__ void __launch_bounds__(block_threads) reduce_tiles_of(const T* x, std::uint64_t n, double* out) {
  __shared__ double shared[block_threads];
  const std::uint64_t tiles = n == 0 ? 1 : (n - 1) / reduce_tile + 1;
  for (std::uint64_t t = blockIdx.x; t < tiles; t += gridDim.x) {
    const double value = tree<op, version>(lane_value<op, version>(x, n, t * reduce_tile, threadIdx.x), shared);
    if (threadIdx.x == 0) out[t] = value;
  }
}

template <Op op, Version version, typename T>
void reduce_level(const Exec& exec, const T* x, std::size_t n, double* out) {
  const Shape shape = grid_for(reduce_tiles(n) * block_threads, block_threads, blocks_per_processor);
  if constexpr (version == Version::vector) {
    if (reinterpret_cast<std::uintptr_t>(x) % 16 != 0) {
      launch(reduce_tiles_of<op, Version::shuffle, T>, shape, exec.stream, x, n, out);
      return;
    }
  }
  launch(reduce_tiles_of<op, version, T>, shape, exec.stream, x, n, out);
}

template <Op op, Version version, typename T>
void reduce(const Exec& exec, const ReduceArgs<T>& a) {
  std::size_t tiles = reduce_tiles(a.n);
  double* level = a.scratch;
  reduce_level<op, version>(exec, a.x, a.n, tiles > 1 ? level : a.result);
  while (tiles > 1) {
    const std::size_t next = reduce_tiles(tiles);
    reduce_level<op, version>(exec, static_cast<const double*>(level), tiles, next > 1 ? level + tiles : a.result);
    level += tiles;
    tiles = next;
  }
}

template <Version version, typename T>
constexpr ReduceOps<T> row = {reduce<Op::sum, version, T>, reduce<Op::maximum, version, T>};

template <typename T>
constexpr CudaVersion<ReduceOps<T>> versions[] = {
    {"shared", &row<Version::shared, T>}, {"shuffle", &row<Version::shuffle, T>}, {"vector", &row<Version::vector, T>}};

[[maybe_unused]] const bool announced = announce_cuda(versions<float>) && announce_cuda(versions<double>);

}  // namespace
}  // namespace assay::kernels
