// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// The intensity sweep against its scalar definition: odd lengths, several thread counts, nothing written outside.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <memory>

#include "kernels/roofline.h"

namespace assay::kernels {
namespace {

TEST(Roofline, MatchesScalarCode) {
  const auto* ops = roofline_ops(Backend::cpu);
  if (ops == nullptr) GTEST_SKIP() << "this CPU has no fused multiply-add";
  constexpr float a = -0.9998F, b = 0.7F, untouched = -77.0F;
  for (const std::size_t n : {std::size_t{1}, std::size_t{191}, std::size_t{192}, std::size_t{5003},
                              2 * roofline_granule, 2 * roofline_granule + 11}) {
    const std::size_t bytes = (n + 16 + 15) / 16 * 64;
    const std::unique_ptr<float, decltype(&std::free)> x(static_cast<float*>(std::aligned_alloc(64, bytes)),
                                                         &std::free);
    const std::unique_ptr<float, decltype(&std::free)> y(static_cast<float*>(std::aligned_alloc(64, bytes)),
                                                         &std::free);
    for (std::size_t i = 0; i < n; ++i) x.get()[i] = 0.5F + static_cast<float>(i * 7919 % 4096) * 0x1p-13F;
    for (const int threads : {1, 2, 7}) {
      for (const std::size_t steps : {1u, 2u, 33u, 256u}) {
        for (std::size_t i = 0; i < n + 16; ++i) y.get()[i] = untouched;
        ops->run(Exec{threads, nullptr}, n, steps, a, b, x.get(), y.get());
        std::size_t wrong = 0;
        for (std::size_t i = 0; i < n; ++i) {
          float v = x.get()[i];
          for (std::size_t s = 0; s < steps; ++s) v = std::fma(v, a, b);
          wrong += y.get()[i] != v;
        }
        EXPECT_EQ(wrong, 0u) << "n " << n << " threads " << threads << " steps " << steps;
        for (std::size_t i = n; i < n + 16; ++i) ASSERT_EQ(y.get()[i], untouched);
      }
    }
  }
}

TEST(Roofline, IntensityIsFlopPerByte) {
  EXPECT_EQ(roofline_intensity(1), 0.25);
  EXPECT_EQ(roofline_intensity(256), 64.0);
}

TEST(Roofline, OtherBackendsHaveNoRow) { EXPECT_EQ(roofline_ops(Backend::cuda), nullptr); }

}  // namespace
}  // namespace assay::kernels
