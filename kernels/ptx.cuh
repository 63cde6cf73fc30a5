// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// All that is not plain CUDA C++: inline PTX and intrinsics with a cache hint. Device code uses them through this
// header only, because tests/simt puts a header of the same name before this one that does the same on a CPU; whoever
// adds a function here adds it there.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace assay::kernels {

// streaming: touched once, so evict it first (ld.global.cs, st.global.cs) and leave the caches to others.
// Of global memory, both.
enum class Hint { normal, streaming };

// By hand, because clang hasn't all of CUDA's intrinsics for this.
#define ASSAY_LOAD(name, instruction, ...)                                                                            \
  template <class T>                                                                                                  \
  __device__ __forceinline__ T name(const T* p) {                                                                     \
    static_assert(sizeof(T) == 16 || sizeof(T) == 8 || sizeof(T) == 4, "an access of 4, 8 or 16 bytes");              \
    T value;                                                                                                          \
    if constexpr (sizeof(T) == 16) {                                                                                  \
      uint4 w;                                                                                                        \
      asm volatile(instruction ".v4.u32 {%0, %1, %2, %3}, [%4];"                                                      \
                   : "=r"(w.x), "=r"(w.y), "=r"(w.z), "=r"(w.w) : "l"(p) __VA_ARGS__);                                \
      memcpy(&value, &w, sizeof value);                                                                               \
    } else if constexpr (sizeof(T) == 8) {                                                                            \
      unsigned long long w;                                                                                           \
      asm volatile(instruction ".u64 %0, [%1];" : "=l"(w) : "l"(p) __VA_ARGS__);                                      \
      memcpy(&value, &w, sizeof value);                                                                               \
    } else {                                                                                                          \
      unsigned w;                                                                                                     \
      asm volatile(instruction ".u32 %0, [%1];" : "=r"(w) : "l"(p) __VA_ARGS__);                                      \
      memcpy(&value, &w, sizeof value);                                                                               \
    }                                                                                                                 \
    return value;                                                                                                     \
  }
#define ASSAY_STORE(name, instruction)                                                                                \
  template <class T>                                                                                                  \
  __device__ __forceinline__ void name(T* p, T value) {                                                               \
    static_assert(sizeof(T) == 16 || sizeof(T) == 8 || sizeof(T) == 4, "an access of 4, 8 or 16 bytes");              \
    if constexpr (sizeof(T) == 16) {                                                                                  \
      uint4 w;                                                                                                        \
      memcpy(&w, &value, sizeof w);                                                                                   \
      asm volatile(instruction ".v4.u32 [%0], {%1, %2, %3, %4};"                                                      \
                   ::"l"(p), "r"(w.x), "r"(w.y), "r"(w.z), "r"(w.w) : "memory");                                      \
    } else if constexpr (sizeof(T) == 8) {                                                                            \
      unsigned long long w;                                                                                           \
      memcpy(&w, &value, sizeof w);                                                                                   \
      asm volatile(instruction ".u64 [%0], %1;" ::"l"(p), "l"(w) : "memory");                                         \
    } else {                                                                                                          \
      unsigned w;                                                                                                     \
      memcpy(&w, &value, sizeof w);                                                                                   \
      asm volatile(instruction ".u32 [%0], %1;" ::"l"(p), "r"(w) : "memory");                                         \
    }                                                                                                                 \
  }
ASSAY_LOAD(load_evict_first, "ld.global.cs")
ASSAY_LOAD(load_uncached, "ld.global.cv", : "memory")
ASSAY_STORE(store_evict_first, "st.global.cs")
ASSAY_STORE(store_whole, "st.global.wb")
#undef ASSAY_LOAD
#undef ASSAY_STORE

template <Hint hint, class T>
__device__ __forceinline__ T load(const T* p) {
  if constexpr (hint == Hint::streaming) return load_evict_first(p);
  __builtin_assume(__isGlobal(p));  // else a pointer that came out of memory is looked up in all address spaces
  return *p;
}
template <Hint hint, class T>
__device__ __forceinline__ void store(T* p, T value) {
  if constexpr (hint == Hint::streaming) {
    store_evict_first(p, value);
  } else {
    store_whole(p, value);  // as an assignment, but never taken apart into smaller stores
  }
}

// Fetched again instead of taken from the cache of the multiprocessor (ld.global.cv).
template <class T>
__device__ __forceinline__ T load_again(const T* p) {
  return load_uncached(p);
}

// 16 bytes, the widest access of a thread. `p` is aligned to 16 bytes.
template <class T>
struct alignas(16) Pack {
  static constexpr std::size_t size = 16 / sizeof(T);
  T at[size];
};
template <Hint hint, class T>
__device__ __forceinline__ Pack<T> load16(const T* p) {
  const uint4 raw = load<hint>(reinterpret_cast<const uint4*>(p));
  Pack<T> pack;
  memcpy(&pack, &raw, sizeof pack);  // stays in registers
  return pack;
}
template <Hint hint, class T>
__device__ __forceinline__ void store16(T* p, const Pack<T>& pack) {
  uint4 raw;
  memcpy(&raw, &pack, sizeof raw);
  store<hint>(reinterpret_cast<uint4*>(p), raw);
}

// An instruction that devices before 8.0 or 8.9 don't have. Machine code for those ends the kernel there, and no
// version runs it: see CudaVersion::from.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#define ASSAY_ASM_80(...) __trap()
#else
#define ASSAY_ASM_80(...) asm __VA_ARGS__
#endif
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 890
#define ASSAY_ASM_89(...) __trap()
#else
#define ASSAY_ASM_89(...) asm __VA_ARGS__
#endif

// Two numbers in a word, the first in the low half: v * a + b, each rounded once (bf16: 8.0 and later).
__device__ __forceinline__ std::uint32_t fma_f16x2(std::uint32_t v, std::uint32_t a, std::uint32_t b) {
  std::uint32_t result;
  asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(result) : "r"(v), "r"(a), "r"(b));
  return result;
}
__device__ __forceinline__ std::uint32_t fma_bf16x2(std::uint32_t v, std::uint32_t a, std::uint32_t b) {
  std::uint32_t result = 0;
  ASSAY_ASM_80(("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(result) : "r"(v), "r"(a), "r"(b)));
  return result;
}
// 1 / x to about 2^-23, by the special function unit. Trap: nvcc 13.0 knows that two of these in a row are none.
__device__ __forceinline__ float reciprocal(float x) {
  float result;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}

// The number of the multiprocessor that a thread runs on, its count of cycles, and the device's timer in nanoseconds.
// `volatile` and "memory": each call asks anew, and stays where it is among loads and stores.
__device__ __forceinline__ unsigned processor_number() {
  unsigned number;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(number));
  return number;
}
__device__ __forceinline__ std::uint64_t cycle_count() {
  std::uint64_t cycles;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(cycles)::"memory");
  return cycles;
}
__device__ __forceinline__ std::uint64_t global_timer_ns() {
  std::uint64_t ns;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns)::"memory");
  return ns;
}

// Memory may have changed: a second pass over the same data isn't derived from the first.
__device__ __forceinline__ void forget_memory() { asm volatile("" ::: "memory"); }

// Asynchronous copy of 16 bytes from global to shared memory past the registers (8.0 and later). Copies are gathered
// into groups by commit; wait_async<pending> returns when at most `pending` of this thread's newest groups are still
// under way. Other threads see the data after a barrier behind that. Both addresses are aligned to 16 bytes.
__device__ __forceinline__ void copy_async16(void* shared, const void* global) {
  [[maybe_unused]] const auto address = static_cast<std::uint32_t>(__cvta_generic_to_shared(shared));
  ASSAY_ASM_80(volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(address), "l"(global) : "memory"));
}
// The same, or 16 zeros: where `inside` is false, nothing is read and `global` may be any address.
__device__ __forceinline__ void copy_async16_or_zeros(void* shared, const void* global, bool inside) {
  [[maybe_unused]] const auto address = static_cast<std::uint32_t>(__cvta_generic_to_shared(shared));
  [[maybe_unused]] const std::uint32_t bytes = inside ? 16 : 0;
  ASSAY_ASM_80(
      volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address), "l"(global), "r"(bytes) : "memory"));
}
__device__ __forceinline__ void commit_async() { ASSAY_ASM_80(volatile("cp.async.commit_group;" ::: "memory")); }
template <int pending>
__device__ __forceinline__ void wait_async() {
  ASSAY_ASM_80(volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory"));
}

// The dynamic shared memory of the block, aligned to 1024 bytes.
template <class T>
__device__ __forceinline__ T* dynamic_shared() {
  extern __shared__ __align__(1024) unsigned char assay_dynamic_shared[];
  return reinterpret_cast<T*>(assay_dynamic_shared);
}

// Four matrices of 8 rows with 16 bytes from shared memory, by a whole warp (ldmatrix, 7.5 and later): lane l gives the
// address of row l % 8 of matrix l / 8, aligned to 16 bytes, and gets word l % 4 of row l / 4 of each matrix. That is
// how mma.sync wants its operands.
__device__ __forceinline__ void load_matrices(std::uint32_t (&words)[4], const void* row) {
  [[maybe_unused]] const auto address = static_cast<std::uint32_t>(__cvta_generic_to_shared(row));
  ASSAY_ASM_80(volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                        : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
                        : "r"(address)
                        : "memory"));
}

// Tensor cores by the older instructions, which also load and store (wmma; bf16 8.0 and later): 16 x 16 numbers of a
// matrix in shared memory, of A and the sums by rows, of B by columns, row_numbers apart, spread over a warp in a way
// that PTX leaves open. Addresses are aligned to 32 bytes, row_numbers * size to 16. All lanes of the warp call it
// together.
struct WmmaA {
  std::uint32_t words[4];
};
struct WmmaB {
  std::uint32_t words[4];
};
struct WmmaSum {
  float numbers[8];
};
#define ASSAY_WMMA_LOAD(Fragment, instruction)                                                                       \
  __device__ __forceinline__ void wmma_load(Fragment& to, const std::uint16_t* shared, unsigned row_numbers) {       \
    [[maybe_unused]] const auto address = static_cast<std::uint32_t>(__cvta_generic_to_shared(shared));              \
    [[maybe_unused]] auto& w = to.words;                                                                             \
    ASSAY_ASM_80(volatile("wmma.load." instruction ".m16n16k16.shared.bf16 {%0, %1, %2, %3}, [%4], %5;"              \
                          : "=r"(w[0]), "=r"(w[1]), "=r"(w[2]), "=r"(w[3])                                           \
                          : "r"(address), "r"(row_numbers) : "memory"));                                             \
  }
ASSAY_WMMA_LOAD(WmmaA, "a.sync.aligned.row")
ASSAY_WMMA_LOAD(WmmaB, "b.sync.aligned.col")
#undef ASSAY_WMMA_LOAD
__device__ __forceinline__ void wmma_clear(WmmaSum& sum) { sum = {}; }
__device__ __forceinline__ void wmma_multiply(WmmaSum& sum, const WmmaA& a, const WmmaB& b) {
  [[maybe_unused]] auto& d = sum.numbers;
  ASSAY_ASM_80(volatile(
      "wmma.mma.sync.aligned.row.col.m16n16k16.f32.bf16.bf16.f32 {%0, %1, %2, %3, %4, %5, %6, %7}, "
      "{%8, %9, %10, %11}, {%12, %13, %14, %15}, {%0, %1, %2, %3, %4, %5, %6, %7};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7])
      : "r"(a.words[0]), "r"(a.words[1]), "r"(a.words[2]), "r"(a.words[3]), "r"(b.words[0]), "r"(b.words[1]),
        "r"(b.words[2]), "r"(b.words[3])));
}
__device__ __forceinline__ void wmma_store(float* shared, const WmmaSum& sum, unsigned row_numbers) {
  [[maybe_unused]] const auto address = static_cast<std::uint32_t>(__cvta_generic_to_shared(shared));
  const auto& d = sum.numbers;
  asm volatile("wmma.store.d.sync.aligned.row.m16n16k16.shared.f32 [%0], {%1, %2, %3, %4, %5, %6, %7, %8}, %9;"
               :
               : "r"(address), "f"(d[0]), "f"(d[1]), "f"(d[2]), "f"(d[3]), "f"(d[4]), "f"(d[5]), "f"(d[6]), "f"(d[7]),
                 "r"(row_numbers)
               : "memory");
}

// Tensor cores: D = D + A * B by a whole warp (mma.sync, 8.0 and later), m x n x k = 16 x 8 x 32 bytes, and 8 x 8 x 4 in
// f64. Which lane holds what is in mma.cu. bf16, f16: two numbers in a word; int8, fp8 (8.9 and later): four; tf32: an
// f32 whose last 13 bits are ignored. All lanes of the warp call it together.
#define ASSAY_MMA(name, from, instruction, Number, kind)                                                            \
  __device__ __forceinline__ void name(Number(&d)[4], const std::uint32_t(&a)[4], const std::uint32_t(&b)[2]) {     \
    from(volatile("mma.sync.aligned." instruction " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};" \
                  : "+" kind(d[0]), "+" kind(d[1]), "+" kind(d[2]), "+" kind(d[3])                                  \
                  : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1])));                             \
  }
ASSAY_MMA(mma_bf16, ASSAY_ASM_80, "m16n8k16.row.col.f32.bf16.bf16.f32", float, "f")
ASSAY_MMA(mma_f16, ASSAY_ASM_80, "m16n8k16.row.col.f32.f16.f16.f32", float, "f")
ASSAY_MMA(mma_tf32, ASSAY_ASM_80, "m16n8k8.row.col.f32.tf32.tf32.f32", float, "f")
ASSAY_MMA(mma_int8, ASSAY_ASM_80, "m16n8k32.row.col.s32.s8.s8.s32", std::int32_t, "r")
ASSAY_MMA(mma_e4m3, ASSAY_ASM_89, "m16n8k32.row.col.f32.e4m3.e4m3.f32", float, "f")
ASSAY_MMA(mma_e5m2, ASSAY_ASM_89, "m16n8k32.row.col.f32.e5m2.e5m2.f32", float, "f")
#undef ASSAY_MMA
__device__ __forceinline__ void mma_f64(double (&d)[2], const double (&a)[1], const double (&b)[1]) {
  ASSAY_ASM_80(volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                        : "+d"(d[0]), "+d"(d[1])
                        : "d"(a[0]), "d"(b[0])));
}

}  // namespace assay::kernels
