// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// The thread sanitizer is awake inside teams of OpenMP, and knows their barriers: each of these has a defect that must end
// the program with a report, and without it must pass.
#include <gtest/gtest.h>
#include <omp.h>

#include <vector>

namespace {

constexpr int threads = 4;

void look_at_the_neighbour(bool with_barrier) {
  std::vector<int> values(threads);
  int sum = 0;
#pragma omp parallel num_threads(threads) reduction(+ : sum)
  {
    values[static_cast<std::size_t>(omp_get_thread_num())] = 1;
    if (with_barrier) {
#pragma omp barrier
    }
    sum += values[static_cast<std::size_t>((omp_get_thread_num() + 1) % threads)];
  }
  if (with_barrier) EXPECT_EQ(sum, threads);
}

void count(bool whole) {
  int counter = 0;
#pragma omp parallel for num_threads(threads)
  for (int i = 0; i < 1000; ++i) {
    if (whole) {
#pragma omp atomic
      ++counter;
    } else {
      ++counter;
    }
  }
  if (whole) EXPECT_EQ(counter, 1000);
}

class Awake : public testing::Test {
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }  // a fork has no team
};

TEST_F(Awake, SeesAMissingBarrier) {
  look_at_the_neighbour(true);
  EXPECT_DEATH(look_at_the_neighbour(false), "data race");
}
TEST_F(Awake, SeesALostUpdate) {
  count(true);
  EXPECT_DEATH(count(false), "data race");
}

}  // namespace
