// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// memory/stream: sustained bandwidth of seven loops over arrays in order, in each cache and in DRAM.
//
// Result: `bandwidth`, bytes that the program asked for per second, higher is better. With W = bytes of an array an
// iteration counts: read, write W; copy, scale, dot 2W; add, triad 3W. All arrays of a case together are the working
// set: half of the cache that the threads have, or four times the last cache (size:dram). In size:dram stores go past
// the caches, otherwise not (fact `stores`): with regular stores DRAM would move one W more than is counted.
// Limit: read and dot in the first cache: the load ports of the CPU's model (kernels/cpu_peak.h). Else none known:
// DRAM's would be channels x rate, which needs root to read. Traps: a guest on the same last cache or memory takes from
// both; size:l3 needs a last cache that is really ours. Compare copies with copies: memcpy's rate counts a copied byte
// once, this one twice.
//
// Verified: every element written, bit for bit, against the generator's elements; the data is so coarse that each
// result is exact. read and dot write nothing: their sums over all passes are compared, exact too, so a wrong value in
// any pass shows.
#include "kernels/stream.h"

#include <omp.h>

#include <algorithm>
#include <string>

#include "harness/benchmark.h"
#include "kernels/bits.h"
#include "kernels/cpu_peak.h"
#include "kernels/fill.h"
#include "kernels/philox.h"

namespace {

using namespace assay;

using kernels::BitsOf;

template <typename T>
T element_of(std::uint32_t word, int bits) {
  if constexpr (sizeof(T) == 4) return kernels::f32_of(word, bits);
  if constexpr (sizeof(T) == 8) return kernels::f64_of(word, bits);
}

// Calls use(i, element i) for i in [first, end): the expectation's way to the data, a block of four words at a time.
template <typename T, class Use>
void for_elements(kernels::Stream stream, int bits, std::size_t first, std::size_t end, Use&& use) {
  for (std::size_t i = first; i < end;) {
    const kernels::PhiloxCounter block = kernels::block_at(stream, i / 4);
    for (std::size_t k = i % 4; k < 4 && i < end; ++k, ++i) use(i, element_of<T>(block.word[k], bits));
  }
}

struct Inputs {
  kernels::Stream x, y;
  int bits;
};

// Sums of one pass, in integers: bit patterns for read, multiples of the product of two steps of the grid for dot.
template <typename T>
std::uint64_t expected_bits(const Inputs& in, std::size_t n, int threads) {
  std::uint64_t sum = 0;
#pragma omp parallel for num_threads(threads) schedule(static, 1) reduction(+ : sum)
  for (int t = 0; t < threads; ++t) {
    const kernels::Range mine = kernels::share(n, t, threads, 4);
    for_elements<T>(in.x, in.bits, mine.begin, mine.end, [&](std::size_t, T v) { sum += kernels::bits_of(v); });
  }
  return sum;
}
std::int64_t expected_products(const Inputs& in, std::size_t n, int threads) {
  std::int64_t sum = 0;
#pragma omp parallel for num_threads(threads) schedule(static, 1) reduction(+ : sum)
  for (int t = 0; t < threads; ++t) {
    const kernels::Range mine = kernels::share(n, t, threads, 4);
    for (std::size_t i = mine.begin; i < mine.end; i += 4) {
      const kernels::PhiloxCounter x = kernels::block_at(in.x, i / 4), y = kernels::block_at(in.y, i / 4);
      for (std::size_t k = 0; k < 4 && i + k < mine.end; ++k) {
        sum += kernels::odd_of(x.word[k], in.bits) * kernels::odd_of(y.word[k], in.bits);
      }
    }
  }
  return sum;
}

template <typename T>
void fill(Run& run, Buffer<T> out, kernels::Stream stream, int bits) {
  const kernels::FillOps& ops = run.rows("fill", kernels::fill_ops);
  if constexpr (sizeof(T) == 4) ops.f32(out.data(), out.size(), stream, bits, run.exec());
  if constexpr (sizeof(T) == 8) ops.f64(out.data(), out.size(), stream, bits, run.exec());
}

// What `out` must hold after any number of passes.
template <typename T>
void expect(const std::string& op, const Inputs& in, T s, std::size_t first, std::span<T> out) {
  const std::size_t end = first + out.size();
  if (op == "write") {
    std::fill(out.begin(), out.end(), s);
  } else {
    for_elements<T>(in.x, in.bits, first, end, [&](std::size_t i, T x) { out[i - first] = op == "scale" ? s * x : x; });
  }
  if (op == "add") for_elements<T>(in.y, in.bits, first, end, [&](std::size_t i, T y) { out[i - first] += y; });
  if (op == "triad") for_elements<T>(in.y, in.bits, first, end, [&](std::size_t i, T y) { out[i - first] += s * y; });
}

template <typename T>
kernels::StreamFunction<T> function_of(const std::string& op, const kernels::StreamOps<T>& ops) {
  if (op == "read") return ops.read;
  if (op == "write") return ops.write;
  if (op == "copy") return ops.copy;
  if (op == "scale") return ops.scale;
  if (op == "add") return ops.add;
  if (op == "triad") return ops.triad;
  return ops.dot;
}

void limit_bandwidth(Run& run, bool sums) {
  const std::string& size = run.param("size");
  if (run.on_cpu() && sums && size == "l1") {  // loads only, so the load ports are the limit
    const kernels::TeamPeak peak = kernels::team_peak(run.device().facts, run.device().labels, run.threads());
    run.limit_per_cycle("bandwidth", peak.l1_load_bytes_per_cycle, peak.load_source);
  } else if (size != "dram") {
    run.limit("bandwidth", {std::nullopt, "none", "the cache's width is not known from another source"});
  } else if (run.on_cpu()) {
    run.limit("bandwidth", {std::nullopt, "none", "the memory's channels and rate are not readable without root"});
  } else {
    run.limit("bandwidth", dram_limit(run.device()));
  }
}

template <typename T>
void run_typed(Run& run) {
  const std::string& op = run.param("op");
  const bool dram = run.param("size") == "dram", sums = op == "read" || op == "dot";
  const bool takes_x = op != "write", takes_y = op == "add" || op == "triad" || op == "dot";
  const int arrays = (sums ? 0 : 1) + (takes_x ? 1 : 0) + (takes_y ? 1 : 0);

  // Buffers. 16 bits of x and y, 3 of s: every product and sum fits a float's 24. A dot product adds up many: 4 bits.
  const std::size_t granule = kernels::fill_granule;
  const std::size_t all = run.working_set_bytes(run.param("size")) / sizeof(T) / static_cast<std::size_t>(arrays);
  const std::size_t n = std::max<std::size_t>(64, all < 64 * granule ? all / 64 * 64 : all / granule * granule);
  const Inputs in{{run.seed(0), 0}, {run.seed(1), 0}, op == "dot" ? 4 : 16};
  const T s = T(0.625);
  run.need_memory(static_cast<std::size_t>(arrays) * n * sizeof(T));
  Buffer<T> out, x, y;
  if (takes_x) fill(run, x = run.buffer<T>(n), in.x, in.bits);
  if (takes_y) fill(run, y = run.buffer<T>(n), in.y, in.bits);
  if (!sums) out = run.buffer<T>(n);
  const Buffer<std::uint64_t> bits_now = run.buffer<std::uint64_t>(1);
  const Buffer<double> sum_now = run.buffer<double>(1);
  run.data(op == "dot"     ? "k / 8, k odd in [-7, 7]"
           : op == "write" ? "0.625"
                           : "k / 32768, k odd in [-32767, 32767]; s = 0.625");
  run.fact("stores", sums ? "none" : dram ? "non_temporal" : "regular");
  run.fact("array_bytes", std::to_string(n * sizeof(T)));

  // What one pass adds to a sum; computed here because here all threads are free.
  const std::uint64_t bits_of_pass = op == "read" ? expected_bits<T>(in, n, run.threads()) : 0;
  const std::int64_t products_of_pass = op == "dot" ? expected_products(in, n, run.threads()) : 0;

  // Measure. The sums of all calls add up, modulo 2^64 and exactly.
  std::uint64_t bits = 0;
  double sum = 0;
  const double bytes = static_cast<double>(arrays) * static_cast<double>(n * sizeof(T));
  run.bytes_per_iteration(bytes, std::to_string(arrays) + " x " + std::to_string(sizeof(T)) + " B x n");
  const kernels::StreamFunction<T> function = function_of<T>(op, run.rows("stream", kernels::stream_ops<T>));
  if (!sums) run.before_measuring([&] { run.spoil(out); });
  if (op == "read") run.after_each_call([&] { bits += run.get(bits_now)[0]; });
  if (op == "dot") run.after_each_call([&] { sum += run.get(sum_now)[0]; });
  const kernels::Stores stores = dram ? kernels::Stores::non_temporal : kernels::Stores::regular;
  run.measure([&](std::uint64_t iterations) {
    function(run.exec(), {out.data(), x.data(), y.data(), s, n, iterations, stores, bits_now.data(), sum_now.data()});
  });
  run.rate("bandwidth", bytes);
  limit_bandwidth(run, sums);

  // Verify.
  const std::uint64_t passes = run.iterations_done();
  if (op == "read") {
    BitsOf<T> actual = static_cast<BitsOf<T>>(bits);
    const auto right = static_cast<BitsOf<T>>(bits_of_pass * passes);
    run.verify(Check<BitsOf<T>>{"sum", {&actual, 1}, [right](std::size_t, auto o) { o[0] = right; }});
  } else if (op == "dot") {
    const double right = static_cast<double>(products_of_pass) / 64 * static_cast<double>(passes);
    run.verify(Check<double>{"sum", {&sum, 1}, [right](std::size_t, auto o) { o[0] = right; }});
  } else {
    run.verify(Check<T>{"out", out, [&](std::size_t first, std::span<T> o) { expect<T>(op, in, s, first, o); }});
  }
}

void run_stream(Run& run) {
  if (run.param("type") == "f32") {
    run_typed<float>(run);
  } else {
    run_typed<double>(run);
  }
}

// One thread: only what tells something else than all threads do.
bool exists(const Params& params) {
  const std::string &op = params["op"], &size = params["size"];
  if (!params.on_cpu()) return size == "dram" || (size == "l2" && (op == "read" || op == "copy" || op == "triad"));
  return params["threads"] == "all" || (params["type"] == "f64" && (op == "read" || op == "copy" || op == "triad") &&
                                        (size == "dram" || size == "l1"));
}

int rank_of(const Params& params) {
  const std::string &op = params["op"], &size = params["size"];
  if (params["type"] == "f32") return 70;
  if (size == "dram") return op == "triad" || op == "copy" ? 10 : 30;
  return op == "triad" || op == "read" ? 40 : 60;
}

const Benchmark stream_benchmark{
    .name = "memory/stream",
    .summary = "bandwidth of loops over arrays in order, in caches and DRAM",
    .devices = {"cpu", "cuda"},
    .params = {{"op", {"read", "write", "copy", "scale", "add", "triad", "dot"}},
               {"type", {"f64", "f32"}},
               {"size", {"l1", "l2", "l3", "dram"}},
               {"threads", {"one", "all"}, kernels::Backend::cpu}},
    .metrics = {{"bandwidth", "B/s", Better::higher,
                 "bytes read and written per second, as the program asks for them"}},
    .exists = exists,
    .needs = [](const Params& params) { return cache_needs(params["size"]); },
    .rank = rank_of,
    .setup_s = 0.4,
    .run = run_stream,
};
REGISTER_BENCHMARK(stream_benchmark);

}  // namespace
