// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Every version of the CUDA reads from shared memory against the CPU row.
#include "kernels/shared.h"

#include <gtest/gtest.h>

#include <vector>

#include "device_array.h"
#include "kernels/philox.h"
#include "runtime/rig.h"

namespace assay::kernels {
namespace {

struct Case {
  std::size_t stride, steps, groups;
};

void check(const Case& c) {
  std::vector<std::uint32_t> table(shared_words), expected(shared_lanes * c.groups);
  for (std::size_t i = 0; i < table.size(); ++i) table[i] = u32_at({4, 1}, i);
  shared_ops(Backend::cpu)->read({1, nullptr}, table.data(), c.stride, c.steps, c.groups, expected.data());
  for (const simt::Schedule schedule : simt::all_schedules) {
    simt::set_schedule(schedule);
    for (std::size_t v = 0; v < cuda_versions<SharedOps>.count; ++v) {
      const auto& version = cuda_versions<SharedOps>.first[v];
      simt::DeviceArray<std::uint32_t> device_table(table), sums(expected.size());
      version.ops->read({1, nullptr}, device_table.data(), c.stride, c.steps, c.groups, sums.data());
      simt::succeed(cudaGetLastError());
      ASSERT_EQ(sums.values(), expected) << version.name << ", " << simt::name_of(schedule) << ", stride " << c.stride
                                         << ", steps " << c.steps << ", groups " << c.groups;
    }
  }
}

TEST(SimtShared, TableAsynchronousCopiesBeginAt80) {
  EXPECT_EQ(shared_ops(Backend::cuda, 75), cuda_versions<SharedOps>.first[0].ops);
  EXPECT_EQ(shared_ops(Backend::cuda, 80), cuda_versions<SharedOps>.first[1].ops);
}

TEST(SimtShared, EveryVersionEqualsTheCpuRow) {
  ASSERT_EQ(cuda_versions<SharedOps>.count, 2u);
  simt::reset();
  simt::set_processors(1);  // 8 blocks: with 11 groups some have a second one
  // From strides of 32 on, 40 steps lead some lanes over the end of the table; 4104 lead all of them around it.
  for (const std::size_t stride : {0, 1, 2, 32, 33, 4095}) {
    for (const std::size_t steps : {0, 8, 40}) ASSERT_NO_FATAL_FAILURE(check({stride, steps, 11}));
  }
  ASSERT_NO_FATAL_FAILURE(check({1, 4104, 1}));
  ASSERT_NO_FATAL_FAILURE(check({1, 8, 0}));
  simt::set_processors(2);
}

}  // namespace
}  // namespace assay::kernels
