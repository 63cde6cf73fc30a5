// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Every version of the CUDA transposition against the CPU row: shapes around the squares of 32, and more squares than
// blocks.
#include "kernels/transpose.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "device_array.h"
#include "kernels/philox.h"
#include "runtime/rig.h"

namespace assay::kernels {
namespace {

using simt::DeviceArray;

struct Extent {
  std::size_t rows, columns;
};

template <typename T, class Function>
void check(Function reference, Function on_device, const Extent& e, std::size_t offset) {
  std::vector<T> in(e.rows * e.columns), expected(in.size());
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<T>(u64_at({3, 1}, i));
  reference({1, nullptr}, expected.data(), in.data(), e.rows, e.columns);
  DeviceArray<T> from(in, offset), to(in.size(), 2 * offset);
  on_device({1, nullptr}, to.data(), from.data(), e.rows, e.columns);
  simt::succeed(cudaGetLastError());
  ASSERT_EQ(to.values(), expected) << e.rows << " x " << e.columns;
}

TEST(SimtTranspose, EveryVersionEqualsTheCpuRow) {
  const TransposeOps& reference = *transpose_ops(Backend::cpu);
  ASSERT_EQ(cuda_versions<TransposeOps>.count, 3u);
  simt::reset();
  simt::set_processors(1);  // 8 blocks
  for (const simt::Schedule schedule : simt::all_schedules) {
    simt::set_schedule(schedule);
    for (std::size_t v = 0; v < cuda_versions<TransposeOps>.count; ++v) {
      const auto& version = cuda_versions<TransposeOps>.first[v];
      SCOPED_TRACE(std::string(version.name) + ", " + simt::name_of(schedule));
      for (const Extent& extent :
           {Extent{0, 5}, Extent{5, 0}, Extent{1, 1}, Extent{1, 33}, Extent{33, 1}, Extent{31, 32}, Extent{32, 32},
            Extent{33, 65}, Extent{100, 130}, Extent{130, 100}, Extent{64, 200}}) {
        ASSERT_NO_FATAL_FAILURE(check<std::uint32_t>(reference.u32, version.ops->u32, extent, 1));
        ASSERT_NO_FATAL_FAILURE(check<std::uint64_t>(reference.u64, version.ops->u64, extent, 1));
      }
    }
  }
  simt::set_processors(2);
}

}  // namespace
}  // namespace assay::kernels
