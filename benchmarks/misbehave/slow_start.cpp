// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// misbehave/slow_start (hidden): its set-up takes 3 s, as it declares. Expected: MEASURED, exit code 0, the 3 s in
// phases_s.setup: a slow beginning is neither a hang nor part of the measurement.
#include <chrono>
#include <cstdint>
#include <span>
#include <thread>

#include "harness/benchmark.h"

namespace {

using namespace assay;

constexpr double setup_s = 3;

void run_slow_start(Run& run) {
  std::this_thread::sleep_for(std::chrono::duration<double>(setup_s));
  const Buffer<std::uint64_t> done = run.buffer<std::uint64_t>(1);
  done[0] = 0;
  run.operations_per_iteration(1, "1 increment");
  run.measure([&](std::uint64_t iterations) {
    for (std::uint64_t i = 0; i < iterations; ++i) done[0] = *const_cast<volatile std::uint64_t*>(&done[0]) + 1;
  });
  run.rate("work", 1);
  const std::uint64_t iterations = run.iterations_done();
  run.verify(Check<std::uint64_t>{"done", done, [iterations](std::size_t, std::span<std::uint64_t> out) {
                                    for (std::uint64_t& value : out) value = iterations;
                                  }});
}

const Benchmark slow_start{.name = "misbehave/slow_start",
                           .summary = "takes its time before it is ready",
                           .metrics = {{"work", "op/s", Better::higher, "increments per second"}},
                           .setup_s = setup_s,
                           .hidden = true,
                           .run = run_slow_start};
REGISTER_BENCHMARK(slow_start);

}  // namespace
