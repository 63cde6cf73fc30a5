// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Every version of the CUDA reads out of order against the CPU row.
#include "kernels/random.h"

#include <gtest/gtest.h>

#include <vector>

#include "device_array.h"
#include "runtime/rig.h"

namespace assay::kernels {
namespace {

using simt::DeviceArray;

// sum(ops) on the device and on the CPU, for all versions and schedules.
template <class OnCpu, class OnDevice>
void check(const OnCpu& on_cpu, const OnDevice& on_device) {
  std::uint64_t expected = 0;
  on_cpu(*random_ops(Backend::cpu), &expected);
  for (const simt::Schedule schedule : simt::all_schedules) {
    simt::set_schedule(schedule);
    for (std::size_t v = 0; v < cuda_versions<RandomOps>.count; ++v) {
      DeviceArray<std::uint64_t> sum(1);
      on_device(*cuda_versions<RandomOps>.first[v].ops, sum.data());
      simt::succeed(cudaGetLastError());
      ASSERT_EQ(sum.values()[0], expected) << cuda_versions<RandomOps>.first[v].name << ", " << simt::name_of(schedule);
    }
  }
}

TEST(SimtRandom, EveryVersionEqualsTheCpuRow) {
  constexpr std::size_t n = 3001;
  constexpr std::uint64_t seed = 42, iterations = 2;
  const Exec exec;
  std::vector<std::uint64_t> words(n);
  for (std::size_t i = 0; i < n; ++i) words[i] = mix64(i + 1);
  ASSERT_EQ(cuda_versions<RandomOps>.count, 2u);
  simt::reset();
  simt::set_processors(1);
  for (const std::size_t m : {0, 1, 3, 33, 2049, 8191, 8193}) {
    std::vector<std::uint32_t> index(m);
    for (std::size_t i = 0; i < m; ++i) index[i] = below_of(u32_at({1, 1}, i), n);
    DeviceArray<std::uint64_t> data(words);
    DeviceArray<std::uint32_t> table(index, 1);
    check([&](const RandomOps& ops,
              std::uint64_t* sum) { ops.gather(exec, words.data(), index.data(), m, iterations, sum); },
          [&](const RandomOps& ops, std::uint64_t* sum) {
            ops.gather(exec, data.data(), table.data(), m, iterations, sum);
          });
    check(
        [&](const RandomOps& ops, std::uint64_t* sum) { ops.gather_computed(exec, words.data(), n, seed, m, 1, sum); },
        [&](const RandomOps& ops, std::uint64_t* sum) { ops.gather_computed(exec, data.data(), n, seed, m, 1, sum); });
    if (HasFatalFailure()) return;
  }
  for (const std::size_t stride : {1, 2, 3, 1000, 3001, 5000}) {
    for (const std::size_t size : {std::size_t{0}, std::size_t{1}, n - 1, n}) {
      DeviceArray<std::uint64_t> data(words);
      check([&](const RandomOps& ops, std::uint64_t* sum) { ops.strided(exec, words.data(), size, stride, 1, sum); },
            [&](const RandomOps& ops, std::uint64_t* sum) { ops.strided(exec, data.data(), size, stride, 1, sum); });
      if (HasFatalFailure()) return;
    }
  }
  simt::set_processors(2);
}

}  // namespace
}  // namespace assay::kernels
