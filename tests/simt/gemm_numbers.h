// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Numbers for the tests of a bf16 matrix product, the product by the CPU row, and the comparison with a row of a
// device.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "device_array.h"
#include "kernels/bits.h"
#include "kernels/gemm_bf16.h"
#include "kernels/philox.h"

namespace assay::simt {

struct GemmNumbers {
  kernels::GemmShape shape;
  std::vector<std::uint16_t> a, b;
  std::vector<float> expected;

  // Odd integers from -15 to 15: sums stay below 2^24 for every k below 2^16.
  explicit GemmNumbers(kernels::GemmShape s) : shape(s), a(s.m * s.k), b(s.n * s.k), expected(s.m * s.n) {
    const auto fill = [](std::vector<std::uint16_t>* to, std::uint32_t stream) {
      for (std::size_t i = 0; i < to->size(); ++i) {
        (*to)[i] = kernels::to_bf16(static_cast<float>(kernels::odd_of(kernels::u32_at({7, stream}, i), 5))).bits;
      }
    };
    fill(&a, 1);
    fill(&b, 2);
    EXPECT_TRUE(
        kernels::gemm_bf16_ops(kernels::Backend::cpu)->run({1, nullptr}, s, a.data(), b.data(), expected.data()));
  }

  // With the arrays so many elements behind a boundary of 256 bytes.
  void check(const kernels::GemmBf16Ops& ops, std::size_t offset_in = 0, std::size_t offset_out = 0) const {
    SCOPED_TRACE(testing::Message() << shape.m << " x " << shape.n << " x " << shape.k << ", " << offset_in
                                    << " elements off, C " << offset_out);
    DeviceArray<std::uint16_t> device_a(a, offset_in), device_b(b, offset_in);
    DeviceArray<float> device_c(expected.size(), offset_out);
    const std::uint16_t *from_a = device_a.data(), *from_b = device_b.data();
    ASSERT_TRUE(ops.supports(shape, from_a, from_b, device_c.data()));
    ASSERT_TRUE(ops.run({1, nullptr}, shape, from_a, from_b, device_c.data()));
    succeed(cudaGetLastError());
    const std::vector<float> c = device_c.values();
    if (testing::Test::HasFatalFailure()) return;
    for (std::size_t i = 0; i < c.size(); ++i) {
      ASSERT_EQ(c[i], expected[i]) << "row " << i / shape.n << ", column " << i % shape.n;
    }
  }
};

}  // namespace assay::simt
