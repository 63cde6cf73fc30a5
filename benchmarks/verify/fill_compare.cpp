// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// verify/fill_compare: how fast can this machine make test data and judge a result? op:fill writes elements of a Philox
// stream, op:compare makes them again and compares a buffer, op:digest sums a hash over a buffer. Set-up and
// verification of every other benchmark are made of these, so their rates say what truth costs here.
//
// Result: `bandwidth`, bytes of the buffer written or read per second, higher is better. Formula: bytes of the buffer.
// Limit: none known; Philox costs 20 multiplications for each 16 bytes, so in a cache the processor is measured.
// Trap: op:compare is given a buffer with three wrong elements and must find exactly these, each time: a comparison
// that finds nothing because it looks at nothing would be the fastest of all.
//
// Verified: every element of the buffer, which compare and digest must leave as it was, and what these two report.
#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <type_traits>

#include "harness/benchmark.h"
#include "kernels/compare.h"
#include "kernels/fill.h"
#include "kernels/philox.h"

namespace {

using namespace assay;
using kernels::Stream;

const kernels::FillOps& fills = *kernels::fill_ops(kernels::Backend::cpu);
const kernels::CompareOps& compares = *kernels::compare_ops(kernels::Backend::cpu);

// The definition, element by element: other code than the vectors under test.
void expect_elements(Stream s, std::size_t first, std::span<float> out) {
  kernels::for_each_word(s, first, out.size(),
                         [&](std::size_t i, std::uint32_t word) { out[i - first] = kernels::f32_of(word); });
}
void expect_elements(Stream s, std::size_t first, std::span<std::uint64_t> out) {
  kernels::for_each_u64(s, first, out.size(), [&](std::size_t i, std::uint64_t word) { out[i - first] = word; });
}

template <class T>
void fill(Buffer<T> out, Stream s, const kernels::Exec& exec) {
  if constexpr (std::is_same_v<T, float>)
    fills.f32(out.data(), out.size(), s, 16, exec);
  else
    fills.u64(out.data(), out.size(), s, exec);
}

template <class T>
void compare(Buffer<T> in, Stream s, kernels::MismatchReport& report, const kernels::Exec& exec) {
  if constexpr (std::is_same_v<T, float>)
    compares.f32(in.data(), in.size(), s, 16, &report, exec);
  else
    compares.u64(in.data(), in.size(), s, &report, exec);
}

// Sets the facts that all three share and measures `step` as one iteration; `reset` makes the warm-up's output wrong.
void measure(Run& run, std::size_t bytes, const std::function<void()>& reset, const std::function<void()>& step) {
  run.bytes_per_iteration(static_cast<double>(bytes), "bytes of the buffer");
  run.data("Philox 4x32-10 elements");
  run.before_measuring(reset);
  run.measure([&](std::uint64_t iterations) {
    for (std::uint64_t i = 0; i < iterations; ++i) step();
  });
  run.rate("bandwidth", static_cast<double>(bytes));
}

template <class T>
void run_fill(Run& run, Buffer<T> buffer) {
  const Stream s{run.seed(), 0};
  measure(
      run, buffer.size_bytes(), [&] { kernels::spoil(buffer.data(), buffer.size_bytes(), run.exec()); },
      [&] { fill(buffer, s, run.exec()); });
  run.verify(Check<T>{"buffer", buffer, [s](std::size_t first, std::span<T> out) { expect_elements(s, first, out); }});
}

template <class T>
void run_compare(Run& run, Buffer<T> buffer) {
  const Stream s{run.seed(), 0};
  const std::size_t n = buffer.size();
  fill(buffer, s, run.exec());
  // Three faults, the last element among them.
  constexpr std::uint64_t faults = 3;
  const std::array<std::size_t, faults> where{n / 3, n / 2 + 1, n - 1};
  for (const std::size_t i : where) buffer[i] = -buffer[i];
  // Output: elements compared and wrong ones, of all iterations; indices of the faults, by the last one.
  const Buffer<std::uint64_t> found = run.buffer<std::uint64_t>(2 + faults);
  const auto reset = [&] { std::fill(found.begin(), found.end(), 0); };
  reset();
  measure(run, buffer.size_bytes(), reset, [&] {
    kernels::MismatchReport report;
    compare(buffer, s, report, run.exec());
    found[0] += report.compared;
    found[1] += report.mismatches;
    for (std::uint64_t k = 0; k < faults; ++k) found[2 + k] = k < report.kept ? report.first[k].index : 0;
  });
  const std::uint64_t times = run.iterations_done();
  const std::array<std::uint64_t, 2 + faults> expected{times * n, times * faults, where[0], where[1], where[2]};
  run.verify(Check<std::uint64_t>{"found", found, [expected](std::size_t first, std::span<std::uint64_t> out) {
                                    for (std::size_t i = 0; i < out.size(); ++i) out[i] = expected[first + i];
                                  }});
  run.verify(Check<T>{"buffer", buffer, [s, where](std::size_t first, std::span<T> out) {
                        expect_elements(s, first, out);
                        for (const std::size_t i : where)
                          if (i >= first && i < first + out.size()) out[i - first] = -out[i - first];
                      }});
}

// By the definition, from the stream and not from the buffer.
std::uint64_t expected_digest(Stream s, std::size_t words, int threads) {
  constexpr std::size_t chunk = 4096;
  std::uint64_t digest = 0;
#pragma omp parallel for num_threads(threads) reduction(+ : digest)
  for (std::size_t begin = 0; begin < words; begin += chunk) {
    std::array<std::uint64_t, chunk> elements;
    const std::size_t n = std::min(chunk, words - begin);
    expect_elements(s, begin, std::span(elements).first(n));
    for (std::size_t i = 0; i < n; ++i) digest += kernels::digest_term(elements[i], begin + i);
  }
  return digest;
}

void run_digest(Run& run, Buffer<std::uint64_t> buffer) {
  const Stream s{run.seed(), 0};
  fill(buffer, s, run.exec());
  const Buffer<std::uint64_t> digests = run.buffer<std::uint64_t>(2);  // of the last iteration, sum of all
  const auto reset = [&] { std::fill(digests.begin(), digests.end(), 0); };
  reset();
  measure(run, buffer.size_bytes(), reset, [&] {
    compares.digest(buffer.data(), buffer.size_bytes(), &digests[0], run.exec());
    digests[1] += digests[0];
  });
  const std::uint64_t digest = expected_digest(s, buffer.size(), run.threads());
  const std::array<std::uint64_t, 2> expected{digest, digest * run.iterations_done()};
  run.verify(Check<std::uint64_t>{"digests", digests, [expected](std::size_t first, std::span<std::uint64_t> out) {
                                    for (std::size_t i = 0; i < out.size(); ++i) out[i] = expected[first + i];
                                  }});
  run.verify(Check<std::uint64_t>{
      "buffer", buffer, [s](std::size_t first, std::span<std::uint64_t> out) { expect_elements(s, first, out); }});
}

template <class T>
void run_for_type(Run& run) {
  const std::size_t n = run.working_set_bytes(run.param("size")) / sizeof(T);
  run.need_memory(n * sizeof(T));
  const Buffer<T> buffer = run.buffer<T>(n);
  if (run.param("op") == "fill") run_fill(run, buffer);
  if (run.param("op") == "compare") run_compare(run, buffer);
  if constexpr (std::is_same_v<T, std::uint64_t>)
    if (run.param("op") == "digest") run_digest(run, buffer);
}

// A digest knows no type; a core is measured in its cache, the machine in its memory.
bool exists(const Params& p) {
  return (p["op"] != "digest" || p["type"] == "u64") && (p["size"] == "l2") == (p["threads"] == "one");
}

const Benchmark fill_compare_benchmark{
    .name = "verify/fill_compare",
    .summary = "make test data, compare it, digest it: what verification costs",
    .params = {{"op", {"fill", "compare", "digest"}},
               {"type", {"u64", "f32"}},
               {"size", {"l2", "dram"}},
               {"threads", {"one", "all"}}},
    .metrics = {{"bandwidth", "B/s", Better::higher, "bytes of the buffer written or judged per second"}},
    .exists = exists,
    .needs = [](const Params& params) { return cache_needs(params["size"]); },
    .setup_s = 0.7,
    .run = [](Run& run) { run.param("type") == "f32" ? run_for_type<float>(run) : run_for_type<std::uint64_t>(run); },
};
REGISTER_BENCHMARK(fill_compare_benchmark);

}  // namespace
