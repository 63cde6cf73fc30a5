// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// memory/reduce: one number from an array, the same bits everywhere: what a sum with a prescribed order costs beside plain
// reading (memory/stream/op:read).
//
// Result: `bandwidth`, bytes of the array per second, higher is better. Formula: size of an element x n. The array is four
// times the last cache. Limit: DRAM, 2 x memory clock x bus width of a device. Traps: see kernels/reduce.h.
//
// Verified: the results of the last 64 iterations of each call, of the warm-up, too, bit for bit, against the sum in integers
// (elements are multiples of one power of two, so each order is exact) or the largest element. That is always another one:
// between calls one element above all others moves to another of 64 segments, or a maximum of a part of the array would
// be right.
#include "kernels/reduce.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "harness/benchmark.h"
#include "kernels/fill.h"
#include "kernels/philox.h"

namespace {

using namespace assay;

constexpr std::size_t slots = 64, segments = 64;
constexpr std::int64_t one = 32768;  // elements are k / 32768 with k odd, and as k they stand here

std::int64_t sum_of(kernels::Stream stream, std::size_t n, int threads) {
  std::int64_t sum = 0;
#pragma omp parallel for num_threads(threads) schedule(static, 1) reduction(+ : sum)
  for (int t = 0; t < threads; ++t) {
    const kernels::Range mine = kernels::share(n, t, threads, 4);
    kernels::for_each_word(stream, mine.begin, mine.end - mine.begin,
                           [&](std::size_t, std::uint32_t word) { sum += kernels::odd_of(word); });
  }
  return sum;
}

// The only element above 1 while a call runs, and what is there otherwise. Values differ from call to call: no result of
// another one is right.
struct Peak {
  std::size_t at;
  std::int64_t value, otherwise;
};

Peak peak_of(kernels::Stream stream, std::size_t n, std::uint64_t call) {
  const std::uint64_t segment = call * 37 % segments;  // all of them in turn, the next one far from the last
  const std::size_t at = segment * n / segments + kernels::u32_at({stream.seed, stream.id + 1}, call) % (n / segments);
  return {at, one + 1 + 2 * static_cast<std::int64_t>(call % (one / 2)), kernels::odd_of(kernels::u32_at(stream, at))};
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
  run.data("k / 32768, k odd in [-32767, 32767], but for one in (32768, 65535]");
  const kernels::ReduceOps<T>& ops = run.rows("reduce", kernels::reduce_ops<T>);

  run.bytes_per_iteration(static_cast<double>(x.size_bytes()), "size of an element x n");
  const std::int64_t sum = sum_of(stream, n, run.threads());
  std::uint64_t last_iterations = 0, calls = 0;
  Peak peak{};
  const auto put = [&](std::int64_t k) {
    run.set(x.subspan(peak.at, 1), [k](std::size_t, std::span<T> out) { out[0] = static_cast<T>(k) / static_cast<T>(one); });
  };
  const auto prepare = [&] {
    peak = peak_of(stream, n, calls++);
    put(peak.value);
    run.spoil(results);
  };
  std::vector<double> found, right;
  prepare();
  run.after_each_call([&] {
    const std::vector<double> now = run.get(results.first(std::min<std::uint64_t>(last_iterations, slots)));
    found.insert(found.end(), now.begin(), now.end());
    const std::int64_t k = maximum ? peak.value : sum - peak.otherwise + peak.value;
    right.resize(found.size(), static_cast<double>(k) / static_cast<double>(one));
    put(peak.otherwise);
    prepare();
  });
  run.measure([&](std::uint64_t iterations) {
    last_iterations = iterations;
    for (std::uint64_t i = 0; i < iterations; ++i)
      (maximum ? ops.maximum : ops.sum)(run.exec(), {x.data(), n, scratch.data(), results.data() + i % slots});
  });
  run.rate("bandwidth", static_cast<double>(x.size_bytes()));
  run.limit("bandwidth", dram_limit(run.device()));

  run.verify(Check<double>{"results", found, [&right](std::size_t first, std::span<double> out) {
                             std::copy_n(right.begin() + static_cast<std::ptrdiff_t>(first), out.size(), out.begin());
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
