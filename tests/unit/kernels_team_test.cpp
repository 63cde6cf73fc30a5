// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <vector>

#include "kernels/team.h"

namespace assay::kernels {
namespace {

const TeamOps& ops = *team_ops(Backend::cpu);

void expect_rounds(const std::vector<TeamCounter>& counters, std::size_t threads, std::uint64_t rounds) {
  for (std::size_t t = 0; t < counters.size(); ++t) {
    EXPECT_EQ(counters[t].rounds, t < threads ? rounds : 0u) << "thread " << t;
    EXPECT_EQ(counters[t].violations, 0u) << "thread " << t;
  }
}

TEST(Team, every_thread_takes_part_in_every_region) {
  for (const int threads : {1, 2, 3, 5}) {
    std::vector<TeamCounter> counters(6);
    ops.fork_join(counters.data(), 20, {threads, nullptr});
    ops.fork_join(counters.data(), 3, {threads, nullptr});
    expect_rounds(counters, static_cast<std::size_t>(threads), 23);
  }
}

TEST(Team, nobody_leaves_a_barrier_early) {
  for (const int threads : {1, 2, 3, 5}) {
    std::vector<TeamCounter> counters(6);
    ops.barrier(counters.data(), 20, {threads, nullptr});
    ops.barrier(counters.data(), 3, {threads, nullptr});
    expect_rounds(counters, static_cast<std::size_t>(threads), 23);
  }
}

TEST(Team, counters_do_not_share_cache_lines) {
  EXPECT_EQ(sizeof(TeamCounter), 128u);
  EXPECT_EQ(alignof(TeamCounter), 64u);
}

}  // namespace
}  // namespace assay::kernels
