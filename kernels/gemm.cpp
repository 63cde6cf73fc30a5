// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// f32 GEMM on the CPU, to be read from the end: `naive` (three loops, one dot product for each element of C), `blocked`
// (loop order and tiles that reuse cache lines; the compiler vectorises for the baseline CPU), `packed` (what BLAS
// libraries do: parts of A and B that fit a cache are copied to where a register micro-kernel reads them in order; the
// structure is that of Goto and van de Geijn, "Anatomy of High-Performance Matrix Multiplication", 2008).
//
// Limit: cores x FMA ports x lanes x 2 x clock. Traps: on a power of two leading dimension the unpacked versions lose
// most of their caches to conflicts; small matrices measure packing, not arithmetic; 512-bit code may lower the clock.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/gemm.cpp"
#include "kernels/gemm.h"

#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>  // compiles this file once for each SIMD target
#include <hwy/highway.h>
#include <omp.h>

#include <algorithm>
#include <cstring>

// Blocking: a kc x nr sliver of B stays in L1, an mc x kc block of A in L2, a kc x nc panel of B in L3 (shared by all
// threads). Multiples of every mr and nr below.
#ifndef ASSAY_KERNELS_GEMM_BLOCKING
#define ASSAY_KERNELS_GEMM_BLOCKING
namespace assay::kernels {
constexpr std::size_t kc_max = 384, mc_max = 336, nc_max = 2048;
constexpr std::size_t a_stride = kc_max + 16;  // rows of a block of A, not a power of two apart

struct PackedJob {
  GemmShape shape;
  const float *a, *b;
  float *c, *b_panel, *a_blocks;
  int threads;
};
}  // namespace assay::kernels
#endif

HWY_BEFORE_NAMESPACE();
namespace assay::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using Floats = hn::ScalableTag<float>;
constexpr Floats floats;

// The tile of C held in registers: mr rows of two vectors. 16 registers (AVX2): 6 x 2 + 2 for B + 1 broadcast. 32
// registers (AVX-512, NEON): 14 x 2 + 2 + 1 for 512 bits.
constexpr std::size_t lanes = hn::MaxLanes(floats), nr = 2 * lanes;
constexpr std::size_t mr = HWY_ARCH_X86 && lanes < 16 ? 6 : 14;
// Half the L2: CPUs with 512-bit vectors have at least 1 MiB of it, others often 512 KiB.
constexpr std::size_t mc_target = lanes < 16 ? mc_max / 2 : mc_max;
static_assert(mc_target % mr == 0 && nc_max % nr == 0);

// c[mr x nr] (+)= a * b: mr rows of a packed block of A, a_stride apart, times a packed sliver of B, nr floats per k.
HWY_INLINE void micro_kernel(std::size_t kc, const float* HWY_RESTRICT a, const float* HWY_RESTRICT b,
                             float* HWY_RESTRICT c, std::size_t c_stride, bool accumulate) {
  hn::Vec<Floats> sum[mr][2];
#pragma GCC unroll 16
  for (std::size_t i = 0; i < mr; ++i) {
    sum[i][0] = sum[i][1] = hn::Zero(floats);
    hwy::Prefetch(c + i * c_stride);
    hwy::Prefetch(c + i * c_stride + nr - 1);
  }
#pragma GCC unroll 2
  for (std::size_t p = 0; p < kc; ++p, ++a, b += nr) {
    const auto b0 = hn::Load(floats, b), b1 = hn::Load(floats, b + lanes);
#pragma GCC unroll 16
    for (std::size_t i = 0; i < mr; ++i) {
      const auto a_i = hn::Set(floats, a[i * a_stride]);
      sum[i][0] = hn::MulAdd(a_i, b0, sum[i][0]);
      sum[i][1] = hn::MulAdd(a_i, b1, sum[i][1]);
    }
  }
  if (accumulate) {
#pragma GCC unroll 16
    for (std::size_t i = 0; i < mr; ++i) {
      sum[i][0] = hn::Add(sum[i][0], hn::LoadU(floats, c + i * c_stride));
      sum[i][1] = hn::Add(sum[i][1], hn::LoadU(floats, c + i * c_stride + lanes));
    }
  }
#pragma GCC unroll 16
  for (std::size_t i = 0; i < mr; ++i) {
    hn::StoreU(sum[i][0], floats, c + i * c_stride);
    hn::StoreU(sum[i][1], floats, c + i * c_stride + lanes);
  }
}

// A tile that sticks out of C: computed whole (packed parts are padded with zeros), then only its inside is written.
HWY_NOINLINE void edge_kernel(std::size_t kc, const float* a, const float* b, float* c, std::size_t c_stride,
                              bool accumulate, std::size_t rows, std::size_t columns) {
  HWY_ALIGN float tile[mr * nr];
  micro_kernel(kc, a, b, tile, nr, false);
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < columns; ++j) {
      c[i * c_stride + j] = (accumulate ? c[i * c_stride + j] : 0.0F) + tile[i * nr + j];
    }
  }
}

// Rows of A, cut to kc and put close together; the last ones are zeros up to a multiple of mr.
void pack_a(const float* a, std::size_t stride, std::size_t rows, std::size_t kc, float* to) {
  for (std::size_t i = 0; i < rows; ++i) std::memcpy(to + i * a_stride, a + i * stride, kc * sizeof(float));
  for (std::size_t i = rows; i % mr != 0; ++i) std::memset(to + i * a_stride, 0, kc * sizeof(float));
}

// Packs the slivers first..last of a kc x columns part of B; `to` is where sliver 0 begins.
void pack_b(const float* b, std::size_t stride, std::size_t columns, std::size_t kc, Range slivers, float* to) {
  for (std::size_t s = slivers.begin; s < slivers.end; ++s) {
    const std::size_t inside = std::min(nr, columns - s * nr);
    float* sliver = to + s * nr * kc;
    for (std::size_t p = 0; p < kc; ++p) {
      const float* from = b + p * stride + s * nr;
      if (inside == nr) {
        hn::Store(hn::LoadU(floats, from), floats, sliver + p * nr);
        hn::Store(hn::LoadU(floats, from + lanes), floats, sliver + p * nr + lanes);
      } else {
        for (std::size_t j = 0; j < nr; ++j) sliver[p * nr + j] = j < inside ? from[j] : 0.0F;
      }
    }
  }
}

// One thread's part of the product: all threads pack B together, then each multiplies its own rows of A with it.
void packed_thread(const PackedJob& job, int thread) {
  const auto [m, n, k] = job.shape;
  const Range rows = share(m, thread, job.threads, mr);
  float* a_block = job.a_blocks + static_cast<std::size_t>(thread) * mc_max * a_stride;
  for (std::size_t jc = 0; jc < n; jc += nc_max) {
    const std::size_t nc = std::min(nc_max, n - jc), slivers = (nc + nr - 1) / nr;
    for (std::size_t pc = 0; pc < k; pc += kc_max) {
      const std::size_t kc = std::min(kc_max, k - pc);
      pack_b(job.b + pc * n + jc, n, nc, kc, share(slivers, thread, job.threads, 1), job.b_panel);
#pragma omp barrier
      for (std::size_t ic = rows.begin; ic < rows.end; ic += mc_target) {
        const std::size_t mc = std::min(mc_target, rows.end - ic);
        pack_a(job.a + ic * k + pc, k, mc, kc, a_block);
        for (std::size_t j = 0; j < nc; j += nr) {
          for (std::size_t i = 0; i < mc; i += mr) {
            const float *a = a_block + i * a_stride, *b = job.b_panel + j * kc;
            float* c = job.c + (ic + i) * n + jc + j;
            if (i + mr <= mc && j + nr <= nc) {
              micro_kernel(kc, a, b, c, n, pc > 0);
            } else {
              edge_kernel(kc, a, b, c, n, pc > 0, std::min(mr, mc - i), std::min(nr, nc - j));
            }
          }
        }
      }
#pragma omp barrier  // nobody may overwrite the panel that others still read
    }
  }
}

}  // namespace assay::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {
namespace {

HWY_EXPORT(packed_thread);

std::size_t packed_workspace_bytes(const Exec& exec, GemmShape) {
  return (nc_max * kc_max + static_cast<std::size_t>(exec.threads) * mc_max * a_stride) * sizeof(float);
}

void packed(const Exec& exec, GemmShape shape, const float* a, const float* b, float* c, void* workspace) {
  auto* panel = static_cast<float*>(workspace);
#pragma omp parallel num_threads(exec.threads)
  {
    const PackedJob job{shape, a, b, c, panel, panel + nc_max * kc_max, omp_get_num_threads()};
    HWY_DYNAMIC_DISPATCH(packed_thread)(job, omp_get_thread_num());
  }
}

std::size_t no_workspace(const Exec&, GemmShape) { return 0; }

void naive(const Exec& exec, GemmShape shape, const float* a, const float* b, float* c, void*) {
  const std::size_t m = shape.m, n = shape.n, k = shape.k;
#pragma omp parallel for num_threads(exec.threads) schedule(static)
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      float sum = 0.0F;
      for (std::size_t p = 0; p < k; ++p) sum += a[i * k + p] * b[p * n + j];
      c[i * n + j] = sum;
    }
  }
}

// A row of C is built from rows of B, which are contiguous; a tile of B (64 x 1024 floats, 256 KiB) stays in L2 while
// all rows of A pass by.
void blocked(const Exec& exec, GemmShape shape, const float* a, const float* b, float* c, void*) {
  const std::size_t m = shape.m, n = shape.n, k = shape.k;
  constexpr std::size_t tile_k = 64, tile_n = 1024;
#pragma omp parallel num_threads(exec.threads)
  {
    const Range rows = share(m, omp_get_thread_num(), omp_get_num_threads(), 1);
    for (std::size_t jt = 0; jt < n; jt += tile_n) {
      for (std::size_t pt = 0; pt < k; pt += tile_k) {
        const std::size_t p_end = std::min(k, pt + tile_k), width = std::min(n - jt, tile_n);
        for (std::size_t i = rows.begin; i < rows.end; ++i) {
          float* HWY_RESTRICT to = c + i * n + jt;
          if (pt == 0) std::memset(to, 0, width * sizeof(float));
          for (std::size_t p = pt; p < p_end; ++p) {
            const float factor = a[i * k + p];
            const float* HWY_RESTRICT from = b + p * n + jt;
            for (std::size_t j = 0; j < width; ++j) to[j] += factor * from[j];
          }
        }
      }
    }
  }
}

constexpr GemmVersion cpu_versions[] = {
    {"naive", no_workspace, naive},
    {"blocked", no_workspace, blocked},
    {"packed", packed_workspace_bytes, packed},
};
constexpr GemmOps cpu_ops{cpu_versions, 3};

}  // namespace

const GemmOps* gemm_ops(Backend backend) { return backend == Backend::cpu ? &cpu_ops : nullptr; }

}  // namespace assay::kernels
#endif
