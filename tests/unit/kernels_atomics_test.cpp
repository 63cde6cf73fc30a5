// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Atomic additions against a plain loop and the closed form; several threads on one counter lose nothing.
#include <gtest/gtest.h>

#include <vector>

#include "kernels/atomics.h"

namespace assay::kernels {
namespace {

TEST(KernelsAtomics, EveryUpdateIsThere) {
  for (const std::size_t targets : {1, 2, 16, 64, 4096}) {
    for (const std::size_t n : {0, 1, 15, 16, 17, 1000, 10001}) {
      for (const int threads : {1, 3}) {
        std::vector<std::uint64_t> counters(targets + 1, 5), expected(targets, 5);
        for (std::size_t i = 0; i < n; ++i) expected[i % targets] += 3 * (i + 1);
        atomics_ops(Backend::cpu)->add({threads, nullptr}, counters.data(), targets, n, 3);
        for (std::size_t j = 0; j < targets; ++j) {
          ASSERT_EQ(counters[j], expected[j]) << "targets " << targets << " n " << n << " counter " << j;
          ASSERT_EQ(expected[j], 5 + atomics_expected(j, targets, n, 3)) << "targets " << targets << " n " << n;
        }
        EXPECT_EQ(counters[targets], 5u);
      }
    }
  }
}

}  // namespace
}  // namespace assay::kernels
