// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// A comparison must find every planted fault with its index and bits, and nothing else; the digest must agree with its
// definition and notice flips, swaps and shifts.
#include <gtest/gtest.h>
#include <hwy/highway.h>
#include <hwy/targets.h>

#include <cstring>
#include <utility>
#include <vector>

#include "kernels/compare.h"

namespace assay::kernels {
namespace {

constexpr Stream stream{77, 3};
const CompareOps& ops = *compare_ops(Backend::cpu);

Exec on(int threads) { return {threads, nullptr}; }

std::vector<std::uint32_t> words(std::size_t n) {
  std::vector<std::uint32_t> v(n);
  for (std::size_t i = 0; i < n; ++i) v[i] = u32_at(stream, i);
  return v;
}

TEST(Compare, a_right_buffer_has_no_mismatch_and_every_element_counts) {
  for (const std::size_t n : {0, 1, 7, 1023, 1025, 70'001})
    for (const int threads : {1, 2, 3}) {
      const auto v = words(n);
      MismatchReport report;
      ops.u32(v.data(), n, stream, &report, on(threads));
      EXPECT_EQ(report.mismatches, 0u) << n;
      EXPECT_EQ(report.compared, n);
      EXPECT_EQ(report.kept, 0u);
    }
}

TEST(Compare, one_flipped_bit_anywhere_is_found_with_its_evidence) {
  constexpr std::size_t n = 5003;
  auto v = words(n);
  for (std::size_t i = 0; i < n; i += i < 40 || i > n - 40 ? 1 : 97) {
    const std::uint32_t bit = 1u << (i % 32);
    v[i] ^= bit;
    MismatchReport report;
    ops.u32(v.data(), n, stream, &report, on(1 + static_cast<int>(i % 3)));
    ASSERT_EQ(report.mismatches, 1u) << i;
    ASSERT_EQ(report.kept, 1u);
    EXPECT_EQ(report.first[0].index, i);
    EXPECT_EQ(report.first[0].expected, u32_at(stream, i));
    EXPECT_EQ(report.first[0].actual, v[i]);
    EXPECT_EQ(report.first[0].difference(), bit);
    EXPECT_EQ(report.first[0].second_read, v[i]);
    v[i] ^= bit;
  }
}

TEST(Compare, unaligned_starts_and_every_type) {
  constexpr std::size_t n = 3001, at = 2999;
  std::vector<std::uint64_t> u64(n + 1);
  std::vector<float> f32(n + 1);
  std::vector<double> f64(n + 1);
  for (std::size_t i = 0; i < n; ++i) {
    u64[i + 1] = u64_at(stream, i);
    f32[i + 1] = f32_at(stream, i, 8);
    f64[i + 1] = f64_at(stream, i, 16);
  }
  u64[at + 1] ^= 1ull << 63;
  f32[at + 1] = -f32[at + 1];
  f64[at + 1] += 0x1p-40;
  MismatchReport r64, rf, rd;
  ops.u64(u64.data() + 1, n, stream, &r64, on(2));
  ops.f32(f32.data() + 1, n, stream, 8, &rf, on(2));
  ops.f64(f64.data() + 1, n, stream, 16, &rd, on(2));
  for (const auto* r : {&r64, &rf, &rd}) {
    EXPECT_EQ(r->compared, n);
    ASSERT_EQ(r->mismatches, 1u);
    EXPECT_EQ(r->first[0].index, at);
  }
  EXPECT_EQ(r64.first[0].difference(), 1ull << 63);
  EXPECT_EQ(rf.first[0].difference(), 1ull << 31);
}

TEST(Compare, of_many_faults_the_first_are_kept_in_order_whatever_the_threads) {
  constexpr std::size_t n = 9000;
  auto v = words(n);
  for (std::size_t i = 100; i < n; i += 5) v[i] = ~v[i];
  for (const int threads : {1, 2, 3, 7}) {
    MismatchReport report;
    ops.u32(v.data(), n, stream, &report, on(threads));
    EXPECT_EQ(report.mismatches, (n - 100 + 4) / 5);
    ASSERT_EQ(report.kept, MismatchReport::capacity);
    for (std::uint64_t k = 0; k < report.kept; ++k) EXPECT_EQ(report.first[k].index, 100 + 5 * k);
  }
}

TEST(Compare, zeros_nans_and_another_stream_are_wrong_everywhere) {
  constexpr std::size_t n = 2000;
  const std::vector<float> zeros(n), nans(n, __builtin_nanf(""));
  for (const auto* buffer : {&zeros, &nans}) {
    MismatchReport report;
    ops.f32(buffer->data(), n, stream, 16, &report, on(2));
    EXPECT_EQ(report.mismatches, n);
  }
  MismatchReport report;
  ops.u32(words(n).data(), n, {stream.seed, stream.id + 1}, &report, on(1));
  EXPECT_GT(report.mismatches, n - 10);
}

TEST(Compare, reports_are_added_up_over_calls) {
  auto v = words(100);
  v[9] ^= 1;
  MismatchReport report;
  for (int i = 0; i < 3; ++i) ops.u32(v.data(), v.size(), stream, &report, on(1));
  EXPECT_EQ(report.compared, 300u);
  EXPECT_EQ(report.mismatches, 3u);
}

std::uint64_t digest_by_definition(const std::vector<std::uint8_t>& bytes) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; 8 * i < bytes.size(); ++i) {
    std::uint64_t word = 0;
    for (std::size_t b = 0; b < 8 && 8 * i + b < bytes.size(); ++b)
      word |= static_cast<std::uint64_t>(bytes[8 * i + b]) << (8 * b);
    sum += mix64(word ^ (i * 0x9E3779B97F4A7C15u));
  }
  return sum;
}

std::uint64_t digest(const void* p, std::size_t bytes, int threads) {
  std::uint64_t d = 0;
  ops.digest(p, bytes, &d, on(threads));
  return d;
}

TEST(Digest, digests_are_added_up_over_calls) {
  const auto v = words(100);
  std::uint64_t sum = 5;
  for (int i = 0; i < 3; ++i) ops.digest(v.data(), 400, &sum, on(2));
  EXPECT_EQ(sum, 5 + 3 * digest(v.data(), 400, 1));
  ops.digest(v.data(), 0, &sum, on(2));
  EXPECT_EQ(sum, 5 + 3 * digest(v.data(), 400, 1));
}

TEST(Digest, mix64_is_the_splitmix64_finaliser) {
  // splitmix64 seeded with 1234567: its first outputs are mix64 of the state after each golden-ratio step.
  EXPECT_EQ(mix64(1234567 + digest_stride), 6457827717110365317u);
  EXPECT_EQ(mix64(1234567 + 2 * digest_stride), 3203168211198807973u);
}

TEST(Digest, equals_its_definition_for_every_tail_thread_count_and_instruction_set) {
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    for (const std::size_t n : {0, 1, 7, 8, 9, 63, 64, 129, 1000, 8191, 8192, 8200, 50'003}) {
      std::vector<std::uint8_t> bytes(n);
      for (std::size_t i = 0; i < n; ++i) bytes[i] = static_cast<std::uint8_t>(u32_at(stream, i));
      for (const int threads : {1, 2, 5})
        ASSERT_EQ(digest(bytes.data(), n, threads), digest_by_definition(bytes)) << n << " bytes, " << threads;
    }
    hwy::SetSupportedTargetsForTest(0);
  }
}

TEST(Digest, sees_a_flip_a_swap_and_a_shift_but_not_trailing_zeros_within_a_word) {
  std::vector<std::uint64_t> v(1000, 5);
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = u64_at(stream, i);
  const std::size_t bytes = v.size() * 8;
  const std::uint64_t before = digest(v.data(), bytes, 2);
  v[999] ^= 1ull << 40;
  EXPECT_NE(digest(v.data(), bytes, 2), before);
  v[999] ^= 1ull << 40;
  std::swap(v[3], v[4]);
  EXPECT_NE(digest(v.data(), bytes, 2), before);
  std::swap(v[3], v[4]);
  EXPECT_EQ(digest(v.data(), bytes, 2), before);
  EXPECT_NE(digest(v.data() + 1, bytes - 8, 2), before);
  const std::uint64_t zeros[2] = {0, 0};
  EXPECT_EQ(digest(zeros, 9, 1), digest(zeros, 16, 1));
  EXPECT_NE(digest(zeros, 8, 1), digest(zeros, 16, 1));
}

}  // namespace
}  // namespace assay::kernels
