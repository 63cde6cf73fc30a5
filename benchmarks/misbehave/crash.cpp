// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// misbehave/crash (hidden): writes through a null pointer in the timed part. Expected: this case is ERROR naming
// SIGSEGV, the next case runs in a new worker, exit code 3.
#include <cstdint>

#include "harness/benchmark.h"

namespace {

using namespace assay;

void run_crash(Run& run) {
  run.operations_per_iteration(1, "1 store");
  run.measure([](std::uint64_t) {
    volatile int* volatile nowhere = nullptr;  // or the compiler knows that the store reaches nothing
    *nowhere = 1;
  });
}

const Benchmark crash{
    .name = "misbehave/crash", .summary = "writes through a null pointer", .hidden = true, .run = run_crash};
REGISTER_BENCHMARK(crash);

}  // namespace
