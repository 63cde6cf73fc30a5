// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Every version of the CUDA reductions gives the bits of the CPU row, for data where the order of additions shows.
#include "kernels/reduce.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "device_array.h"
#include "kernels/bits.h"
#include "kernels/philox.h"
#include "runtime/rig.h"

namespace assay::kernels {
namespace {

using simt::DeviceArray;

template <typename T>
std::vector<T> numbers(std::size_t n) {
  std::vector<T> x(n);
  for (std::size_t i = 0; i < n; ++i) {
    x[i] = static_cast<T>(f64_at({5, 1}, i) * std::ldexp(1.0 / 3, static_cast<int>(u32_at({5, 2}, i) % 60)));
  }
  return x;
}

template <typename T>
class SimtReduce : public testing::Test {
 protected:
  using Function = void (*)(const Exec&, const ReduceArgs<T>&);
  void SetUp() override { simt::reset(); }

  static double on_cpu(Function function, const std::vector<T>& x) {
    std::vector<double> scratch(reduce_scratch(x.size()));
    double result = 0;
    function({1, nullptr}, {x.data(), x.size(), scratch.data(), &result});
    return result;
  }
  static double on_device(Function function, const std::vector<T>& x, std::size_t offset) {
    DeviceArray<T> device(x, offset);
    DeviceArray<double> scratch(reduce_scratch(x.size())), result(1);
    function({1, nullptr}, {device.data(), x.size(), scratch.data(), result.data()});
    simt::succeed(cudaGetLastError());
    return result.values()[0];
  }
};

using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(SimtReduce, Types);

TYPED_TEST(SimtReduce, EveryVersionEqualsTheCpuRow) {
  const ReduceOps<TypeParam>& reference = *reduce_ops<TypeParam>(Backend::cpu);
  ASSERT_EQ(cuda_versions<ReduceOps<TypeParam>>.count, 3u);
  simt::set_processors(1);  // 8 blocks: from 9 tiles on a block has a second one
  for (const std::size_t n : {0, 1, 3, 5, 1021, 1024, 1025, 9 * 1024 + 3}) {
    const std::vector<TypeParam> x = numbers<TypeParam>(n);
    const double sum = this->on_cpu(reference.sum, x), most = this->on_cpu(reference.maximum, x);
    for (const simt::Schedule schedule : simt::all_schedules) {
      simt::set_schedule(schedule);
      for (std::size_t v = 0; v < cuda_versions<ReduceOps<TypeParam>>.count; ++v) {
        const auto& version = cuda_versions<ReduceOps<TypeParam>>.first[v];
        for (const std::size_t offset : {0, 1}) {
          ASSERT_EQ(bits_of(this->on_device(version.ops->sum, x, offset)), bits_of(sum))
              << version.name << ", " << simt::name_of(schedule) << ", n " << n;
          ASSERT_EQ(bits_of(this->on_device(version.ops->maximum, x, offset)), bits_of(most))
              << version.name << ", " << simt::name_of(schedule) << ", n " << n;
        }
      }
    }
  }
  simt::set_processors(2);
}

TYPED_TEST(SimtReduce, ThreeLevels) {
  const std::vector<TypeParam> x = numbers<TypeParam>(1024 * 1024 + 1);
  const auto& version = *simt::last_version<ReduceOps<TypeParam>>();
  EXPECT_EQ(bits_of(this->on_device(version.sum, x, 0)),
            bits_of(this->on_cpu(reduce_ops<TypeParam>(Backend::cpu)->sum, x)));
}

TYPED_TEST(SimtReduce, ANanIsTheMaximum) {
  for (const std::size_t at : {0, 1, 1023, 1024, 1499}) {
    std::vector<TypeParam> x(1500, TypeParam(-3));
    x[at] = std::numeric_limits<TypeParam>::quiet_NaN();
    for (std::size_t v = 0; v < cuda_versions<ReduceOps<TypeParam>>.count; ++v) {
      EXPECT_TRUE(std::isnan(this->on_device(cuda_versions<ReduceOps<TypeParam>>.first[v].ops->maximum, x, 0))) << at;
    }
  }
}

}  // namespace
}  // namespace assay::kernels
