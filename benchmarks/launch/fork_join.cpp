// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// launch/fork_join: what it costs to use all cores at once: op:region starts a team of threads and joins it, op:barrier
// holds a running team at a barrier. The floor under every parallel loop: work shorter than this isn't worth sharing.
//
// Result: `time` for one region or barrier, lower is better. Formula: seconds / iterations.
// Limit: none known; an exchange of one cache line between the cores is the least it can take.
// Trap: OpenMP threads wait by spinning for a while, so this is the cost of a warm team. On a machine where other work
// takes the cores away, it is the scheduler that is measured: see the sample's disturbed flags.
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "harness/benchmark.h"
#include "kernels/team.h"

namespace {

using namespace assay;
using kernels::TeamCounter;

void run_fork_join(Run& run) {
  const kernels::TeamOps& ops = *kernels::team_ops(kernels::Backend::cpu);
  const auto step = run.param("op") == "region" ? ops.fork_join : ops.barrier;
  const auto threads = static_cast<std::size_t>(run.threads());
  constexpr std::size_t words = sizeof(TeamCounter) / sizeof(std::uint64_t);
  const Buffer<std::uint64_t> counters = run.buffer<std::uint64_t>(threads * words);
  std::fill(counters.begin(), counters.end(), 0);
  run.data("counters from 0");

  run.operations_per_iteration(static_cast<double>(threads), "1 increment x threads");
  run.measure(
      [&](std::uint64_t iterations) { step(reinterpret_cast<TeamCounter*>(counters.data()), iterations, run.exec()); });
  run.latency("time", 1);

  // Every thread took part in every round, and none left a barrier early (the second word of a counter).
  const std::uint64_t rounds = run.iterations_done();
  run.verify(Check<std::uint64_t>{"counters", counters, [rounds](std::size_t first, std::span<std::uint64_t> out) {
                                    for (std::size_t i = 0; i < out.size(); ++i)
                                      out[i] = (first + i) % words == 0 ? rounds : 0;
                                  }});
}

const Benchmark fork_join_benchmark{
    .name = "launch/fork_join",
    .summary = "start and join a team of threads, or hold it at a barrier",
    .params = {{"op", {"region", "barrier"}}, {"threads", {"all"}}},
    .metrics = {{"time", "s", Better::lower, "time of one parallel region or barrier"}},
    .needs =
        [](const Params&) {
          return std::vector<Need>{{"cpus", 2, "a team of one thread starts and waits for nobody"}};
        },
    .run = run_fork_join,
};
REGISTER_BENCHMARK(fork_join_benchmark);

}  // namespace
