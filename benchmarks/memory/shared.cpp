// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// memory/shared: reads from the memory of a multiprocessor, by neighbours that want words at a stride. How many of 32 banks
// a warp finds free at once is the stride's doing.
//
// Result: `bandwidth`, bytes read per second, higher is better; per cycle it shows the banks. Formula: 4 B x steps x 256
// lanes x groups. Limit: 128 B per cycle and multiprocessor, divided by gcd(stride, 32), at the highest clock beside the
// samples. Trap: each group brings its table in first, which `steps` makes small.
//
// Verified: the sums of all lanes of all groups, bit for bit; each iteration writes all of them.
#include "kernels/shared.h"

#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "harness/benchmark.h"
#include "kernels/fill.h"
#include "kernels/philox.h"

namespace {

using namespace assay;

void run_shared(Run& run) {
  const std::size_t stride = std::stoul(run.param("stride"));
  constexpr std::size_t steps = 4096;
  static_assert(steps % kernels::shared_steps_granule == 0);
  const kernels::SharedOps& ops = run.rows("shared", kernels::shared_ops);
  const kernels::Exec exec = run.exec_blocks(static_cast<int>(kernels::shared_lanes));
  const auto groups = static_cast<std::size_t>(exec.threads);
  const kernels::Stream stream{run.seed(), 0};
  const Buffer<std::uint32_t> table = run.buffer<std::uint32_t>(kernels::shared_words);
  const Buffer<std::uint32_t> sums = run.buffer<std::uint32_t>(kernels::shared_lanes * groups);
  run.rows("fill", kernels::fill_ops).u32(table.data(), table.size(), stream, run.exec());
  run.data("Philox words");

  const double bytes = 4.0 * static_cast<double>(steps * kernels::shared_lanes * groups);
  run.bytes_per_iteration(bytes, "4 B x 4096 steps x 256 lanes x groups");
  run.before_measuring([&] { run.spoil(sums); });
  run.measure([&](std::uint64_t iterations) {
    for (std::uint64_t i = 0; i < iterations; ++i) ops.read(exec, table.data(), stride, steps, groups, sums.data());
  });
  run.rate("bandwidth", bytes);
  const double ways = static_cast<double>(std::gcd(stride, std::size_t{32}));
  run.limit_per_cycle("bandwidth", 128 * run.device().fact("multiprocessors") / ways,
                      "32 banks of 4 B on each multiprocessor");

  std::vector<std::uint32_t> right(kernels::shared_lanes, 0);
  for (std::size_t lane = 0; lane < right.size(); ++lane)
    for (std::size_t s = 0; s < steps; ++s)
      right[lane] += kernels::u32_at(stream, (lane * stride + s) % kernels::shared_words);
  run.verify(Check<std::uint32_t>{"sums", sums, [&right](std::size_t first, std::span<std::uint32_t> out) {
                                    for (std::size_t k = 0; k < out.size(); ++k)
                                      out[k] = right[(first + k) % kernels::shared_lanes];
                                  }});
}

const Benchmark shared_benchmark{
    .name = "memory/shared",
    .summary = "reads from the memory of a multiprocessor, with and without bank conflicts",
    .devices = {"cuda"},
    .params = {{"stride", {"1", "2", "32", "33"}}},
    .metrics = {{"bandwidth", "B/s", Better::higher, "bytes read per second"}},
    .setup_s = 0.1,
    .run = run_shared,
};
REGISTER_BENCHMARK(shared_benchmark);

}  // namespace
