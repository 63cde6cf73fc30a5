// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// misbehave/throw (hidden): throws from the timed part. Expected: ERROR with the text of the exception, the worker
// lives on, exit code 3.
#include <cstdint>
#include <stdexcept>

#include "harness/benchmark.h"

namespace {

using namespace assay;

void run_throw(Run& run) {
  run.operations_per_iteration(1, "nothing");
  run.measure([](std::uint64_t) { throw std::runtime_error("thrown on purpose"); });
}

const Benchmark thrower{.name = "misbehave/throw", .summary = "throws an exception", .hidden = true, .run = run_throw};
REGISTER_BENCHMARK(thrower);

}  // namespace
