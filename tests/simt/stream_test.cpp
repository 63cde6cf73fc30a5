// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Every version of stream.cu against the CPU row: sizes around each step of the loops and of the grid, arrays off the
// 16-byte boundary by the same and by different amounts, both kinds of stores.
#include <gtest/gtest.h>

#include <string>

#include "runtime/rig.h"
#include "stream_checks.h"

namespace assay::kernels {
namespace {

constexpr std::size_t versions = 3;  // of stream.cu, which come first

template <typename T>
class SimtStream : public testing::Test {
 protected:
  void SetUp() override { simt::reset(); }

  template <class Check>
  static void for_each_version(const Check& check) {
    ASSERT_GE(cuda_versions<StreamOps<T>>.count, versions);
    for (std::size_t v = 0; v < versions; ++v) {
      const auto& version = cuda_versions<StreamOps<T>>.first[v];
      SCOPED_TRACE(version.name);
      ASSERT_NO_FATAL_FAILURE(check(*version.ops));
    }
  }
};

using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(SimtStream, Types);

TYPED_TEST(SimtStream, EveryVersionEqualsTheCpuRow) {
  // Two multiprocessors: 4096 threads are the grid; 16 packs of a thread are four deep steps of it.
  constexpr std::size_t small[] = {0, 1, 2, 3, 4, 5, 8, 9, 255, 257, 1025};
  constexpr std::size_t large[] = {16383, 32771, 65537, 70001};
  for (const simt::Schedule schedule : simt::all_schedules) {
    simt::set_schedule(schedule);
    SCOPED_TRACE(simt::name_of(schedule));
    this->for_each_version([&](const StreamOps<TypeParam>& ops) {
      for (const Stores stores : {Stores::regular, Stores::non_temporal}) {
        for (const std::size_t n : small) {
          for (const Offsets& offsets : {Offsets{0, 0, 0}, Offsets{1, 1, 1}, Offsets{3, 3, 3}, Offsets{1, 2, 3}}) {
            ASSERT_NO_FATAL_FAILURE(check_stream(ops, {n, offsets, stores, 3}));
          }
        }
      }
      for (const std::size_t n : large) {
        ASSERT_NO_FATAL_FAILURE(check_stream(ops, {n, {3, 3, 3}, Stores::regular, 1}));
      }
    });
  }
}

TYPED_TEST(SimtStream, NothingIsDoneForNoIterationsAndNoElements) {
  this->for_each_version(check_that_nothing_is_done<TypeParam>);
}
TYPED_TEST(SimtStream, CopyKeepsNanPayloads) { this->for_each_version(check_nan_payloads<TypeParam>); }
TYPED_TEST(SimtStream, ReadSeesEveryElement) { this->for_each_version(check_that_read_sees_every_element<TypeParam>); }

TYPED_TEST(SimtStream, TableTheBestVersionIsTheRow) {
  EXPECT_EQ(stream_ops<TypeParam>(Backend::cuda, 89), cuda_versions<StreamOps<TypeParam>>.first[2].ops);
}

}  // namespace
}  // namespace assay::kernels
