// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// compute/fma: peak arithmetic. Independent chains of multiply-add in registers, no memory: how much the pipes can do.
//
// Result: `throughput`, operations per second, a multiply-add counting two (bf16, f16x2, bf16x2: four; rcp: one), higher
// is better; per cycle it is pipes x lanes x 2. Formula: operations x steps x elements per pass, elements = lanes x
// chains x threads, or x blocks on a device, which has as many as it keeps resident. Limit: cores x FLOP per cycle of the
// CPU model (kernels/cpu_peak.h) x the highest clock seen beside the samples (a chain of additions: another quantity).
// None for i32 and bf16, whose pipes differ within a model, nor for devices, whose pipes no attribute tells. Traps: see
// kernels/fma.h; in threads:all two hyper-threads share the pipes of one core.
//
// Verified: the sums of the bits that every pass left in every element, over all passes, against scalar code; a single
// wrong pass changes its element's sum. rcp's bits are the device's own: a first pass tells them, each of its values must
// be within 2^-10 of -1 / x, and all timed passes must leave the same.
#include "kernels/fma.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
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
  // Two halves in a word: x and b multiples of 2^-7 below 1, a is -1.
  void fill_pairs(std::span<std::uint32_t> xs, std::span<std::uint32_t> as, std::span<std::uint32_t> bs,
                  std::uint16_t (*half_of)(float)) const {
    const auto pair = [half_of](std::uint32_t word) -> std::uint32_t {
      const auto half = [half_of](std::uint32_t seven_bits) -> std::uint32_t {
        return half_of(static_cast<float>(1 + seven_bits % 127) * 0x1p-7F);
      };
      return half(word & 0xFFFF) | half(word >> 16) << 16;
    };
    for (std::size_t i = 0; i < xs.size(); ++i) xs[i] = pair(u32_at(x, i));
    for (std::size_t i = 0; i < as.size(); ++i) {
      as[i] = half_of(-1) * 0x10001U;
      bs[i] = pair(u32_at(b, i));
    }
  }
  void fill_reciprocals(std::span<float> xs) const {
    for (std::size_t i = 0; i < xs.size(); ++i) xs[i] = 0.5F + static_cast<float>(u32_at(x, i) >> 9) * 0x1p-24F;
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

// type_share: what a type can do in a cycle, as share of f32. 0: why not.
void limit_by_pipes(Run& run, double type_share, const std::string& why_not = "") {
  if (!run.on_cpu()) return run.limit("throughput", {std::nullopt, "none", "no attribute of a device tells its pipes"});
  if (type_share == 0) return run.limit("throughput", {std::nullopt, "none", why_not});
  const kernels::TeamPeak peak = kernels::team_peak(run.device().facts, run.device().labels, run.threads());
  run.limit_per_cycle("throughput", peak.f32_flop_per_cycle * type_share, peak.flop_source);
}

template <class Bits>
void verify_sums(Run& run, Buffer<Bits> sums, const std::vector<Bits>& right) {
  run.verify(Check<Bits>{"sums", sums, [&right](std::size_t first, std::span<Bits> out) {
                           std::copy_n(right.begin() + static_cast<std::ptrdiff_t>(first), out.size(), out.begin());
                         }});
}

template <class Row>
double count_operations(Run& run, const Row& row, std::size_t n, std::size_t steps, double per_step) {
  const double operations = per_step * static_cast<double>(steps * n);
  run.operations_per_iteration(operations, "operations per step x " + std::to_string(steps) +
                                               " steps x lanes x chains x " + (run.on_cpu() ? "threads" : "blocks"));
  run.fact("elements", std::to_string(n) + " of " + std::to_string(row.elements) + " each");
  return operations;
}

// `fill` makes the values, `inputs_per_lane` of a and b for each lane.
template <class Bits, class X, class A, class Row, class Fill, class Expected>
void measure_and_verify(Run& run, const Row& row, std::size_t inputs_per_lane, double per_step, Fill&& fill,
                        Expected&& expected, std::size_t steps = kernels::fma_steps) {
  const kernels::Exec exec = run.exec_blocks(256);
  const std::size_t n = row.elements * static_cast<std::size_t>(exec.threads);
  std::vector<X> xs(n);
  std::vector<A> as(inputs_per_lane * row.lanes), bs(as.size());
  fill(std::span<X>(xs), std::span<A>(as), std::span<A>(bs));
  const Buffer<X> x = run.buffer_with(xs);
  const Buffer<A> a = run.buffer_with(as), b = run.buffer_with(bs);
  const Buffer<Bits> sums = run.buffer_with(std::vector<Bits>(n, 0));

  const double operations = count_operations(run, row, n, steps, per_step);
  run.measure([&](std::uint64_t iterations) { row.run(exec, iterations, x.data(), a.data(), b.data(), sums.data()); });
  run.rate("throughput", operations);

  std::vector<Bits> right(n);
  const kernels::Exec host{run.threads(), nullptr};
  expected(host, n, row.lanes, run.iterations_done(), xs.data(), as.data(), bs.data(),
           right.data());
  verify_sums(run, sums, right);
}

// What the special function unit makes of a number is its own business; that it does so each time is not.
void run_reciprocals(Run& run, const kernels::FmaRow<float, std::uint32_t>& row, const Inputs& inputs) {
  const kernels::Exec exec = run.exec_blocks(256);
  const std::size_t n = row.elements * static_cast<std::size_t>(exec.threads);
  std::vector<float> xs(n);
  inputs.fill_reciprocals(xs);
  const Buffer<float> x = run.buffer_with(xs);
  const Buffer<std::uint32_t> sums = run.buffer_with(std::vector<std::uint32_t>(n, 0));
  row.run(exec, 1, x.data(), nullptr, nullptr, sums.data());
  const std::vector<std::uint32_t> one_pass = run.get(sums);

  const double operations = count_operations(run, row, n, kernels::fma_odd_steps, 1);
  run.measure([&](std::uint64_t iterations) { row.run(exec, iterations, x.data(), nullptr, nullptr, sums.data()); });
  run.rate("throughput", operations);

  std::vector<std::uint32_t> right(n);
  const std::uint64_t passes = run.iterations_done() + 1;
  for (std::size_t i = 0; i < n; ++i) right[i] = static_cast<std::uint32_t>(passes * one_pass[i]);
  verify_sums(run, sums, right);
  std::vector<float> values(n);
  for (std::size_t i = 0; i < n; ++i) std::memcpy(&values[i], &one_pass[i], sizeof values[i]);
  run.verify(Check<float>{"first pass", values,
                          [&xs](std::size_t first, std::span<float> out) {
                            for (std::size_t i = 0; i < out.size(); ++i) out[i] = -1 / xs[first + i];
                          },
                          0, 0x1p-10});
}

std::uint16_t bf16_of(float value) { return kernels::to_bf16(value).bits; }

void run_fma(Run& run) {
  const kernels::FmaOps& ops = run.rows("fma", kernels::fma_ops);
  const std::string& type = run.param("type");
  const Inputs inputs{{run.seed(0), 0}, {run.seed(1), 0}, {run.seed(2), 0}};
  const auto fill = [&inputs](auto... spans) { inputs.fill(spans...); };
  run.fact("instruction_set", type == "bf16" ? "AVX512_BF16" : ops.target);
  const auto expected = [](const auto&... arguments) { kernels::fma_expected(arguments...); };
  if (type == "f32" && ops.f32 != nullptr) {
    run.data("x, b uniform in [0.5, 1), a uniform in [-1, -1 + 2^-12)");
    measure_and_verify<std::uint32_t, float, float>(run, *ops.f32, 1, 2, fill, expected);
    limit_by_pipes(run, 1);
  } else if (type == "f64" && ops.f64 != nullptr) {
    run.data("x, b uniform in [0.5, 1), a uniform in [-1, -1 + 2^-13)");
    measure_and_verify<std::uint64_t, double, double>(run, *ops.f64, 1, 2, fill, expected);
    limit_by_pipes(run, 0.5);
  } else if (type == "i32") {
    run.data("x, b uniform 32-bit words, a uniform odd words");
    measure_and_verify<std::uint32_t, std::uint32_t, std::uint32_t>(run, *ops.i32, 1, 2, fill, expected);
    limit_by_pipes(run, 0, "pipes for integer multiplication differ within a model");
  } else if (type == "bf16" && ops.bf16 != nullptr) {
    run.data("odd integers: x below 32768, a and b below 32, either sign");
    measure_and_verify<std::uint32_t, float, std::uint16_t>(run, *ops.bf16, 4, 4, fill, kernels::fma_expected_bf16);
    limit_by_pipes(run, 0, "pipes for bf16 dot products differ within a model");
  } else if ((type == "f16x2" && ops.f16x2 != nullptr) || (type == "bf16x2" && ops.bf16x2 != nullptr)) {
    const bool f16 = type == "f16x2";
    run.data("two halves in a word: x and b multiples of 2^-7 below 1, a = -1");
    measure_and_verify<std::uint32_t, std::uint32_t, std::uint32_t>(
        run, f16 ? *ops.f16x2 : *ops.bf16x2, 1, 4,
        [&](auto... spans) { inputs.fill_pairs(spans..., f16 ? kernels::to_f16 : bf16_of); },
        f16 ? kernels::fma_expected_f16x2 : kernels::fma_expected_bf16x2, kernels::fma_odd_steps);
    limit_by_pipes(run, 0);
  } else if (type == "rcp" && ops.rcp != nullptr) {
    run.data("x uniform in [0.5, 1)");
    run_reciprocals(run, *ops.rcp, inputs);
    limit_by_pipes(run, 0);
  } else {
    run.skip("this build has no " + type + " chains for this device");
  }
}

bool exists(const Params& params) {
  const std::string& type = params["type"];
  const bool of_devices = type == "f16x2" || type == "bf16x2" || type == "rcp";
  return params.on_cpu() ? !of_devices : type != "bf16";
}

std::vector<Need> needs_of(const Params& params) {
  if (!params.on_cpu()) return {};
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
    .devices = {"cpu", "cuda"},
    .params = {{"type", {"f32", "f64", "i32", "bf16", "f16x2", "bf16x2", "rcp"}},
               {"threads", {"one", "all"}, kernels::Backend::cpu}},
    .metrics = {{"throughput", "op/s", Better::higher,
                 "arithmetic operations per second, a multiply-add counting two"}},
    .exists = exists,
    .needs = needs_of,
    .rank = [](const Params& params) { return !params.has("threads") || params["threads"] == "all" ? (params["type"] == "f32" ? 12 : 32) : 42; },
    .setup_s = 0.05,
    .run = run_fma,
};
REGISTER_BENCHMARK(fma_benchmark);

}  // namespace
