// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// kernels/ptx.cuh for the CPU, found before it: the same functions with the meaning of the instructions. An
// asynchronous copy takes effect as late as it may, when its thread waits for it, and until then its destination holds
// spoilt bytes (in random schedules some are done at once instead, which is legal as well and shows a buffer that was
// filled too early).
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "simt/half.h"
#include "simt/wmma.h"

namespace assay::simt {
void begin_copy(void* shared, const void* global, bool zeros);
void commit_copies();
void wait_copies(std::size_t pending);
void* dynamic_shared();
// runtime/matrices.cpp
void exchange_rows(const std::uint32_t (&row)[4], std::uint32_t (&words)[4], Where where);
unsigned processor_count();  // of the device
std::uint64_t look_at_clock();  // nanoseconds
std::uint64_t count_cycles();
}  // namespace assay::simt

namespace assay::kernels {

enum class Hint { normal, streaming };

template <Hint hint, class T>
T load(const T* p, ASSAY_SIMT_WHERE) {
  simt::check_alignment(p, where);
  return *p;
}
template <Hint hint, class T>
void store(T* p, std::type_identity_t<T> value, ASSAY_SIMT_WHERE) {
  simt::check_alignment(p, where);
  *p = value;
}

template <class T>
T load_again(const T* p, ASSAY_SIMT_WHERE) {
  return load<Hint::normal>(p, where);
}

template <class T>
struct alignas(16) Pack {
  static constexpr std::size_t size = 16 / sizeof(T);
  T at[size];
};
template <Hint hint, class T>
Pack<T> load16(const T* p, ASSAY_SIMT_WHERE) {
  simt::check_alignment(reinterpret_cast<const uint4*>(p), where);
  Pack<T> pack;
  std::memcpy(&pack, p, sizeof pack);
  return pack;
}
template <Hint hint, class T>
void store16(T* p, const Pack<T>& pack, ASSAY_SIMT_WHERE) {
  simt::check_alignment(reinterpret_cast<const uint4*>(p), where);
  std::memcpy(p, &pack, sizeof pack);
}

inline std::uint32_t fma_f16x2(std::uint32_t v, std::uint32_t a, std::uint32_t b) {
  return simt::multiply_add_pair<simt::F16>(v, a, b);
}
inline std::uint32_t fma_bf16x2(std::uint32_t v, std::uint32_t a, std::uint32_t b) {
  return simt::multiply_add_pair<simt::Bf16>(v, a, b);
}
inline float reciprocal(float x) { return 1 / x; }

// Blocks take the multiprocessors in turn. Cycles are no nanoseconds (runtime/simulated_time.h).
inline unsigned processor_number() { return blockIdx.x % simt::processor_count(); }
inline std::uint64_t global_timer_ns() { return simt::look_at_clock(); }
inline std::uint64_t cycle_count() { return simt::count_cycles(); }

inline void forget_memory() { asm volatile("" ::: "memory"); }

inline void copy_async16(void* shared, const void* global, ASSAY_SIMT_WHERE) {
  simt::check_is_shared(shared, where);
  simt::check_alignment(static_cast<const uint4*>(shared), where);
  simt::check_alignment(static_cast<const uint4*>(global), where);
  simt::begin_copy(shared, global, false);
}
inline void copy_async16_or_zeros(void* shared, const void* global, bool inside, ASSAY_SIMT_WHERE) {
  simt::check_is_shared(shared, where);
  simt::check_alignment(static_cast<const uint4*>(shared), where);
  if (inside) simt::check_alignment(static_cast<const uint4*>(global), where);
  simt::begin_copy(shared, global, !inside);
}
inline void commit_async() { simt::commit_copies(); }
template <int pending>
void wait_async() {
  simt::wait_copies(pending);
}

template <class T>
T* dynamic_shared() {
  return static_cast<T*>(simt::dynamic_shared());
}

// Each lane reads the row that it names, then the rows are exchanged.
inline void load_matrices(std::uint32_t (&words)[4], const void* row, ASSAY_SIMT_WHERE) {
  simt::check_is_shared(row, where);
  simt::check_alignment(static_cast<const uint4*>(row), where);
  std::uint32_t mine[4];
  std::memcpy(mine, row, sizeof mine);
  simt::exchange_rows(mine, words, where);
}

// Tensor cores, see kernels/ptx.cuh; runtime/mma.cpp.
void mma_bf16(float (&d)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2], ASSAY_SIMT_WHERE);
void mma_f16(float (&d)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2], ASSAY_SIMT_WHERE);
void mma_tf32(float (&d)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2], ASSAY_SIMT_WHERE);
void mma_f64(double (&d)[2], const double (&a)[1], const double (&b)[1], ASSAY_SIMT_WHERE);
void mma_e4m3(float (&d)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2], ASSAY_SIMT_WHERE);
void mma_e5m2(float (&d)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2], ASSAY_SIMT_WHERE);
void mma_int8(std::int32_t (&d)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2], ASSAY_SIMT_WHERE);

}  // namespace assay::kernels
