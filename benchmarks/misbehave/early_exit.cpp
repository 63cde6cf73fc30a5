// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// misbehave/early_exit (hidden): ends its process with status 0 in the middle of the case, as if all were done.
// Expected: ERROR naming the exit status, exit code 3.
#include <cstdint>
#include <cstdlib>

#include "harness/benchmark.h"

namespace {

using namespace assay;

void run_early_exit(Run& run) {
  run.operations_per_iteration(1, "nothing");
  run.measure([](std::uint64_t) { std::_Exit(0); });
}

const Benchmark early_exit{
    .name = "misbehave/early_exit", .summary = "leaves in the middle", .hidden = true, .run = run_early_exit};
REGISTER_BENCHMARK(early_exit);

}  // namespace
