// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Every version of the CUDA atomic additions against the closed form, which the CPU row is tested with.
#include "kernels/atomics.h"

#include <gtest/gtest.h>

#include <vector>

#include "device_array.h"
#include "runtime/rig.h"

namespace assay::kernels {
namespace {

TEST(SimtAtomics, EveryUpdateIsThere) {
  ASSERT_EQ(cuda_versions<AtomicsOps>.count, 3u);
  simt::reset();
  simt::set_processors(1);  // 2048 threads
  for (const simt::Schedule schedule : simt::all_schedules) {
    simt::set_schedule(schedule);
    for (std::size_t v = 0; v < cuda_versions<AtomicsOps>.count; ++v) {
      const auto& version = cuda_versions<AtomicsOps>.first[v];
      for (const std::size_t targets : {1, 2, 16, 32, 1024, 2048}) {
        for (const std::size_t n : {0, 1, 31, 32, 33, 257, 2049, 5000}) {
          simt::DeviceArray<std::uint64_t> counters(std::vector<std::uint64_t>(targets, 5), 1);
          version.ops->add({1, nullptr}, counters.data(), targets, n, 3);
          simt::succeed(cudaGetLastError());
          const std::vector<std::uint64_t> result = counters.values();
          for (std::size_t j = 0; j < targets; ++j) {
            ASSERT_EQ(result[j], 5 + atomics_expected(j, targets, n, 3))
                << version.name << ", " << simt::name_of(schedule) << ", targets " << targets << ", n " << n;
          }
        }
      }
    }
  }
  simt::set_processors(2);
}

}  // namespace
}  // namespace assay::kernels
