// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Inline PTX of compute capability 10.x (10.0a, 10.0f, 10.3a): the fifth generation of tensor cores, tcgen05. One
// thread starts a product of matrices in shared memory; the sum stands in tensor memory, 128 lanes of 512 columns of 4
// bytes for each multiprocessor. An address there is lane * 65536 + column.
//
// Trap: no rig executes any of this. It is compiled, and its machine code inspected; nothing shows that it is right.
// tests/simt has no header of this name, and leaves out the files that include it.
#pragma once

#include "kernels/ptx_hopper.cuh"

namespace assay::kernels {

// --- tensor memory. By all lanes of a warp together; warp w of the block reaches lanes 32 w to 32 w + 31 only.

// `columns`, a power of two from 32 on; their address goes to *shared. The warp that allocates also frees, or the next
// block on the multiprocessor waits for ever.
template <unsigned columns>
__device__ __forceinline__ void allocate_tensor_memory(std::uint32_t* shared) {
  asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], %1;" ::"r"(shared_address(shared)),
               "n"(columns)
               : "memory");
  asm volatile("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;" ::: "memory");
}
template <unsigned columns>
__device__ __forceinline__ void free_tensor_memory(std::uint32_t address) {
  asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, %1;" ::"r"(address), "n"(columns) : "memory");
}

// Eight columns of the lane that has this thread's number in its warp. Stores are done after wait_tensor_stores.
__device__ __forceinline__ void store_tensor8(std::uint32_t address, const std::uint32_t (&v)[8]) {
  asm volatile("tcgen05.st.sync.aligned.32x32b.x8.b32 [%0], {%1, %2, %3, %4, %5, %6, %7, %8};" ::"r"(address),
               "r"(v[0]), "r"(v[1]), "r"(v[2]), "r"(v[3]), "r"(v[4]), "r"(v[5]), "r"(v[6]), "r"(v[7])
               : "memory");
}
__device__ __forceinline__ void wait_tensor_stores() { asm volatile("tcgen05.wait::st.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void load_tensor8(std::uint32_t (&v)[8], std::uint32_t address) {
  asm volatile(
      "tcgen05.ld.sync.aligned.32x32b.x8.b32 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8];\n"
      "tcgen05.wait::ld.sync.aligned;"
      : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3]), "=r"(v[4]), "=r"(v[5]), "=r"(v[6]), "=r"(v[7])
      : "r"(address)
      : "memory");
}

// Around a barrier between threads of which one loads, stores or multiplies, and another does so after it.
__device__ __forceinline__ void fence_tensor_before() {
  asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
}
__device__ __forceinline__ void fence_tensor_after() { asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory"); }

// --- products

// A matrix of rows of 32 bytes in shared memory, in pieces of 8 rows x 16 bytes = 128 bytes: first the piece with the
// first 16 bytes of rows 0 to 7, then the one with their last 16, then those of rows 8 to 15. Aligned to 128 bytes.
__device__ __forceinline__ std::uint64_t describe_pieces(const void* shared) {
  constexpr std::uint64_t beside = 128, below = 256, of_this_generation = std::uint64_t{1} << 46;
  return (shared_address(shared) & 0x3FFFFu) >> 4 | beside / 16 << 16 | below / 16 << 32 | of_this_generation;
}

enum class TensorFormat { e4m3, e5m2, e2m1 };

// What a product is: types, m (a multiple of 16), n (of 8), and that scales are powers of two.
__host__ __device__ constexpr std::uint32_t describe_product(TensorFormat format, unsigned m, unsigned n) {
  const std::uint32_t type =
      format == TensorFormat::e4m3 ? 0 : 1;  // of the two kinds below, each of which counts for itself
  return type << 7 | type << 10 | n / 8 << 17 | 1u << 23 | m / 16 << 24;
}

// D = D + (A scaled) * (B scaled), m x n x 32 bytes, D in tensor memory. A scale is for 32 numbers of a row. By one
// thread; done when the barrier of commit_tensor says so. e4m3 and e5m2 by one kind of instruction, e2m1 by another.
template <TensorFormat format>
__device__ __forceinline__ void multiply_block_scaled(std::uint32_t d, std::uint64_t a, std::uint64_t b,
                                                      std::uint32_t product, std::uint32_t scale_a,
                                                      std::uint32_t scale_b) {
#define ASSAY_BLOCK_SCALED(kind)                                                                    \
  asm volatile("{\n.reg .pred adds;\nsetp.ne.b32 adds, 1, 0;\ntcgen05.mma.cta_group::1.kind::" kind \
               ".block_scale.block32 [%0], %1, %2, %3, [%4], [%5], adds;\n}" ::"r"(d),              \
               "l"(a), "l"(b), "r"(product), "r"(scale_a), "r"(scale_b)                             \
               : "memory")
  if constexpr (format == TensorFormat::e2m1) {
    ASSAY_BLOCK_SCALED("mxf4");
  } else {
    ASSAY_BLOCK_SCALED("mxf8f6f4");
  }
#undef ASSAY_BLOCK_SCALED
}

// All products of this thread so far arrive at the barrier once, when they are done.
__device__ __forceinline__ void commit_tensor(Mbarrier* barrier) {
  asm volatile(
      "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(shared_address(barrier))
      : "memory");
}
}  // namespace assay::kernels
