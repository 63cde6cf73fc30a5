// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// CUDA rows of the tensor cores' peak, by mma.sync (8.0 and later, fp8 8.9). A block is four warps, one for each
// scheduler of a multiprocessor. A step of bf16, f16, tf32, int8 or fp8 takes 16 x 8 x 32 bytes, which an A100 does in
// 8 cycles and answers after about 33; f64 takes 8 x 8 x 4 numbers. Trap: only 8.9 and 12.x have fp8 in this
// instruction (QMMA); on 9.0 and 10.x the compiler turns it into conversions and f16 products, whose rate says nothing
// about fp8 there.
//
//   one     one chain for each warp. Bound by latency: a quarter of the peak with one block on a multiprocessor.
//   four    four chains, which hide nearly all of it. Bound by the tensor cores from two blocks on.
//   eight   eight chains: 32 accumulators and 20 registers of A and B for each thread. Bound by the tensor cores.
//
// Who holds what, as PTX has it, with g = lane / 4 and t = lane % 4: of A the words (g, t), (g + 8, t), (g, t + 4) and
// (g + 8, t + 4) of a matrix of 16 rows with 8 words of 4 bytes; of B, by columns, (g, t) and (g, t + 4) of 8 rows with 8;
// of D the numbers (g, 2t), (g, 2t + 1) and the same in row g + 8. f64 has the first of A and B and the first two of D.
#include "kernels/bits.h"
#include "kernels/launch.cuh"
#include "kernels/mma.h"
#include "kernels/ptx.cuh"

namespace assay::kernels {
namespace {

constexpr unsigned warp_threads = 32, block_warps = 4, half_rows = 8;

// How much of the matrices there is, in words of the registers: for each thread, and for a row of A and of B by columns.
template <class Number, class Accumulator, class BitPattern, unsigned rows_of_a, unsigned k_of_step>
struct Shapes {
  using In = Number;
  using Out = Accumulator;
  using Bits = BitPattern;
  static constexpr unsigned m = rows_of_a, n = 8, k = k_of_step;
  static constexpr bool is_f64 = sizeof(Number) == 8;
  using Word = std::conditional_t<is_f64, double, std::uint32_t>;
  static constexpr unsigned row_words = k * sizeof(Number) / sizeof(Word);
  static constexpr unsigned words_b = row_words / 4, words_a = words_b * m / half_rows, words_d = m / 4;
};
struct ProductBf16 : Shapes<std::uint16_t, float, std::uint32_t, 16, 16> {
  static __device__ __forceinline__ void multiply(float (&d)[4], const Word (&a)[4], const Word (&b)[2]) {
    mma_bf16(d, a, b);
  }
};
struct ProductF16 : Shapes<std::uint16_t, float, std::uint32_t, 16, 16> {
  static __device__ __forceinline__ void multiply(float (&d)[4], const Word (&a)[4], const Word (&b)[2]) {
    mma_f16(d, a, b);
  }
};
struct ProductTf32 : Shapes<float, float, std::uint32_t, 16, 8> {
  static __device__ __forceinline__ void multiply(float (&d)[4], const Word (&a)[4], const Word (&b)[2]) {
    mma_tf32(d, a, b);
  }
};
struct ProductF64 : Shapes<double, double, std::uint64_t, 8, 4> {
  static __device__ __forceinline__ void multiply(double (&d)[2], const Word (&a)[1], const Word (&b)[1]) {
    mma_f64(d, a, b);
  }
};
struct ProductInt8 : Shapes<std::int8_t, std::int32_t, std::uint32_t, 16, 32> {
  static __device__ __forceinline__ void multiply(std::int32_t (&d)[4], const Word (&a)[4], const Word (&b)[2]) {
    mma_int8(d, a, b);
  }
};
struct ProductE4m3 : Shapes<std::uint8_t, float, std::uint32_t, 16, 32> {
  static __device__ __forceinline__ void multiply(float (&d)[4], const Word (&a)[4], const Word (&b)[2]) {
    mma_e4m3(d, a, b);
  }
};
struct ProductE5m2 : Shapes<std::uint8_t, float, std::uint32_t, 16, 32> {
  static __device__ __forceinline__ void multiply(float (&d)[4], const Word (&a)[4], const Word (&b)[2]) {
    mma_e5m2(d, a, b);
  }
};

// This lane's words of a matrix: every fourth of its row, and the same of the row 8 further on where there is one.
template <unsigned rows, unsigned row_words, unsigned count, class Word>
__device__ __forceinline__ void load_fragment(const Word* matrix, Word (&fragment)[count]) {
  constexpr unsigned halves = rows / half_rows;
  const unsigned lane = threadIdx.x % warp_threads, g = lane / 4, t = lane % 4;
#pragma unroll
  for (unsigned i = 0; i < count; ++i) {
    const unsigned row = g + i % halves * half_rows, word = t + i / halves * 4;
    fragment[i] = load<Hint::normal>(matrix + row * row_words + word);
  }
}

template <class Op, unsigned chains>
__global__ void __launch_bounds__(block_warps* warp_threads)
    run_mma(const typename Op::Word* a, const typename Op::Word* b, const typename Op::Out* c, std::uint64_t passes,
            typename Op::Bits* sums) {
  constexpr unsigned row_words = Op::row_words;
  const unsigned warp = threadIdx.x / warp_threads, lane = threadIdx.x % warp_threads;
  typename Op::Word of_a[Op::words_a], of_b[chains][Op::words_b];
  load_fragment<Op::m, row_words>(a + warp * Op::m * row_words, of_a);
#pragma unroll
  for (unsigned chain = 0; chain < chains; ++chain) {
    load_fragment<Op::n, row_words>(b + chain * Op::n * row_words, of_b[chain]);
  }
  const std::uint64_t tile = (static_cast<std::uint64_t>(blockIdx.x) * block_warps + warp) * chains;
  // Where number i of this lane is in a tile.
  const auto place = [=](unsigned chain, unsigned i) {
    return (tile + chain) * (Op::m * Op::n) + (lane / 4 + i / 2 * half_rows) * Op::n + lane % 4 * 2 + i % 2;
  };
  for (std::uint64_t pass = 0; pass < passes; ++pass) {
    typename Op::Out d[chains][Op::words_d];
#pragma unroll
    for (unsigned chain = 0; chain < chains; ++chain) {
#pragma unroll
      for (unsigned i = 0; i < Op::words_d; ++i) d[chain][i] = load<Hint::normal>(c + place(chain, i));
    }
#pragma unroll 4
    for (unsigned step = 0; step < mma_steps; ++step) {
#pragma unroll
      for (unsigned chain = 0; chain < chains; ++chain) Op::multiply(d[chain], of_a, of_b[chain]);
    }
#pragma unroll
    for (unsigned chain = 0; chain < chains; ++chain) {
#pragma unroll
      for (unsigned i = 0; i < Op::words_d; ++i) sums[place(chain, i)] += bits_of(d[chain][i]);
    }
    forget_memory();  // the passes are equal: the compiler must not notice
  }
}

template <class Op, unsigned chains>
void run(const Exec& exec, std::size_t passes, const typename Op::In* a, const typename Op::In* b,
         const typename Op::Out* c, typename Op::Bits* sums) {
  using Word = typename Op::Word;
  const Shape shape{dim3(static_cast<unsigned>(exec.threads)), dim3(block_warps * warp_threads)};
  launch(run_mma<Op, chains>, shape, exec.stream, reinterpret_cast<const Word*>(a), reinterpret_cast<const Word*>(b), c,
         passes, sums);
}

template <class Op, unsigned chains>
constexpr MmaRow<typename Op::In, typename Op::Out, typename Op::Bits> row = {Op::m,       Op::n,  Op::k,
                                                                              block_warps, chains, run<Op, chains>};
template <unsigned chains, bool has_fp8>
constexpr MmaOps ops = {&row<ProductBf16, chains>,
                        &row<ProductF16, chains>,
                        &row<ProductTf32, chains>,
                        &row<ProductF64, chains>,
                        &row<ProductInt8, chains>,
                        has_fp8 ? &row<ProductE4m3, chains> : nullptr,
                        has_fp8 ? &row<ProductE5m2, chains> : nullptr};

constexpr CudaVersion<MmaOps> versions[] = {
    {"one", &ops<1, false>, 80}, {"four", &ops<4, false>, 80}, {"eight", &ops<8, false>, 80},
    {"one", &ops<1, true>, 89},  {"four", &ops<4, true>, 89},  {"eight", &ops<8, true>, 89}};

[[maybe_unused]] const bool announced = announce_cuda(versions);

}  // namespace
}  // namespace assay::kernels
