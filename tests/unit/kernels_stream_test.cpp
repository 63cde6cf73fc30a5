// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Streaming kernels against plain loops: every operation, both types, both kinds of stores, sizes around every step of
// the loops, arrays off the line boundary, several threads. Guard elements around `out` must survive.
#include <gtest/gtest.h>
#include <hwy/highway.h>

#include <cstring>
#include <type_traits>
#include <vector>

#include "kernels/stream.h"

namespace assay::kernels {
namespace {

struct Case {
  Exec exec;
  std::size_t n;
  std::size_t offset;  // elements by which the arrays are off a 64-byte boundary (x and y by one more and two more)
  Stores stores;
  std::uint64_t iterations;
};

// Small whole numbers of both signs: every product and every sum below is exact.
template <typename T>
T value(std::size_t i, std::size_t factor) {
  return static_cast<T>(static_cast<int>(i * factor % 17) - 8);
}

template <typename T>
class Arrays {
 public:
  explicit Arrays(const Case& c) : storage_(3 * (c.n + 64) + 64) {
    const std::size_t room = c.n + 64, line = 64 / sizeof(T);
    const auto address = reinterpret_cast<std::uintptr_t>(storage_.data()) / sizeof(T);
    T* base = storage_.data() + (line - address % line) % line;
    out = base + 16 + c.offset;
    x = base + room + 17 + c.offset;
    y = base + 2 * room + 18 + c.offset;
    for (std::size_t i = 0; i < storage_.size(); ++i) storage_[i] = guard;
    for (std::size_t i = 0; i < c.n; ++i) {
      x[i] = value<T>(i, 5);
      y[i] = value<T>(i, 3);
    }
  }
  void expect_guards(std::size_t n) const {
    for (std::size_t i = 1; i <= 16; ++i) EXPECT_EQ(*(out - i), guard) << "before out";
    for (std::size_t i = 0; i < 16; ++i) EXPECT_EQ(out[n + i], guard) << "behind out";
  }
  static constexpr T guard = T(-77);
  T *out, *x, *y;

 private:
  std::vector<T> storage_;
};

template <typename T>
void check_maps(const Case& c) {
  const StreamOps<T>& ops = *stream_ops<T>(Backend::cpu);
  const T s = T(3);
  struct Op {
    StreamFunction<T> run;
    T (*expected)(T x, T y);
    const char* name;
  };
  const Op all[] = {
      {ops.write, [](T, T) { return T(3); }, "write"},
      {ops.copy, [](T x, T) { return x; }, "copy"},
      {ops.scale, [](T x, T) { return T(3) * x; }, "scale"},
      {ops.add, [](T x, T y) { return x + y; }, "add"},
      {ops.triad, [](T x, T y) { return x + T(3) * y; }, "triad"},
  };
  for (const Op& op : all) {
    Arrays<T> arrays(c);
    op.run(c.exec, {arrays.out, arrays.x, arrays.y, s, c.n, c.iterations, c.stores, nullptr, nullptr});
    for (std::size_t i = 0; i < c.n; ++i) {
      ASSERT_EQ(arrays.out[i], op.expected(arrays.x[i], arrays.y[i])) << op.name << " n " << c.n << " element " << i;
    }
    arrays.expect_guards(c.n);
  }
}

template <typename T>
void check_sums(const Case& c) {
  const StreamOps<T>& ops = *stream_ops<T>(Backend::cpu);
  Arrays<T> arrays(c);
  std::uint64_t bits = 99, expected_bits = 0;
  double sum = 99, expected_sum = 0;
  for (std::size_t i = 0; i < c.n; ++i) {
    std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t> pattern;
    std::memcpy(&pattern, &arrays.x[i], sizeof pattern);
    expected_bits += pattern;
    expected_sum += static_cast<double>(arrays.x[i]) * static_cast<double>(arrays.y[i]);
  }
  expected_bits *= c.iterations;
  if (sizeof(T) == 4) expected_bits &= 0xFFFFFFFFu;
  ops.read(c.exec, {nullptr, arrays.x, nullptr, T(0), c.n, c.iterations, c.stores, &bits, nullptr});
  ops.dot(c.exec, {nullptr, arrays.x, arrays.y, T(0), c.n, c.iterations, c.stores, nullptr, &sum});
  EXPECT_EQ(bits, expected_bits) << "n " << c.n;
  EXPECT_EQ(sum, expected_sum * static_cast<double>(c.iterations)) << "n " << c.n;
}

template <typename T>
class KernelsStream : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(KernelsStream, Types);

TYPED_TEST(KernelsStream, EveryOperationEqualsThePlainLoop) {
  for (const std::size_t n : {0, 1, 2, 7, 8, 15, 16, 17, 31, 63, 64, 65, 127, 129, 255, 1000, 4097, 16387}) {
    for (const std::size_t offset : {0, 1, 5}) {
      for (const int threads : {1, 3}) {
        for (const Stores stores : {Stores::regular, Stores::non_temporal}) {
          const Case c{{threads, nullptr}, n, offset, stores, 3};
          check_maps<TypeParam>(c);
          check_sums<TypeParam>(c);
        }
      }
    }
  }
}

// The machine that runs the tests must not decide which of the compiled instruction sets are tested.
TYPED_TEST(KernelsStream, EveryInstructionSetOfThisCpuAgrees) {
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    SCOPED_TRACE(hwy::TargetName(target));
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().DeInit();
    for (const std::size_t n : {1, 17, 64, 65, 1000, 5000}) {
      for (const Stores stores : {Stores::regular, Stores::non_temporal}) {
        const Case c{{1, nullptr}, n, 1, stores, 2};
        check_maps<TypeParam>(c);
        check_sums<TypeParam>(c);
      }
    }
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().DeInit();
}

TYPED_TEST(KernelsStream, NothingIsDoneForNoIterations) {
  const Case c{{2, nullptr}, 100, 0, Stores::regular, 0};
  Arrays<TypeParam> arrays(c);
  const StreamOps<TypeParam>& ops = *stream_ops<TypeParam>(Backend::cpu);
  ops.copy(c.exec, {arrays.out, arrays.x, nullptr, 0, c.n, 0, c.stores, nullptr, nullptr});
  EXPECT_EQ(arrays.out[0], Arrays<TypeParam>::guard);
  check_sums<TypeParam>(c);
}

TYPED_TEST(KernelsStream, NullPointersAreFineWithoutElements) {
  const StreamOps<TypeParam>& ops = *stream_ops<TypeParam>(Backend::cpu);
  std::uint64_t bits = 99;
  double sum = 99;
  StreamArgs<TypeParam> args;
  args.bits = &bits;
  args.sum = &sum;
  for (const auto run : {ops.read, ops.write, ops.copy, ops.scale, ops.add, ops.triad, ops.dot})
    run({2, nullptr}, args);
  EXPECT_EQ(bits, 0u);
  EXPECT_EQ(sum, 0.0);
}

TYPED_TEST(KernelsStream, CopyKeepsNanPayloads) {
  const Case c{{1, nullptr}, 40, 0, Stores::regular, 1};
  Arrays<TypeParam> arrays(c);
  std::memset(arrays.x, 0xFF, c.n * sizeof(TypeParam));
  stream_ops<TypeParam>(Backend::cpu)
      ->copy(c.exec, {arrays.out, arrays.x, nullptr, 0, c.n, 1, c.stores, nullptr, nullptr});
  EXPECT_EQ(std::memcmp(arrays.out, arrays.x, c.n * sizeof(TypeParam)), 0);
}

// A float lane that took every iteration would stop at 2^24; folding into a double keeps the sum exact.
TYPED_TEST(KernelsStream, DotStaysExactOverManyIterations) {
  std::vector<TypeParam> ones(3, TypeParam(1));
  double sum = 0;
  const std::uint64_t iterations = 20'000'001;
  stream_ops<TypeParam>(Backend::cpu)
      ->dot({1, nullptr},
            {nullptr, ones.data(), ones.data(), 0, ones.size(), iterations, Stores::regular, nullptr, &sum});
  EXPECT_EQ(sum, 60'000'003.0);
}

// A single changed bit in what read sees must change its result, also when it is seen an odd number of times only.
TYPED_TEST(KernelsStream, ReadSeesEveryBit) {
  std::vector<TypeParam> data(333, TypeParam(1));
  const auto read = [&](std::uint64_t iterations) {
    std::uint64_t bits = 0;
    stream_ops<TypeParam>(Backend::cpu)
        ->read({2, nullptr},
               {nullptr, data.data(), nullptr, 0, data.size(), iterations, Stores::regular, &bits, nullptr});
    return bits;
  };
  const std::uint64_t before = read(5);
  for (std::size_t bit = 0; bit < 8 * sizeof(TypeParam) * data.size(); bit += 61) {
    auto* byte = reinterpret_cast<unsigned char*>(data.data()) + bit / 8;
    *byte = static_cast<unsigned char>(*byte ^ (1u << bit % 8));
    EXPECT_NE(read(5), before) << "bit " << bit;
    *byte = static_cast<unsigned char>(*byte ^ (1u << bit % 8));
  }
}

TEST(KernelsStreamRows, ThereIsNoCudaRowInAProgramWithoutCudaSources) {
  EXPECT_EQ(stream_ops<float>(Backend::cuda), nullptr);
  EXPECT_EQ(stream_ops<double>(Backend::cuda), nullptr);
}

}  // namespace
}  // namespace assay::kernels
