// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Transposition against the definition, shapes around the squares of 32, and a word behind the end that must survive.
#include <gtest/gtest.h>

#include <vector>

#include "kernels/transpose.h"

namespace assay::kernels {
namespace {

template <typename T, class Function>
void check(Function transpose, std::size_t rows, std::size_t columns, int threads) {
  std::vector<T> in(rows * columns), out(rows * columns + 1, T(77));
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<T>((i + 1) * 0x9E3779B97F4A7C15u);
  transpose({threads, nullptr}, out.data(), in.data(), rows, columns);
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < columns; ++c) {
      ASSERT_EQ(out[c * rows + r], in[r * columns + c]) << rows << " x " << columns << " at " << r << ", " << c;
    }
  }
  EXPECT_EQ(out.back(), T(77));
}

TEST(KernelsTranspose, EveryWordIsWhereItBelongs) {
  const TransposeOps& ops = *transpose_ops(Backend::cpu);
  for (const std::size_t rows : {0, 1, 2, 31, 32, 33, 100}) {
    for (const std::size_t columns : {0, 1, 3, 31, 32, 33, 65, 257}) {
      for (const int threads : {1, 3}) {
        check<std::uint32_t>(ops.u32, rows, columns, threads);
        check<std::uint64_t>(ops.u64, rows, columns, threads);
      }
    }
  }
}

}  // namespace
}  // namespace assay::kernels
