// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// compute/fma: peak arithmetic. Independent chains of multiply-add in registers, no memory: how much the pipes can do.
//
// Result: `throughput`, operations per second, a multiply-add counting two (bf16: four, it adds two products), higher
// is better; per cycle it is pipes x lanes x 2. Formula: 2 x 4096 steps x elements per pass, elements = lanes x chains
// x threads. Limit: cores x FLOP per cycle of the CPU model (kernels/cpu_peak.h) x the highest clock seen beside the
// samples (a chain of additions: another quantity). None for i32 and bf16, whose pipes differ within a model. Traps:
// see kernels/fma.h; in threads:all two hyper-threads share the pipes of one core.
//
// Verified: the sums of the bits that every pass left in every element, over all passes, against scalar code; a single
// wrong pass changes its element's sum.
#include "kernels/fma.h"

#include <algorithm>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "harness/benchmark.h"
#include "kernels/bits.h"
#include "kernels/cpu_peak.h"
#include "kernels/philox.h"

namespace {

using namespace assay;

// Element i of each buffer, by type. The ranges are those that kernels/fma.h asks for.
struct Inputs {
  kernels::Stream x, a, b;

  void fill(std::span<float> xs, std::span<float> as, std::span<float> bs) const {
    for (std::size_t i = 0; i < xs.size(); ++i) xs[i] = 0.5F + static_cast<float>(u32_at(x, i) >> 9) * 0x1p-24F;
    for (std::size_t i = 0; i < as.size(); ++i) {
      as[i] = -1.0F + static_cast<float>(1 + (u32_at(a, i) >> 20)) * 0x1p-24F;
      bs[i] = 0.5F + static_cast<float>(u32_at(b, i) >> 9) * 0x1p-24F;
    }
  }
  void fill(std::span<double> xs, std::span<double> as, std::span<double> bs) const {
    for (std::size_t i = 0; i < xs.size(); ++i) xs[i] = 0.5 + static_cast<double>(u64_at(x, i) >> 12) * 0x1p-53;
    for (std::size_t i = 0; i < as.size(); ++i) {
      as[i] = -1.0 + static_cast<double>(1 + (u64_at(a, i) >> 24)) * 0x1p-53;
      bs[i] = 0.5 + static_cast<double>(u64_at(b, i) >> 12) * 0x1p-53;
    }
  }
  void fill(std::span<std::uint32_t> xs, std::span<std::uint32_t> as, std::span<std::uint32_t> bs) const {
    for (std::size_t i = 0; i < xs.size(); ++i) xs[i] = u32_at(x, i);
    for (std::size_t i = 0; i < as.size(); ++i) {
      as[i] = u32_at(a, i) | 1;
      bs[i] = u32_at(b, i);
    }
  }
  // bf16: odd integers below 32, so that 4096 steps of two products stay below 2^23.
  void fill(std::span<float> xs, std::span<std::uint16_t> as, std::span<std::uint16_t> bs) const {
    for (std::size_t i = 0; i < xs.size(); ++i) xs[i] = static_cast<float>(kernels::odd_of(u32_at(x, i)));
    for (std::size_t i = 0; i < as.size(); ++i) {
      as[i] = kernels::to_bf16(static_cast<float>(kernels::odd_of(u32_at(a, i), 6))).bits;
      bs[i] = kernels::to_bf16(static_cast<float>(kernels::odd_of(u32_at(b, i), 6))).bits;
    }
  }
};

// type_share: what a type can do in a cycle, as share of f32.
void limit_by_pipes(Run& run, double type_share) {
  const kernels::TeamPeak peak = kernels::team_peak(run.device().facts, run.device().labels, run.threads());
  run.limit_per_cycle("throughput", peak.f32_flop_per_cycle * type_share, peak.flop_source);
}

// `inputs_per_lane`: how many values of a and b there are for each lane.
template <class Bits, class X, class A, class Row, class Expected>
void measure_and_verify(Run& run, const Row& row, std::size_t inputs_per_lane, double operations_per_step,
                        Expected&& expected) {
  const std::size_t n = row.elements * static_cast<std::size_t>(run.threads());
  const Buffer<X> x = run.buffer<X>(n);
  const Buffer<A> a = run.buffer<A>(inputs_per_lane * row.lanes), b = run.buffer<A>(inputs_per_lane * row.lanes);
  const Buffer<Bits> sums = run.buffer<Bits>(n);
  Inputs{{run.seed(0), 0}, {run.seed(1), 0}, {run.seed(2), 0}}.fill(x, a, b);
  std::fill(sums.begin(), sums.end(), Bits{0});

  const double operations = operations_per_step * static_cast<double>(kernels::fma_steps * n);
  run.operations_per_iteration(operations, "operations per step x 4096 steps x lanes x chains x threads");
  run.measure(
      [&](std::uint64_t iterations) { row.run(run.exec(), iterations, x.data(), a.data(), b.data(), sums.data()); });
  run.rate("throughput", operations);

  std::vector<Bits> right(n);
  expected(run.exec(), n, row.lanes, run.iterations_done(), x.data(), a.data(), b.data(), right.data());
  run.verify(Check<Bits>{"sums", sums, [&right](std::size_t first, std::span<Bits> out) {
                           std::copy_n(right.begin() + static_cast<std::ptrdiff_t>(first), out.size(), out.begin());
                         }});
}

void run_fma(Run& run) {
  const kernels::FmaOps& ops = *kernels::fma_ops(kernels::Backend::cpu);
  const std::string& type = run.param("type");
  run.fact("instruction_set", type == "bf16" ? "AVX512_BF16" : ops.target);
  const auto expected = [](const auto&... arguments) { kernels::fma_expected(arguments...); };
  if (type == "f32" && ops.f32 != nullptr) {
    run.data("x, b uniform in [0.5, 1), a uniform in [-1, -1 + 2^-12)");
    measure_and_verify<std::uint32_t, float, float>(run, *ops.f32, 1, 2, expected);
    limit_by_pipes(run, 1);
  } else if (type == "f64" && ops.f64 != nullptr) {
    run.data("x, b uniform in [0.5, 1), a uniform in [-1, -1 + 2^-13)");
    measure_and_verify<std::uint64_t, double, double>(run, *ops.f64, 1, 2, expected);
    limit_by_pipes(run, 0.5);
  } else if (type == "i32") {
    run.data("x, b uniform 32-bit words, a uniform odd words");
    measure_and_verify<std::uint32_t, std::uint32_t, std::uint32_t>(run, *ops.i32, 1, 2, expected);
    run.limit("throughput", {std::nullopt, "none", "pipes for integer multiplication differ within a model"});
  } else if (type == "bf16" && ops.bf16 != nullptr) {
    run.data("odd integers: x below 32768, a and b below 32, either sign");
    measure_and_verify<std::uint32_t, float, std::uint16_t>(run, *ops.bf16, 4, 4, kernels::fma_expected_bf16);
    run.limit("throughput", {std::nullopt, "none", "pipes for bf16 dot products differ within a model"});
  } else {
    run.skip("this build has no " + type + " chains for this CPU");
  }
}

std::vector<Need> needs_of(const Params& params) {
#if defined(__x86_64__)
  if (params["type"] == "bf16") return {{"cpu.avx512_bf16", 1, "bf16 dot products need AVX512-BF16"}};
  if (params["type"] != "i32") return {{"cpu.fma", 1, "a fused multiply-add needs FMA3"}};
#else
  // A build fact that no device has.
  if (params["type"] == "bf16") return {{"build.bf16_chains", 1, "the bf16 chains are written for AVX512-BF16 only"}};
#endif
  return {};
}

const Benchmark fma_benchmark{
    .name = "compute/fma",
    .summary = "peak arithmetic: multiply-add in registers",
    .params = {{"type", {"f32", "f64", "i32", "bf16"}}, {"threads", {"one", "all"}}},
    .metrics = {{"throughput", "op/s", Better::higher,
                 "arithmetic operations per second, a multiply-add counting two"}},
    .needs = needs_of,
    .rank = [](const Params& params) { return params["threads"] == "all" ? (params["type"] == "f32" ? 12 : 32) : 42; },
    .setup_s = 0.05,
    .run = run_fma,
};
REGISTER_BENCHMARK(fma_benchmark);

}  // namespace
