// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// CUDA rows of the arithmetic chains. A block is 256 threads; element c * 256 + t of a block is the c-th chain of
// thread t. Between the loads at the begin of a pass and the sums at its end everything is in registers.
//
//   one     one chain for each thread. A multiply-add takes 4 cycles (more in f64), so a multiprocessor with four
//           schedulers must keep 16 warps or more to issue one in each cycle. Bound by latency below that.
//   four    four chains for each thread: one warp on each scheduler is enough for f32. Bound by the pipe.
//   eight   eight chains, which hide the longer latencies of f64 and of special functions as well, and make the
//           instructions of the loop itself one in some hundred. Bound by the pipe.
//
// Two blocks on each multiprocessor are four warps on each scheduler. Traps: i32 multiply-adds run in a pipe of half
// width, special functions in one of an eighth; f64 has a 64th of f32's pipes on devices that aren't made for computing.
#include <type_traits>

#include "kernels/bits.h"
#include "kernels/fma.h"
#include "kernels/launch.cuh"
#include "kernels/ptx.cuh"

namespace assay::kernels {
namespace {

constexpr unsigned block_threads = 256;

// One step of a chain.
struct MultiplyAdd {
  static constexpr bool has_factors = true;
  static constexpr unsigned steps = fma_steps;
  template <class X>
  static __device__ __forceinline__ X next(X x, X a, X b) {
    if constexpr (std::is_integral_v<X>) {
      return x * a + b;
    } else {
      return fma(x, a, b);
    }
  }
};
struct MultiplyAddF16x2 : MultiplyAdd {
  static constexpr unsigned steps = fma_odd_steps;
  static __device__ __forceinline__ std::uint32_t next(std::uint32_t x, std::uint32_t a, std::uint32_t b) {
    return fma_f16x2(x, a, b);
  }
};
struct MultiplyAddBf16x2 : MultiplyAdd {
  static constexpr unsigned steps = fma_odd_steps;
  static __device__ __forceinline__ std::uint32_t next(std::uint32_t x, std::uint32_t a, std::uint32_t b) {
    return fma_bf16x2(x, a, b);
  }
};
struct Reciprocal {
  static constexpr bool has_factors = false;
  static constexpr unsigned steps = fma_odd_steps;
  // The sign costs nothing, and without it nvcc 13.0 leaves no instruction of the whole chain.
  static __device__ __forceinline__ float next(float x, float /*a*/, float /*b*/) { return reciprocal(-x); }
};

template <class Step, unsigned chains, class X, class Bits>
__global__ void __launch_bounds__(block_threads)
    run_chains(const X* x, const X* a, const X* b, std::uint64_t passes, Bits* sums) {
  const std::uint64_t first = static_cast<std::uint64_t>(blockIdx.x) * (chains * block_threads) + threadIdx.x;
  X factor{}, summand{};
  if constexpr (Step::has_factors) {
    factor = a[threadIdx.x];
    summand = b[threadIdx.x];
  }
  for (std::uint64_t pass = 0; pass < passes; ++pass) {
    X v[chains];
#pragma unroll
    for (unsigned c = 0; c < chains; ++c) v[c] = load<Hint::normal>(x + first + c * block_threads);
#pragma unroll 16
    for (unsigned step = 0; step < Step::steps; ++step) {
#pragma unroll
      for (unsigned c = 0; c < chains; ++c) v[c] = Step::next(v[c], factor, summand);
    }
#pragma unroll
    for (unsigned c = 0; c < chains; ++c) sums[first + c * block_threads] += bits_of(v[c]);
    forget_memory();  // the passes are equal: the compiler must not notice
  }
}

template <class Step, unsigned chains, class X, class Bits>
void run(const Exec& exec, std::size_t passes, const X* x, const X* a, const X* b, Bits* sums) {
  const Shape shape{dim3(static_cast<unsigned>(exec.threads)), dim3(block_threads)};
  launch(run_chains<Step, chains, X, Bits>, shape, exec.stream, x, a, b, passes, sums);
}

template <class Step, unsigned chains, class X, class Bits>
constexpr FmaRow<X, Bits> row = {block_threads, chains* block_threads, run<Step, chains, X, Bits>};

using Word = std::uint32_t;
template <unsigned chains, bool has_bf16x2>
constexpr FmaOps ops = {&row<MultiplyAdd, chains, float, Word>,
                        &row<MultiplyAdd, chains, double, std::uint64_t>,
                        &row<MultiplyAdd, chains, Word, Word>,
                        nullptr,
                        &row<MultiplyAddF16x2, chains, Word, Word>,
                        has_bf16x2 ? &row<MultiplyAddBf16x2, chains, Word, Word> : nullptr,
                        &row<Reciprocal, chains, float, Word>,
                        "CUDA"};

constexpr CudaVersion<FmaOps> versions[] = {
    {"one", &ops<1, false>},    {"four", &ops<4, false>},    {"eight", &ops<8, false>},
    {"one", &ops<1, true>, 80}, {"four", &ops<4, true>, 80}, {"eight", &ops<8, true>, 80}};

[[maybe_unused]] const bool announced = announce_cuda(versions);

}  // namespace
}  // namespace assay::kernels
