// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Peak arithmetic on the CPU: `chains` vectors in registers advance in step, so that the latency of one hides behind
// the others (needed: pipes x latency, 8 to 10 on x86, 16 on the widest ARM cores). The contract and the traps are in
// fma.h.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/fma.cpp"
#include "kernels/fma.h"

#include <hwy/foreach_target.h>  // compiles this file once for each SIMD target
#include <hwy/highway.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "kernels/bits.h"

#ifndef ASSAY_KERNELS_FMA_LAYOUT
#define ASSAY_KERNELS_FMA_LAYOUT
namespace assay::kernels {
struct FmaLayout {
  std::size_t lanes32, lanes64, chains;
  bool fused;
  const char* target;
};
}  // namespace assay::kernels
#endif

HWY_BEFORE_NAMESPACE();
namespace assay::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// x86: 12 + a + b fit the 16 registers of AVX2. ARM has 32 registers and up to 4 pipes.
constexpr std::size_t chains = HWY_ARCH_X86 ? 12 : 20;

template <class X, class Bits>
HWY_INLINE void run_chains(std::size_t passes, const X* HWY_RESTRICT x, const X* a_lanes, const X* b_lanes,
                           Bits* HWY_RESTRICT sums) {
  const hn::ScalableTag<X> d;
  const hn::RebindToUnsigned<decltype(d)> bits;
  constexpr std::size_t lanes = hn::MaxLanes(hn::ScalableTag<X>());
  const auto a = hn::LoadU(d, a_lanes), b = hn::LoadU(d, b_lanes);
  for (std::size_t pass = 0; pass < passes; ++pass) {
    asm volatile("" ::: "memory");  // the passes are equal: the compiler must not notice
    hn::Vec<hn::ScalableTag<X>> v[chains];
#pragma GCC unroll 32
    for (std::size_t c = 0; c < chains; ++c) v[c] = hn::LoadU(d, x + c * lanes);
    for (std::size_t step = 0; step < fma_steps; ++step) {
#pragma GCC unroll 32
      for (std::size_t c = 0; c < chains; ++c) {
        if constexpr (std::is_floating_point_v<X>) {
          v[c] = hn::MulAdd(v[c], a, b);
        } else {
          v[c] = hn::Add(hn::Mul(v[c], a), b);
        }
      }
    }
#pragma GCC unroll 32
    for (std::size_t c = 0; c < chains; ++c) {
      const auto before = hn::LoadU(bits, sums + c * lanes);
      hn::StoreU(hn::Add(before, hn::BitCast(bits, v[c])), bits, sums + c * lanes);
    }
  }
}

void chains_f32(std::size_t passes, const float* x, const float* a, const float* b, std::uint32_t* sums) {
  run_chains(passes, x, a, b, sums);
}
void chains_f64(std::size_t passes, const double* x, const double* a, const double* b, std::uint64_t* sums) {
  run_chains(passes, x, a, b, sums);
}
void chains_i32(std::size_t passes, const std::uint32_t* x, const std::uint32_t* a, const std::uint32_t* b,
                std::uint32_t* sums) {
  run_chains(passes, x, a, b, sums);
}

FmaLayout layout() {
  constexpr bool fused = HWY_ARCH_X86 ? HWY_TARGET <= HWY_AVX2 : HWY_ARCH_ARM_A64;
  return {hn::Lanes(hn::ScalableTag<float>()), hn::Lanes(hn::ScalableTag<double>()), chains, fused,
          hwy::TargetName(HWY_TARGET)};
}

}  // namespace assay::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#if HWY_ARCH_X86
#include <immintrin.h>
#endif

namespace assay::kernels {
namespace {

HWY_EXPORT(chains_f32);
HWY_EXPORT(chains_f64);
HWY_EXPORT(chains_i32);
HWY_EXPORT(layout);

// Each thread advances its own elements.
template <class X, class Bits, class Chains>
void on_all_threads(const Exec& exec, std::size_t elements, const X* x, Bits* sums, Chains&& chains) {
#pragma omp parallel num_threads(exec.threads)
  {
    const std::size_t first = static_cast<std::size_t>(omp_get_thread_num()) * elements;
    chains(x + first, sums + first);
  }
}

const FmaLayout& current() {
  static const FmaLayout value = HWY_DYNAMIC_DISPATCH(layout)();
  return value;
}

void run_f32(const Exec& exec, std::size_t passes, const float* x, const float* a, const float* b,
             std::uint32_t* sums) {
  on_all_threads(exec, current().lanes32 * current().chains, x, sums, [=](const float* from, std::uint32_t* to) {
    HWY_DYNAMIC_DISPATCH(chains_f32)(passes, from, a, b, to);
  });
}

void run_f64(const Exec& exec, std::size_t passes, const double* x, const double* a, const double* b,
             std::uint64_t* sums) {
  on_all_threads(exec, current().lanes64 * current().chains, x, sums, [=](const double* from, std::uint64_t* to) {
    HWY_DYNAMIC_DISPATCH(chains_f64)(passes, from, a, b, to);
  });
}

void run_i32(const Exec& exec, std::size_t passes, const std::uint32_t* x, const std::uint32_t* a,
             const std::uint32_t* b, std::uint32_t* sums) {
  on_all_threads(exec, current().lanes32 * current().chains, x, sums,
                 [=](const std::uint32_t* from, std::uint32_t* to) {
                   HWY_DYNAMIC_DISPATCH(chains_i32)(passes, from, a, b, to);
                 });
}

// bf16 by VDPBF16PS, which Highway's targets do not include: one function compiled for it, called after a check.
#if HWY_ARCH_X86 && defined(__GNUC__)
constexpr std::size_t bf16_lanes = 16, bf16_chains = 20;

__attribute__((target("avx512f,avx512bw,avx512vl,avx512bf16"))) void chains_bf16(std::size_t passes, const float* x,
                                                                                 const std::uint16_t* a_lanes,
                                                                                 const std::uint16_t* b_lanes,
                                                                                 std::uint32_t* sums) {
  __m512bh a[2], b[2];
  for (std::size_t i = 0; i < 2; ++i) {
    std::memcpy(&a[i], a_lanes + i * 2 * bf16_lanes, sizeof a[i]);
    std::memcpy(&b[i], b_lanes + i * 2 * bf16_lanes, sizeof b[i]);
  }
  for (std::size_t pass = 0; pass < passes; ++pass) {
    asm volatile("" ::: "memory");
    __m512 v[bf16_chains];
#pragma GCC unroll 32
    for (std::size_t c = 0; c < bf16_chains; ++c) v[c] = _mm512_loadu_ps(x + c * bf16_lanes);
    for (std::size_t step = 0; step < fma_steps; step += 2) {
#pragma GCC unroll 32
      for (std::size_t c = 0; c < bf16_chains; ++c) v[c] = _mm512_dpbf16_ps(v[c], a[0], b[0]);
#pragma GCC unroll 32
      for (std::size_t c = 0; c < bf16_chains; ++c) v[c] = _mm512_dpbf16_ps(v[c], a[1], b[1]);
    }
#pragma GCC unroll 32
    for (std::size_t c = 0; c < bf16_chains; ++c) {
      const __m512i before = _mm512_loadu_si512(sums + c * bf16_lanes);
      _mm512_storeu_si512(sums + c * bf16_lanes, _mm512_add_epi32(before, _mm512_castps_si512(v[c])));
    }
  }
}

void run_bf16(const Exec& exec, std::size_t passes, const float* x, const std::uint16_t* a, const std::uint16_t* b,
              std::uint32_t* sums) {
  on_all_threads(exec, bf16_lanes * bf16_chains, x, sums,
                 [=](const float* from, std::uint32_t* to) { chains_bf16(passes, from, a, b, to); });
}

const FmaBf16Row* bf16_row() {
  static constexpr FmaBf16Row row{bf16_lanes, bf16_lanes * bf16_chains, run_bf16};
  return __builtin_cpu_supports("avx512bf16") ? &row : nullptr;
}
#else
const FmaBf16Row* bf16_row() { return nullptr; }
#endif

// The elements of one block of `lanes`-periodic data advance together, so that the scalar code is not bound by latency.
template <class X, class Bits>
void expected_float(const Exec& exec, std::size_t n, std::size_t lanes, std::size_t passes, const X* x, const X* a,
                    const X* b, Bits* sums) {
  constexpr std::size_t together = 8;
#pragma omp parallel for num_threads(exec.threads) schedule(static)
  for (std::size_t first = 0; first < n; first += together) {
    const std::size_t count = std::min(together, n - first);
    X v[together];
    for (std::size_t i = 0; i < count; ++i) v[i] = x[first + i];
    for (std::size_t step = 0; step < fma_steps; ++step) {
      for (std::size_t i = 0; i < count; ++i) v[i] = std::fma(v[i], a[(first + i) % lanes], b[(first + i) % lanes]);
    }
    for (std::size_t i = 0; i < count; ++i) sums[first + i] = static_cast<Bits>(passes) * bits_of(v[i]);
  }
}

// f16 and bf16 by their values, in double: what x * a + b is there is exact before it is rounded.
struct Format {
  int digits, smallest;  // significant bits; exponent of the smallest normal number
  double (*value)(std::uint16_t);
};
constexpr Format f16{11, -14, from_f16};
constexpr Format bf16{8, -126, [](std::uint16_t bits) { return static_cast<double>(from_bf16({bits})); }};

double rounded(double x, const Format& f) {
  const auto exponent = static_cast<int>(bits_of(x) >> 52 & 0x7FF) - 1023;
  const auto unit_exponent = static_cast<std::uint64_t>(1023 + std::max(exponent, f.smallest) - (f.digits - 1)) << 52;
  double unit = 0;
  std::memcpy(&unit, &unit_exponent, sizeof unit);
  return std::nearbyint(x / unit) * unit;
}

std::uint32_t half_of(double x, const Format& f) {  // x is one of the format's numbers
  const int fraction_bits = f.digits - 1;
  const std::uint32_t sign = std::signbit(x) ? 0x8000u : 0;
  if (x == 0) return sign;
  int exponent = 0;
  std::frexp(x, &exponent);
  exponent = std::max(exponent - 1, f.smallest);
  const auto units = static_cast<std::uint32_t>(std::ldexp(std::abs(x), fraction_bits - exponent));
  return sign | (units + (static_cast<std::uint32_t>(exponent - f.smallest) << fraction_bits));
}

void expected_pairs(const Exec& exec, std::size_t n, std::size_t lanes, std::size_t passes, const std::uint32_t* x,
                    const std::uint32_t* a, const std::uint32_t* b, std::uint32_t* sums, const Format& f) {
#pragma omp parallel for num_threads(exec.threads) schedule(static)
  for (std::size_t i = 0; i < n; ++i) {
    std::uint32_t word = 0;
    for (const int shift : {0, 16}) {
      const auto value = [&](std::uint32_t pair) { return f.value(static_cast<std::uint16_t>(pair >> shift)); };
      double v = value(x[i]);
      const double factor = value(a[i % lanes]), summand = value(b[i % lanes]);
      for (std::size_t step = 0; step < fma_odd_steps; ++step) v = rounded(v * factor + summand, f);
      word |= half_of(v, f) << shift;
    }
    sums[i] = static_cast<std::uint32_t>(passes) * word;
  }
}

}  // namespace

const FmaOps* fma_ops(Backend backend, int capability) {
  if (backend != Backend::cpu) return cuda_versions<FmaOps>.best(capability);
  const FmaLayout& l = current();
  static const FmaRow<float, std::uint32_t> f32{l.lanes32, l.lanes32 * l.chains, run_f32};
  static const FmaRow<double, std::uint64_t> f64{l.lanes64, l.lanes64 * l.chains, run_f64};
  static const FmaRow<std::uint32_t, std::uint32_t> i32{l.lanes32, l.lanes32 * l.chains, run_i32};
  static const FmaOps ops{
      l.fused ? &f32 : nullptr, l.fused ? &f64 : nullptr, &i32, bf16_row(), nullptr, nullptr, nullptr, l.target};
  return &ops;
}

void fma_expected(const Exec& exec, std::size_t n, std::size_t lanes, std::size_t passes, const float* x,
                  const float* a, const float* b, std::uint32_t* sums) {
  expected_float(exec, n, lanes, passes, x, a, b, sums);
}

void fma_expected(const Exec& exec, std::size_t n, std::size_t lanes, std::size_t passes, const double* x,
                  const double* a, const double* b, std::uint64_t* sums) {
  expected_float(exec, n, lanes, passes, x, a, b, sums);
}

void fma_expected(const Exec&, std::size_t n, std::size_t lanes, std::size_t passes, const std::uint32_t* x,
                  const std::uint32_t* a, const std::uint32_t* b, std::uint32_t* sums) {
  static_assert((fma_steps & (fma_steps - 1)) == 0, "the squarings below want a power of two");
  for (std::size_t i = 0; i < n; ++i) {
    std::uint32_t factor = a[i % lanes], offset = b[i % lanes];
    for (std::size_t steps = 1; steps < fma_steps; steps *= 2) {  // x -> factor x + offset, applied to itself
      offset += factor * offset;
      factor *= factor;
    }
    sums[i] = static_cast<std::uint32_t>(passes) * (factor * x[i] + offset);
  }
}

void fma_expected_bf16(const Exec&, std::size_t n, std::size_t lanes, std::size_t passes, const float* x,
                       const std::uint16_t* a, const std::uint16_t* b, std::uint32_t* sums) {
  for (std::size_t i = 0; i < n; ++i) {
    std::int64_t both = 0;  // what two steps add
    for (std::size_t pair = 0; pair < 2; ++pair) {
      for (std::size_t half = 0; half < 2; ++half) {
        const std::size_t at = 2 * (pair * lanes + i % lanes) + half;
        both += static_cast<std::int64_t>(from_bf16({a[at]})) * static_cast<std::int64_t>(from_bf16({b[at]}));
      }
    }
    const auto end = static_cast<std::int64_t>(x[i]) + static_cast<std::int64_t>(fma_steps / 2) * both;
    sums[i] = static_cast<std::uint32_t>(passes) * bits_of(static_cast<float>(end));
  }
}

void fma_expected_f16x2(const Exec& exec, std::size_t n, std::size_t lanes, std::size_t passes, const std::uint32_t* x,
                        const std::uint32_t* a, const std::uint32_t* b, std::uint32_t* sums) {
  expected_pairs(exec, n, lanes, passes, x, a, b, sums, f16);
}

void fma_expected_bf16x2(const Exec& exec, std::size_t n, std::size_t lanes, std::size_t passes, const std::uint32_t* x,
                         const std::uint32_t* a, const std::uint32_t* b, std::uint32_t* sums) {
  expected_pairs(exec, n, lanes, passes, x, a, b, sums, bf16);
}

}  // namespace assay::kernels
#endif
