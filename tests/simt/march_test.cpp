// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Every version of the CUDA memory marches leaves the memory and the report of the CPU row, on memory that is right and
// on memory in which bits change between two steps.
#include "kernels/march.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "device_array.h"
#include "runtime/rig.h"

namespace assay::kernels {
namespace {

using simt::DeviceArray;

constexpr Stream stream{77, 5};

// A few bits that change after step `step`.
std::vector<std::uint64_t> damaged(std::vector<std::uint64_t> memory, std::size_t step) {
  for (std::size_t i = step % 7; i < memory.size(); i += 11 + 13 * step) memory[i] ^= std::uint64_t{1} << i % 64;
  return memory;
}

struct Outcome {
  std::vector<std::uint64_t> memory;
  MismatchReport report;
};

Outcome on_cpu(const std::vector<MarchStep>& steps, std::size_t words, bool damage) {
  Outcome o{std::vector<std::uint64_t>(words), {}};
  for (std::size_t k = 0; k < steps.size(); ++k) {
    march_ops(Backend::cpu)->step(o.memory.data(), words, steps[k], k, &o.report, {});
    if (damage) o.memory = damaged(o.memory, k);
  }
  return o;
}

Outcome on_device(const MarchOps& ops, const std::vector<MarchStep>& steps, std::size_t words, bool damage,
                  std::size_t offset) {
  DeviceArray<std::uint64_t> memory(words, offset);
  DeviceArray<MismatchReport> report(std::vector<MismatchReport>(1));
  for (std::size_t k = 0; k < steps.size(); ++k) {
    ops.step(memory.data(), words, steps[k], k, report.data(), {});
    if (!damage) continue;
    const std::vector<std::uint64_t> wrong = damaged(memory.values(), k);
    simt::succeed(cudaMemcpy(memory.data(), wrong.data(), words * sizeof wrong[0], cudaMemcpyHostToDevice));
  }
  simt::succeed(cudaGetLastError());
  return {memory.values(), report.values()[0]};
}

TEST(SimtMarch, EveryVersionDoesWhatTheCpuRowDoes) {
  ASSERT_EQ(cuda_versions<MarchOps>.count, 2u);
  simt::reset();
  simt::set_processors(1);
  for (const MarchTest test :
       {MarchTest::own_address, MarchTest::moving_inversions, MarchTest::walking_ones, MarchTest::random}) {
    const std::vector<MarchStep> steps = march_steps(test, stream);
    for (const std::size_t words : {0, 1, 3, 255, 4097}) {
      if (test == MarchTest::walking_ones && words > 255) continue;  // 66 steps, all alike
      for (const bool damage : {false, true}) {
        const Outcome expected = on_cpu(steps, words, damage);
        ASSERT_EQ(expected.report.mismatches != 0, damage && words > 0);
        for (const simt::Schedule schedule : simt::all_schedules) {
          simt::set_schedule(schedule);
          for (std::size_t v = 0; v < cuda_versions<MarchOps>.count; ++v) {
            const Outcome actual =
                on_device(*cuda_versions<MarchOps>.first[v].ops, steps, words, damage, v == 1 ? 0 : 1);
            ASSERT_EQ(actual.memory, expected.memory);
            ASSERT_EQ(actual.report.compared, expected.report.compared);
            ASSERT_EQ(actual.report.mismatches, expected.report.mismatches);
            ASSERT_EQ(actual.report.kept, expected.report.kept);
            for (std::size_t k = 0; k < expected.report.kept; ++k) {
              ASSERT_EQ(actual.report.first[k].index, expected.report.first[k].index);
              ASSERT_EQ(actual.report.first[k].pass, expected.report.first[k].pass);
              ASSERT_EQ(actual.report.first[k].expected, expected.report.first[k].expected);
              ASSERT_EQ(actual.report.first[k].actual, expected.report.first[k].actual);
            }
          }
        }
      }
    }
  }
  simt::set_processors(2);
}

TEST(SimtMarch, APairOffTheBoundaryGoesWordByWord) {
  simt::reset();
  const std::vector<MarchStep> steps = march_steps(MarchTest::own_address, stream);
  const Outcome expected = on_cpu(steps, 1001, true),
                actual = on_device(*simt::last_version<MarchOps>(), steps, 1001, true, 1);
  EXPECT_EQ(actual.memory, expected.memory);
  EXPECT_EQ(actual.report.mismatches, expected.report.mismatches);
}

}  // namespace
}  // namespace assay::kernels
