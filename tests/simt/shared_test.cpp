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

TEST(SimtShared, EveryVersionEqualsTheCpuRow) {
  std::vector<std::uint32_t> table(shared_words);
  for (std::size_t i = 0; i < table.size(); ++i) table[i] = u32_at({4, 1}, i);
  ASSERT_EQ(cuda_versions<SharedOps>.count, 2u);
  simt::reset();
  simt::set_processors(1);  // 8 blocks
  for (const std::size_t stride : {0, 1, 2, 32, 33, 4095}) {
    for (const std::size_t steps : {0, 8, 24, 4104}) {
      for (const std::size_t groups : {0, 1, 11}) {
        std::vector<std::uint32_t> expected(shared_lanes * groups);
        shared_ops(Backend::cpu)->read({1, nullptr}, table.data(), stride, steps, groups, expected.data());
        for (const simt::Schedule schedule : simt::all_schedules) {
          simt::set_schedule(schedule);
          for (std::size_t v = 0; v < cuda_versions<SharedOps>.count; ++v) {
            const auto& version = cuda_versions<SharedOps>.first[v];
            simt::DeviceArray<std::uint32_t> device_table(table), sums(expected.size());
            version.ops->read({1, nullptr}, device_table.data(), stride, steps, groups, sums.data());
            simt::succeed(cudaGetLastError());
            ASSERT_EQ(sums.values(), expected) << version.name << ", " << simt::name_of(schedule) << ", stride "
                                               << stride << ", steps " << steps << ", groups " << groups;
          }
        }
      }
    }
  }
  simt::set_processors(2);
}

}  // namespace
}  // namespace assay::kernels
