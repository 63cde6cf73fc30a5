// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// The tensor cores' peak of 10.0 and 10.3 in fp8 and fp4 with a scale for each 32 numbers, by tcgen05. No rig executes
// this code (CudaVersion::executed): a device that runs it for the first time is its first test.
//
//   tcgen05   one thread starts products of 128 x 256 x 32 bytes, all into one sum, which stands in tensor memory. 4.5 PFLOP/s
//             in fp8 of a B200 (datasheet, dense) are 8192 multiply-adds per cycle on each of 148 multiprocessors:
//             128 cycles for a product. Bound by the tensor cores, with one block on each multiprocessor.
//
// All scales are 1, so the result is that of the other versions, and it doesn't matter which number of them is for
// which row: scales are switched on, but not tested. A block is four warps; thread r has row r of the sum.
#include "kernels/launch.cuh"
#include "kernels/mma.h"
#include "kernels/ptx_blackwell.cuh"

namespace assay::kernels {
namespace {

constexpr unsigned m = 128, n = 256, row_bytes = 32, warp_threads = 32, block_threads = m;
constexpr unsigned columns = 512, scales_of_a = n, scales_of_b = n + 16, scales = 32;  // columns of tensor memory
constexpr std::uint32_t four_ones = 0x7F7F7F7F;  // 2^0 as exponents with a bias of 127

// A matrix of rows of 32 bytes into pieces of 8 rows x 16 bytes. By all threads of the block.
template <unsigned rows>
__device__ __forceinline__ void take_pieces(std::uint8_t* shared, const std::uint8_t* matrix) {
  constexpr unsigned word_bytes = 8, row_words = row_bytes / word_bytes;
  const auto* words = reinterpret_cast<const std::uint64_t*>(matrix);
  for (unsigned i = threadIdx.x; i < rows * row_words; i += block_threads) {
    const unsigned row = i / row_words, word = i % row_words;
    const unsigned at = row / 8 * 256 + word / 2 * 128 + row % 8 * 16 + word % 2 * word_bytes;
    *reinterpret_cast<std::uint64_t*>(shared + at) = load<Hint::normal>(words + i);
  }
}

template <TensorFormat format>
__global__ void __launch_bounds__(block_threads)
    run_block_scaled(const std::uint8_t* a, const std::uint8_t* b, const float* c, std::uint64_t passes,
                     std::uint32_t* sums) {
  __shared__ alignas(128) std::uint8_t of_a[m * row_bytes], of_b[n * row_bytes];
  __shared__ Mbarrier done;
  __shared__ std::uint32_t allocated;
  const unsigned warp = threadIdx.x / warp_threads;
  take_pieces<m>(of_a, a);
  take_pieces<n>(of_b, b);
  if (warp == 0) allocate_tensor_memory<columns>(&allocated);
  if (threadIdx.x == 0) init_barrier(&done, 1);
  fence_async();
  fence_tensor_before();
  __syncthreads();
  fence_tensor_after();
  const std::uint32_t memory = allocated, lanes = memory + (warp * warp_threads << 16);
  const std::uint32_t ones[8] = {four_ones, four_ones, four_ones, four_ones,
                                 four_ones, four_ones, four_ones, four_ones};
  for (unsigned column = 0; column < scales; column += 8) store_tensor8(lanes + scales_of_a + column, ones);

  const std::uint64_t row = (static_cast<std::uint64_t>(blockIdx.x) * m + threadIdx.x) * n;
  for (std::uint64_t pass = 0; pass < passes; ++pass) {
    std::uint32_t part[8];
    for (unsigned column = 0; column < n; column += 8) {
#pragma unroll
      for (unsigned i = 0; i < 8; ++i) part[i] = __float_as_uint(load<Hint::normal>(c + row + column + i));
      store_tensor8(lanes + column, part);
    }
    wait_tensor_stores();
    fence_tensor_before();
    __syncthreads();
    if (threadIdx.x == 0) {
      fence_tensor_after();
      const std::uint64_t matrix_a = describe_pieces(of_a), matrix_b = describe_pieces(of_b);
      constexpr std::uint32_t product = describe_product(format, m, n);
#pragma unroll 16
      for (unsigned step = 0; step < mma_steps; ++step) {
        multiply_block_scaled<format>(memory, matrix_a, matrix_b, product, memory + scales_of_a, memory + scales_of_b);
      }
      commit_tensor(&done);
    }
    wait_barrier(&done, pass % 2);
    fence_tensor_after();
    for (unsigned column = 0; column < n; column += 8) {
      load_tensor8(part, lanes + column);
#pragma unroll
      for (unsigned i = 0; i < 8; ++i) sums[row + column + i] += part[i];
    }
    forget_memory();  // the passes are equal: the compiler must not notice
  }
  fence_tensor_before();
  __syncthreads();
  if (warp == 0) free_tensor_memory<columns>(memory);
}

template <TensorFormat format>
void run(const Exec& exec, std::size_t passes, const std::uint8_t* a, const std::uint8_t* b, const float* c,
         std::uint32_t* sums) {
  const Shape shape{dim3(static_cast<unsigned>(exec.threads)), dim3(block_threads)};
  launch(run_block_scaled<format>, shape, exec.stream, a, b, c, passes, sums);
}

constexpr MmaFp8Row e4m3 = {m, n, row_bytes, 1, 1, run<TensorFormat::e4m3>, true};
constexpr MmaFp8Row e5m2 = {m, n, row_bytes, 1, 1, run<TensorFormat::e5m2>, true};
constexpr MmaFp4Row e2m1 = {m, n, 2 * row_bytes, 1, 1, run<TensorFormat::e2m1>, true};
constexpr MmaOps ops = {nullptr, nullptr, nullptr, nullptr, nullptr, &e4m3, &e5m2, &e2m1};

constexpr CudaVersion<MmaOps> versions[] = {{"tcgen05", &ops, 100, 110, false}};

[[maybe_unused]] const bool announced = announce_cuda(versions);

}  // namespace
}  // namespace assay::kernels
