// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// memory/march: does memory give back what was written? Patterns that find stuck bits, coupled bits and aliased
// addresses go over the working set with all threads; every word is compared before it is overwritten.
//
// Result: correctness first: one wrong word is a FAIL with its index, bits and a second read. `bandwidth` is what the
// march moved meanwhile. An iteration is one whole test, from the first writing to the last reading (fact `steps`), so
// no test is ever cut short. Formula: 8 B x words x (steps that read + steps that write).
// Limit: none known from another source than measuring memory.
// Traps: only the working set is tested, not all memory of the machine, and the many steps of walking_ones go over a
// smaller one: twice the last cache without the floor that size:dram else has.
//
// Verified: every word that a step reads, by the step itself; that as many were compared as the tests say, counted where
// they are compared; what the last step left; and that one more reading finds the two words that are then made wrong.
#include "kernels/march.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "harness/benchmark.h"
#include "kernels/philox.h"

namespace {

using namespace assay;
using kernels::MarchPattern;
using kernels::MarchTest;

MarchTest test_of(const std::string& name) {
  if (name == "own_address") return MarchTest::own_address;
  if (name == "moving_inversions") return MarchTest::moving_inversions;
  if (name == "walking_ones") return MarchTest::walking_ones;
  return MarchTest::random;
}

// What the pattern says, word by word: the definition, not the vector code that wrote the memory.
void expect_words(const MarchPattern& pattern, std::size_t first, std::span<std::uint64_t> out) {
  if (pattern.kind != MarchPattern::Kind::philox) {
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = pattern.word(first + i);
    return;
  }
  const std::uint64_t flip = pattern.complement ? ~std::uint64_t{0} : 0;
  kernels::for_each_u64(pattern.stream, first, out.size(),
                        [&](std::size_t i, std::uint64_t word) { out[i - first] = word ^ flip; });
}

std::vector<Mismatch> evidence(const kernels::MismatchReport& report) {
  std::vector<Mismatch> list;
  for (std::uint64_t k = 0; k < report.kept; ++k) {
    const kernels::Mismatch& m = report.first[k];
    list.push_back({fmt::format("memory, step {}", m.pass), m.index, fmt::format("{}", m.expected),
                    fmt::format("{}", m.actual), fmt::format("0x{:016x}", m.expected),
                    fmt::format("0x{:016x}", m.actual), fmt::format("0x{:016x}", m.difference()),
                    fmt::format("0x{:016x}", m.second_read)});
  }
  return list;
}

// Few steps: the working set of size:dram. Many: the least that no cache holds, so that even a short case ends a test.
std::size_t words_of(Run& run, std::size_t steps) {
  std::uint64_t bytes = run.working_set_bytes("dram");
  for (const char* last : {"l3", "l2"}) {
    if (steps <= 16 || run.device().fact(fmt::format("cache.{}_bytes", last)) <= 0) continue;
    bytes = std::min(bytes, 4 * run.working_set_bytes(last));  // which is half of that cache
    run.fact("working_set_bytes", fmt::format("{}", bytes));
    break;
  }
  return bytes / sizeof(std::uint64_t);
}

// A march that sees nothing would be the fastest: two words are made wrong, and must be found. `left`: what memory holds.
void verify_sight(Run& run, const kernels::MarchOps& ops, Buffer<std::uint64_t> memory, const kernels::MarchStep& left,
                  Buffer<kernels::MismatchReport> reports) {
  const std::uint64_t n = memory.size();
  const std::array<std::uint64_t, 2> places{n / 3, n - 1};
  kernels::MarchStep write;
  write.writes = true;
  write.store = left.expect;
  ops.step(memory.data(), n, write, 0, reports.data(), run.exec());  // what was wrong before has been told
  for (const std::uint64_t i : places) {
    const std::uint64_t wrong = left.expect.word(i) ^ std::uint64_t{1} << i % 64;
    run.set(memory.subspan(i, 1), [wrong](std::size_t, auto out) { out[0] = wrong; });
  }
  run.set(reports, [](std::size_t, auto out) { out[0] = {}; });
  ops.step(memory.data(), n, left, 0, reports.data(), run.exec());
  const kernels::MismatchReport seen = run.get(reports)[0];
  std::array<std::uint64_t, 4> found{seen.compared, seen.mismatches, seen.first[0].index, seen.first[1].index};
  const std::array<std::uint64_t, 4> expected{n, places.size(), places[0], places[1]};
  run.verify(Check<std::uint64_t>{
      "planted", found, [&expected](std::size_t first, std::span<std::uint64_t> out) {
        std::copy_n(expected.begin() + static_cast<std::ptrdiff_t>(first), out.size(), out.begin());
      }});
}

void run_march(Run& run) {
  const kernels::MarchOps& ops = run.rows("march", kernels::march_ops);
  const auto steps = kernels::march_steps(test_of(run.param("test")), {run.seed(), 0});
  const std::size_t words = words_of(run, steps.size());
  run.need_memory(words * sizeof(std::uint64_t));
  const Buffer<std::uint64_t> memory = run.buffer<std::uint64_t>(words);
  const Buffer<kernels::MismatchReport> reports = run.buffer<kernels::MismatchReport>(1);
  run.set(reports, [](std::size_t, std::span<kernels::MismatchReport> out) { out[0] = {}; });
  run.data("patterns of the march" + std::string(run.param("test") == "random" ? ": Philox words" : ""));
  run.fact("steps", fmt::format("{}", steps.size()));

  const double bytes = static_cast<double>(kernels::march_bytes(steps, words));
  run.bytes_per_iteration(bytes, "8 B x words x (steps that read + steps that write)");
  std::uint64_t step_number = 0, compared_before = 0;
  run.before_measuring([&] {
    run.spoil(memory);
    compared_before = run.get(reports)[0].compared;
  });
  run.measure([&](std::uint64_t iterations) {
    for (std::uint64_t i = 0; i < iterations; ++i)
      for (const kernels::MarchStep& step : steps)
        ops.step(memory.data(), words, step, step_number++, reports.data(), run.exec());
  });
  run.rate("bandwidth", bytes);

  // Truth: what the steps found, that they looked at everything, and what the last of them left.
  const kernels::MismatchReport report = run.get(reports)[0];
  run.mismatches(report.compared, report.mismatches, evidence(report));
  const auto reads = static_cast<std::uint64_t>(
      std::count_if(steps.begin(), steps.end(), [](const kernels::MarchStep& step) { return step.reads; }));
  std::uint64_t compared = report.compared - compared_before;
  const std::uint64_t all = run.iterations_done() * reads * words;
  run.fact("words_compared_by_march", fmt::format("{}", compared));
  run.verify(Check<std::uint64_t>{"memory", memory, [&](std::size_t first, std::span<std::uint64_t> out) {
                                    expect_words(steps.back().expect, first, out);
                                  }});
  run.verify(Check<std::uint64_t>{"words_compared", {&compared, 1}, [all](std::size_t, auto out) { out[0] = all; }});
  verify_sight(run, ops, memory, steps.back(), reports);
}

const Benchmark march_benchmark{
    .name = "memory/march",
    .summary = "memory test: patterns written, read back and complemented",
    .devices = {"cpu", "cuda"},
    .params = {{"test", {"own_address", "moving_inversions", "walking_ones", "random"}},
               {"size", {"dram"}},
               {"threads", {"all"}, kernels::Backend::cpu}},
    .metrics = {{"bandwidth", "B/s", Better::higher, "bytes read and written per second by the march"}},
    .setup_s = 2.0,
    .run = run_march,
};
REGISTER_BENCHMARK(march_benchmark);

}  // namespace
