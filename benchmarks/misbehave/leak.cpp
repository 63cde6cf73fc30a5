// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// misbehave/leak (hidden): each iteration keeps 32 MiB more of memory, up to 256 MiB. Expected: MEASURED, exit code 0,
// and host_resident_peak_bytes and host_resident_rest_bytes of the record show what fact "leaked_bytes" says.
#include <fmt/format.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>

#include "harness/benchmark.h"

namespace {

using namespace assay;

constexpr std::uint64_t piece_bytes = 32 << 20, most_bytes = 256 << 20;

// Touched, or it would cost address space only.
void* leak_piece() {
  void* piece = std::malloc(piece_bytes);
  if (piece != nullptr) std::memset(piece, 0x5A, piece_bytes);
  return piece;
}

void run_leak(Run& run) {
  const Buffer<std::uint64_t> done = run.buffer<std::uint64_t>(1);
  done[0] = 0;
  std::uint64_t leaked = 0;
  run.operations_per_iteration(1, "1 increment");
  run.measure([&](std::uint64_t iterations) {
    for (std::uint64_t i = 0; i < iterations; ++i, ++done[0])
      if (leaked < most_bytes && leak_piece() != nullptr) leaked += piece_bytes;
  });
  run.rate("work", 1);
  run.fact("leaked_bytes", fmt::format("{}", leaked));
  const std::uint64_t iterations = run.iterations_done();
  run.verify(Check<std::uint64_t>{"done", done, [iterations](std::size_t, std::span<std::uint64_t> out) {
                                    for (std::uint64_t& value : out) value = iterations;
                                  }});
}

const Benchmark leak{.name = "misbehave/leak",
                     .summary = "keeps more memory with every iteration",
                     .metrics = {{"work", "op/s", Better::higher, "iterations per second"}},
                     .hidden = true,
                     .run = run_leak};
REGISTER_BENCHMARK(leak);

}  // namespace
