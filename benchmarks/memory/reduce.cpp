// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// memory/reduce: one number from an array, the same bits everywhere: what a sum with a prescribed order costs beside plain
// reading (memory/stream/op:read).
//
// Result: `bandwidth`, bytes of the array per second, higher is better. Formula: size of an element x n. The array is four
// times the last cache. Limit: DRAM, 2 x memory clock x bus width of a device. Traps: see kernels/reduce.h.
//
// Verified: the results of the last 64 iterations of the last call, bit for bit, against the sum in integers (elements are
// multiples of one power of two, so each order is exact) or the largest element.
#include "kernels/reduce.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>

#include "harness/benchmark.h"
#include "kernels/fill.h"
#include "kernels/philox.h"

namespace {

using namespace assay;

constexpr std::size_t slots = 64;

// Elements are k / 32768 with k odd.
double expected_result(kernels::Stream stream, std::size_t n, bool maximum, int threads) {
  std::int64_t sum = 0, largest = -32768;
#pragma omp parallel for num_threads(threads) schedule(static, 1) reduction(+ : sum) reduction(max : largest)
  for (int t = 0; t < threads; ++t) {
    const kernels::Range mine = kernels::share(n, t, threads, 4);
    kernels::for_each_word(stream, mine.begin, mine.end - mine.begin, [&](std::size_t, std::uint32_t word) {
      const std::int64_t k = kernels::odd_of(word);
      sum += k;
      largest = std::max(largest, k);
    });
  }
  return static_cast<double>(maximum ? largest : sum) / 32768;
}

template <class T>
void run_typed(Run& run) {
  const std::size_t n = run.working_set_bytes("dram") / sizeof(T);
  const bool maximum = run.param("op") == "maximum";
  const kernels::Stream stream{run.seed(), 0};
  run.need_memory(n * sizeof(T) + kernels::reduce_scratch(n) * sizeof(double));
  const Buffer<T> x = run.buffer<T>(n);
  const Buffer<double> scratch = run.buffer<double>(kernels::reduce_scratch(n)), results = run.buffer<double>(slots);
  const kernels::FillOps& fills = run.rows("fill", kernels::fill_ops);
  if constexpr (std::is_same_v<T, float>) fills.f32(x.data(), n, stream, 16, run.exec());
  if constexpr (std::is_same_v<T, double>) fills.f64(x.data(), n, stream, 16, run.exec());
  run.data("k / 32768, k odd in [-32767, 32767]");
  const kernels::ReduceOps<T>& ops = run.rows("reduce", kernels::reduce_ops<T>);

  run.bytes_per_iteration(static_cast<double>(x.size_bytes()), "size of an element x n");
  run.before_measuring([&] { run.spoil(results); });
  std::uint64_t last_iterations = 0;
  run.measure([&](std::uint64_t iterations) {
    last_iterations = iterations;
    for (std::uint64_t i = 0; i < iterations; ++i)
      (maximum ? ops.maximum : ops.sum)(run.exec(), {x.data(), n, scratch.data(), results.data() + i % slots});
  });
  run.rate("bandwidth", static_cast<double>(x.size_bytes()));
  run.limit("bandwidth", dram_limit(run.device()));

  const double right = expected_result(stream, n, maximum, run.threads());
  const std::size_t used = std::min<std::uint64_t>(last_iterations, slots);
  run.verify(Check<double>{"results", results.first(used), [right](std::size_t, std::span<double> out) {
                             std::fill(out.begin(), out.end(), right);
                           }});
}

const Benchmark reduce_benchmark{
    .name = "memory/reduce",
    .summary = "sum and maximum of an array, with the same bits on every device",
    .devices = {"cuda"},
    .params = {{"op", {"sum", "maximum"}}, {"type", {"f32", "f64"}}},
    .metrics = {{"bandwidth", "B/s", Better::higher, "bytes of the array per second"}},
    .setup_s = 0.3,
    .run = [](Run& run) { run.param("type") == "f32" ? run_typed<float>(run) : run_typed<double>(run); },
};
REGISTER_BENCHMARK(reduce_benchmark);

}  // namespace
