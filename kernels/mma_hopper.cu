// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// CUDA rows of the tensor cores' peak for 9.0a, by wgmma: four warps multiply together, A and B lie in shared memory,
// only the sums are in registers. A block is two warpgroups, each with its own A ("warps" of mma.h) and both with the
// same B; while one waits the other multiplies. One block fills a multiprocessor.
//
//   wgmma_64   64 x 64 sums. A product takes 32 cycles and reads 4 KiB of the 4 that shared memory gives in them: bound
//              by shared memory as much as by the tensor cores.
//   wgmma_256  64 x 256 sums, 128 registers of each thread. 10 KiB of 16: bound by the tensor cores.
//
// A step of all types takes 32 bytes of k: one product. f64 has no such instruction: mma.cu.
#include "kernels/bits.h"
#include "kernels/launch.cuh"
#include "kernels/mma.h"
#include "kernels/ptx_hopper.cuh"

namespace assay::kernels {
namespace {

constexpr unsigned warp_threads = 32, group_warps = 4, group_threads = group_warps * warp_threads, groups = 2;
constexpr unsigned rows_of_a = 64, line_bytes = 128, step_bytes = 32, step_words = step_bytes / 4;
constexpr unsigned a_bytes = rows_of_a * line_bytes;
constexpr unsigned together = 8;  // products of a group that is waited for
static_assert(mma_steps % together == 0);

template <class Number, class Accumulator>
struct Types {
  using In = Number;
  using Out = Accumulator;
  static constexpr unsigned k = step_bytes / sizeof(Number);
};
#define ASSAY_PRODUCT(Name, Number, Accumulator, instruction)                                                    \
  struct Name : Types<Number, Accumulator> {                                                                     \
    template <unsigned count>                                                                                    \
    static __device__ __forceinline__ void multiply(Accumulator (&d)[count], std::uint64_t a, std::uint64_t b) { \
      instruction(d, a, b, 1);                                                                                   \
    }                                                                                                            \
  };
ASSAY_PRODUCT(GroupBf16, std::uint16_t, float, wgmma_bf16)
ASSAY_PRODUCT(GroupF16, std::uint16_t, float, wgmma_f16)
ASSAY_PRODUCT(GroupTf32, float, float, wgmma_tf32)
ASSAY_PRODUCT(GroupE4m3, std::uint8_t, float, wgmma_e4m3)
ASSAY_PRODUCT(GroupInt8, std::int8_t, std::int32_t, wgmma_int8)
#undef ASSAY_PRODUCT

// `lines` lines of 32 bytes into the first quarter of swizzled lines of 128.
__device__ void place_lines(unsigned char* shared, const std::uint32_t* words, unsigned lines) {
  for (unsigned i = threadIdx.x; i < lines * step_words; i += groups * group_threads) {
    const unsigned line = i / step_words, word = i % step_words;
    const unsigned at = line * line_bytes + (word / 4 ^ line % 8) * 16 + word % 4 * 4;
    *reinterpret_cast<std::uint32_t*>(shared + at) = load<Hint::normal>(words + i);
  }
}

template <class Op, unsigned n>
__global__ void __launch_bounds__(groups* group_threads, 1)
    run_wgmma(const std::uint32_t* a, const std::uint32_t* b, const typename Op::Out* c, std::uint64_t passes,
              std::uint32_t* sums) {
  constexpr unsigned count = n / 2;
  unsigned char* const of_a = dynamic_shared<unsigned char>();
  unsigned char* const of_b = of_a + groups * a_bytes;
  place_lines(of_a, a, groups * rows_of_a);
  place_lines(of_b, b, n);
  fence_async();
  __syncthreads();
  const unsigned group = threadIdx.x / group_threads, warp = threadIdx.x / warp_threads % group_warps;
  const unsigned lane = threadIdx.x % warp_threads;
  const std::uint64_t matrix_a = describe_matrix(of_a + group * a_bytes);
  const std::uint64_t matrix_b = describe_matrix(of_b);
  const std::uint64_t tile = static_cast<std::uint64_t>(blockIdx.x) * groups + group;
  // Where number i of this thread is in a tile.
  const auto place = [=](unsigned i) {
    return tile * (rows_of_a * n) + (warp * 16 + lane / 4 + i / 2 % 2 * 8) * n + i / 4 * 8 + lane % 4 * 2 + i % 2;
  };
  for (std::uint64_t pass = 0; pass < passes; ++pass) {
    typename Op::Out d[count];
#pragma unroll
    for (unsigned i = 0; i < count; ++i) d[i] = load<Hint::normal>(c + place(i));
    wgmma_fence();
#pragma unroll 1
    for (unsigned step = 0; step < mma_steps; step += together) {
#pragma unroll
      for (unsigned i = 0; i < together; ++i) Op::multiply(d, matrix_a, matrix_b);
      wgmma_commit();
      wgmma_wait<1>();
    }
    wgmma_wait<0>(d);
#pragma unroll
    for (unsigned i = 0; i < count; ++i) sums[place(i)] += bits_of(d[i]);
    forget_memory();  // the passes are equal: the compiler must not notice
  }
}

template <class Op, unsigned n>
void run(const Exec& exec, std::size_t passes, const typename Op::In* a, const typename Op::In* b,
         const typename Op::Out* c, std::uint32_t* sums) {
  constexpr std::size_t shared_bytes = groups * a_bytes + n * line_bytes;
  const auto kernel = run_wgmma<Op, n>;
  cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared_bytes));
  const Shape shape{dim3(static_cast<unsigned>(exec.threads)), dim3(groups * group_threads), shared_bytes};
  launch(kernel, shape, exec.stream, reinterpret_cast<const std::uint32_t*>(a),
         reinterpret_cast<const std::uint32_t*>(b), c, passes, sums);
}

template <class Op, unsigned n>
constexpr MmaRow<typename Op::In, typename Op::Out, std::uint32_t> row = {rows_of_a, n,          Op::k, groups,
                                                                          1,         run<Op, n>, true};
template <unsigned n>
constexpr MmaOps ops = {&row<GroupBf16, n>, &row<GroupF16, n>, &row<GroupTf32, n>, nullptr,
                        &row<GroupInt8, n>, &row<GroupE4m3, n>};

constexpr CudaVersion<MmaOps> versions[] = {{"wgmma_64", &ops<64>, 90, 91}, {"wgmma_256", &ops<256>, 90, 91}};

[[maybe_unused]] const bool announced = announce_cuda(versions);

}  // namespace
}  // namespace assay::kernels
