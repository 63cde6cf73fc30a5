// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// The vectorised fill against the element-by-element definition in kernels/philox.h: every instruction set this
// machine has, odd sizes, unaligned starts, thread counts that don't divide the size, both sides of the non-temporal
// threshold; and never a byte outside the buffer.
#include <gtest/gtest.h>
#include <hwy/highway.h>
#include <hwy/targets.h>

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "kernels/fill.h"

namespace assay::kernels {
namespace {

constexpr Stream stream{0x0123456789abcdefu, 0xfedcba9876543210u};
constexpr std::size_t largest = 12'007;
constexpr std::size_t sizes[] = {0, 1, 3, 5, 15, 17, 1023, 1024, 1025, 2048, 5001, largest};

// Fills n elements at `offset` of a guarded buffer, for every combination, and compares the whole buffer.
template <class T, class Fill, class At>
void check(const Fill& fill, const At& at) {
  T guard;
  std::memset(&guard, 0xAB, sizeof guard);
  std::vector<T> elements(largest);
  for (std::size_t i = 0; i < largest; ++i) elements[i] = at(i);
  for (const std::size_t n : sizes)
    for (const auto& [offset, threads] : {std::pair<std::size_t, int>{0, 2}, {1, 3}, {3, 1}}) {
      std::vector<T> expected(offset + n + 64, guard), actual = expected;
      std::copy_n(elements.begin(), n, expected.begin() + static_cast<std::ptrdiff_t>(offset));
      fill(actual.data() + offset, n, Exec{threads, nullptr});
      ASSERT_EQ(std::memcmp(actual.data(), expected.data(), actual.size() * sizeof(T)), 0)
          << "n " << n << " offset " << offset << " threads " << threads;
    }
}

class FillOnTarget : public testing::TestWithParam<std::int64_t> {
 protected:
  void SetUp() override { hwy::SetSupportedTargetsForTest(GetParam()); }
  void TearDown() override { hwy::SetSupportedTargetsForTest(0); }
  const FillOps& ops_ = *fill_ops(Backend::cpu);
};

INSTANTIATE_TEST_SUITE_P(EveryTarget, FillOnTarget, testing::ValuesIn(hwy::SupportedAndGeneratedTargets()),
                         [](const auto& info) { return std::string(hwy::TargetName(info.param)); });

TEST_P(FillOnTarget, u32) {
  check<std::uint32_t>([&](auto* p, std::size_t n, const Exec& e) { ops_.u32(p, n, stream, e); },
                       [](std::size_t i) { return u32_at(stream, i); });
}
TEST_P(FillOnTarget, u64) {
  check<std::uint64_t>([&](auto* p, std::size_t n, const Exec& e) { ops_.u64(p, n, stream, e); },
                       [](std::size_t i) { return u64_at(stream, i); });
}
TEST_P(FillOnTarget, f32) {
  for (const int bits : {2, 8, 16})
    check<float>([&](auto* p, std::size_t n, const Exec& e) { ops_.f32(p, n, stream, bits, e); },
                 [&](std::size_t i) { return f32_at(stream, i, bits); });
}
TEST_P(FillOnTarget, f64) {
  for (const int bits : {5, 16})
    check<double>([&](auto* p, std::size_t n, const Exec& e) { ops_.f64(p, n, stream, bits, e); },
                  [&](std::size_t i) { return f64_at(stream, i, bits); });
}

TEST(Fill, non_temporal_stores_write_the_same) {
  constexpr std::size_t n = fill_non_temporal_bytes / sizeof(std::uint64_t) + 1237;
  std::vector<std::uint64_t> buffer(n + 1);  // one of the two starts is aligned to a vector, the other is not
  for (const std::size_t offset : {0, 1}) {
    fill_ops(Backend::cpu)->u64(buffer.data() + offset, n, stream, Exec{2, nullptr});
    for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(buffer[offset + i], u64_at(stream, i)) << i;
  }
}

TEST(Fill, spoil_overwrites_every_byte_and_no_other) {
  for (const std::size_t bytes : {0, 1, 4095, 4097, 70'001})
    for (const int threads : {1, 2, 3}) {
      std::vector<std::uint8_t> buffer(bytes + 2, 7);
      spoil(buffer.data() + 1, bytes, Exec{threads, nullptr});
      EXPECT_EQ(buffer.front(), 7);
      EXPECT_EQ(buffer.back(), 7);
      EXPECT_EQ(static_cast<std::size_t>(std::count(buffer.begin(), buffer.end(), 0xA5)), bytes);
    }
}

TEST(Fill, a_backend_without_code_is_null) { EXPECT_EQ(fill_ops(Backend::cuda), nullptr); }

}  // namespace
}  // namespace assay::kernels
