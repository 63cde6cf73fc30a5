// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Matrix product of bf16 numbers with sums in f32: C = A * B, C overwritten. All three are dense; A is m x k by rows, B
// is k x n by columns (so n rows of k numbers: both operands run along k, the layout that cuBLASLt calls TN and has its
// fastest code for), C is m x n by rows. 2 m n k FLOP. bf16 numbers are given by their bits.
//
// Exact (all rows give the same bits) where all numbers are integers and every partial sum stays below 2^24; otherwise
// rows differ by rounding, since they add in different orders. Limit: tensor cores x FLOP per cycle x clock, from sizes
// on where the operands of a tile pay for their way from memory. Traps: the fast copies need rows of A and B that begin
// at multiples of 16 bytes, so k a multiple of 8 and pointers aligned to 16 bytes; anything else is right and slow.
// Tiles at the edge cost as much as whole ones, and so does a last wave of blocks that fills a part of the device:
// sizes are to be chosen by tiles.
#pragma once

#include "kernels/backend.h"
#include "kernels/gemm.h"

namespace assay::kernels {

// Contract: any m, n, k. C of no elements: nothing is done. k = 0: C is zeros. Pointers are aligned to their elements;
// one may be null where its matrix is empty. C overlaps neither A nor B; these two may be the same.
struct GemmBf16Ops {
  // Can run() take this? Besides the contract, a row may have limits of its own, by instruction or by grid.
  bool (*supports)(GemmShape, const std::uint16_t* a, const std::uint16_t* b, const float* c);
  // False: supports() is, and nothing was touched.
  bool (*run)(const Exec&, GemmShape, const std::uint16_t* a, const std::uint16_t* b, float* c);
};

const GemmBf16Ops* gemm_bf16_ops(Backend, int capability = newest_capability);

// What the contract says about arguments, for all rows alike: sizes whose bytes can be counted in 64 bits, no null
// where there is something to touch, alignment, no overlap.
bool keeps_gemm_bf16_contract(GemmShape, const std::uint16_t* a, const std::uint16_t* b, const float* c);

}  // namespace assay::kernels
