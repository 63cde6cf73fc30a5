// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// CPU row of the copies. The non-temporal one is compiled once per instruction set by Highway (see stream.cpp for the
// pattern) and takes lines in the order of lines_inl.h.
#include "kernels/memcpy.h"

#include <algorithm>
#include <cstring>

// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/memcpy.cpp"
#include <hwy/foreach_target.h>
#include <hwy/cache_control.h>
#include <hwy/highway.h>
#include "kernels/lines_inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace assay::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr std::size_t line = 64;

HWY_INLINE void copy_line(std::uint8_t* to, const std::uint8_t* from) {
  const hn::CappedTag<std::uint8_t, line> d;
  for (std::size_t k = 0; k < line; k += hn::Lanes(d)) hn::Stream(hn::LoadU(d, from + k), d, to + k);
}

void copy_lines(std::uint8_t* to, const std::uint8_t* from, std::size_t n) {
  const std::size_t misalignment = reinterpret_cast<std::uintptr_t>(to) % line;
  std::size_t i = std::min(n, (line - misalignment) % line);
  std::memcpy(to, from, i);
  i = for_lines<line, 4096>(i, n, [=](std::size_t k) HWY_ATTR { copy_line(to + k, from + k); });
  std::memcpy(to + i, from + i, n - i);
  hwy::FlushStream();
}

}  // namespace assay::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {
namespace {

HWY_EXPORT(copy_lines);

void copy_libc(std::uint8_t* to, const std::uint8_t* from, std::size_t n) { std::memcpy(to, from, n); }
void copy_non_temporal(std::uint8_t* to, const std::uint8_t* from, std::size_t n) {
  HWY_DYNAMIC_DISPATCH(copy_lines)(to, from, n);
}

template <void (*copy)(std::uint8_t*, const std::uint8_t*, std::size_t)>
void run(const Exec& exec, void* to, const void* from, std::size_t n, std::uint64_t iterations) {
#pragma omp parallel for num_threads(exec.threads) schedule(static, 1)
  for (int thread = 0; thread < exec.threads; ++thread) {
    const Range range = share(n, thread, exec.threads, 64);
    if (range.begin == range.end) continue;
    for (std::uint64_t iteration = 0; iteration < iterations; ++iteration) {
      copy(static_cast<std::uint8_t*>(to) + range.begin, static_cast<const std::uint8_t*>(from) + range.begin,
           range.end - range.begin);
      asm volatile("" ::: "memory");  // the compiler must not take a repeated copy for a useless one
    }
  }
}

constexpr MemcpyOps cpu_row = {run<copy_libc>, run<copy_non_temporal>};

}  // namespace

const MemcpyOps* memcpy_ops(Backend backend) { return backend == Backend::cpu ? &cpu_row : nullptr; }

}  // namespace assay::kernels
#endif  // HWY_ONCE
