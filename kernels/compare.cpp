// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// CPU row of kernels/compare.h: the expected tile is made in the L1 cache and compared with memory a vector at a time;
// only a vector that differs is looked at element by element, from the values that were read the first time.
#include "kernels/compare.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/compare.cpp"
#include <hwy/foreach_target.h>
// Must come after foreach_target.h.
#include <hwy/highway.h>

#include <cstring>

#include "kernels/tile_inl.h"

HWY_BEFORE_NAMESPACE();
namespace assay::kernels {
namespace HWY_NAMESPACE {

template <class T>
HWY_ATTR void compare_as(const void* buffer, Range r, Stream s, int bits, MismatchReport* report) {
  auto* memory = static_cast<BitsOf<T>*>(const_cast<void*>(buffer));  // never written: the step has nothing to store
  StreamTiles<T> tiles(s, bits);
  TileStep<BitsOf<T>> step;
  for_tiles(r, tiles.per_tile, false, [&](std::size_t first, std::size_t n) HWY_ATTR {
    prefetch_tile(memory + first, n);
    step.expect = tiles.at(first);
    apply_tile(memory + first, n, first, step, report);
  });
  report->compared += r.end - r.begin;
}

HWY_ATTR void compare_u32(const void* p, Range r, Stream s, int bits, MismatchReport* report) {
  compare_as<std::uint32_t>(p, r, s, bits, report);
}
HWY_ATTR void compare_u64(const void* p, Range r, Stream s, int bits, MismatchReport* report) {
  compare_as<std::uint64_t>(p, r, s, bits, report);
}
HWY_ATTR void compare_f32(const void* p, Range r, Stream s, int bits, MismatchReport* report) {
  compare_as<float>(p, r, s, bits, report);
}
HWY_ATTR void compare_f64(const void* p, Range r, Stream s, int bits, MismatchReport* report) {
  compare_as<double>(p, r, s, bits, report);
}

// Sum of the terms of whole words [begin, end).
HWY_ATTR std::uint64_t digest_share(const void* buffer, Range r) {
  const hn::ScalableTag<std::uint64_t> d;
  using V = hn::Vec<decltype(d)>;
  const std::size_t lanes = hn::Lanes(d);
  const auto* words = static_cast<const std::uint64_t*>(buffer);
  const auto mix = [](V z) HWY_ATTR {
    const hn::ScalableTag<std::uint64_t> dz;
    z = hn::Mul(hn::Xor(z, hn::ShiftRight<30>(z)), hn::Set(dz, 0xBF58476D1CE4E5B9u));
    z = hn::Mul(hn::Xor(z, hn::ShiftRight<27>(z)), hn::Set(dz, 0x94D049BB133111EBu));
    return hn::Xor(z, hn::ShiftRight<31>(z));
  };
  V salt = hn::Mul(hn::Add(hn::Set(d, r.begin), hn::Iota(d, 0)), hn::Set(d, digest_stride));
  const V salt_step = hn::Set(d, lanes * digest_stride);
  V sum0 = hn::Zero(d), sum1 = sum0;
  std::size_t i = r.begin;
  for (; i + 2 * lanes <= r.end; i += 2 * lanes) {
    const V salt1 = hn::Add(salt, salt_step);
    const V w0 = hn::LoadU(d, words + i), w1 = hn::LoadU(d, words + i + lanes);
    sum0 = hn::Add(sum0, mix(hn::Xor(w0, salt)));
    sum1 = hn::Add(sum1, mix(hn::Xor(w1, salt1)));
    salt = hn::Add(salt1, salt_step);
  }
  std::uint64_t sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(sum0, sum1)));
  for (; i < r.end; ++i) {
    std::uint64_t word;
    std::memcpy(&word, static_cast<const void*>(words + i), sizeof word);
    sum += digest_term(word, i);
  }
  return sum;
}

}  // namespace HWY_NAMESPACE
}  // namespace assay::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <omp.h>

#include "kernels/fill.h"

namespace assay::kernels {
namespace {

HWY_EXPORT(compare_u32);
HWY_EXPORT(compare_u64);
HWY_EXPORT(compare_f32);
HWY_EXPORT(compare_f64);
HWY_EXPORT(digest_share);

using CompareShare = void (*)(const void* buffer, Range r, Stream s, int bits, MismatchReport* report);

void compare(CompareShare compare_share, const void* buffer, std::size_t n, Stream s, int bits, MismatchReport* report,
             const Exec& exec) {
#pragma omp parallel num_threads(exec.threads)
  {
    MismatchReport mine;
    compare_share(buffer, share(n, omp_get_thread_num(), omp_get_num_threads(), fill_granule), s, bits, &mine);
#pragma omp critical(assay_compare_merge)
    report->merge(mine);
  }
}

void cpu_u32(const std::uint32_t* buffer, std::size_t n, Stream s, MismatchReport* report, const Exec& exec) {
  compare(&HWY_DYNAMIC_DISPATCH(compare_u32), buffer, n, s, 0, report, exec);
}
void cpu_u64(const std::uint64_t* buffer, std::size_t n, Stream s, MismatchReport* report, const Exec& exec) {
  compare(&HWY_DYNAMIC_DISPATCH(compare_u64), buffer, n, s, 0, report, exec);
}
void cpu_f32(const float* buffer, std::size_t n, Stream s, int bits, MismatchReport* report, const Exec& exec) {
  compare(&HWY_DYNAMIC_DISPATCH(compare_f32), buffer, n, s, bits, report, exec);
}
void cpu_f64(const double* buffer, std::size_t n, Stream s, int bits, MismatchReport* report, const Exec& exec) {
  compare(&HWY_DYNAMIC_DISPATCH(compare_f64), buffer, n, s, bits, report, exec);
}

void cpu_digest(const void* buffer, std::size_t bytes, std::uint64_t* digest, const Exec& exec) {
  const std::size_t whole_words = bytes / 8;
  std::uint64_t sum = 0;
#pragma omp parallel num_threads(exec.threads) reduction(+ : sum)
  sum += HWY_DYNAMIC_DISPATCH(digest_share)(
      buffer, share(whole_words, omp_get_thread_num(), omp_get_num_threads(), fill_granule));
  if (bytes % 8 != 0) {
    std::uint64_t last = 0;
    std::memcpy(&last, static_cast<const std::uint8_t*>(buffer) + 8 * whole_words, bytes % 8);
    sum += digest_term(last, whole_words);
  }
  *digest += sum;
}

constexpr CompareOps cpu_compare{cpu_u32, cpu_u64, cpu_f32, cpu_f64, cpu_digest};

}  // namespace

const CompareOps* compare_ops(Backend backend, int capability) {
  return ops_for(backend, capability, &cpu_compare);
}

}  // namespace assay::kernels
#endif
