// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Peak arithmetic: independent chains of multiply-add, enough of them to fill the pipes, all in registers. One pass
// starts each element at x[i], takes fma_steps steps and adds the bits of the result to sums[i], modulo 2^32 or 2^64.
// All passes are equal, so a sum shows a single wrong one. Steps, with a and b repeating every `lanes` elements:
//   f32, f64  x = fma(x, a, b), one rounding. Choose -1 <= a < -(1 - 2^-12) and b in [0.5, 1): x stays within a few
//             units and an early error is still there at the end (one unit in the last place may be rounded away).
//   i32       x = x * a + b modulo 2^32. Choose a odd: the step is then a bijection, and no error can get lost.
//   bf16      x = x + a0 * b0 + a1 * b1 with f32 x and bf16 a, b in pairs; even steps use the first pair, odd ones the
//             second. Choose integers with |x| + fma_steps * |a0 b0 + a1 b1| < 2^24: exact in any order.
//   f16x2, bf16x2  x = fma(x, a, b) for two numbers in a word, the first in the low half, one rounding each. Choose
//             a = -1, x and b multiples of 2^-7 below 1: x then changes between two values without rounding, and no
//             error can get lost. fma_odd_steps steps: after an even number a chain would be where it began, as if no step
//             had been taken, or each of them with another summand.
//   rcp       x = -1 / x by the special function unit, to 2^-23 or so; a and b may be null; fma_odd_steps steps. Its bits
//             are the device's, but all passes leave the same ones: v with |-v x - 1| < 2^-10.
// FLOP (or integer operations): 2 per element and step, 4 for bf16, f16x2 and bf16x2, 1 for rcp. Limit: cores x pipes x
// lanes x FLOP x clock.
// Traps: vector width and clock are tied on some CPUs; a busy sibling hyper-thread takes half; an i32 multiplication
// costs two micro-operations on Intel CPUs and bf16 runs in half a pipe where AMX is meant to do it: both are far below
// f32 there by design.
#pragma once

#include "kernels/backend.h"

namespace assay::kernels {

constexpr std::size_t fma_steps = 4096;  // even
constexpr std::size_t fma_odd_steps = fma_steps + 1;

template <class X, class Bits>
struct FmaRow {
  std::size_t lanes;     // a and b repeat with this period; it divides elements(exec)
  std::size_t elements;  // of x and sums for each of exec.threads threads (CPU) or blocks (CUDA)
  // x: elements * threads values, a and b: lanes; not null. sums: the bits of each pass are added to what is there.
  void (*run)(const Exec&, std::size_t passes, const X* x, const X* a, const X* b, Bits* sums);
};

struct FmaBf16Row {
  std::size_t lanes;     // element i uses pair l = i modulo lanes in even steps, pair lanes + l in odd ones
  std::size_t elements;  // as above
  // x: f32; a and b: 4 * lanes bf16 values (upper half of an f32).
  void (*run)(const Exec&, std::size_t passes, const float* x, const std::uint16_t* a, const std::uint16_t* b,
              std::uint32_t* sums);
};

// A null row means that this build or device has no such instruction (f32, f64: fused multiply-add; bf16: AVX512-BF16,
// CPU only; f16x2, bf16x2 from 8.0 on, rcp: CUDA only).
struct FmaOps {
  const FmaRow<float, std::uint32_t>* f32;
  const FmaRow<double, std::uint64_t>* f64;
  const FmaRow<std::uint32_t, std::uint32_t>* i32;
  const FmaBf16Row* bf16;
  const FmaRow<std::uint32_t, std::uint32_t>* f16x2;
  const FmaRow<std::uint32_t, std::uint32_t>* bf16x2;
  const FmaRow<float, std::uint32_t>* rcp;
  const char* target;  // the instruction set in use, e.g. "AVX3"
};

const FmaOps* fma_ops(Backend, int capability = newest_capability);

// The expectation, by plain scalar code: what sums[0..n), zero before, must be after `passes` passes in all. fma_steps
// (f16x2, bf16x2: fma_odd_steps) times n scalar steps on `threads` threads; `n` as in the run (elements * threads). For i32 by jumping ahead in
// log(fma_steps) squarings.
void fma_expected(const Exec&, std::size_t n, std::size_t lanes, std::size_t passes, const float* x, const float* a,
                  const float* b, std::uint32_t* sums);
void fma_expected(const Exec&, std::size_t n, std::size_t lanes, std::size_t passes, const double* x, const double* a,
                  const double* b, std::uint64_t* sums);
void fma_expected(const Exec&, std::size_t n, std::size_t lanes, std::size_t passes, const std::uint32_t* x,
                  const std::uint32_t* a, const std::uint32_t* b, std::uint32_t* sums);
void fma_expected_bf16(const Exec&, std::size_t n, std::size_t lanes, std::size_t passes, const float* x,
                       const std::uint16_t* a, const std::uint16_t* b, std::uint32_t* sums);
// For zeros and any values between 2^-8 and 4, not only those recommended above.
void fma_expected_f16x2(const Exec&, std::size_t n, std::size_t lanes, std::size_t passes, const std::uint32_t* x,
                        const std::uint32_t* a, const std::uint32_t* b, std::uint32_t* sums);
void fma_expected_bf16x2(const Exec&, std::size_t n, std::size_t lanes, std::size_t passes, const std::uint32_t* x,
                         const std::uint32_t* a, const std::uint32_t* b, std::uint32_t* sums);

}  // namespace assay::kernels
