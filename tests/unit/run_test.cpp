// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// A benchmark's way from request to record: what run_case makes of right, wrong, silent, thrown and oversized work.
#include "harness/worker/run.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <stdexcept>
#include <tuple>

#include "harness/base/text.h"
#include "harness/worker/registry.h"
#include "kernels/launches.h"
#include "stand_in_device.h"

namespace assay {
namespace {

// One benchmark with a `kind` for each way a case can go.
void misbehave(Run& run) {
  const std::string& kind = run.param("kind");
  if (kind == "skips") run.skip("not here");
  if (kind == "huge") run.need_memory(std::uint64_t{1} << 60);
  if (kind == "throws") throw std::runtime_error("on purpose");
  const Buffer<std::uint64_t> out = run.buffer<std::uint64_t>(1000);
  volatile bool lazy = false;
  if (kind != "no_work") run.bytes_per_iteration(8000, "8 B x n");
  run.data("the index");
  if (kind == "spoils") run.before_measuring([&] { std::fill(out.begin(), out.end(), 0); });
  if (kind == "lazy")  // writes only while it warms up
    run.before_measuring([&] { lazy = true, std::fill(out.begin(), out.end(), 0); });
  run.measure([&](std::uint64_t iterations) {
    for (std::uint64_t k = 0; k < iterations; ++k)
      for (std::size_t i = 0; i < out.size(); ++i) out[i] = kind == "idle" || lazy ? out[i] : i;
  });
  if (kind != "no_metric") run.rate("bandwidth", 8000);
  if (kind == "twice") run.rate("bandwidth", 8000);
  if (kind == "evidence") run.mismatches(4000, 3, {Mismatch{"out", 7, "1", "2", "0x1", "0x2", "0x3", "0x2"}});
  if (kind != "no_verify")
    run.verify(Check<std::uint64_t>{"out", out, [&](std::size_t first, std::span<std::uint64_t> expected) {
                                      for (std::size_t i = 0; i < expected.size(); ++i)
                                        expected[i] =
                                            first + i + (starts_with(kind, "wrong") && first + i == 999 ? 1 : 0);
                                    }});
  if (kind == "wrong_then_skips") run.skip("too late");
  if (kind == "late_throw" || kind == "wrong_late_throw") throw std::runtime_error("after measuring");
}
const Benchmark unit_run = {
    .name = "unit/run",
    .summary = "every way a case can end",
    .params = {{"kind",
                {"right", "wrong", "idle", "skips", "huge", "throws", "no_work", "no_metric", "no_verify", "twice",
                 "evidence", "spoils", "lazy", "wrong_then_skips", "wrong_late_throw", "late_throw"}},
               {"threads", {"one", "all"}}},
    .metrics = {{"bandwidth", "B/s", Better::higher, "written"}},
    .exists = [](const Params& p) { return p["kind"] == "right" || p["threads"] == "one"; },
    .hidden = true,
    .run = misbehave,
};
REGISTER_BENCHMARK(unit_run);

Record result_of(const std::string& kind, const std::string& threads = "one") {
  CaseRequest request;
  request.case_name = "unit/run/kind:" + kind + "/threads:" + threads;
  request.device_set = {"cpu:0"};
  request.policy.block_s = 0.002;
  request.policy.warmup_max_s = 0.01;
  request.policy.measure_min_s = 0.01;
  request.policy.measure_max_s = 0.03;
  MemoryPool pool;
  Link nobody;
  return run_case(request, "cpu", pool, nobody);
}

TEST(Run, RightWorkIsMeasuredWithProof) {
  const Record record = result_of("right");
  EXPECT_EQ(record.outcome, Outcome::measured) << record.reason;
  EXPECT_GT(record.iterations, 0U);
  EXPECT_EQ(record.verification.elements_compared, 1000U);
  EXPECT_GT(record.host_resident_peak_bytes, 0U);
  EXPECT_GT(record.host_resident_rest_bytes.value_or(0), 0U);
  EXPECT_EQ(record.requested_bytes, 8000U);
  ASSERT_EQ(record.metrics.size(), 1U);
  EXPECT_EQ(record.metrics[0].samples.size(), record.series[0].samples.size());
  EXPECT_DOUBLE_EQ(record.series[0].block_s, 0.002);
  EXPECT_DOUBLE_EQ(record.series[0].bytes_per_iteration, 8000);
  EXPECT_DOUBLE_EQ(record.bytes, 8000 * static_cast<double>(record.iterations));
  EXPECT_EQ(record.threads, 1);
  EXPECT_EQ(record.cpus.size(), 1U);
  EXPECT_TRUE(record.test_knobs.empty());
}

TEST(Run, BothAxesAgreeThroughTheClock) {
  const Record record = result_of("right");
  const MetricResult& metric = record.metrics.at(0);
  if (metric.cycle_unit.empty()) GTEST_SKIP() << "no clock probe on this architecture";
  EXPECT_EQ(metric.cycle_unit, "B/cycle");
  for (std::size_t i = 0; i < metric.samples.size(); ++i)
    EXPECT_NEAR(metric.cycle_samples[i] * record.series[0].samples[i].clock_hz, metric.samples[i],
                1e-6 * metric.samples[i]);
}

TEST(Run, AllThreadsUseAllCpus) {
  const Record record = result_of("right", "all");
  EXPECT_EQ(record.outcome, Outcome::measured) << record.reason;
  EXPECT_EQ(record.threads, static_cast<int>(worker_cpus().size()));
  EXPECT_EQ(record.cpus, worker_cpus());
}

TEST(Run, WrongElementIsAFailWithEvidence) {
  const Record record = result_of("wrong");
  EXPECT_EQ(record.outcome, Outcome::fail);
  ASSERT_EQ(record.verification.first_mismatches.size(), 1U);
  EXPECT_EQ(record.verification.first_mismatches[0].index, 999U);
}

TEST(Run, WorkThatWritesNothingFailsOnThePoison) {
  const Record record = result_of("idle");
  EXPECT_EQ(record.outcome, Outcome::fail);
  EXPECT_EQ(record.verification.mismatches, 1000U);
  EXPECT_EQ(record.verification.first_mismatches[0].actual_bits, "0xa5a5a5a5a5a5a5a5");
}

TEST(Run, AnswersLeftFromTheWarmUpProveNothing) {
  EXPECT_EQ(result_of("spoils").outcome, Outcome::measured);
  EXPECT_EQ(result_of("lazy").outcome, Outcome::fail);
}

TEST(Run, AWrongResultOutranksWhatComesAfterItAndHidesNothing) {
  EXPECT_EQ(result_of("wrong_then_skips").reason, "1 of 1000 elements are wrong; then: too late");
  const Record record = result_of("wrong_late_throw");
  EXPECT_EQ(record.outcome, Outcome::fail);
  EXPECT_EQ(record.reason, "1 of 1000 elements are wrong; then: after measuring");
  EXPECT_FALSE(record.failure.has_value()) << "that is ERROR's";
}

TEST(Run, WhatWasMeasuredBeforeAnErrorIsKept) {
  const Record record = result_of("late_throw");
  EXPECT_EQ(record.outcome, Outcome::error);
  EXPECT_EQ(record.reason, "after measuring");
  ASSERT_EQ(record.series.size(), 1U);
  EXPECT_FALSE(record.series[0].samples.empty());
}

TEST(Run, EvidenceOfTheKernelItselfFails) { EXPECT_EQ(result_of("evidence").outcome, Outcome::fail); }
TEST(Run, SkipIsNotRunWithItsReason) {
  const Record record = result_of("skips");
  EXPECT_EQ(record.outcome, Outcome::not_run);
  EXPECT_EQ(record.reason, "not here");
}
TEST(Run, TooLittleMemoryIsNotRunWithNumbers) {
  const Record record = result_of("huge");
  EXPECT_EQ(record.outcome, Outcome::not_run);
  EXPECT_NE(record.reason.find("needs 1048576 TiB of memory"), std::string::npos) << record.reason;
}
TEST(Run, ExceptionIsAnErrorWithItsText) {
  const Record record = result_of("throws");
  EXPECT_EQ(record.outcome, Outcome::error);
  EXPECT_EQ(record.reason, "on purpose");
  ASSERT_TRUE(record.failure.has_value());
  EXPECT_EQ(record.failure->kind, "exception");
}
TEST(Run, NoProofOfWorkIsAnError) {
  EXPECT_EQ(result_of("no_work").outcome, Outcome::error);
  EXPECT_EQ(result_of("no_verify").outcome, Outcome::error);
}
TEST(Run, DeclaredMetricWithoutValueIsAnError) { EXPECT_EQ(result_of("no_metric").outcome, Outcome::error); }
TEST(Run, MetricGivenTwiceIsAnError) { EXPECT_EQ(result_of("twice").outcome, Outcome::error); }
TEST(Run, UnknownCaseIsAnError) { EXPECT_EQ(result_of("nonsense").outcome, Outcome::error); }

// --- a device ---
void work_on_device(Run& run) {
  const Buffer<std::uint64_t> out = run.buffer<std::uint64_t>(10);
  run.bytes_per_iteration(80, "8 B x n");
  run.set(out, [](std::size_t, std::span<std::uint64_t> elements) {
    std::fill(elements.begin(), elements.end(), std::uint64_t{7});
  });
  if (run.param("kind") == "skips") run.skip("not here");
  if (run.param("kind") == "refused") throw DeviceError("cudaMemcpy: refused; nothing works any more", 700, true);
  run.measure([](std::uint64_t) { kernels::launch_count += 1; });
  run.rate("bandwidth", 80);
  const std::uint64_t wanted = run.param("kind") == "wrong" ? 8 : 7;
  run.verify(Check<std::uint64_t>{"out", out, [wanted](std::size_t, std::span<std::uint64_t> expected) {
                                    std::fill(expected.begin(), expected.end(), wanted);
                                  }});
}
const Benchmark unit_device = {
    .name = "unit/device",
    .summary = "work on a device",
    .devices = {"cuda"},
    .params = {{"kind", {"right", "wrong", "skips", "refused"}}},
    .metrics = {{"bandwidth", "B/s", Better::higher, "written"}},
    .hidden = true,
    .run = work_on_device,
};
REGISTER_BENCHMARK(unit_device);

// `loss`: why the device is lost when the case gives its memory back.
Record result_on_device(const std::string& kind, const std::string& loss) {
  CaseRequest request;
  request.case_name = "unit/device/kind:" + kind;
  request.device_set = {"cuda:0"};
  request.policy.block_s = 1e-4;
  request.policy.warmup_max_s = request.policy.measure_min_s = request.policy.measure_max_s = 1e-3;
  MemoryPool pool;
  Link nobody;
  testing::StandInDevice device;
  device.set_simulated();  // its time is its own
  device.seconds = 1e-3;
  device.lost_in_the_end = loss;
  return run_case(request, "cuda", pool, nobody, [&]() -> Accelerator& { return device; });
}

TEST(Run, ALostDeviceIsToldWhateverElseWasFound) {
  EXPECT_EQ(result_on_device("right", "").outcome, Outcome::measured) << result_on_device("right", "").reason;
  const std::string loss = "cudaFree: cudaErrorUnknown (999)", told = "the device is lost: " + loss;
  for (const auto& [kind, outcome, reason] :
       {std::tuple{"right", Outcome::error, told}, {"wrong", Outcome::fail, "10 of 10 elements are wrong; then: " + told},
        {"skips", Outcome::error, "not here; then: " + told},
        {"refused", Outcome::error, "cudaMemcpy: refused; nothing works any more"}}) {
    const Record record = result_on_device(kind, loss);
    EXPECT_EQ(record.outcome, outcome) << kind;
    EXPECT_EQ(record.reason, reason);
    ASSERT_EQ(record.failure.has_value(), outcome == Outcome::error) << kind;
    if (record.failure) {
      EXPECT_EQ(record.failure->kind, "device");
      EXPECT_EQ(record.failure->detail, reason);
    }
  }
}

class Knob : public ::testing::Test {
 protected:
  void TearDown() override {
    unsetenv("ASSAY_TEST_CORRUPT");
    unsetenv("ASSAY_TEST_SLOWDOWN");
  }
};

TEST_F(Knob, CorruptMakesTheNamedBenchmarkFailAndSaysSo) {
  setenv("ASSAY_TEST_CORRUPT", "unit/run", 1);
  const Record record = result_of("right");
  EXPECT_EQ(record.outcome, Outcome::fail);
  EXPECT_EQ(record.verification.mismatches, 1U);
  EXPECT_EQ(record.test_knobs.at("ASSAY_TEST_CORRUPT"), "unit/run");
  setenv("ASSAY_TEST_CORRUPT", "unit/other", 1);
  EXPECT_EQ(result_of("right").outcome, Outcome::measured);
}

TEST_F(Knob, SlowdownIsRecordedAndLengthensSamples) {
  setenv("ASSAY_TEST_SLOWDOWN", "20", 1);
  const Record slow = result_of("right");
  unsetenv("ASSAY_TEST_SLOWDOWN");
  const Record normal = result_of("right");
  EXPECT_EQ(slow.test_knobs.at("ASSAY_TEST_SLOWDOWN"), "20");
  EXPECT_LT(summarise(slow.metrics[0].samples).max, summarise(normal.metrics[0].samples).max / 5);
}

TEST_F(Knob, NonsenseSlowdownIsAnError) {
  setenv("ASSAY_TEST_SLOWDOWN", "fast", 1);
  EXPECT_EQ(result_of("right").outcome, Outcome::error);
}

TEST(Registry, CasesAreExpandedFilteredAndFound) {
  const Manifest manifest = make_manifest("cpu", "cpu");
  const auto found = std::find_if(manifest.benchmarks.begin(), manifest.benchmarks.end(),
                                  [](const BenchmarkInfo& b) { return b.name == "unit/run"; });
  ASSERT_NE(found, manifest.benchmarks.end());
  EXPECT_EQ(found->cases.size(), 17U);
  EXPECT_EQ(found->cases[0].name, "unit/run/kind:right/threads:one");
  EXPECT_EQ(found->cases[0].params.at("kind"), "right");
  EXPECT_FALSE(find_case("unit/run/kind:wrong/threads:all").has_value());
  EXPECT_FALSE(find_case("unit/ru").has_value());
  EXPECT_TRUE(find_case("unit/run/kind:right/threads:all").has_value());
}

}  // namespace
}  // namespace assay
