// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// The pool of blocks, and what the system says of memory.
#include "harness/worker/memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "harness/base/error.h"

namespace assay {
namespace {

constexpr std::size_t mib = 1U << 20;

TEST(Memory, BlocksAreAlignedPoisonedAndReused) {
  MemoryPool pool;
  auto* first = static_cast<unsigned char*>(pool.lend(3 * mib, Touch::by_share, 2, -1));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(first) % 4096, 0U);
  EXPECT_TRUE(std::all_of(first, first + 3 * mib, [](unsigned char byte) { return byte == 0xA5; }));
  std::memset(first, 1, 3 * mib);
  pool.end_case();
  EXPECT_EQ(pool.lent_bytes(), 0U);
  EXPECT_GE(pool.idle_bytes(), 3 * mib);
  auto* again = static_cast<unsigned char*>(pool.lend(3 * mib, Touch::by_share, 2, -1));
  EXPECT_EQ(first, again);
  EXPECT_TRUE(std::all_of(again, again + 3 * mib, [](unsigned char byte) { return byte == 0xA5; }));
}

TEST(Memory, BlocksOfOneCaseNeverOverlap) {
  MemoryPool pool;
  auto* a = static_cast<unsigned char*>(pool.lend(mib, Touch::by_share, 1, -1));
  auto* b = static_cast<unsigned char*>(pool.lend(mib, Touch::by_share, 1, -1));
  EXPECT_TRUE(a + mib <= b || b + mib <= a);
}

TEST(Memory, TheNextCaseCutsTheSameAreaAnew) {
  MemoryPool pool;
  pool.reserve(12 * mib, Touch::by_share, 1, -1);
  auto* whole = static_cast<unsigned char*>(pool.lend(6 * mib, Touch::by_share, 1, -1));
  auto* second = static_cast<unsigned char*>(pool.lend(6 * mib, Touch::by_share, 1, -1));
  EXPECT_EQ(second - whole, std::ptrdiff_t{6 * mib});
  const std::uint64_t mapped = pool.idle_bytes() + pool.lent_bytes();
  pool.end_case();
  for (int i = 0; i < 3; ++i) {
    auto* part = static_cast<unsigned char*>(pool.lend(4 * mib, Touch::by_share, 1, -1));
    EXPECT_EQ(part, whole + static_cast<std::size_t>(i) * 4 * mib);
  }
  EXPECT_EQ(pool.idle_bytes() + pool.lent_bytes(), mapped);
}

TEST(Memory, SmallBuffersDoNotPushLargeOnesOffHugePages) {
  MemoryPool pool;
  pool.reserve(16 * mib, Touch::by_main, 1, -1);
  pool.lend(100, Touch::by_main, 1, -1);
  void* large = pool.lend(4 * mib, Touch::by_main, 1, -1);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(large) % (2 * mib), 0U);
}

TEST(Memory, IdleAreasAreKeptWithinAQuarterOfWhatIsAvailable) {
  MemoryPool pool([]() -> std::uint64_t { return 12 * mib; });
  void* kept = pool.lend(4 * mib, Touch::by_main, 1, -1);
  for (int i = 0; i < 5; ++i) pool.end_case();
  EXPECT_EQ(pool.lend(4 * mib, Touch::by_main, 1, -1), kept);
  EXPECT_EQ(pool.idle_bytes(), 0U);
  pool.lend(8 * mib, Touch::by_main, 1, -1);
  pool.end_case();  // 12 MiB idle, of 24 in all 6 may stay
  EXPECT_LE(pool.idle_resident_bytes(), 6 * mib);
}

TEST(Memory, WhatWasReservedAndNeverTouchedTakesNoMemory) {
  MemoryPool pool([]() -> std::uint64_t { return 64 * mib; });
  void* old = pool.lend(2 * mib, Touch::by_main, 1, -1);
  static_cast<void>(old);
  pool.end_case();
  pool.reserve(6 * mib, Touch::by_main, 1, -1);
  pool.lend(6 * mib, Touch::by_main, 1, -1);
  EXPECT_EQ(pool.lent_bytes(), 6 * mib);
  EXPECT_EQ(pool.idle_resident_bytes(), 2 * mib);
}

TEST(Memory, OnlyWhatWasTouchedIsResident) {
  MemoryPool pool;
  pool.reserve(64 * mib, Touch::by_main, 1, -1);
  EXPECT_EQ(pool.resident_bytes(), 0U);
  pool.lend(4 * mib, Touch::by_main, 1, -1);
  EXPECT_EQ(pool.resident_bytes(), 4 * mib);
  EXPECT_EQ(pool.idle_resident_bytes(), 0U);
  EXPECT_LE(pool.huge_page_bytes(), 4 * mib);
  pool.end_case();
  EXPECT_EQ(pool.huge_page_bytes(), 0U) << "nothing is lent";
}

TEST(Memory, MoreThanTheAddressSpaceIsAnError) {
  MemoryPool pool;
  pool.lend(mib, Touch::by_main, 1, -1);
  pool.end_case();
  EXPECT_THROW(pool.lend(std::size_t{1} << 50, Touch::by_main, 1, -1), Error);
  EXPECT_EQ(pool.idle_bytes(), 0U) << "idle areas go before the system refuses";
}

TEST(Memory, ResidentPeakFollowsWhatIsTouched) {
  ASSERT_TRUE(reset_resident_peak());
  const std::uint64_t before = resident_peak_bytes();
  MemoryPool pool;
  pool.lend(64 * mib, Touch::by_main, 1, -1);
  EXPECT_GE(resident_peak_bytes(), before + 60 * mib);
  EXPECT_GE(resident_bytes(), before + 60 * mib);
  pool.release_all();
  EXPECT_LT(resident_bytes(), before + 4 * mib);
  ASSERT_TRUE(reset_resident_peak());
  EXPECT_LT(resident_peak_bytes(), before + 60 * mib);
}

TEST(Memory, SomethingIsAvailable) { EXPECT_GT(available_memory_bytes(), 16 * mib); }

}  // namespace
}  // namespace assay
