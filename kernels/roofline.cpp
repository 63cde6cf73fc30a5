// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// The intensity sweep on the CPU. A step of the outer loop loads 12 vectors, advances them together (as many chains as
// hide the latency of the multiply-add and fit 16 registers) and writes them past the caches. See roofline.h for the
// contract.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/roofline.cpp"
#include "kernels/roofline.h"

#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>  // compiles this file once for each SIMD target
#include <hwy/highway.h>
#include <omp.h>

#include <cmath>

HWY_BEFORE_NAMESPACE();
namespace assay::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using Floats = hn::ScalableTag<float>;
constexpr Floats floats;
constexpr std::size_t lanes = hn::MaxLanes(floats), chains = HWY_ARCH_X86 ? 12 : 20;
static_assert(roofline_granule % (chains * lanes) == 0, "shares of whole blocks: see roofline.h");

// `count` elements, a multiple of chains * lanes.
void sweep_blocks(std::size_t count, std::size_t steps, float a_value, float b_value, const float* HWY_RESTRICT x,
                  float* HWY_RESTRICT y) {
  const auto a = hn::Set(floats, a_value), b = hn::Set(floats, b_value);
  for (std::size_t i = 0; i < count; i += chains * lanes) {
    hn::Vec<Floats> v[chains];
#pragma GCC unroll 32
    for (std::size_t c = 0; c < chains; ++c) v[c] = hn::Load(floats, x + i + c * lanes);
    for (std::size_t step = 0; step < steps; ++step) {
#pragma GCC unroll 32
      for (std::size_t c = 0; c < chains; ++c) v[c] = hn::MulAdd(v[c], a, b);
    }
#pragma GCC unroll 32
    for (std::size_t c = 0; c < chains; ++c) hn::Stream(v[c], floats, y + i + c * lanes);
  }
  hwy::FlushStream();
}

std::size_t block_elements() { return chains * lanes; }

bool fused() { return HWY_ARCH_X86 ? HWY_TARGET <= HWY_AVX2 : HWY_ARCH_ARM_A64; }

}  // namespace assay::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {
namespace {

HWY_EXPORT(sweep_blocks);
HWY_EXPORT(block_elements);
HWY_EXPORT(fused);

void run(const Exec& exec, std::size_t n, std::size_t steps, float a, float b, const float* x, float* y) {
  const std::size_t block = HWY_DYNAMIC_DISPATCH(block_elements)();
#pragma omp parallel num_threads(exec.threads)
  {
    const Range mine = share(n, omp_get_thread_num(), omp_get_num_threads(), roofline_granule);
    const std::size_t whole = (mine.end - mine.begin) / block * block;
    HWY_DYNAMIC_DISPATCH(sweep_blocks)(whole, steps, a, b, x + mine.begin, y + mine.begin);
    for (std::size_t i = mine.begin + whole; i < mine.end; ++i) y[i] = roofline_expected(steps, a, b, x[i]);
  }
}

}  // namespace

const RooflineOps* roofline_ops(Backend backend) {
  static constexpr RooflineOps ops{run};
  return backend == Backend::cpu && HWY_DYNAMIC_DISPATCH(fused)() ? &ops : nullptr;
}

float roofline_expected(std::size_t steps, float a, float b, float x) {
  for (std::size_t step = 0; step < steps; ++step) x = std::fma(x, a, b);
  return x;
}

}  // namespace assay::kernels
#endif
