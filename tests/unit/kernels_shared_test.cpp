// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Reads from the small table against a plain loop.
#include <gtest/gtest.h>

#include <vector>

#include "kernels/shared.h"

namespace assay::kernels {
namespace {

TEST(KernelsShared, EveryLaneAddsItsWords) {
  std::vector<std::uint32_t> table(shared_words);
  for (std::size_t i = 0; i < table.size(); ++i) table[i] = static_cast<std::uint32_t>((i + 1) * 0x9E3779B9u);
  for (const std::size_t stride : {0, 1, 2, 32, 33, 4095}) {
    for (const std::size_t steps : {0, 8, 16, 8192}) {
      for (const std::size_t groups : {0, 1, 3}) {
        std::vector<std::uint32_t> sums(shared_lanes * groups + 1, 77);
        shared_ops(Backend::cpu)->read({2, nullptr}, table.data(), stride, steps, groups, sums.data());
        for (std::size_t k = 0; k < shared_lanes * groups; ++k) {
          std::uint32_t expected = 0;
          for (std::size_t s = 0, at = k % shared_lanes * stride % shared_words; s < steps; ++s) {
            expected += table[at];
            at = at + 1 == shared_words ? 0 : at + 1;
          }
          ASSERT_EQ(sums[k], expected) << "stride " << stride << " steps " << steps << " element " << k;
        }
        EXPECT_EQ(sums.back(), 77u);
      }
    }
  }
}

}  // namespace
}  // namespace assay::kernels
