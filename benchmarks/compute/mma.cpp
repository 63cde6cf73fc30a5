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
// the closed form in 64-bit integers. All numbers are odd integers so small that each sum is exact in any order; those of
// fp8 (e4m3) are ones with signs that nearly cancel, because 9.0 keeps 14 bits of a sum (kernels/mma.h).
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

// e4m3 for rows of A (`of_b` false) or B: ones with the signs of a Hadamard matrix, of which A has other rows than B, and one
// of them flipped in each row. A dot product of 32 is then -4, -2, 0, 2 or 4, and no sum of 1024 steps reaches 2^13.
std::vector<std::uint8_t> cancelling(kernels::Stream stream, std::size_t rows, std::size_t k, bool of_b) {
  constexpr std::size_t period = 32;
  std::vector<std::uint8_t> values(rows * k);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t row = i / k, at = i % k;
    const std::size_t line = row % (period / 2) + (of_b ? period / 2 : 0);
    const bool flipped = kernels::u32_at(stream, row) % k == at;
    const bool negative = (__builtin_popcountll(line & at) % 2 != 0) != flipped;
    values[i] = negative ? 0xB8 : 0x38;
  }
  return values;
}

// `make(stream, rows, k, of_b)` makes A and B; `c_bits`: of the odd integers in C.
template <class In, class Out, class Bits, class Make, class Expected>
void measure_and_verify(Run& run, const kernels::MmaRow<In, Out, Bits>* kernels::MmaOps::*of_type, Make make, int c_bits,
                        Expected expected) {
  const auto* const row = &run.rows("mma", of_type);
  const kernels::Exec exec =
      run.exec_blocks(row->fills ? static_cast<int>(run.device().fact("threads_per_multiprocessor"))
                                 : static_cast<int>(row->warps) * block_threads_per_warp);
  const auto blocks = static_cast<std::size_t>(exec.threads);
  const std::vector<In> as = make(kernels::Stream{run.seed(0), 0}, row->warps * row->m, row->k, false);
  const std::vector<In> bs = make(kernels::Stream{run.seed(1), 0}, row->chains * row->n, row->k, true);
  const auto cs =
      numbers<Out>({run.seed(2), 0}, row->elements(blocks), c_bits, [](int x) { return static_cast<Out>(x); });
  const Buffer<In> a = run.buffer_with(as), b = run.buffer_with(bs);
  const Buffer<Out> c = run.buffer_with(cs);
  const Buffer<Bits> sums = run.buffer_with(std::vector<Bits>(cs.size(), 0));
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

// Odd integers below 2^(bits - 1) in A and B; `number` makes an In of one.
template <class In, class Out, class Bits, class Number, class Expected>
void measure_odd(Run& run, const kernels::MmaRow<In, Out, Bits>* kernels::MmaOps::*of_type, int bits, Number number,
                 Expected expected) {
  run.data("odd integers: A and B below 2^" + std::to_string(bits - 1) + ", C below 2^15, either sign");
  const auto make = [=](kernels::Stream stream, std::size_t rows, std::size_t k, bool) {
    return numbers<In>(stream, rows * k, bits, number);
  };
  measure_and_verify(run, of_type, make, 16, expected);
}

void run_mma(Run& run) {
  using kernels::MmaOps;
  const std::string& type = run.param("type");
  if (type == "bf16") {
    const auto bf16 = [](int x) { return kernels::to_bf16(static_cast<float>(x)).bits; };
    measure_odd(run, &MmaOps::bf16, 6, bf16, kernels::mma_expected_bf16);
  } else if (type == "f16") {
    const auto f16 = [](int x) { return kernels::to_f16(static_cast<float>(x)); };
    measure_odd(run, &MmaOps::f16, 6, f16, kernels::mma_expected_f16);
  } else if (type == "tf32") {
    measure_odd(
        run, &MmaOps::tf32, 6, [](int x) { return static_cast<float>(x); }, kernels::mma_expected_tf32);
  } else if (type == "f64") {
    measure_odd(
        run, &MmaOps::f64, 16, [](int x) { return static_cast<double>(x); }, kernels::mma_expected_f64);
  } else if (type == "fp8") {
    run.data("e4m3: A and B ones with signs that nearly cancel, C odd integers below 2^8, either sign");
    measure_and_verify(run, &MmaOps::e4m3, cancelling, 9, kernels::mma_expected_e4m3);
  } else {
    const auto int8 = [](int x) { return static_cast<std::int8_t>(x); };
    measure_odd(run, &MmaOps::int8, 8, int8, kernels::mma_expected_int8);
  }
}

const Benchmark mma_benchmark{
    .name = "compute/mma",
    .summary = "peak of the tensor cores: matrix products in registers",
    .devices = {"cuda"},
    .params = {{"type", {"bf16", "f16", "tf32", "f64", "int8", "fp8"}}},
    .metrics = {{"throughput", "op/s", Better::higher,
                 "arithmetic operations per second, a multiply-add counting two"}},
    .needs = [](const Params& params) -> std::vector<Need> {
      if (params["type"] == "fp8") return {{"capability", 89, "tensor cores multiply fp8 from 8.9 on"}};
      return {{"capability", 80, "tensor cores with these instructions begin with compute capability 8.0"}};
    },
    .rank = [](const Params& params) { return params["type"] == "bf16" ? 12 : 32; },
    .setup_s = 0.2,
    .run = run_mma,
};
REGISTER_BENCHMARK(mma_benchmark);

}  // namespace
