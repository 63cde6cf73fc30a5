// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// CPU row of kernels/fill.h: each thread makes its share tile by tile in the L1 cache and stores the tiles. Compiled
// once per instruction set by Highway, which picks one when the program runs.
#include "kernels/fill.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/fill.cpp"
#include <hwy/foreach_target.h>
// Must come after foreach_target.h.
#include <hwy/highway.h>

#include "kernels/tile_inl.h"

HWY_BEFORE_NAMESPACE();
namespace assay::kernels {
namespace HWY_NAMESPACE {

template <class T>
HWY_ATTR void fill_as(void* out, Range r, Stream s, int bits, bool non_temporal) {
  auto* memory = static_cast<BitsOf<T>*>(out);
  StreamTiles<T> tiles(s, bits);
  TileStep<BitsOf<T>> step;
  step.non_temporal = non_temporal;
  for_tiles(r, tiles.per_tile, false, [&](std::size_t first, std::size_t n) HWY_ATTR {
    step.store = tiles.at(first);
    apply_tile(memory + first, n, first, step, nullptr);
  });
  hwy::FlushStream();
}

HWY_ATTR void fill_u32(void* out, Range r, Stream s, int bits, bool nt) { fill_as<std::uint32_t>(out, r, s, bits, nt); }
HWY_ATTR void fill_u64(void* out, Range r, Stream s, int bits, bool nt) { fill_as<std::uint64_t>(out, r, s, bits, nt); }
HWY_ATTR void fill_f32(void* out, Range r, Stream s, int bits, bool nt) { fill_as<float>(out, r, s, bits, nt); }
HWY_ATTR void fill_f64(void* out, Range r, Stream s, int bits, bool nt) { fill_as<double>(out, r, s, bits, nt); }

}  // namespace HWY_NAMESPACE
}  // namespace assay::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <omp.h>

#include <cstring>

namespace assay::kernels {
namespace {

HWY_EXPORT(fill_u32);
HWY_EXPORT(fill_u64);
HWY_EXPORT(fill_f32);
HWY_EXPORT(fill_f64);

using FillShare = void (*)(void* out, Range r, Stream s, int bits, bool non_temporal);

void fill(FillShare fill_share, void* out, std::size_t n, std::size_t bytes, Stream s, int bits, const Exec& exec) {
  const bool non_temporal = bytes >= fill_non_temporal_bytes;
#pragma omp parallel num_threads(exec.threads)
  fill_share(out, share(n, omp_get_thread_num(), omp_get_num_threads(), fill_granule), s, bits, non_temporal);
}

void cpu_u32(std::uint32_t* out, std::size_t n, Stream s, const Exec& exec) {
  fill(&HWY_DYNAMIC_DISPATCH(fill_u32), out, n, n * sizeof *out, s, 0, exec);
}
void cpu_u64(std::uint64_t* out, std::size_t n, Stream s, const Exec& exec) {
  fill(&HWY_DYNAMIC_DISPATCH(fill_u64), out, n, n * sizeof *out, s, 0, exec);
}
void cpu_f32(float* out, std::size_t n, Stream s, int bits, const Exec& exec) {
  fill(&HWY_DYNAMIC_DISPATCH(fill_f32), out, n, n * sizeof *out, s, bits, exec);
}
void cpu_f64(double* out, std::size_t n, Stream s, int bits, const Exec& exec) {
  fill(&HWY_DYNAMIC_DISPATCH(fill_f64), out, n, n * sizeof *out, s, bits, exec);
}

constexpr FillOps cpu_fill{cpu_u32, cpu_u64, cpu_f32, cpu_f64};

}  // namespace

void spoil(void* out, std::size_t bytes, const Exec& exec) {
#pragma omp parallel num_threads(exec.threads)
  {
    const Range mine = share(bytes, omp_get_thread_num(), omp_get_num_threads(), 4096);
    if (mine.begin < mine.end) std::memset(static_cast<std::uint8_t*>(out) + mine.begin, 0xA5, mine.end - mine.begin);
  }
}

const FillOps* fill_ops(Backend backend, int capability) { return ops_for(backend, capability, &cpu_fill); }

}  // namespace assay::kernels
#endif
