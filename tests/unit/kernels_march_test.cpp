// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Marches over memory that is made to fail: a bit flipped between two steps, a bit stuck at a value, and one page that
// answers at two addresses (mapped twice). Each must be found where it is; sound memory must not be blamed.
#include <gtest/gtest.h>
#include <hwy/highway.h>
#include <hwy/targets.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <set>
#include <vector>

#include "kernels/march.h"

namespace assay::kernels {
namespace {

constexpr Stream stream{2024, 9};
constexpr MarchTest all_tests[] = {MarchTest::own_address, MarchTest::moving_inversions, MarchTest::walking_ones,
                                   MarchTest::random};
const MarchOps& ops = *march_ops(Backend::cpu);

Exec on(int threads) { return {threads, nullptr}; }

// Runs a whole test; `between(step)` is called after each step and may tamper with the memory.
template <class Between>
MismatchReport march(const std::vector<MarchStep>& steps, std::uint64_t* memory, std::size_t words, int threads,
                     const Between& between) {
  MismatchReport report;
  for (std::size_t s = 0; s < steps.size(); ++s) {
    ops.step(memory, words, steps[s], s, &report, on(threads));
    between(s);
  }
  return report;
}

// The first 8 steps of a test: enough to meet each kind of step of each test.
std::vector<MarchStep> shortened(std::vector<MarchStep> steps) {
  if (steps.size() > 8) steps.resize(8);
  return steps;
}

TEST(March, sound_memory_passes_and_holds_the_last_pattern_on_every_instruction_set) {
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    for (const MarchTest test : all_tests)
      for (const std::size_t words : {0, 7, 513, 2049})
        for (const int threads : {1, 2, 3}) {
          std::vector<std::uint64_t> memory(words + 2, 0x1234);
          const auto steps = shortened(march_steps(test, stream));
          std::uint64_t reads = 0;
          const auto report = march(steps, memory.data() + 1, words, threads, [&](std::size_t s) {
            reads += steps[s].reads ? 1 : 0;
            const MarchPattern& left = steps[s].writes ? steps[s].store : steps[s].expect;
            for (std::size_t i = 0; i < words; ++i) ASSERT_EQ(memory[1 + i], left.word(i)) << i;
          });
          EXPECT_EQ(report.mismatches, 0u);
          EXPECT_EQ(report.compared, reads * words);
          EXPECT_EQ(memory.front(), 0x1234u);
          EXPECT_EQ(memory.back(), 0x1234u);
        }
    hwy::SetSupportedTargetsForTest(0);
  }
}

TEST(March, a_flip_between_any_two_steps_is_found_by_the_next_one) {
  constexpr std::size_t words = 1500;
  for (const MarchTest test : all_tests) {
    const auto steps = shortened(march_steps(test, stream));
    for (std::size_t at = 0; at + 1 < steps.size(); ++at)
      for (const std::size_t index : {std::size_t{0}, std::size_t{513}, words - 1}) {
        std::vector<std::uint64_t> memory(words);
        const auto report = march(steps, memory.data(), words, 2, [&](std::size_t s) {
          if (s == at) memory[index] ^= 1ull << (index % 64);
        });
        ASSERT_EQ(report.mismatches, 1u);
        EXPECT_EQ(report.first[0].index, index);
        EXPECT_EQ(report.first[0].pass, at + 1);
        EXPECT_EQ(report.first[0].difference(), 1ull << (index % 64));
        EXPECT_EQ(report.first[0].expected, steps[at + 1].expect.word(index));
      }
  }
}

TEST(March, a_stuck_bit_is_found_by_every_test_that_writes_both_values) {
  constexpr std::size_t words = 3000, index = 1777;
  for (const MarchTest test : all_tests)
    for (const bool stuck_high : {false, true})
      for (const int bit : {0, 17, 63}) {
        std::vector<std::uint64_t> memory(words);
        const std::uint64_t mask = 1ull << bit;
        const auto report = march(march_steps(test, stream), memory.data(), words, 2, [&](std::size_t) {
          memory[index] = stuck_high ? memory[index] | mask : memory[index] & ~mask;
        });
        ASSERT_GT(report.mismatches, 0u) << static_cast<int>(test) << " bit " << bit << " high " << stuck_high;
        EXPECT_EQ(report.first[0].index, index);
        EXPECT_EQ(report.first[0].difference(), mask);
      }
}

TEST(March, memory_that_answers_at_two_addresses_is_found_by_own_address) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const int fd = memfd_create("alias", 0);
  ASSERT_GE(fd, 0);
  ASSERT_EQ(ftruncate(fd, static_cast<off_t>(page)), 0);
  void* both = mmap(nullptr, 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(both, MAP_FAILED);
  for (std::size_t half = 0; half < 2; ++half)
    ASSERT_NE(mmap(static_cast<char*>(both) + half * page, page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0),
              MAP_FAILED);
  const std::size_t words = 2 * page / 8;
  for (const int threads : {1, 2}) {
    const auto report = march(march_steps(MarchTest::own_address, stream), static_cast<std::uint64_t*>(both), words,
                              threads, [](std::size_t) {});
    EXPECT_GE(report.mismatches, words / 2) << threads << " threads";
    ASSERT_GT(report.kept, 0u);
    EXPECT_EQ(report.first[0].difference() % page, 0u);  // the address line that is missing
  }
  munmap(both, 2 * page);
  close(fd);
}

TEST(March, walking_ones_puts_the_one_on_every_bit_of_every_word) {
  const auto steps = march_steps(MarchTest::walking_ones, stream);
  for (const std::uint64_t i : {0u, 1u, 63u, 64u, 100u}) {
    std::set<std::uint64_t> seen;
    for (const auto& step : steps)
      if (step.writes) seen.insert(step.store.word(i));
    EXPECT_EQ(seen.size(), 64u);
    for (const std::uint64_t w : seen) EXPECT_EQ(w & (w - 1), 0u);
  }
}

TEST(March, bytes_count_every_read_and_write) {
  EXPECT_EQ(march_bytes(march_steps(MarchTest::own_address, stream), 10), 8u * 10 * 6);
  EXPECT_EQ(march_bytes(march_steps(MarchTest::moving_inversions, stream), 10), 8u * 10 * 14);
  EXPECT_EQ(march_bytes(march_steps(MarchTest::walking_ones, stream), 10), 8u * 10 * 130);
  EXPECT_EQ(march_bytes(march_steps(MarchTest::random, stream), 10), 8u * 10 * 6);
  for (const MarchTest test : all_tests)
    for (const auto& step : march_cycle(test, stream)) EXPECT_EQ(march_bytes({step}, 10), 16u * 10);
}

TEST(March, a_cycle_reads_what_was_written_and_ends_where_it_began) {
  for (const MarchTest test : all_tests) {
    const auto cycle = march_cycle(test, stream);
    for (std::size_t s = 0; s < cycle.size(); ++s)
      for (const std::uint64_t i : {0u, 5u, 77u})
        EXPECT_EQ(cycle[s].store.word(i), cycle[(s + 1) % cycle.size()].expect.word(i));
  }
}

TEST(March, non_temporal_writes_are_seen_by_the_next_step) {
  const std::size_t words = (std::size_t{9} << 20) / 8 + 3;
  std::vector<std::uint64_t> memory(words);
  const auto report = march(march_steps(MarchTest::random, stream), memory.data(), words, 2, [&](std::size_t s) {
    if (s == 0) memory[words - 5] ^= 2;
  });
  ASSERT_EQ(report.mismatches, 1u);
  EXPECT_EQ(report.first[0].index, words - 5);
}

}  // namespace
}  // namespace assay::kernels
