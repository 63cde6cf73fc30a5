// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// kernels/ptx_hopper.cuh for the CPU, found before it: the same functions with the meaning of the instructions, by
// runtime/mbarrier.cpp, bulk.cpp and wgmma.cpp. runtime/async.h says when asynchronous work takes effect.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/ptx.cuh"

namespace assay::simt {

void init_barrier(void* p, unsigned arrivals, Where where);
void publish_barriers();
void arrive(void* p, unsigned bytes, Where where);
void wait_barrier(void* p, unsigned parity, Where where);
void fence_async();

void load_bulk(void* shared, const void* global, unsigned bytes, void* barrier, Where where);
void store_bulk(void* global, const void* shared, unsigned bytes, Where where);
void commit_bulk();
void wait_bulk(std::size_t pending, bool only_read);
void load_box(void* shared, const CUtensorMap* map, int x, int y, void* barrier, Where where);

// A product, and what its operands hold.
enum class Numbers { bf16, f16, tf32, int8, e4m3 };
struct Product {
  Numbers numbers = Numbers::bf16;
  unsigned n = 0;
  std::uint64_t a = 0, b = 0;
  bool adds = false;
};
std::uint64_t describe_matrix(const void* shared, Where where);
void wgmma_fence(Where where);
void wgmma(const Product& product, void* d, Where where);
void wgmma_commit(Where where);
void wgmma_wait(std::size_t pending, Where where);

}  // namespace assay::simt

namespace assay::kernels {

struct alignas(8) Mbarrier {
  std::uint64_t word;
};
inline void init_barrier(Mbarrier* b, unsigned arrivals, ASSAY_SIMT_WHERE) { simt::init_barrier(b, arrivals, where); }
inline void publish_barriers() { simt::publish_barriers(); }
inline void arrive(Mbarrier* b, ASSAY_SIMT_WHERE) { simt::arrive(b, 0, where); }
inline void arrive_expecting(Mbarrier* b, unsigned bytes, ASSAY_SIMT_WHERE) { simt::arrive(b, bytes, where); }
inline void wait_barrier(Mbarrier* b, unsigned parity, ASSAY_SIMT_WHERE) { simt::wait_barrier(b, parity, where); }
inline void fence_async() { simt::fence_async(); }

template <Hint>
void load_bulk(void* shared, const void* global, unsigned bytes, Mbarrier* b, ASSAY_SIMT_WHERE) {
  simt::load_bulk(shared, global, bytes, b, where);
}
template <Hint>
void store_bulk(void* global, const void* shared, unsigned bytes, ASSAY_SIMT_WHERE) {
  simt::store_bulk(global, shared, bytes, where);
}
inline void commit_bulk() { simt::commit_bulk(); }
template <int pending>
void wait_bulk_read() {
  simt::wait_bulk(pending, true);
}
template <int pending>
void wait_bulk() {
  simt::wait_bulk(pending, false);
}
inline void prefetch_map(const CUtensorMap*) {}
inline void load_box(void* shared, const CUtensorMap* map, int x, int y, Mbarrier* b, ASSAY_SIMT_WHERE) {
  simt::load_box(shared, map, x, y, b, where);
}

template <unsigned count>
void take_registers() {
  static_assert(count % 8 == 0 && count >= 24 && count <= 256);
}
template <unsigned count>
void give_registers() {
  static_assert(count % 8 == 0 && count >= 24 && count <= 256);
}

inline std::uint64_t describe_matrix(const void* shared, ASSAY_SIMT_WHERE) {
  return simt::describe_matrix(shared, where);
}
constexpr std::uint64_t matrix_step(unsigned bytes) { return bytes / 16; }

inline void wgmma_fence(ASSAY_SIMT_WHERE) { simt::wgmma_fence(where); }
inline void wgmma_commit(ASSAY_SIMT_WHERE) { simt::wgmma_commit(where); }
template <int pending>
void wgmma_wait(ASSAY_SIMT_WHERE) {
  simt::wgmma_wait(pending, where);
}
template <int pending, class Number, unsigned count>
void wgmma_wait(Number (&)[count], ASSAY_SIMT_WHERE) {
  simt::wgmma_wait(pending, where);
}

inline void store_sum(float* to, float sum, ASSAY_SIMT_WHERE) { store<Hint::normal>(to, sum, where); }
inline void store_sums(float* to, float first, float second, ASSAY_SIMT_WHERE) {
  simt::check_alignment(reinterpret_cast<uint2*>(to), where);
  const float both[] = {first, second};
  std::memcpy(to, both, sizeof both);
}

#define ASSAY_SIMT_WGMMA(name, Number, numbers)                                                      \
  template <unsigned count>                                                                          \
  void name(Number(&d)[count], std::uint64_t of_a, std::uint64_t of_b, int adds, ASSAY_SIMT_WHERE) { \
    static_assert(count == 32 || count == 64 || count == 128);                                       \
    simt::wgmma({simt::Numbers::numbers, 2 * count, of_a, of_b, adds != 0}, d, where);               \
  }
ASSAY_SIMT_WGMMA(wgmma_bf16, float, bf16)
ASSAY_SIMT_WGMMA(wgmma_f16, float, f16)
ASSAY_SIMT_WGMMA(wgmma_tf32, float, tf32)
ASSAY_SIMT_WGMMA(wgmma_e4m3, float, e4m3)
ASSAY_SIMT_WGMMA(wgmma_int8, std::int32_t, int8)
#undef ASSAY_SIMT_WGMMA

}  // namespace assay::kernels
