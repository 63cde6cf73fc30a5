// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Reads an element again from memory rather than from a cache: the line is written back and dropped first (clflush on
// x86-64, dc civac on 64-bit ARM). Elsewhere it is a plain second load, which may come from the cache.
// Host code only.
#pragma once

#include <atomic>
#include <cstdint>

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace assay::kernels {

inline void flush_line(const volatile void* p) {
#if defined(__x86_64__)
  _mm_clflush(const_cast<const void*>(p));
  _mm_mfence();
#elif defined(__aarch64__)
  asm volatile("dc civac, %0\n\tdsb sy" ::"r"(p) : "memory");
#else
  static_cast<void>(p);
#endif
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

template <class T>
T second_read(const T* p) {
  flush_line(p);
  return *static_cast<const volatile T*>(p);
}

}  // namespace assay::kernels
