// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// CUDA rows of the bf16 matrix product for 9.0a, by the copy engine and products of four warps (wgmma). Roles are
// split: one thread feeds a ring of stages with boxes of A and B, two warpgroups multiply, and mbarriers tell each side
// how far the other is. Blocks stay and take tile after tile, so that the next tile's first stages come while the last
// one is written.
//
//   tiles_128  tiles of 128 x 128, six stages of 32 KiB: more tiles for matrices that have few. A product takes 64 cycles and
//              reads 6 of the 8 KiB that shared memory can give in them.
//   tiles_256  tiles of 128 x 256, four stages of 48 KiB. A product takes 128 cycles and reads 10 of 16 KiB; of memory a tile
//              needs 3/4 as much for each product. Bound by the tensor cores, and by power before that.
//
// Neighbouring tiles run at the same time in groups of `group_rows` rows of tiles, whose stretch of A and B stays in
// L2. Tails: boxes reach over the edge and bring zeros there; stores go where C is.
#include <algorithm>

#include "kernels/gemm_bf16.h"
#include "kernels/launch.cuh"
#include "kernels/ptx_hopper.cuh"
#include "kernels/tensor_map.cuh"

namespace assay::kernels {
namespace {

using Number = std::uint16_t;

constexpr unsigned warp_threads = 32, group_warps = 4, group_threads = group_warps * warp_threads;
constexpr unsigned consumers = 2, block_threads = (1 + consumers) * group_threads;  // warpgroup 0 feeds them
constexpr unsigned rows_of_group = 64, tile_m = consumers * rows_of_group, tile_k = 64;
constexpr unsigned line_bytes = tile_k * sizeof(Number);
constexpr unsigned step_bytes = 32, steps = line_bytes / step_bytes;  // of k, a product
constexpr unsigned group_rows = 16;
// 65536 registers of a multiprocessor: 168 for each thread at first; then 40 for those that feed, 232 for the others. What
// is taken must have been given: with one register too many a warpgroup waits for ever.
constexpr unsigned feeder_registers = 40, consumer_registers = 232;
constexpr unsigned first_registers = (64 << 10) / block_threads / 8 * 8;  // for which ptxas compiles
static_assert((feeder_registers + consumers * consumer_registers) * group_threads <= first_registers * block_threads);
static_assert(feeder_registers % 8 == 0 && consumer_registers % 8 == 0);
static_assert(feeder_registers <= first_registers && first_registers <= consumer_registers);

template <unsigned tile_n>
struct Config {
  static constexpr unsigned stages = tile_n == 256 ? 4 : 6;
  static constexpr unsigned a_bytes = tile_m * line_bytes, b_bytes = tile_n * line_bytes, bytes = a_bytes + b_bytes;
  static constexpr std::size_t shared_bytes = stages * bytes + 2 * stages * sizeof(Mbarrier);
  static_assert(shared_bytes <= 227 * 1024);
};

// Stage and phase of the ring: the same sequence on both sides.
template <unsigned stages>
struct Position {
  unsigned stage = 0, phase = 0;
  __device__ void advance() {
    if (++stage == stages) {
      stage = 0;
      phase ^= 1;
    }
  }
};

// What a block works on: tile `number` of `rows` x `columns`, in groups of rows, inside of a group column by column.
struct Tile {
  unsigned row, column;  // of C
};
template <unsigned tile_n>
__device__ Tile tile_at(std::uint64_t number, unsigned rows, unsigned columns) {
  const std::uint64_t of_group = std::uint64_t{group_rows} * columns, group = number / of_group;
  const unsigned first = static_cast<unsigned>(group) * group_rows, left = rows - first;
  const unsigned height = left < group_rows ? left : group_rows;
  const auto in_group = static_cast<unsigned>(number - group * of_group);
  return {(first + in_group % height) * tile_m, in_group / height * tile_n};
}

template <unsigned tile_n>
struct Ring {
  static constexpr unsigned stages = Config<tile_n>::stages;
  unsigned char* memory;
  Mbarrier *full, *empty;

  __device__ explicit Ring(unsigned char* shared)
      : memory(shared),
        full(reinterpret_cast<Mbarrier*>(shared + stages * Config<tile_n>::bytes)),
        empty(full + stages) {}
  __device__ unsigned char* a(unsigned stage) const { return memory + stage * Config<tile_n>::bytes; }
  __device__ unsigned char* b(unsigned stage) const { return a(stage) + Config<tile_n>::a_bytes; }
};

template <unsigned tile_n>
__device__ void feed(const Ring<tile_n>& ring, const CUtensorMap& of_a, const CUtensorMap& of_b, unsigned rows,
                     unsigned columns, unsigned k_steps) {
  Position<Ring<tile_n>::stages> at;
  for (std::uint64_t t = blockIdx.x; t < std::uint64_t{rows} * columns; t += gridDim.x) {
    const Tile tile = tile_at<tile_n>(t, rows, columns);
    for (unsigned step = 0; step < k_steps; ++step, at.advance()) {
      Mbarrier* const full = ring.full + at.stage;
      wait_barrier(ring.empty + at.stage, at.phase ^ 1);
      arrive_expecting(full, Config<tile_n>::bytes);
      load_box(ring.a(at.stage), &of_a, static_cast<int>(step * tile_k), static_cast<int>(tile.row), full);
      load_box(ring.b(at.stage), &of_b, static_cast<int>(step * tile_k), static_cast<int>(tile.column), full);
    }
  }
}

// One tile's sums. A stage is free when the products behind it have begun and its own have ended.
template <unsigned tile_n>
__device__ __forceinline__ void consume(const Ring<tile_n>& ring, Position<Ring<tile_n>::stages>* at, unsigned group,
                                        unsigned k_steps, float (&d)[tile_n / 2]) {
  unsigned before = 0;
#pragma unroll 1
  for (unsigned step = 0; step < k_steps; ++step) {
    wait_barrier(ring.full + at->stage, at->phase);
    const std::uint64_t a = describe_matrix(ring.a(at->stage) + group * rows_of_group * line_bytes);
    const std::uint64_t b = describe_matrix(ring.b(at->stage));
    wgmma_fence();
#pragma unroll
    for (unsigned i = 0; i < steps; ++i) {
      wgmma_bf16(d, a + matrix_step(i * step_bytes), b + matrix_step(i * step_bytes), step != 0 || i != 0);
    }
    wgmma_commit();
    wgmma_wait<1>();
    if (step != 0 && threadIdx.x % warp_threads == 0) arrive(ring.empty + before);
    before = at->stage;
    at->advance();
  }
  wgmma_wait<0>(d);
  if (threadIdx.x % warp_threads == 0) arrive(ring.empty + before);
}

// Each quarter of a warp writes 32 bytes of a row, a sector of L2.
template <unsigned tile_n, bool pairs>
__device__ __forceinline__ void write(const float (&d)[tile_n / 2], float* c, Tile tile, unsigned group,
                                      std::uint64_t m, std::uint64_t n) {
  const unsigned lane = threadIdx.x % warp_threads, warp = threadIdx.x / warp_threads % group_warps;
  const std::uint64_t first_row = tile.row + group * rows_of_group + warp * 16 + lane / 4;
#pragma unroll
  for (unsigned i = 0; i < tile_n / 2; i += 2) {
    const std::uint64_t row = first_row + i / 2 % 2 * 8, column = tile.column + i / 4 * 8 + lane % 4 * 2;
    if (row >= m) continue;
    float* const to = c + row * n + column;
    if constexpr (pairs) {
      if (column < n) store_sums(to, d[i], d[i + 1]);
    } else {
      if (column < n) store_sum(to, d[i]);
      if (column + 1 < n) store_sum(to + 1, d[i + 1]);
    }
  }
}

template <unsigned tile_n, bool pairs>
__global__ void __launch_bounds__(block_threads, 1)
    multiply_tiles(const __grid_constant__ CUtensorMap of_a, const __grid_constant__ CUtensorMap of_b, float* c,
                   std::uint64_t m, std::uint64_t n, unsigned k_steps) {
  const Ring<tile_n> ring(dynamic_shared<unsigned char>());
  const auto rows = static_cast<unsigned>((m + tile_m - 1) / tile_m),
             columns = static_cast<unsigned>((n + tile_n - 1) / tile_n);
  if (threadIdx.x == 0) {
    prefetch_map(&of_a);
    prefetch_map(&of_b);
    for (unsigned s = 0; s < Ring<tile_n>::stages; ++s) {
      init_barrier(ring.full + s, 1);
      init_barrier(ring.empty + s, consumers * group_warps);
    }
    publish_barriers();
  }
  __syncthreads();
  if (threadIdx.x < group_threads) {
    give_registers<feeder_registers>();
    if (threadIdx.x == 0) feed(ring, of_a, of_b, rows, columns, k_steps);
  } else {
    take_registers<consumer_registers>();
    const unsigned group = threadIdx.x / group_threads - 1;
    Position<Ring<tile_n>::stages> at;
    for (std::uint64_t t = blockIdx.x; t < std::uint64_t{rows} * columns; t += gridDim.x) {
      float d[tile_n / 2];
      consume(ring, &at, group, k_steps, d);
      write<tile_n, pairs>(d, c, tile_at<tile_n>(t, rows, columns), group, m, n);
    }
  }
}

// Host side ----------------------------------------------------------------------------------------------------------

// The copy engine counts in int and wants rows of A and B that begin at multiples of 16 bytes; and there must be a row.
bool supports(GemmShape s, const Number* a, const Number* b, const float* c) {
  if (!keeps_gemm_bf16_contract(s, a, b, c)) return false;
  if (s.m == 0 || s.n == 0) return true;
  constexpr std::size_t most = 0x7FFFFFFF - 256;  // the last tile may reach over the edge
  const auto is_aligned = [](const Number* p) { return reinterpret_cast<std::uintptr_t>(p) % 16 == 0; };
  return s.k != 0 && s.k % 8 == 0 && is_aligned(a) && is_aligned(b) && s.m <= most && s.n <= most && s.k <= most;
}

template <unsigned tile_n>
bool run(const Exec& exec, GemmShape s, const Number* a, const Number* b, float* c) {
  if (!supports(s, a, b, c)) return false;
  if (s.m == 0 || s.n == 0) return true;
  CUtensorMap of_a, of_b;
  if (!make_map(&of_a, {a, s.m, s.k}, tile_m) || !make_map(&of_b, {b, s.n, s.k}, tile_n)) return false;
  const bool pairs = s.n % 2 == 0 && reinterpret_cast<std::uintptr_t>(c) % (2 * sizeof(float)) == 0;
  const auto kernel = pairs ? multiply_tiles<tile_n, true> : multiply_tiles<tile_n, false>;
  constexpr std::size_t shared_bytes = Config<tile_n>::shared_bytes;
  cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared_bytes));
  const std::uint64_t tiles = ((s.m + tile_m - 1) / tile_m) * ((s.n + tile_n - 1) / tile_n);
  const auto blocks = static_cast<unsigned>(std::min<std::uint64_t>(tiles, processors()));
  launch(kernel, {dim3(blocks), dim3(block_threads), shared_bytes}, exec.stream, of_a, of_b, c, s.m, s.n,
         static_cast<unsigned>((s.k + tile_k - 1) / tile_k));
  return true;
}

template <unsigned tile_n>
constexpr GemmBf16Ops row = {supports, run<tile_n>};

constexpr CudaVersion<GemmBf16Ops> versions[] = {{"tiles_128", &row<128>, 90, 91}, {"tiles_256", &row<256>, 90, 91}};

[[maybe_unused]] const bool announced = announce_cuda(versions);

}  // namespace
}  // namespace assay::kernels
