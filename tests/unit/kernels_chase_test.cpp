// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// The pointer chase: the links form one cycle through every line, a walk by a plain loop arrives where the kernel does,
// and the order is a permutation that depends on the seed and prefers no line.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <vector>

#include "kernels/chase.h"

namespace assay::kernels {
namespace {

std::vector<std::uint32_t> order_of(std::size_t n, std::uint64_t seed) {
  std::vector<std::uint32_t> order(n);
  chase_order(order.data(), n, seed);
  return order;
}

TEST(KernelsChase, LinksFormOneCycleThroughEveryLine) {
  for (const std::size_t n : {1, 2, 3, 17, 1000}) {
    for (const int threads : {1, 2, 3}) {
      const auto order = order_of(n, 7);
      std::vector<ChaseLine> lines(n);
      chase_ops(Backend::cpu)->link({threads, nullptr}, lines.data(), order.data(), n);
      std::set<const ChaseLine*> seen;
      const ChaseLine* at = lines.data();
      for (std::size_t i = 0; i < n; ++i, at = at->next) EXPECT_TRUE(seen.insert(at).second) << "n " << n;
      EXPECT_EQ(at, lines.data());
    }
  }
}

TEST(KernelsChase, ArrivesWhereAPlainWalkAndTheOrderSay) {
  const std::size_t n = 101;
  const auto order = order_of(n, 3);
  std::vector<ChaseLine> lines(n);
  const ChaseOps& ops = *chase_ops(Backend::cpu);
  ops.link({1, nullptr}, lines.data(), order.data(), n);
  for (const std::uint64_t steps : {0u, 1u, 15u, 16u, 17u, 100u, 101u, 12345u}) {
    std::vector<ChaseLine*> position = {&lines[order[0]], &lines[order[50]], &lines[order[100]]};
    const std::vector<ChaseLine*> start = position;
    ops.run({3, nullptr}, position.data(), steps);
    const std::size_t begin[] = {0, 50, 100};
    for (std::size_t t = 0; t < 3; ++t) {
      const ChaseLine* walked = start[t];
      for (std::uint64_t i = 0; i < steps; ++i) walked = walked->next;
      EXPECT_EQ(position[t], walked) << steps;
      EXPECT_EQ(position[t], &lines[order[(begin[t] + steps) % n]]) << steps;
    }
  }
}

TEST(KernelsChase, AWrongLinkChangesTheEnd) {
  const std::size_t n = 64;
  const auto order = order_of(n, 3);
  std::vector<ChaseLine> lines(n);
  const ChaseOps& ops = *chase_ops(Backend::cpu);
  ops.link({1, nullptr}, lines.data(), order.data(), n);
  lines[order[10]].next = &lines[order[30]];
  ChaseLine* position = &lines[order[0]];
  ops.run({1, nullptr}, &position, 40);
  EXPECT_NE(position, &lines[order[40]]);
}

TEST(KernelsChase, OrderIsAPermutationDrawnByTheSeed) {
  for (const std::size_t n : {0, 1, 2, 1000}) {
    auto order = order_of(n, 11);
    EXPECT_EQ(order, order_of(n, 11));
    if (n == 1000) {
      EXPECT_NE(order, order_of(n, 12));
    }
    std::sort(order.begin(), order.end());
    std::vector<std::uint32_t> all(n);
    std::iota(all.begin(), all.end(), 0u);
    EXPECT_EQ(order, all);
  }
}

// All 24 orders of four lines come up equally often: 24,000 draws, 1,000 each, standard deviation 31.
TEST(KernelsChase, NoOrderIsPreferred) {
  std::vector<int> count(256, 0);
  for (std::uint64_t seed = 0; seed < 24'000; ++seed) {
    const auto order = order_of(4, seed);
    ++count[order[0] + 4 * order[1] + 16 * order[2] + 64 * order[3]];
  }
  int kinds = 0;
  for (const int c : count) {
    if (c == 0) continue;
    ++kinds;
    EXPECT_NEAR(c, 1000, 200);
  }
  EXPECT_EQ(kinds, 24);
}

TEST(KernelsChase, NothingToLinkAndNoCudaRowYet) {
  chase_ops(Backend::cpu)->link({2, nullptr}, nullptr, nullptr, 0);
  EXPECT_EQ(chase_ops(Backend::cuda), nullptr);
}

}  // namespace
}  // namespace assay::kernels
