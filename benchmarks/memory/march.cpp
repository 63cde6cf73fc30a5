// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// memory/march: does memory give back what was written? Patterns that find stuck bits, coupled bits and aliased
// addresses go over the working set with all threads; every word is compared before it is overwritten.
//
// Result: correctness first: one wrong word is a FAIL with its index, bits and a second read. `bandwidth` is what the
// march moved meanwhile: an iteration is one step, which reads and writes every word once. Formula: 2 x 8 B x words.
// Limit: none known from another source than measuring memory.
// Traps: the steps of a test form a cycle, and a short run may end before its cycle does: fact "steps" says how many of
// how many were made. Only the working set is tested, not all memory of the machine.
#include "kernels/march.h"

#include <fmt/format.h>

#include <algorithm>
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
  const std::uint32_t flip = pattern.complement ? ~0u : 0u;
  kernels::for_each_word(pattern.stream, 2 * first, 2 * out.size(), [&](std::size_t i, std::uint32_t word) {
    std::uint64_t& whole = out[i / 2 - first];
    whole = i % 2 == 0 ? word ^ flip : whole | std::uint64_t{word ^ flip} << 32;
  });
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

void run_march(Run& run) {
  const kernels::MarchOps& ops = *kernels::march_ops(kernels::Backend::cpu);
  const std::size_t words = run.working_set_bytes(run.param("size")) / sizeof(std::uint64_t);
  run.need_memory(words * sizeof(std::uint64_t));
  const auto cycle = kernels::march_cycle(test_of(run.param("test")), {run.seed(), 0});
  const Buffer<std::uint64_t> memory = run.buffer<std::uint64_t>(words);
  run.data("patterns of the march" + std::string(run.param("test") == "random" ? ": Philox words" : ""));

  kernels::MismatchReport report;
  ops.step(memory.data(), words, kernels::march_begin(cycle), 0, &report, run.exec());
  const double bytes = static_cast<double>(kernels::march_bytes({cycle.front()}, words));
  run.bytes_per_iteration(bytes, "2 x 8 B x words: one step reads and writes every word");
  std::uint64_t steps = 0;
  run.measure([&](std::uint64_t iterations) {
    for (std::uint64_t i = 0; i < iterations; ++i, ++steps)
      ops.step(memory.data(), words, cycle[steps % cycle.size()], steps + 1, &report, run.exec());
  });
  run.rate("bandwidth", bytes);
  run.fact("steps", fmt::format("{} of a cycle of {}", std::min<std::uint64_t>(steps, cycle.size()), cycle.size()));
  run.fact("words_compared_by_march", fmt::format("{}", report.compared));

  // Truth: what the steps found, and what the last of them left.
  run.mismatches(report.mismatches, evidence(report));
  const MarchPattern left = steps == 0 ? cycle.front().expect : cycle[(steps - 1) % cycle.size()].store;
  run.verify(Check<std::uint64_t>{
      "memory", memory, [left](std::size_t first, std::span<std::uint64_t> out) { expect_words(left, first, out); }});
}

const Benchmark march_benchmark{
    .name = "memory/march",
    .summary = "memory test: patterns written, read back and complemented",
    .params = {{"test", {"own_address", "moving_inversions", "walking_ones", "random"}},
               {"size", {"dram"}},
               {"threads", {"all"}}},
    .metrics = {{"bandwidth", "B/s", Better::higher, "bytes read and written per second by the march"}},
    .setup_s = 1.0,
    .run = run_march,
};
REGISTER_BENCHMARK(march_benchmark);

}  // namespace
