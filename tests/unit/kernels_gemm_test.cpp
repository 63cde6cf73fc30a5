// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Every GEMM version against an integer product, bit for bit: odd shapes around each tile and block boundary, several
// thread counts, and memory around C that must stay untouched.
#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "kernels/gemm.h"

namespace assay::kernels {
namespace {

int small_integer(std::size_t i) { return static_cast<int>((i * 2654435761u >> 7) % 15) - 7; }

std::vector<std::int64_t> integer_product(GemmShape s, const std::vector<float>& a, const std::vector<float>& b) {
  std::vector<std::int64_t> c(s.m * s.n);
  for (std::size_t i = 0; i < s.m; ++i) {
    for (std::size_t p = 0; p < s.k; ++p) {
      const auto factor = static_cast<std::int64_t>(a[i * s.k + p]);
      for (std::size_t j = 0; j < s.n; ++j) c[i * s.n + j] += factor * static_cast<std::int64_t>(b[p * s.n + j]);
    }
  }
  return c;
}

void check(const GemmVersion& version, GemmShape s, int threads) {
  SCOPED_TRACE(std::string(version.name) + " " + std::to_string(s.m) + "x" + std::to_string(s.n) + "x" +
               std::to_string(s.k) + " threads " + std::to_string(threads));
  std::vector<float> a(s.m * s.k), b(s.k * s.n);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(small_integer(i));
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<float>(small_integer(i + 12345));
  constexpr std::size_t guard = 33;
  constexpr float untouched = -12345.5F;
  std::vector<float> c(s.m * s.n + 2 * guard, untouched);
  const Exec exec{threads, nullptr};
  const std::size_t bytes = (version.workspace_bytes(exec, s) + 63) / 64 * 64;
  const std::unique_ptr<void, decltype(&std::free)> workspace(std::aligned_alloc(64, bytes + 64), &std::free);
  version.run(exec, s, a.data(), b.data(), c.data() + guard, workspace.get());
  const auto expected = integer_product(s, a, b);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) wrong += c[guard + i] != static_cast<float>(expected[i]);
  EXPECT_EQ(wrong, 0u);
  for (std::size_t i = 0; i < guard; ++i) {
    ASSERT_EQ(c[i], untouched);
    ASSERT_EQ(c[guard + s.m * s.n + i], untouched);
  }
}

class Gemm : public testing::TestWithParam<int> {
 protected:
  const GemmVersion& version() const { return gemm_ops(Backend::cpu)->versions[GetParam()]; }
};

TEST_P(Gemm, OddShapes) {
  for (const GemmShape s : {GemmShape{1, 1, 1},
                            {1, 70, 3},
                            {70, 1, 5},
                            {13, 31, 17},
                            {14, 32, 8},
                            {15, 33, 9},
                            {64, 64, 64},
                            {57, 129, 100}}) {
    for (const int threads : {1, 2, 5}) check(version(), s, threads);
  }
}

TEST_P(Gemm, AcrossBlockBoundaries) {
  check(version(), {339, 67, 386}, 1);
  check(version(), {700, 40, 769}, 2);
  check(version(), {17, 2085, 385}, 3);
}

// The same source is compiled for each SIMD target: all that this CPU can run, not only the best one.
TEST(GemmTargets, EachIsExact) {
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    SCOPED_TRACE(hwy::TargetName(target));
    hwy::GetChosenTarget().Update(target);
    const auto* ops = gemm_ops(Backend::cpu);
    check(ops->versions[ops->count - 1], {57, 129, 400}, 1);
    check(ops->versions[ops->count - 1], {345, 43, 31}, 3);
  }
  hwy::GetChosenTarget().DeInit();
}

INSTANTIATE_TEST_SUITE_P(Versions, Gemm, testing::Range(0, gemm_ops(Backend::cpu)->count),
                         [](const auto& info) { return gemm_ops(Backend::cpu)->versions[info.param].name; });

TEST(GemmOps, OtherBackendsHaveNoRow) { EXPECT_EQ(gemm_ops(Backend::cuda), nullptr); }

}  // namespace
}  // namespace assay::kernels
