// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Every version of the CUDA fills against the CPU row.
#include "kernels/fill.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "device_array.h"
#include "runtime/rig.h"

namespace assay::kernels {
namespace {

constexpr Stream stream{0x123456789ABCDEF0u, (std::uint64_t{7} << 32) + 3};

template <typename T, class Fill>
void check(const Fill& fill, std::size_t n, std::size_t offset) {
  std::vector<T> expected(n);
  fill(*fill_ops(Backend::cpu), expected.data());
  for (const simt::Schedule schedule : simt::all_schedules) {
    simt::set_schedule(schedule);
    for (std::size_t v = 0; v < cuda_versions<FillOps>.count; ++v) {
      simt::DeviceArray<T> out(n, offset);
      fill(*cuda_versions<FillOps>.first[v].ops, out.data());
      simt::succeed(cudaGetLastError());
      ASSERT_EQ(out.values(), expected) << cuda_versions<FillOps>.first[v].name << ", n " << n << ", offset " << offset;
    }
  }
}

TEST(SimtFill, EveryVersionEqualsTheCpuRow) {
  ASSERT_EQ(cuda_versions<FillOps>.count, 2u);
  simt::reset();
  const Exec exec;
  for (const std::size_t n : {0, 1, 3, 4, 5, 8, 1023, 1025, 16389}) {
    for (const std::size_t offset : {0, 1}) {
      check<std::uint32_t>([&](const FillOps& ops, std::uint32_t* out) { ops.u32(out, n, stream, exec); }, n, offset);
      check<std::uint64_t>([&](const FillOps& ops, std::uint64_t* out) { ops.u64(out, n, stream, exec); }, n, offset);
      for (const int bits : {8, 16}) {
        check<float>([&](const FillOps& ops, float* out) { ops.f32(out, n, stream, bits, exec); }, n, offset);
        check<double>([&](const FillOps& ops, double* out) { ops.f64(out, n, stream, bits, exec); }, n, offset);
      }
      if (HasFatalFailure()) return;
    }
  }
}

}  // namespace
}  // namespace assay::kernels
