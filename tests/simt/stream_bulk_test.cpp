// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Streaming by bulk copies against the CPU row, bit for bit, in every schedule: sizes around tiles, the ring and the
// grid, arrays off the 16-byte boundary by the same and by different amounts.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "device_array.h"
#include "kernels/stream.h"
#include "runtime/rig.h"

namespace assay::kernels {
namespace {

using simt::DeviceArray;

struct Case {
  std::size_t n, out, x, y;  // elements, and those before each array
  std::uint64_t iterations;
  Stores stores;
};

template <typename T>
std::vector<T> numbers(std::size_t n, std::size_t factor) {
  std::vector<T> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = static_cast<T>(static_cast<int>(i * factor % 251) - 120);
  return values;
}

template <typename T>
class SimtStreamBulk : public testing::Test {
 protected:
  void SetUp() override { simt::reset(); }

  static const StreamOps<T>& ops() {
    for (const auto& version : cuda_versions<StreamOps<T>>) {
      if (std::string(version.name) == "bulk") return *version.ops;
    }
    ADD_FAILURE() << "no version bulk";
    std::abort();
  }

  static void check(const Case& c) {
    SCOPED_TRACE(testing::Message() << c.n << " elements, " << c.out << ", " << c.x << ", " << c.y << " off");
    const StreamOps<T>& reference = *stream_ops<T>(Backend::cpu);
    const std::vector<T> x = numbers<T>(c.n, 5), y = numbers<T>(c.n, 3);
    DeviceArray<T> device_x(x, c.x), device_y(y, c.y);
    for (const auto run :
         {&StreamOps<T>::copy, &StreamOps<T>::scale, &StreamOps<T>::add, &StreamOps<T>::triad, &StreamOps<T>::write}) {
      std::vector<T> expected(c.n);
      (reference.*run)({1, nullptr}, {expected.data(), x.data(), y.data(), T(3), c.n, 1, c.stores, nullptr, nullptr});
      DeviceArray<T> out(c.n, c.out);
      (ops().*run)({1, nullptr},
                   {out.data(), device_x.data(), device_y.data(), T(3), c.n, c.iterations, c.stores, nullptr, nullptr});
      simt::succeed(cudaGetLastError());
      ASSERT_EQ(out.values(), expected);
    }
    std::uint64_t bits = 0;
    reference.read({1, nullptr}, {nullptr, x.data(), nullptr, T(0), c.n, c.iterations, c.stores, &bits, nullptr});
    DeviceArray<std::uint64_t> device_bits(1);
    ops().read({1, nullptr},
               {nullptr, device_x.data(), nullptr, T(0), c.n, c.iterations, c.stores, device_bits.data(), nullptr});
    simt::succeed(cudaGetLastError());
    ASSERT_EQ(device_bits.values()[0], bits) << "read";
  }
};

using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(SimtStreamBulk, Types);

// Six blocks are the grid; a tile is 16 KiB, or 8 of each array where there are two.
TYPED_TEST(SimtStreamBulk, EqualsTheCpuRowInEverySchedule) {
  constexpr std::size_t tile = (16 << 10) / sizeof(TypeParam);
  for (const simt::Schedule schedule : simt::all_schedules) {
    simt::set_schedule(schedule);
    SCOPED_TRACE(simt::name_of(schedule));
    for (const std::size_t n : {std::size_t{1}, std::size_t{5}, tile - 1, 2 * tile + 3}) {
      ASSERT_NO_FATAL_FAILURE(this->check({n, 0, 0, 0, 1, Stores::regular}));
      ASSERT_NO_FATAL_FAILURE(this->check({n, 1, 1, 1, 6, Stores::non_temporal}));
    }
    ASSERT_NO_FATAL_FAILURE(this->check({31 * tile + 5, 0, 0, 0, 1, Stores::regular}));
    ASSERT_NO_FATAL_FAILURE(this->check({tile, 0, 1, 1, 2, Stores::regular}));
    ASSERT_NO_FATAL_FAILURE(this->check({tile, 1, 1, 0, 2, Stores::regular}));
  }
}

TYPED_TEST(SimtStreamBulk, DoesNothingForNoElementsAndNoIterations) {
  DeviceArray<TypeParam> x(numbers<TypeParam>(100, 5)), out(numbers<TypeParam>(100, 3));
  const StreamOps<TypeParam>& ops = this->ops();
  ops.copy({1, nullptr}, {out.data(), x.data(), nullptr, 0, 100, 0, Stores::regular, nullptr, nullptr});
  EXPECT_EQ(out.values(), numbers<TypeParam>(100, 3));
  DeviceArray<std::uint64_t> bits(1);
  DeviceArray<double> sum(1);
  StreamArgs<TypeParam> nothing;
  nothing.bits = bits.data();
  nothing.sum = sum.data();
  for (const auto run : {ops.read, ops.write, ops.copy, ops.scale, ops.add, ops.triad, ops.dot}) {
    run({1, nullptr}, nothing);
  }
  simt::succeed(cudaGetLastError());
  EXPECT_EQ(bits.values()[0], 0u);
  EXPECT_EQ(sum.values()[0], 0.0);
}

TYPED_TEST(SimtStreamBulk, TableIsTheRowFrom90On) {
  const auto& versions = cuda_versions<StreamOps<TypeParam>>;
  EXPECT_STREQ(versions.find(89)->name, "deep");
  EXPECT_STREQ(versions.find(90)->name, "bulk");
  EXPECT_STREQ(versions.find(120)->name, "bulk");
}

}  // namespace
}  // namespace assay::kernels
