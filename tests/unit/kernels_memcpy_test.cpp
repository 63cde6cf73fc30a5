// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Both copies at every alignment and at sizes around a line, with guard bytes on both sides.
#include <gtest/gtest.h>

#include <vector>

#include "kernels/memcpy.h"

namespace assay::kernels {
namespace {

void check(CopyFunction copy, std::size_t n, std::size_t to_offset, std::size_t from_offset, int threads) {
  constexpr unsigned char guard = 0xA5;
  std::vector<unsigned char> from(n + 128), to(n + 256, guard);
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<unsigned char>(i * 7 + i / 251);
  copy({threads, nullptr}, to.data() + 64 + to_offset, from.data() + from_offset, n, 2);
  for (std::size_t i = 0; i < to.size(); ++i) {
    const bool inside = i >= 64 + to_offset && i < 64 + to_offset + n;
    ASSERT_EQ(to[i], inside ? from[i - 64 - to_offset + from_offset] : guard)
        << "n " << n << " offsets " << to_offset << ", " << from_offset << " threads " << threads << " byte " << i;
  }
}

TEST(KernelsMemcpy, EqualsTheSourceAtEveryAlignment) {
  for (const CopyFunction copy : {memcpy_ops(Backend::cpu)->libc, memcpy_ops(Backend::cpu)->non_temporal}) {
    for (const std::size_t n : {0, 1, 63, 64, 65, 127, 128, 1000, 4099, 35001}) {
      for (const std::size_t to_offset : {0, 1, 8, 63}) {
        for (const std::size_t from_offset : {0, 3, 32}) {
          for (const int threads : {1, 3}) check(copy, n, to_offset, from_offset, threads);
        }
      }
    }
  }
}

TEST(KernelsMemcpy, NullPointersAreFineWithoutBytes) {
  for (const CopyFunction copy : {memcpy_ops(Backend::cpu)->libc, memcpy_ops(Backend::cpu)->non_temporal}) {
    copy({2, nullptr}, nullptr, nullptr, 0, 3);
  }
  EXPECT_EQ(memcpy_ops(Backend::cuda), nullptr);
}

TEST(KernelsMemcpy, NoIterationsCopyNothing) {
  for (const CopyFunction copy : {memcpy_ops(Backend::cpu)->libc, memcpy_ops(Backend::cpu)->non_temporal}) {
    std::vector<unsigned char> from(100, 1), to(100, 2);
    copy({1, nullptr}, to.data(), from.data(), 100, 0);
    EXPECT_EQ(to, std::vector<unsigned char>(100, 2));
  }
}

}  // namespace
}  // namespace assay::kernels
