// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// compute/mma: peak of a device's tensor cores, with everything in registers: how much they can do when nothing has to
// be fetched.
//
// Result: `throughput`, operations per second, a multiply-add counting two, higher is better; per cycle it is tensor
// cores x their width x 2. Formula: 2 m n k x 1024 steps x chains x warps x blocks per pass; as many blocks as the
// device keeps resident. Limit: none, for no attribute of a device tells its tensor cores. Traps: see kernels/mma.h;
// each type runs the best version that has it, which the record names: on 9.0 wgmma, but mma.sync for f64.
//
// Verified: the sums of the bits that every pass left in every element of every accumulator, over all passes, against
// the closed form in 64-bit integers. All numbers are odd integers so small that each sum is exact in any order.
#include "kernels/mma.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "harness/benchmark.h"
#include "kernels/bits.h"
#include "kernels/philox.h"

namespace {

using namespace assay;

constexpr int block_threads_per_warp = 32;

// Odd integers below 2^(bits - 1), either sign.
template <class T, class Number>
std::vector<T> numbers(kernels::Stream stream, std::size_t n, int bits, Number number) {
  std::vector<T> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = number(kernels::odd_of(kernels::u32_at(stream, i), bits));
  return values;
}

template <class T>
Buffer<T> copy_of(Run& run, const std::vector<T>& host) {
  const Buffer<T> buffer = run.buffer<T>(host.size());
  run.set(buffer, [&host](std::size_t first, std::span<T> out) {
    std::copy_n(host.begin() + static_cast<std::ptrdiff_t>(first), out.size(), out.begin());
  });
  return buffer;
}

// `bits`: of the integers in A and B; `number` makes an In of one.
template <class In, class Out, class Bits, class Number, class Expected>
void measure_and_verify(Run& run, const kernels::MmaRow<In, Out, Bits>* kernels::MmaOps::*of_type, int bits,
                        Number number, Expected expected) {
  const auto* const row = &run.rows("mma", of_type);
  const kernels::Exec exec =
      run.exec_blocks(row->fills ? static_cast<int>(run.device().fact("threads_per_multiprocessor"))
                                 : static_cast<int>(row->warps) * block_threads_per_warp);
  const auto blocks = static_cast<std::size_t>(exec.threads);
  const auto as = numbers<In>({run.seed(0), 0}, row->warps * row->m * row->k, bits, number);
  const auto bs = numbers<In>({run.seed(1), 0}, row->chains * row->n * row->k, bits, number);
  const auto cs = numbers<Out>({run.seed(2), 0}, row->elements(blocks), 16, [](int x) { return static_cast<Out>(x); });
  const Buffer<In> a = copy_of(run, as), b = copy_of(run, bs);
  const Buffer<Out> c = copy_of(run, cs);
  const Buffer<Bits> sums = copy_of(run, std::vector<Bits>(cs.size(), 0));
  run.data("odd integers: A and B below 2^" + std::to_string(bits - 1) + ", C below 2^15, either sign");
  run.fact("blocks", std::to_string(blocks) + " of " + std::to_string(row->warps) + " warps x " +
                         std::to_string(row->chains) + " chains");

  const double operations = 2.0 * static_cast<double>(row->elements(blocks) * row->k * kernels::mma_steps);
  run.operations_per_iteration(operations, "2 m n k x 1024 steps x chains x warps x blocks");
  run.measure([&](std::uint64_t passes) { row->run(exec, passes, a.data(), b.data(), c.data(), sums.data()); });
  run.rate("throughput", operations);
  run.limit("throughput", {std::nullopt, "none", "no attribute of a device tells its tensor cores"});

  std::vector<Bits> right(cs.size());
  expected(*row, blocks, run.iterations_done(), as.data(), bs.data(), cs.data(), right.data());
  run.verify(Check<Bits>{"sums", sums, [&right](std::size_t first, std::span<Bits> out) {
                           std::copy_n(right.begin() + static_cast<std::ptrdiff_t>(first), out.size(), out.begin());
                         }});
}

void run_mma(Run& run) {
  using kernels::MmaOps;
  const std::string& type = run.param("type");
  if (type == "bf16") {
    const auto bf16 = [](int x) { return kernels::to_bf16(static_cast<float>(x)).bits; };
    measure_and_verify(run, &MmaOps::bf16, 6, bf16, kernels::mma_expected_bf16);
  } else if (type == "f16") {
    const auto f16 = [](int x) { return kernels::to_f16(static_cast<float>(x)); };
    measure_and_verify(run, &MmaOps::f16, 6, f16, kernels::mma_expected_f16);
  } else if (type == "tf32") {
    measure_and_verify(
        run, &MmaOps::tf32, 6, [](int x) { return static_cast<float>(x); }, kernels::mma_expected_tf32);
  } else if (type == "f64") {
    measure_and_verify(
        run, &MmaOps::f64, 16, [](int x) { return static_cast<double>(x); }, kernels::mma_expected_f64);
  } else {
    const auto int8 = [](int x) { return static_cast<std::int8_t>(x); };
    measure_and_verify(run, &MmaOps::int8, 8, int8, kernels::mma_expected_int8);
  }
}

const Benchmark mma_benchmark{
    .name = "compute/mma",
    .summary = "peak of the tensor cores: matrix products in registers",
    .devices = {"cuda"},
    .params = {{"type", {"bf16", "f16", "tf32", "f64", "int8"}}},
    .metrics = {{"throughput", "op/s", Better::higher,
                 "arithmetic operations per second, a multiply-add counting two"}},
    .needs = [](const Params&) -> std::vector<Need> {
      return {{"capability", 80, "tensor cores with these instructions begin with compute capability 8.0"}};
    },
    .rank = [](const Params& params) { return params["type"] == "bf16" ? 12 : 32; },
    .setup_s = 0.2,
    .run = run_mma,
};
REGISTER_BENCHMARK(mma_benchmark);

}  // namespace
