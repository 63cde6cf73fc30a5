// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Inline PTX of compute capability 9.0: barriers in shared memory that count bytes (mbarrier), bulk copies by the copy
// engine (TMA), and products by four warps together (wgmma, 9.0a only). As with ptx.cuh, tests/simt puts a header of
// the same name before this one; whoever adds a function here adds it there.
//
// Traps. What threads write to shared memory and the copy engine or wgmma reads needs fence_async() by each writer, and
// then a barrier. The engine signs off by an mbarrier (loads) or by groups (stores), and by nothing else. Numbers that
// wgmma adds to are not the thread's own until wgmma_wait.
#pragma once

#include <cuda.h>  // CUtensorMap; nothing of the driver library is linked

#include "kernels/ptx.cuh"

namespace assay::kernels {

__device__ __forceinline__ std::uint32_t shared_address(const void* p) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(p));
}

// --- barriers

// In shared memory. A phase ends when `arrivals` threads have arrived and all bytes that were announced have come; the
// first is phase 0. wait_barrier(b, p) returns when a phase of parity p is the last that ended: before the end of phase
// 0 it returns at once for parity 1, which is how producers start. What was written before an arrival is seen after the
// wait.
struct alignas(8) Mbarrier {
  std::uint64_t word;
};
__device__ __forceinline__ void init_barrier(Mbarrier* b, unsigned arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(b)), "r"(arrivals) : "memory");
}
// By the thread that called init_barrier, behind the last one: makes them known to the copy engine.
__device__ __forceinline__ void publish_barriers() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
__device__ __forceinline__ void arrive(Mbarrier* b) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(b)) : "memory");
}
// Arrives, and announces `bytes` that copies will bring in this phase.
__device__ __forceinline__ void arrive_expecting(Mbarrier* b, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(b)), "r"(bytes)
               : "memory");
}
__device__ __forceinline__ void wait_barrier(Mbarrier* b, unsigned parity) {
  asm volatile(
      "{\n"
      ".reg .pred done;\n"
      "again:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@!done bra again;\n"
      "}\n" ::"r"(shared_address(b)),
      "r"(parity)
      : "memory");
}

// What this thread has written to shared memory is for the copy engine and for wgmma, too.
__device__ __forceinline__ void fence_async() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

// --- bulk copies

template <Hint hint>
__device__ __forceinline__ std::uint64_t cache_policy() {
  std::uint64_t policy = 0;
  if constexpr (hint == Hint::streaming) {
    asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  }
  return policy;
}
// By one thread for the block: `bytes`, a multiple of 16, between addresses aligned to 16 bytes. A load's bytes count
// for the current phase of `b`. streaming: L2 gives them up first.
template <Hint hint>
__device__ __forceinline__ void load_bulk(void* shared, const void* global, unsigned bytes, Mbarrier* b) {
  const auto from = __cvta_generic_to_global(global);
  if constexpr (hint == Hint::streaming) {
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1], %2, [%3], %4;" ::
            "r"(shared_address(shared)),
        "l"(from), "r"(bytes), "r"(shared_address(b)), "l"(cache_policy<hint>())
        : "memory");
  } else {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                     shared_address(shared)),
                 "l"(from), "r"(bytes), "r"(shared_address(b))
                 : "memory");
  }
}
// Stores are gathered into groups by commit_bulk. wait_bulk_read<pending> returns when all but the newest `pending`
// groups of this thread have read their shared memory, so that it may be written again; wait_bulk also when they have
// arrived.
template <Hint hint>
__device__ __forceinline__ void store_bulk(void* global, const void* shared, unsigned bytes) {
  const auto to = __cvta_generic_to_global(global);
  if constexpr (hint == Hint::streaming) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint [%0], [%1], %2, %3;" ::"l"(to),
                 "r"(shared_address(shared)), "r"(bytes), "l"(cache_policy<hint>())
                 : "memory");
  } else {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(shared_address(shared)),
                 "r"(bytes)
                 : "memory");
  }
}
__device__ __forceinline__ void commit_bulk() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
template <int pending>
__device__ __forceinline__ void wait_bulk_read() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(pending) : "memory");
}
template <int pending>
__device__ __forceinline__ void wait_bulk() {
  asm volatile("cp.async.bulk.wait_group %0;" ::"n"(pending) : "memory");
}

// A box of a matrix (tensor_map.cuh) whose first element is in column x of row y. What lies outside of the matrix comes
// as zeros, and counts as bytes like the rest. `map` is a __grid_constant__ parameter of the kernel.
__device__ __forceinline__ void prefetch_map(const CUtensorMap* map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}
__device__ __forceinline__ void load_box(void* shared, const CUtensorMap* map, int x, int y, Mbarrier* b) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::
          "r"(shared_address(shared)),
      "l"(map), "r"(x), "r"(y), "r"(shared_address(b))
      : "memory");
}

// --- products of four warps: 9.0a only

// Registers of each thread of a warpgroup from now on, a multiple of 8: what one gives another may take.
template <unsigned count>
__device__ __forceinline__ void take_registers() {
  static_assert(count % 8 == 0 && count >= 24 && count <= 256);
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(count));
}
template <unsigned count>
__device__ __forceinline__ void give_registers() {
  static_assert(count % 8 == 0 && count >= 24 && count <= 256);
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(count));
}

// A matrix in shared memory with the 128-byte swizzle: lines of 128 bytes, and in line i of each 1024 bytes the 16
// bytes at 16 c stand at 16 (c ^ i), as a box with that swizzle has them. A line is a row of A, or a column of B, with
// 128 bytes of k; a product takes 32 of them, and the next one in k begins at + matrix_step(32).
__device__ __forceinline__ std::uint64_t describe_matrix(const void* shared) {
  const std::uint64_t swizzle_128 = std::uint64_t{1} << 62, eight_lines = 1024;
  return swizzle_128 | eight_lines / 16 << 32 | std::uint64_t{1} << 16 | (shared_address(shared) & 0x3FFFFu) / 16;
}
__host__ __device__ constexpr std::uint64_t matrix_step(unsigned bytes) { return bytes / 16; }

// wgmma_fence: before the first product that uses registers which the threads have touched. wgmma_commit closes a group
// of products; wgmma_wait<pending> returns when at most `pending` groups of this warp are under way. With the sums as
// an argument it's the last one before they are read: else the compiler may read them earlier, and ptxas sees that and
// lets products run one by one (C7514).
__device__ __forceinline__ void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void wgmma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int pending>
__device__ __forceinline__ void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(pending) : "memory");
}
template <int pending, unsigned count>
__device__ __forceinline__ void wgmma_wait(float (&d)[count]) {
  wgmma_wait<pending>();
#pragma unroll
  for (unsigned i = 0; i < count; ++i) asm volatile("" : "+f"(d[i])::"memory");
}
template <int pending, unsigned count>
__device__ __forceinline__ void wgmma_wait(std::int32_t (&d)[count]) {
  wgmma_wait<pending>();
#pragma unroll
  for (unsigned i = 0; i < count; ++i) asm volatile("" : "+r"(d[i])::"memory");
}

// A sum, or two neighbours (`to` aligned to 8 bytes), to global memory. As floats: where their bits are stored,
// nvcc 13.0 keeps sums as integers and copies them around each product.
__device__ __forceinline__ void store_sum(float* to, float sum) {
  asm volatile("st.global.f32 [%0], %1;" ::"l"(__cvta_generic_to_global(to)), "f"(sum) : "memory");
}
__device__ __forceinline__ void store_sums(float* to, float first, float second) {
  asm volatile("st.global.v2.f32 [%0], {%1, %2};" ::"l"(__cvta_generic_to_global(to)), "f"(first), "f"(second)
               : "memory");
}

// D = A * B + (adds != 0 ? D : 0) by the 128 threads of a warpgroup: m x n x k = 64 x 2 size of d x 32 bytes. Number i
// of a thread is in row 16 w + lane / 4 + i / 2 % 2 * 8, where w is its warp of the four, and in column
// i / 4 * 8 + lane % 4 * 2 + i % 2.
// clang-format off
#define ASSAY_NAMES_32                                                                                                 \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, "          \
  "%23, %24, %25, %26, %27, %28, %29, %30, %31"
#define ASSAY_NAMES_64                                                                                                 \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, "          \
  "%23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, "          \
  "%44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define ASSAY_NAMES_128                                                                                                \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, "          \
  "%23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, "          \
  "%44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, %64, "          \
  "%65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, %81, %82, %83, %84, %85, "          \
  "%86, %87, %88, %89, %90, %91, %92, %93, %94, %95, %96, %97, %98, %99, %100, %101, %102, %103, %104, %105, "         \
  "%106, %107, %108, %109, %110, %111, %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, "       \
  "%124, %125, %126, %127"
#define ASSAY_REGISTERS_4(X, i) X(d[i]), X(d[i + 1]), X(d[i + 2]), X(d[i + 3])
#define ASSAY_REGISTERS_8(X, i) ASSAY_REGISTERS_4(X, i), ASSAY_REGISTERS_4(X, i + 4)
#define ASSAY_REGISTERS_16(X, i) ASSAY_REGISTERS_8(X, i), ASSAY_REGISTERS_8(X, i + 8)
#define ASSAY_REGISTERS_32(X, i) ASSAY_REGISTERS_16(X, i), ASSAY_REGISTERS_16(X, i + 16)
#define ASSAY_REGISTERS_64(X, i) ASSAY_REGISTERS_32(X, i), ASSAY_REGISTERS_32(X, i + 32)
#define ASSAY_REGISTERS_128(X, i) ASSAY_REGISTERS_64(X, i), ASSAY_REGISTERS_64(X, i + 64)
#define ASSAY_FLOAT(x) "+f"(x)
#define ASSAY_INTEGER(x) "+r"(x)
// a, b, c: numbers of the operands behind `count` registers. factors: what PTX wants behind the predicate, signs and for
// 2-byte numbers whether A or B lies the other way.
#define ASSAY_WGMMA(name, Number, Constraint, count, n, a, b, c, types, factors)                                       \
  __device__ __forceinline__ void name(Number (&d)[count], std::uint64_t of_a, std::uint64_t of_b, int adds) {         \
    asm volatile("{\n.reg .pred adds;\nsetp.ne.b32 adds, %" #c ", 0;\nwgmma.mma_async.sync.aligned.m64n" #n types       \
                 " {" ASSAY_NAMES_##count "}, %" #a ", %" #b ", adds" factors ";\n}\n"                                 \
                 : ASSAY_REGISTERS_##count(Constraint, 0)                                                              \
                 : "l"(of_a), "l"(of_b), "r"(adds));                                                                   \
  }
#define ASSAY_WGMMA_SIZES(name, Number, Constraint, types, factors)                                                    \
  ASSAY_WGMMA(name, Number, Constraint, 32, 64, 32, 33, 34, types, factors)                                            \
  ASSAY_WGMMA(name, Number, Constraint, 64, 128, 64, 65, 66, types, factors)                                           \
  ASSAY_WGMMA(name, Number, Constraint, 128, 256, 128, 129, 130, types, factors)
ASSAY_WGMMA_SIZES(wgmma_bf16, float, ASSAY_FLOAT, "k16.f32.bf16.bf16", ", 1, 1, 0, 0")
ASSAY_WGMMA_SIZES(wgmma_f16, float, ASSAY_FLOAT, "k16.f32.f16.f16", ", 1, 1, 0, 0")
ASSAY_WGMMA_SIZES(wgmma_tf32, float, ASSAY_FLOAT, "k8.f32.tf32.tf32", ", 1, 1")
ASSAY_WGMMA_SIZES(wgmma_e4m3, float, ASSAY_FLOAT, "k32.f32.e4m3.e4m3", ", 1, 1")
ASSAY_WGMMA_SIZES(wgmma_int8, std::int32_t, ASSAY_INTEGER, "k32.s32.s8.s8", "")
// clang-format on
#undef ASSAY_WGMMA_SIZES
#undef ASSAY_WGMMA
#undef ASSAY_INTEGER
#undef ASSAY_FLOAT
#undef ASSAY_REGISTERS_128
#undef ASSAY_REGISTERS_64
#undef ASSAY_REGISTERS_32
#undef ASSAY_REGISTERS_16
#undef ASSAY_REGISTERS_8
#undef ASSAY_REGISTERS_4
#undef ASSAY_NAMES_128
#undef ASSAY_NAMES_64
#undef ASSAY_NAMES_32

}  // namespace assay::kernels
