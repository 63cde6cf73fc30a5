// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// memory/transpose: rows of a matrix become columns. Reads go along the grain of memory and writes across it: what that
// costs, and what a detour through shared memory saves of it.
//
// Result: `bandwidth`, bytes read and written per second, higher is better. Formula: 2 x size of a word x rows x columns.
// The matrices together are four times the last cache; rows and columns are no multiple of a tile. Limit: DRAM, 2 x memory
// clock x bus width of a device. Trap: compare it with memory/stream/op:copy, which is what a perfect one would reach.
//
// Verified: every element of the result, bit for bit, against the generator.
#include "kernels/transpose.h"

#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>

#include "harness/benchmark.h"
#include "kernels/fill.h"
#include "kernels/philox.h"

namespace {

using namespace assay;

template <class T>
void run_typed(Run& run) {
  const std::size_t words = run.working_set_bytes("dram") / 2 / sizeof(T);
  const std::size_t rows = static_cast<std::size_t>(std::sqrt(static_cast<double>(words))) | 1, columns = rows + 6;
  const kernels::Stream stream{run.seed(), 0};
  run.need_memory(2 * rows * columns * sizeof(T));
  const Buffer<T> in = run.buffer<T>(rows * columns), out = run.buffer<T>(rows * columns);
  const kernels::FillOps& fills = run.rows("fill", kernels::fill_ops);
  const kernels::TransposeOps& ops = run.rows("transpose", kernels::transpose_ops);
  constexpr bool wide = std::is_same_v<T, std::uint64_t>;
  if constexpr (wide) fills.u64(in.data(), in.size(), stream, run.exec());
  if constexpr (!wide) fills.u32(in.data(), in.size(), stream, run.exec());
  run.data("Philox words");
  run.fact("rows", std::to_string(rows));
  run.fact("columns", std::to_string(columns));

  const double bytes = 2.0 * static_cast<double>(in.size_bytes());
  run.bytes_per_iteration(bytes, "2 x size of a word x rows x columns");
  run.before_measuring([&] { run.spoil(out); });
  run.measure([&](std::uint64_t iterations) {
    for (std::uint64_t i = 0; i < iterations; ++i) {
      if constexpr (wide) ops.u64(run.exec(), out.data(), in.data(), rows, columns);
      if constexpr (!wide) ops.u32(run.exec(), out.data(), in.data(), rows, columns);
    }
  });
  run.rate("bandwidth", bytes);
  run.limit("bandwidth", dram_limit(run.device()));

  run.verify(Check<T>{"out", out, [=](std::size_t first, std::span<T> expected) {
                        for (std::size_t k = 0; k < expected.size(); ++k) {
                          const std::size_t column = (first + k) / rows, row = (first + k) % rows;
                          if constexpr (wide) expected[k] = kernels::u64_at(stream, row * columns + column);
                          if constexpr (!wide) expected[k] = kernels::u32_at(stream, row * columns + column);
                        }
                      }});
}

const Benchmark transpose_benchmark{
    .name = "memory/transpose",
    .summary = "rows of a matrix become columns: reads along memory's grain, writes across it",
    .devices = {"cuda"},
    .params = {{"type", {"u32", "u64"}}},
    .metrics = {{"bandwidth", "B/s", Better::higher, "bytes read and written per second"}},
    .setup_s = 0.5,
    .run = [](Run& run) { run.param("type") == "u64" ? run_typed<std::uint64_t>(run) : run_typed<std::uint32_t>(run); },
};
REGISTER_BENCHMARK(transpose_benchmark);

}  // namespace
