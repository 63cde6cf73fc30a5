// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Peak of the tensor cores: matrix products with all sums in registers. A warp (wgmma, tcgen05: what multiplies
// together, a group of four or a block; A and B are then in shared memory) keeps `chains` accumulators of m x n
// numbers, independent of each other so that the latency of one step hides behind the others, and takes mma_steps steps
// D = D + A * B, with one A (m x k) for the warp and one B (k x n) for each chain. A pass begins at D = C and adds the
// bits of what it ends with to sums, modulo 2^32 or 2^64: all passes are equal, so a sum shows a single wrong one.
//
// Exact in any order if all numbers are integers and |C| + mma_steps * k * |a| * |b| stays below 2^24 (bf16, f16, tf32:
// products of 11 bits or less, sums in f32), 2^53 (f64) or 2^31 (int8). fp8: |D| + k * |a| * |b| below 2^13 at
// every step, so the products of a step must nearly cancel: 9.0 keeps about 14 bits of a sum (arXiv 2412.19437, 3.3.2).
// FLOP: 2 m n k for each chain and step. Limit: tensor cores x FLOP per cycle x clock.
// Traps: zeros and small numbers switch few transistors, so the clock stays higher than real work lets it; devices of
// compute capability 9.0 and 10.x reach their full rate by other instructions only (wgmma, tcgen05): where the version
// that runs isn't one of those, as always for f64, this is the rate of code written for 8.0.
#pragma once

#include "kernels/backend.h"

namespace assay::kernels {

constexpr std::size_t mma_steps = 1024;

// Contract: dense arrays, not null, aligned to 8 bytes. a: `warps` matrices of m x k by rows. b: `chains` matrices by
// columns, so n x k by rows. c and sums: for each of exec.threads blocks, warp and chain a matrix of m x n by rows.
template <class In, class Out, class Bits>
struct MmaRow {
  std::size_t m, n, k, warps, chains;
  void (*run)(const Exec&, std::size_t passes, const In* a, const In* b, const Out* c, Bits* sums);
  bool fills = false;  // a block fills a multiprocessor: more of them at once gain nothing

  std::size_t elements(std::size_t blocks) const { return blocks * warps * chains * m * n; }  // of c and sums
};

using MmaHalfRow = MmaRow<std::uint16_t, float, std::uint32_t>;  // bits of two bytes in, f32 out
using MmaTf32Row = MmaRow<float, float, std::uint32_t>;          // the last 13 bits of a and b are ignored
using MmaF64Row = MmaRow<double, double, std::uint64_t>;
using MmaInt8Row = MmaRow<std::int8_t, std::int32_t, std::uint32_t>;
using MmaFp8Row = MmaRow<std::uint8_t, float, std::uint32_t>;  // bits of a byte in, f32 out
using MmaFp4Row = MmaFp8Row;  // two numbers in a byte, the first in its low half, so a and b have half as many bytes

struct MmaOps {
  const MmaHalfRow* bf16;
  const MmaHalfRow* f16;
  const MmaTf32Row* tf32;
  const MmaF64Row* f64;
  const MmaInt8Row* int8;
  const MmaFp8Row* e4m3 = nullptr;  // from 8.9 on
  const MmaFp8Row* e5m2 = nullptr;
  const MmaFp4Row* e2m1 = nullptr;  // 10.x
};

// A null row: this version has no such instruction; cuda_versions<MmaOps>.find(capability, &MmaOps::e4m3) is the best
// one that has. Null where this build has no row: always for the CPU, whose dot products are in fma.h.
const MmaOps* mma_ops(Backend, int capability = newest_capability);

// The expectation, in closed form: what sums, zero before, must be after `passes` passes in all on `blocks` blocks.
void mma_expected_bf16(const MmaHalfRow&, std::size_t blocks, std::size_t passes, const std::uint16_t* a,
                       const std::uint16_t* b, const float* c, std::uint32_t* sums);
void mma_expected_f16(const MmaHalfRow&, std::size_t blocks, std::size_t passes, const std::uint16_t* a,
                      const std::uint16_t* b, const float* c, std::uint32_t* sums);
void mma_expected_tf32(const MmaTf32Row&, std::size_t blocks, std::size_t passes, const float* a, const float* b,
                       const float* c, std::uint32_t* sums);
void mma_expected_f64(const MmaF64Row&, std::size_t blocks, std::size_t passes, const double* a, const double* b,
                      const double* c, std::uint64_t* sums);
void mma_expected_int8(const MmaInt8Row&, std::size_t blocks, std::size_t passes, const std::int8_t* a,
                       const std::int8_t* b, const std::int32_t* c, std::uint32_t* sums);
void mma_expected_e4m3(const MmaFp8Row&, std::size_t blocks, std::size_t passes, const std::uint8_t* a,
                       const std::uint8_t* b, const float* c, std::uint32_t* sums);
void mma_expected_e5m2(const MmaFp8Row&, std::size_t blocks, std::size_t passes, const std::uint8_t* a,
                       const std::uint8_t* b, const float* c, std::uint32_t* sums);
void mma_expected_e2m1(const MmaFp4Row&, std::size_t blocks, std::size_t passes, const std::uint8_t* a,
                       const std::uint8_t* b, const float* c, std::uint32_t* sums);

}  // namespace assay::kernels
