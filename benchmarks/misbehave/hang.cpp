// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// misbehave/hang (hidden): never comes back from the timed part and ignores SIGTERM, while heartbeats go on. Expected:
// ERROR after the deadline of the case, the worker ended by SIGKILL, exit code 3.
#include <unistd.h>

#include <csignal>
#include <cstdint>

#include "harness/benchmark.h"

namespace {

using namespace assay;

void run_hang(Run& run) {
  run.operations_per_iteration(1, "nothing");
  run.measure([](std::uint64_t) {
    std::signal(SIGTERM, SIG_IGN);
    for (;;) pause();
  });
}

const Benchmark hang{
    .name = "misbehave/hang", .summary = "never ends, whatever it is told", .hidden = true, .run = run_hang};
REGISTER_BENCHMARK(hang);

}  // namespace
