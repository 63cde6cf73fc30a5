// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// The vendors' products against an integer product, bit for bit (small integers: exact in every type), at odd shapes
// and several thread counts; and that a missing row says why. A row that this build or CPU has not is skipped with its
// reason.
#include <gtest/gtest.h>

#include <vector>

#include "kernels/bits.h"
#include "kernels/vendor_gemm.h"

namespace assay::kernels {
namespace {

int small_integer(std::size_t i, int low, int high) {
  return low + static_cast<int>((i * 2654435761u >> 9) % static_cast<std::size_t>(high - low + 1));
}

template <class T>
T convert(int value) {
  return static_cast<T>(value);
}

template <>
Bf16 convert<Bf16>(int value) {
  return to_bf16(static_cast<float>(value));
}

template <class A, class B, class C>
void check(VendorLibrary library, VendorType type, int a_low, int a_high) {
  ASSERT_EQ(vendor_element_bytes(type).a, sizeof(A));
  ASSERT_EQ(vendor_element_bytes(type).b, sizeof(B));
  ASSERT_EQ(vendor_element_bytes(type).c, sizeof(C));
  for (const GemmShape s : {GemmShape{1, 1, 1}, {7, 33, 19}, {64, 64, 64}, {129, 95, 257}}) {
    for (const int threads : {1, 2}) {
      const auto made = make_vendor_gemm(Backend::cpu, library, type, s, Exec{threads, nullptr});
      if (made.gemm == nullptr) {
        ASSERT_FALSE(made.reason.empty());
        GTEST_SKIP() << made.reason;
      }
      EXPECT_EQ(made.gemm->threads(), threads);
      EXPECT_FALSE(made.gemm->implementation().empty());
      std::vector<A> a(s.m * s.k);
      std::vector<B> b(s.k * s.n);
      std::vector<C> c(s.m * s.n, convert<C>(-1));
      for (std::size_t i = 0; i < a.size(); ++i) a[i] = convert<A>(small_integer(i, a_low, a_high));
      for (std::size_t i = 0; i < b.size(); ++i) b[i] = convert<B>(small_integer(i + 999, -7, 7));
      ASSERT_TRUE(made.gemm->run(a.data(), b.data(), c.data()));
      std::size_t wrong = 0;
      for (std::size_t i = 0; i < s.m; ++i) {
        for (std::size_t j = 0; j < s.n; ++j) {
          int sum = 0;
          for (std::size_t p = 0; p < s.k; ++p) {
            sum += small_integer(i * s.k + p, a_low, a_high) * small_integer(p * s.n + j + 999, -7, 7);
          }
          wrong += c[i * s.n + j] != static_cast<C>(sum);
        }
      }
      EXPECT_EQ(wrong, 0u) << s.m << " x " << s.n << " x " << s.k << ", threads " << threads;
    }
  }
}

TEST(VendorGemm, OpenBlasF32) { check<float, float, float>(VendorLibrary::openblas, VendorType::f32, -7, 7); }
TEST(VendorGemm, OpenBlasF64) { check<double, double, double>(VendorLibrary::openblas, VendorType::f64, -7, 7); }
TEST(VendorGemm, OneDnnF32) { check<float, float, float>(VendorLibrary::onednn, VendorType::f32, -7, 7); }
TEST(VendorGemm, OneDnnBf16) { check<Bf16, Bf16, float>(VendorLibrary::onednn, VendorType::bf16, -7, 7); }
TEST(VendorGemm, OneDnnInt8) {
  check<std::uint8_t, std::int8_t, std::int32_t>(VendorLibrary::onednn, VendorType::int8, 0, 127);
}

TEST(VendorGemm, Int8FullRangeWhereTheCheckSaysSo) {
  if (!int8_full_range_is_exact(Backend::cpu, Exec{})) GTEST_SKIP() << "no oneDNN, or it saturates on this CPU";
  check<std::uint8_t, std::int8_t, std::int32_t>(VendorLibrary::onednn, VendorType::int8, 0, 255);
}

TEST(VendorGemm, MissingRowsSayWhy) {
  const GemmShape s{8, 8, 8};
  for (const auto& made : {make_vendor_gemm(Backend::cpu, VendorLibrary::openblas, VendorType::int8, s, Exec{}),
                           make_vendor_gemm(Backend::cpu, VendorLibrary::onednn, VendorType::f64, s, Exec{}),
                           make_vendor_gemm(Backend::cuda, VendorLibrary::openblas, VendorType::f32, s, Exec{})}) {
    EXPECT_EQ(made.gemm, nullptr);
    EXPECT_GT(made.reason.size(), 10u);
  }
}

}  // namespace
}  // namespace assay::kernels
