// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// memory/atomics: everybody adds to few counters at once, or to many. With one counter all updates queue for one word;
// with many they share only the way to memory.
//
// Result: `update_rate`, additions per second, higher is better. Formula: n updates an iteration, n = 2^16 for each
// multiprocessor. Limit: none from a data sheet. Trap: rows may add up inside a block first, where few counters allow it
// (fact `kernel.atomics`): then contention is what is left between blocks.
//
// Verified: every counter, against the closed form of all updates of all iterations, modulo 2^64.
#include "kernels/atomics.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "harness/benchmark.h"

namespace {

using namespace assay;

void run_atomics(Run& run) {
  const std::size_t targets = std::stoul(run.param("targets"));
  const auto processors = static_cast<std::size_t>(run.device().fact("multiprocessors", 1));
  const std::size_t n = (std::size_t{1} << 16) * processors;
  const kernels::AtomicsOps& ops = run.rows("atomics", kernels::atomics_ops);
  const Buffer<std::uint64_t> counters = run.buffer<std::uint64_t>(targets);
  run.set(counters, [](std::size_t, std::span<std::uint64_t> out) {
    for (std::uint64_t& counter : out) counter = 0;
  });
  run.data("update i adds i + 1 to counter i mod targets");
  run.operations_per_iteration(static_cast<double>(n), "n updates");
  run.measure([&](std::uint64_t iterations) { ops.add(run.exec(), counters.data(), targets, n, iterations); });
  run.rate("update_rate", static_cast<double>(n));

  const std::uint64_t passes = run.iterations_done();
  run.verify(Check<std::uint64_t>{"counters", counters, [=](std::size_t first, std::span<std::uint64_t> out) {
                                    for (std::size_t k = 0; k < out.size(); ++k)
                                      out[k] = kernels::atomics_expected(first + k, targets, n, passes);
                                  }});
}

const Benchmark atomics_benchmark{
    .name = "memory/atomics",
    .summary = "atomic additions by everybody to few counters or to many",
    .devices = {"cuda"},
    .params = {{"targets", {"1", "32", "65536"}}},
    .metrics = {{"update_rate", "op/s", Better::higher, "atomic additions per second"}},
    .setup_s = 0.1,
    .run = run_atomics,
};
REGISTER_BENCHMARK(atomics_benchmark);

}  // namespace
