// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// CUDA rows of the bf16 matrix product, for all devices (naive, tiled) and for those from 8.0 on (wmma, pipeline). Rows
// of 9.0 with its own instructions are in gemm_hopper.cu.
//
//   naive     a thread for each element of C, which reads a row of A and one of B from memory for itself. Bound by the
//             accesses: two for each multiply-add, and the lanes of a warp are in 32 different rows of B.
//   tiled     a block brings 32 x 32 of A and of B into shared memory, where each number serves 32 threads; a thread
//   has
//             four elements of C. Bound by reads of shared memory: five for four multiply-adds, and those are f32 ones.
//   wmma      tensor cores by the older instructions of PTX, 64 x 64 of C for a block, 32 x 32 for a warp. Bound by
//   waiting: copies
//             go through registers, and while a block copies its tensor cores rest.
//   pipeline  128 x 256 of C for a block, 64 x 64 for a warp, all of it in registers. Four stages of shared memory:
//   while
//             one is multiplied, three are under way by asynchronous copies; fragments of the next 16 columns are read
//             while those of the last ones are multiplied. Bound by the tensor cores: a stage is 512 products of
//             16 x 8 x 16, 1024 cycles of an A100, for 24 KiB from L2 and 64 KiB from shared memory.
#include "kernels/gemm_bf16.h"
#include "kernels/launch.cuh"
#include "kernels/ptx.cuh"

namespace assay::kernels {
namespace {

using Number = std::uint16_t;                    // the bits of a bf16
constexpr unsigned chunk = 16 / sizeof(Number);  // of numbers: the widest copy of a thread

__device__ __forceinline__ float value(Number bf16) { return __uint_as_float(std::uint32_t{bf16} << 16); }

// Number p of a row of k, or zero outside of the matrix.
__device__ __forceinline__ Number number_at(const Number* from, bool is_row, std::uint64_t p, std::uint64_t k) {
  return is_row && p < k ? load<Hint::normal>(from) : Number{0};
}
// Eight of them, from p on, for which one by one is always allowed.
__device__ __forceinline__ void bring_slowly(Number* to, const Number* from, bool is_row, std::uint64_t p,
                                             std::uint64_t k) {
  Pack<Number> pack;
#pragma unroll
  for (unsigned j = 0; j < chunk; ++j) pack.at[j] = number_at(from + j, is_row, p + j, k);
  *reinterpret_cast<Pack<Number>*>(to) = pack;
}

// naive ---------------------------------------------------------------------------------------------------------------

constexpr unsigned naive_threads = 256, naive_blocks_per_processor = 8;

__global__ void __launch_bounds__(naive_threads)
    multiply_naive(const Number* a, const Number* b, float* c, std::uint64_t m, std::uint64_t n, std::uint64_t k) {
  for (std::uint64_t i = grid_thread(); i < m * n; i += grid_threads()) {
    const Number *row = a + i / n * k, *column = b + i % n * k;
    float sum = 0;
    for (std::uint64_t p = 0; p < k; ++p) {
      sum = fmaf(value(load<Hint::normal>(row + p)), value(load<Hint::normal>(column + p)), sum);
    }
    c[i] = sum;
  }
}

// tiled ---------------------------------------------------------------------------------------------------------------

constexpr unsigned tiled_side = 32, tiled_rows = 8, tiled_each = tiled_side / tiled_rows;

__global__ void __launch_bounds__(tiled_side* tiled_rows)
    multiply_tiled(const Number* a, const Number* b, float* c, std::uint64_t m, std::uint64_t n, std::uint64_t k) {
  // A row is a word longer, which puts a column of the tile into 32 banks.
  __shared__ float tile_a[tiled_side][tiled_side + 1], tile_b[tiled_side][tiled_side + 1];
  const unsigned x = threadIdx.x, y = threadIdx.y;
  const std::uint64_t across = (n + tiled_side - 1) / tiled_side, tiles = (m + tiled_side - 1) / tiled_side * across;
  for (std::uint64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    const std::uint64_t row = tile / across * tiled_side, column = tile % across * tiled_side;
    float sum[tiled_each] = {};
    for (std::uint64_t p = 0; p < k; p += tiled_side) {
      for (unsigned r = y; r < tiled_side; r += tiled_rows) {
        tile_a[r][x] = value(number_at(a + (row + r) * k + p + x, row + r < m, p + x, k));
        tile_b[r][x] = value(number_at(b + (column + r) * k + p + x, column + r < n, p + x, k));
      }
      __syncthreads();
      for (unsigned q = 0; q < tiled_side; ++q) {
#pragma unroll
        for (unsigned i = 0; i < tiled_each; ++i) {
          sum[i] = fmaf(tile_a[y + i * tiled_rows][q], tile_b[x][q], sum[i]);
        }
      }
      __syncthreads();  // before the next tiles are written over these
    }
#pragma unroll
    for (unsigned i = 0; i < tiled_each; ++i) {
      const std::uint64_t r = row + y + i * tiled_rows;
      if (r < m && column + x < n) c[r * n + column + x] = sum[i];
    }
  }
}

// wmma ----------------------------------------------------------------------------------------------------------------

constexpr unsigned fragment = 16, wmma_side = 64, wmma_k = 32, wmma_warp_side = 32, wmma_threads = 128;
constexpr unsigned wmma_blocks_per_processor = 5, warp_fragments = wmma_warp_side / fragment;
// Rows of 80 and 272 bytes: eight in a row begin in different banks, and fragments keep their alignment.
constexpr unsigned wmma_row = wmma_k + 8, wmma_sum_row = wmma_side + 4;

__device__ __forceinline__ void bring_wmma_tile(Number (&tile)[wmma_side][wmma_row], const Number* matrix,
                                                std::uint64_t row, std::uint64_t p, std::uint64_t rows,
                                                std::uint64_t k) {
  for (unsigned i = threadIdx.x * chunk; i < wmma_side * wmma_k; i += wmma_threads * chunk) {
    const unsigned r = i / wmma_k, q = i % wmma_k;
    bring_slowly(&tile[r][q], matrix + (row + r) * k + p + q, row + r < rows, p + q, k);
  }
}

// The 32 x 32 of C of this warp, over what is in the tiles.
__device__ __forceinline__ void multiply_wmma_tiles(WmmaSum (&sum)[warp_fragments][warp_fragments],
                                                    const Number (&tile_a)[wmma_side][wmma_row],
                                                    const Number (&tile_b)[wmma_side][wmma_row], unsigned warp_row,
                                                    unsigned warp_column) {
#pragma unroll
  for (unsigned q = 0; q < wmma_k; q += fragment) {
    WmmaA of_a[warp_fragments];
    WmmaB of_b[warp_fragments];
#pragma unroll
    for (unsigned i = 0; i < warp_fragments; ++i) {
      wmma_load(of_a[i], &tile_a[warp_row + i * fragment][q], wmma_row);
      wmma_load(of_b[i], &tile_b[warp_column + i * fragment][q], wmma_row);
    }
#pragma unroll
    for (unsigned i = 0; i < warp_fragments; ++i) {
#pragma unroll
      for (unsigned j = 0; j < warp_fragments; ++j) wmma_multiply(sum[i][j], of_a[i], of_b[j]);
    }
  }
}

__global__ void __launch_bounds__(wmma_threads, wmma_blocks_per_processor)
    multiply_wmma(const Number* a, const Number* b, float* c, std::uint64_t m, std::uint64_t n, std::uint64_t k) {
  alignas(32) __shared__ Number tile_a[wmma_side][wmma_row];
  alignas(32) __shared__ Number tile_b[wmma_side][wmma_row];
  alignas(32) __shared__ float tile_c[wmma_side][wmma_sum_row];
  const unsigned warp = threadIdx.x / 32;
  const unsigned warp_row = warp / 2 * wmma_warp_side, warp_column = warp % 2 * wmma_warp_side;
  const std::uint64_t across = (n + wmma_side - 1) / wmma_side, tiles = (m + wmma_side - 1) / wmma_side * across;
  for (std::uint64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    const std::uint64_t row = tile / across * wmma_side, column = tile % across * wmma_side;
    WmmaSum sum[warp_fragments][warp_fragments];
#pragma unroll
    for (unsigned i = 0; i < warp_fragments * warp_fragments; ++i) {
      wmma_clear(sum[i / warp_fragments][i % warp_fragments]);
    }
    for (std::uint64_t p = 0; p < k; p += wmma_k) {
      bring_wmma_tile(tile_a, a, row, p, m, k);
      bring_wmma_tile(tile_b, b, column, p, n, k);
      __syncthreads();
      multiply_wmma_tiles(sum, tile_a, tile_b, warp_row, warp_column);
      __syncthreads();  // before the next tiles are written over these
    }
#pragma unroll
    for (unsigned i = 0; i < warp_fragments; ++i) {
#pragma unroll
      for (unsigned j = 0; j < warp_fragments; ++j) {
        wmma_store(&tile_c[warp_row + i * fragment][warp_column + j * fragment], sum[i][j], wmma_sum_row);
      }
    }
    __syncthreads();
    for (unsigned i = threadIdx.x; i < wmma_side * wmma_side; i += wmma_threads) {
      const std::uint64_t r = row + i / wmma_side, q = column + i % wmma_side;
      if (r < m && q < n) c[r * n + q] = tile_c[i / wmma_side][i % wmma_side];
    }
    __syncthreads();  // before the sums of the next tile are written over these
  }
}

// pipeline ------------------------------------------------------------------------------------------------------------

constexpr unsigned tile_m = 128, tile_n = 256, tile_k = 32, stages = 4;
constexpr unsigned warp_m = 64, warp_n = 64, warps_across = tile_n / warp_n;
constexpr unsigned block_threads = tile_m / warp_m * warps_across * 32;
constexpr unsigned mma_m = 16, mma_n = 8, mma_k = 16;
constexpr unsigned row_chunks = tile_k / chunk;
constexpr unsigned stage_numbers = (tile_m + tile_n) * tile_k;
constexpr std::size_t pipeline_shared_bytes = stages * stage_numbers * sizeof(Number);

// Where a chunk of a row is in a tile. Two rows of 64 bytes are 128 bytes, all banks; chunks change places from one
// such pair to the next, so that 8 rows at the same place, which is what ldmatrix reads at once, are in different
// banks. So are the chunks of two rows, which eight lanes write at once.
__device__ __forceinline__ unsigned place(unsigned row, unsigned at) {
  return (row * row_chunks + (at ^ row / 2 % row_chunks)) * chunk;
}

// What this thread brings of the tiles of A or B: the same chunk of every 64th row.
template <unsigned rows, bool aligned>
class Source {
 public:
  __device__ __forceinline__ Source(const Number* matrix, std::uint64_t first_row, std::uint64_t all_rows,
                                    std::uint64_t k)
      : k_(k), at_(threadIdx.x % row_chunks * chunk) {
    const std::uint64_t row = first_row + threadIdx.x / row_chunks;
    from_ = matrix + row * k + at_;
#pragma unroll
    for (unsigned i = 0; i < copies; ++i) inside_ |= row + i * distance < all_rows ? 1u << i : 0;
  }

  // Begins to copy the next tile.
  __device__ __forceinline__ void bring(Number* tile) {
    [[maybe_unused]] constexpr unsigned unrolled = aligned ? copies : 1;
#pragma unroll unrolled
    for (unsigned i = 0; i < copies; ++i) {
      Number* const to = tile + place(threadIdx.x / row_chunks + i * distance, threadIdx.x % row_chunks);
      const Number* const from = from_ + i * distance * k_;
      const bool is_row = (inside_ >> i & 1) != 0;
      if constexpr (aligned) {
        copy_async16_or_zeros(to, from, is_row && at_ < k_);  // k is a multiple of a chunk
      } else {
        bring_slowly(to, from, is_row, at_, k_);
      }
    }
    from_ += tile_k;
    at_ += tile_k;
  }

 private:
  static constexpr unsigned distance = block_threads / row_chunks, copies = rows / distance;
  static_assert(rows % distance == 0);
  std::uint64_t k_, at_;  // at_: the column of from_
  const Number* from_;
  unsigned inside_ = 0;  // bit i: row i of this thread is in the matrix
};

// The operands of a warp for 16 of k.
struct Fragments {
  std::uint32_t a[warp_m / mma_m][4], b[warp_n / mma_n][2];
};

__device__ __forceinline__ void read_fragments(Fragments& to, const Number* stage, unsigned part) {
  const Number *tile_a = stage, *tile_b = stage + tile_m * tile_k;
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const unsigned row_a = warp / warps_across * warp_m + lane % 16, at_a = part * (mma_k / chunk) + lane / 16;
  const unsigned row_b = warp % warps_across * warp_n + lane / 16 * 8 + lane % 8;
  const unsigned at_b = part * (mma_k / chunk) + lane / 8 % 2;
#pragma unroll
  for (unsigned i = 0; i < warp_m / mma_m; ++i) load_matrices(to.a[i], tile_a + place(row_a + i * mma_m, at_a));
#pragma unroll
  for (unsigned j = 0; j < warp_n / mma_n; j += 2) {
    std::uint32_t words[4];
    load_matrices(words, tile_b + place(row_b + j * mma_n, at_b));
#pragma unroll
    for (unsigned w = 0; w < 4; ++w) to.b[j + w / 2][w % 2] = words[w];
  }
}

using Sums = float[warp_m / mma_m][warp_n / mma_n][4];

__device__ __forceinline__ void multiply(Sums& sums, const Fragments& with) {
#pragma unroll
  for (unsigned i = 0; i < warp_m / mma_m; ++i) {
#pragma unroll
    for (unsigned j = 0; j < warp_n / mma_n; ++j) mma_bf16(sums[i][j], with.a[i], with.b[j]);
  }
}

// Sectors of 32 bytes, written whole by four lanes each if numbers go in pairs; C is not read again.
template <bool in_pairs>
__device__ __forceinline__ void write_sums(const Sums& sums, float* c, std::uint64_t row, std::uint64_t column,
                                           std::uint64_t m, std::uint64_t n) {
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  row += warp / warps_across * warp_m + lane / 4;
  column += warp % warps_across * warp_n + lane % 4 * 2;
#pragma unroll
  for (unsigned i = 0; i < 2 * (warp_m / mma_m); ++i, row += mma_m / 2) {
    if (row >= m) return;
    float* const to = c + row * n + column;
#pragma unroll
    for (unsigned j = 0; j < warp_n / mma_n; ++j) {
      const float first = sums[i / 2][j][i % 2 * 2], second = sums[i / 2][j][i % 2 * 2 + 1];
      const std::uint64_t q = column + j * mma_n;
      if constexpr (in_pairs) {
        if (q < n) store<Hint::streaming>(reinterpret_cast<float2*>(to + j * mma_n), float2{first, second});
      } else {
        if (q < n) store<Hint::streaming>(to + j * mma_n, first);
        if (q + 1 < n) store<Hint::streaming>(to + j * mma_n + 1, second);
      }
    }
  }
}

// Blocks go down 16 tiles, then to the right: those that run at the same time are near each other in both directions
// and find their operands in L2. The 108 of an A100 need 2048 rows of A and 7 x 256 columns of B.
struct Tile {
  std::uint64_t row, column;
};
__device__ __forceinline__ Tile tile_of_block(std::uint64_t m, std::uint64_t n) {
  constexpr std::uint64_t group = 16;
  const std::uint64_t down = (m + tile_m - 1) / tile_m, across = (n + tile_n - 1) / tile_n;
  const std::uint64_t first = blockIdx.x / (group * across) * group, in_group = blockIdx.x % (group * across);
  const std::uint64_t height = down - first < group ? down - first : group;
  return {(first + in_group % height) * tile_m, in_group / height * tile_n};
}

template <bool aligned>
__global__ void __launch_bounds__(block_threads, 1)
    multiply_pipeline(const Number* a, const Number* b, float* c, std::uint64_t m, std::uint64_t n, std::uint64_t k) {
  Number* const shared = dynamic_shared<Number>();
  const Tile tile = tile_of_block(m, n);
  Source<tile_m, aligned> of_a(a, tile.row, m, k);
  Source<tile_n, aligned> of_b(b, tile.column, n, k);
  const std::uint64_t steps = k / tile_k + (k % tile_k != 0 ? 1 : 0);
  std::uint64_t brought = 0;
  unsigned to_stage = 0;
  // A group of copies whether there is something to bring or not, so that the number of a step is that of its group.
  const auto bring_next = [&] {
    if (brought < steps) {
      of_a.bring(shared + to_stage * stage_numbers);
      of_b.bring(shared + to_stage * stage_numbers + tile_m * tile_k);
    }
    commit_async();
    ++brought;
    to_stage = to_stage + 1 == stages ? 0 : to_stage + 1;
  };
  Sums sums = {};
  if (steps != 0) {
    for (unsigned s = 0; s + 1 < stages; ++s) bring_next();
    Fragments parts[2];  // one is multiplied while the other is read
    unsigned stage = 0;
    wait_async<stages - 2>();
    __syncthreads();
    read_fragments(parts[0], shared, 0);
    for (std::uint64_t step = 0; step + 1 < steps; ++step) {
      read_fragments(parts[1], shared + stage * stage_numbers, 1);
      bring_next();  // into the stage before this one, which nobody reads since the last barrier
      multiply(sums, parts[0]);
      stage = stage + 1 == stages ? 0 : stage + 1;
      wait_async<stages - 2>();
      __syncthreads();
      read_fragments(parts[0], shared + stage * stage_numbers, 0);
      multiply(sums, parts[1]);
    }
    read_fragments(parts[1], shared + stage * stage_numbers, 1);
    multiply(sums, parts[0]);
    multiply(sums, parts[1]);
  }
  if (n % 2 == 0 && reinterpret_cast<std::uintptr_t>(c) % sizeof(float2) == 0) {
    write_sums<true>(sums, c, tile.row, tile.column, m, n);
  } else {
    write_sums<false>(sums, c, tile.row, tile.column, m, n);
  }
}

// rows ----------------------------------------------------------------------------------------------------------------

std::uint64_t tiles_of(GemmShape s, std::uint64_t height, std::uint64_t width) {
  return (s.m / height + (s.m % height != 0 ? 1 : 0)) * (s.n / width + (s.n % width != 0 ? 1 : 0));
}

void start_naive(const Exec& exec, GemmShape s, const Number* a, const Number* b, float* c) {
  const Shape shape = grid_for(s.m * s.n, naive_threads, naive_blocks_per_processor);
  launch(multiply_naive, shape, exec.stream, a, b, c, s.m, s.n, s.k);
}

void start_tiled(const Exec& exec, GemmShape s, const Number* a, const Number* b, float* c) {
  constexpr unsigned threads = tiled_side * tiled_rows, per_processor = 8;
  Shape shape = grid_for(tiles_of(s, tiled_side, tiled_side) * threads, threads, per_processor);
  shape.block = dim3(tiled_side, tiled_rows);
  launch(multiply_tiled, shape, exec.stream, a, b, c, s.m, s.n, s.k);
}

void start_wmma(const Exec& exec, GemmShape s, const Number* a, const Number* b, float* c) {
  const std::uint64_t threads = tiles_of(s, wmma_side, wmma_side) * wmma_threads;
  const Shape shape = grid_for(threads, wmma_threads, wmma_blocks_per_processor);
  launch(multiply_wmma, shape, exec.stream, a, b, c, s.m, s.n, s.k);
}

void start_pipeline(const Exec& exec, GemmShape s, const Number* a, const Number* b, float* c) {
  const auto is_aligned = [](const Number* p) { return reinterpret_cast<std::uintptr_t>(p) % 16 == 0; };
  const auto kernel =
      s.k % chunk == 0 && is_aligned(a) && is_aligned(b) ? multiply_pipeline<true> : multiply_pipeline<false>;
  const dim3 blocks(static_cast<unsigned>(tiles_of(s, tile_m, tile_n)));
  cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(pipeline_shared_bytes));
  launch(kernel, {blocks, dim3(block_threads), pipeline_shared_bytes}, exec.stream, a, b, c, s.m, s.n, s.k);
}

// A block for each tile, as many as a grid can have.
bool pipeline_supports(GemmShape s, const Number* a, const Number* b, const float* c) {
  return keeps_gemm_bf16_contract(s, a, b, c) && tiles_of(s, tile_m, tile_n) <= 0x7FFFFFFF;
}

template <auto supports, auto start>
bool run(const Exec& exec, GemmShape s, const Number* a, const Number* b, float* c) {
  if (!supports(s, a, b, c)) return false;
  if (s.m != 0 && s.n != 0) start(exec, s, a, b, c);
  return true;
}

template <auto supports, auto start>
constexpr GemmBf16Ops row = {supports, run<supports, start>};

constexpr CudaVersion<GemmBf16Ops> versions[] = {{"naive", &row<keeps_gemm_bf16_contract, start_naive>},
                                                 {"tiled", &row<keeps_gemm_bf16_contract, start_tiled>},
                                                 {"wmma", &row<keeps_gemm_bf16_contract, start_wmma>, 80},
                                                 {"pipeline", &row<pipeline_supports, start_pipeline>, 80}};

[[maybe_unused]] const bool announced = announce_cuda(versions);

}  // namespace
}  // namespace assay::kernels
