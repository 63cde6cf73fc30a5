// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Every version of the CUDA streaming kernels against the CPU row, bit for bit: sizes around each step of the loops and
// of the grid, arrays off the 16-byte boundary by the same and by different amounts, both kinds of stores.
#include "kernels/stream.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "device_array.h"
#include "runtime/rig.h"

namespace assay::kernels {
namespace {

using simt::DeviceArray;

constexpr std::size_t versions = 3;  // of stream.cu, which come first

struct Offsets {
  std::size_t out, x, y;
};

struct Case {
  std::size_t n;
  Offsets offsets;
  Stores stores;
  std::uint64_t iterations;
};

// Small whole numbers of both signs: every product and every sum below is exact.
template <typename T>
std::vector<T> numbers(std::size_t n, std::size_t factor) {
  std::vector<T> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = static_cast<T>(static_cast<int>(i * factor % 17) - 8);
  return values;
}

template <typename T>
struct NamedOp {
  const char* name;
  StreamFunction<T> StreamOps<T>::*run;
};
template <typename T>
constexpr NamedOp<T> maps[] = {{"write", &StreamOps<T>::write},
                               {"copy", &StreamOps<T>::copy},
                               {"scale", &StreamOps<T>::scale},
                               {"add", &StreamOps<T>::add},
                               {"triad", &StreamOps<T>::triad}};

template <typename T>
class SimtStream : public testing::Test {
 protected:
  void SetUp() override { simt::reset(); }

  static void check(const StreamOps<T>& ops, const Case& c) {
    const StreamOps<T>& reference = *stream_ops<T>(Backend::cpu);
    const std::vector<T> x = numbers<T>(c.n, 5), y = numbers<T>(c.n, 3);
    DeviceArray<T> device_x(x, c.offsets.x), device_y(y, c.offsets.y), out(c.n, c.offsets.out);
    for (const auto& [name, run] : maps<T>) {
      std::vector<T> expected(c.n);
      (reference.*run)({1, nullptr}, {expected.data(), x.data(), y.data(), T(3), c.n, 1, c.stores, nullptr, nullptr});
      (ops.*run)({1, nullptr},
                 {out.data(), device_x.data(), device_y.data(), T(3), c.n, c.iterations, c.stores, nullptr, nullptr});
      simt::succeed(cudaGetLastError());
      ASSERT_EQ(out.values(), expected) << name << ", n " << c.n;
    }
    std::uint64_t bits = 0;
    double sum = 0;
    reference.read({1, nullptr}, {nullptr, x.data(), nullptr, T(0), c.n, c.iterations, c.stores, &bits, nullptr});
    reference.dot({1, nullptr}, {nullptr, x.data(), y.data(), T(0), c.n, c.iterations, c.stores, nullptr, &sum});
    DeviceArray<std::uint64_t> device_bits(1);
    DeviceArray<double> device_sum(1);
    ops.read({1, nullptr},
             {nullptr, device_x.data(), nullptr, T(0), c.n, c.iterations, c.stores, device_bits.data(), nullptr});
    ops.dot({1, nullptr},
            {nullptr, device_x.data(), device_y.data(), T(0), c.n, c.iterations, c.stores, nullptr, device_sum.data()});
    simt::succeed(cudaGetLastError());
    ASSERT_EQ(device_bits.values()[0], bits) << "read, n " << c.n;
    ASSERT_EQ(device_sum.values()[0], sum) << "dot, n " << c.n;
  }
};

using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(SimtStream, Types);

TYPED_TEST(SimtStream, EveryVersionEqualsTheCpuRow) {
  // Two multiprocessors: 4096 threads are the grid; 16 packs of a thread are four deep steps of it.
  constexpr std::size_t small[] = {0, 1, 2, 3, 4, 5, 8, 9, 255, 257, 1025};
  constexpr std::size_t large[] = {16383, 32771, 65537, 70001};
  ASSERT_GE(cuda_versions<StreamOps<TypeParam>>.count, versions);
  for (const simt::Schedule schedule : simt::all_schedules) {
    simt::set_schedule(schedule);
    for (std::size_t v = 0; v < versions; ++v) {
      const auto& version = cuda_versions<StreamOps<TypeParam>>.first[v];
      SCOPED_TRACE(std::string(version.name) + ", " + simt::name_of(schedule));
      for (const Stores stores : {Stores::regular, Stores::non_temporal}) {
        for (const std::size_t n : small) {
          for (const Offsets& offsets : {Offsets{0, 0, 0}, Offsets{1, 1, 1}, Offsets{3, 3, 3}, Offsets{1, 2, 3}}) {
            ASSERT_NO_FATAL_FAILURE(this->check(*version.ops, {n, offsets, stores, 3}));
          }
        }
      }
      for (const std::size_t n : large) {
        ASSERT_NO_FATAL_FAILURE(this->check(*version.ops, {n, {3, 3, 3}, Stores::regular, 1}));
      }
    }
  }
}

TYPED_TEST(SimtStream, NothingIsDoneForNoIterationsAndNoElements) {
  for (std::size_t v = 0; v < versions; ++v) {
    const StreamOps<TypeParam>& ops = *cuda_versions<StreamOps<TypeParam>>.first[v].ops;
    DeviceArray<TypeParam> x(numbers<TypeParam>(100, 5)), out(numbers<TypeParam>(100, 3));
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
}

TYPED_TEST(SimtStream, CopyKeepsNanPayloads) {
  std::vector<TypeParam> x(41);
  std::memset(x.data(), 0xFF, x.size() * sizeof(TypeParam));
  for (std::size_t v = 0; v < versions; ++v) {
    DeviceArray<TypeParam> from(x), to(x.size());
    cuda_versions<StreamOps<TypeParam>>.first[v].ops->copy(
        {1, nullptr}, {to.data(), from.data(), nullptr, 0, x.size(), 1, Stores::regular, nullptr, nullptr});
    EXPECT_EQ(std::memcmp(to.values().data(), x.data(), x.size() * sizeof(TypeParam)), 0);
  }
}

// A single changed bit anywhere must change what read gives.
TYPED_TEST(SimtStream, ReadSeesEveryElement) {
  for (std::size_t v = 0; v < versions; ++v) {
    const StreamOps<TypeParam>& ops = *cuda_versions<StreamOps<TypeParam>>.first[v].ops;
    std::vector<TypeParam> x = numbers<TypeParam>(77, 5);
    const auto read = [&] {
      DeviceArray<TypeParam> device(x, 1);
      DeviceArray<std::uint64_t> bits(1);
      ops.read({1, nullptr}, {nullptr, device.data(), nullptr, 0, x.size(), 5, Stores::regular, bits.data(), nullptr});
      return bits.values()[0];
    };
    const std::uint64_t before = read();
    for (std::size_t i = 0; i < x.size(); ++i) {
      auto* byte = reinterpret_cast<unsigned char*>(&x[i]) + i % sizeof(TypeParam);
      *byte = static_cast<unsigned char>(*byte ^ (1u << i % 8));
      EXPECT_NE(read(), before) << "element " << i;
      *byte = static_cast<unsigned char>(*byte ^ (1u << i % 8));
    }
  }
}

TYPED_TEST(SimtStream, TableTheBestVersionIsTheRow) {
  EXPECT_EQ(stream_ops<TypeParam>(Backend::cuda, 89), cuda_versions<StreamOps<TypeParam>>.first[2].ops);
}

}  // namespace
}  // namespace assay::kernels
