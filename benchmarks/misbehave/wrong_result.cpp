// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// misbehave/wrong_result (hidden): computes squares, one of them wrong by a bit. Expected: FAIL with the index of the
// wrong element, exit code 1.
#include <cstdint>
#include <span>

#include "harness/benchmark.h"

namespace {

using namespace assay;

constexpr std::uint64_t wrong_index = 1234;

void run_wrong_result(Run& run) {
  const Buffer<std::uint64_t> squares = run.buffer<std::uint64_t>(4096);
  run.operations_per_iteration(4096, "4096 multiplications");
  run.measure([&](std::uint64_t iterations) {
    for (std::uint64_t k = 0; k < iterations; ++k)
      for (std::uint64_t i = 0; i < squares.size(); ++i) squares[i] = i * i ^ (i == wrong_index ? 4u : 0u);
  });
  run.rate("work", 4096);
  run.verify(Check<std::uint64_t>{"squares", squares, [](std::size_t first, std::span<std::uint64_t> out) {
                                    for (std::size_t i = 0; i < out.size(); ++i) out[i] = (first + i) * (first + i);
                                  }});
}

const Benchmark wrong_result{.name = "misbehave/wrong_result",
                             .summary = "one element of its output is wrong",
                             .metrics = {{"work", "op/s", Better::higher, "multiplications per second"}},
                             .hidden = true,
                             .run = run_wrong_result};
REGISTER_BENCHMARK(wrong_result);

}  // namespace
