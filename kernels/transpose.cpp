// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// CPU row of the transposition: squares of 32 x 32 words, of which the lines that are read and those that are written
// fit into the L1 cache together, so each is fetched once. Threads share the squares, row by row of them.
#include "kernels/transpose.h"

#include <algorithm>

namespace assay::kernels {
namespace {

constexpr std::size_t side = 32;

template <typename T>
void transpose_square(T* out, const T* in, std::size_t rows, std::size_t columns, std::size_t row, std::size_t column) {
  const std::size_t last_row = std::min(rows, row + side), last_column = std::min(columns, column + side);
  for (std::size_t c = column; c < last_column; ++c) {
    for (std::size_t r = row; r < last_row; ++r) out[c * rows + r] = in[r * columns + c];
  }
}

template <typename T>
void transpose(const Exec& exec, T* out, const T* in, std::size_t rows, std::size_t columns) {
  const std::size_t down = (rows + side - 1) / side, across = (columns + side - 1) / side;
#pragma omp parallel for num_threads(exec.threads) schedule(static)
  for (std::size_t square = 0; square < down * across; ++square) {
    transpose_square(out, in, rows, columns, square / across * side, square % across * side);
  }
}

constexpr TransposeOps cpu_row = {transpose<std::uint32_t>, transpose<std::uint64_t>};

}  // namespace

const TransposeOps* transpose_ops(Backend backend, int capability) {
  return ops_for(backend, capability, &cpu_row);
}

}  // namespace assay::kernels
