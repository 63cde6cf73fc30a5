// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Reductions against plain sums where every order is exact, and against the order of the header, spelt out recursively,
// where it isn't.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/bits.h"
#include "kernels/philox.h"
#include "kernels/reduce.h"

namespace assay::kernels {
namespace {

template <typename T, class Function>
double reduced(Function function, const std::vector<T>& x, int threads) {
  // One double more, which must survive.
  std::vector<double> scratch(reduce_scratch(x.size()) + 1, -77.0);
  double result = 99;
  function({threads, nullptr}, {x.empty() ? nullptr : x.data(), x.size(), scratch.data(), &result});
  EXPECT_EQ(scratch.back(), -77.0);
  return result;
}

// A tree of `lanes` lanes from lane `l` on at distance d: its lower half joined with its upper half.
double tree_sum(const std::vector<double>& lanes, std::size_t l, std::size_t d) {
  return d == lanes.size() ? lanes[l] : tree_sum(lanes, l, 2 * d) + tree_sum(lanes, l + d, 2 * d);
}

double sum_in_order(std::vector<double> x) {
  while (true) {
    std::vector<double> tiles;
    for (std::size_t begin = 0; begin == 0 || begin < x.size(); begin += 1024) {
      std::vector<double> lanes;
      for (std::size_t i = begin; i < begin + 1024; i += 4) {
        const auto at = [&](std::size_t k) { return k < x.size() ? x[k] : 0.0; };
        lanes.push_back(at(i) + at(i + 1) + at(i + 2) + at(i + 3));
      }
      tiles.push_back(tree_sum(lanes, 0, 1));
    }
    if (tiles.size() == 1) return tiles[0];
    x = tiles;
  }
}

template <typename T>
class KernelsReduce : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(KernelsReduce, Types);

TYPED_TEST(KernelsReduce, ExactSumsAndMaxima) {
  const ReduceOps<TypeParam>& ops = *reduce_ops<TypeParam>(Backend::cpu);
  for (const std::size_t n : {0, 1, 2, 3, 4, 5, 1023, 1024, 1025, 2048, 2049, 5000}) {
    std::vector<TypeParam> x(n);
    double sum = 0, most = -std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < n; ++i) {
      x[i] = static_cast<TypeParam>(static_cast<int>(i * 7919 % 1009) - 600);
      sum += x[i];
      most = std::max(most, static_cast<double>(x[i]));
    }
    for (const int threads : {1, 3}) {
      EXPECT_EQ(reduced(ops.sum, x, threads), sum) << n;
      EXPECT_EQ(reduced(ops.maximum, x, threads), most) << n;
    }
  }
}

TYPED_TEST(KernelsReduce, TheOrderIsTheOneOfTheHeader) {
  const ReduceOps<TypeParam>& ops = *reduce_ops<TypeParam>(Backend::cpu);
  for (const std::size_t n : {7, 1000, 1024, 3000, 1024 * 1024 + 5}) {
    std::vector<TypeParam> x(n);
    for (std::size_t i = 0; i < n; ++i) {
      x[i] = static_cast<TypeParam>(f64_at({5, 1}, i) * std::pow(2.0, static_cast<int>(u32_at({5, 2}, i) % 60)) / 3);
    }
    const double expected = sum_in_order({x.begin(), x.end()});
    for (const int threads : {1, 2, 5}) EXPECT_EQ(bits_of(reduced(ops.sum, x, threads)), bits_of(expected)) << n;
  }
}

TYPED_TEST(KernelsReduce, EveryElementCounts) {
  const ReduceOps<TypeParam>& ops = *reduce_ops<TypeParam>(Backend::cpu);
  std::vector<TypeParam> x(2100, TypeParam(1));
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = TypeParam(9);
    ASSERT_EQ(reduced(ops.sum, x, 1), 2108.0) << i;
    ASSERT_EQ(reduced(ops.maximum, x, 1), 9.0) << i;
    x[i] = std::numeric_limits<TypeParam>::quiet_NaN();
    ASSERT_TRUE(std::isnan(reduced(ops.maximum, x, 1))) << i;
    x[i] = TypeParam(1);
  }
}

TEST(KernelsReduceScratch, IsAllLevelsButTheLast) {
  EXPECT_EQ(reduce_scratch(0), 0u);
  EXPECT_EQ(reduce_scratch(1024), 0u);
  EXPECT_EQ(reduce_scratch(1025), 2u);
  EXPECT_EQ(reduce_scratch(std::size_t{1} << 33), (std::size_t{1} << 23) + (std::size_t{1} << 13) + 8);
}

}  // namespace
}  // namespace assay::kernels
