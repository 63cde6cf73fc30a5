// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// CPU row of the bf16 matrix product, which is the reference of the others: one dot product for each element of C, of
// two rows that lie side by side in memory. Threads share the elements. Bound by the conversion of bf16, far below the
// CPU's peak.
#include "kernels/gemm_bf16.h"

#include <cstdint>

#include "kernels/bits.h"

namespace assay::kernels {
namespace {

// rows * columns * bytes, if that and one past the end of it are numbers of 64 bits.
bool count_bytes(std::size_t rows, std::size_t columns, std::size_t bytes, std::uintptr_t* result) {
  return !__builtin_mul_overflow(rows, columns, result) && !__builtin_mul_overflow(*result, bytes, result);
}

bool is_valid(const void* p, std::uintptr_t bytes, std::size_t alignment) {
  const auto address = reinterpret_cast<std::uintptr_t>(p);
  return bytes == 0 || (p != nullptr && address % alignment == 0 && address <= UINTPTR_MAX - bytes);
}

bool overlap(const void* p, std::uintptr_t p_bytes, const void* q, std::uintptr_t q_bytes) {
  const auto first = reinterpret_cast<std::uintptr_t>(p), second = reinterpret_cast<std::uintptr_t>(q);
  return p_bytes != 0 && q_bytes != 0 && first < second + q_bytes && second < first + p_bytes;
}

float dot(std::size_t k, const std::uint16_t* a, const std::uint16_t* b) {
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (std::size_t p = 0; p < k; ++p) sum += from_bf16({a[p]}) * from_bf16({b[p]});
  return sum;
}

bool run(const Exec& exec, GemmShape shape, const std::uint16_t* a, const std::uint16_t* b, float* c) {
  if (!keeps_gemm_bf16_contract(shape, a, b, c)) return false;
  const std::size_t m = shape.m, n = shape.n, k = shape.k;
#pragma omp parallel for num_threads(exec.threads) schedule(static)
  for (std::size_t i = 0; i < m * n; ++i) c[i] = dot(k, a + i / n * k, b + i % n * k);
  return true;
}

constexpr GemmBf16Ops cpu_row = {keeps_gemm_bf16_contract, run};

}  // namespace

bool keeps_gemm_bf16_contract(GemmShape shape, const std::uint16_t* a, const std::uint16_t* b, const float* c) {
  std::uintptr_t a_bytes = 0, b_bytes = 0, c_bytes = 0;
  if (!count_bytes(shape.m, shape.k, sizeof *a, &a_bytes) || !count_bytes(shape.n, shape.k, sizeof *b, &b_bytes) ||
      !count_bytes(shape.m, shape.n, sizeof *c, &c_bytes)) {
    return false;
  }
  if (c_bytes == 0) return true;  // nothing will be touched
  return is_valid(a, a_bytes, sizeof *a) && is_valid(b, b_bytes, sizeof *b) && is_valid(c, c_bytes, sizeof *c) &&
         !overlap(c, c_bytes, a, a_bytes) && !overlap(c, c_bytes, b, b_bytes);
}

const GemmBf16Ops* gemm_bf16_ops(Backend backend, int capability) {
  return ops_for(backend, capability, &cpu_row);
}

}  // namespace assay::kernels
