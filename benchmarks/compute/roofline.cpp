// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// compute/roofline: how much arithmetic the machine does for each byte that it fetches. One pass reads x, does s
// multiply-adds on each element and writes y past the caches; s goes from 1 to 256, 0.25 to 64 FLOP per byte, over
// buffers of DRAM size.
//
// Result: the two ends, `bandwidth` at 0.25 FLOP/B and `arithmetic` at 64, higher is better; between them the curve
// `roofline`, and the fact `ridge_flop_per_byte`: below that intensity a program is bound by memory here, above it by
// arithmetic. Formula: 2 s x n FLOP and 8 x n bytes per pass.
// Limit: none; the roof itself is what compute/fma and memory/stream measure.
// Trap: at high intensity and with few threads a pass takes long, so there are few samples per point.
//
// Verified: every element of y after each point. x holds 4096 distinct values (rotated by the page, so that a displaced
// page shows), so the expectation is 4096 recurrences in scalar code and a table look-up per element.
#include "kernels/roofline.h"

#include <omp.h>

#include <algorithm>
#include <string>
#include <vector>

#include "harness/benchmark.h"
#include "kernels/fill.h"
#include "kernels/philox.h"

namespace {

using namespace assay;

constexpr std::size_t points[] = {1, 4, 16, 32, 64, 256};  // multiply-adds per element
constexpr std::size_t distinct = 4096, page = 1024;
constexpr float a = -0.9998F, b = 0.7F;

// Which of the distinct values stands at the beginning of a page of elements; the following ones follow.
constexpr std::size_t rotation(std::size_t page_index) { return page_index * 61 % distinct; }

// Two rounds of `value`, so that any page is one contiguous part.
template <class Value>
std::vector<float> table_of(Value&& value) {
  std::vector<float> table(2 * distinct);
  for (std::size_t i = 0; i < distinct; ++i) table[i] = table[distinct + i] = value(i);
  return table;
}

void copy_pages(const std::vector<float>& table, std::size_t first, std::span<float> out) {
  for (std::size_t i = 0; i < out.size();) {
    const std::size_t at = first + i, offset = at % page;
    const std::size_t count = std::min(page - offset, out.size() - i);
    std::copy_n(table.data() + rotation(at / page) + offset, count, out.data() + i);
    i += count;
  }
}

void fill_x(const std::vector<float>& table, Buffer<float> x, int threads) {
#pragma omp parallel num_threads(threads)
  {
    const kernels::Range mine =
        kernels::share(x.size(), omp_get_thread_num(), omp_get_num_threads(), kernels::roofline_granule);
    copy_pages(table, mine.begin, x.subspan(mine.begin, mine.end - mine.begin));
  }
}

double median_rate(const Series& series, double amount) {
  std::vector<double> rates;
  for (const Sample& sample : series.samples) {
    rates.push_back(amount * static_cast<double>(sample.iterations) / sample.seconds);
  }
  return summarise(rates).median;
}

void run_roofline(Run& run) {
  const kernels::RooflineOps* ops = kernels::roofline_ops(kernels::Backend::cpu);
  if (ops == nullptr) run.skip("this build has no multiply-add for this CPU");
  // Equal shares for all threads, none of which ends in scalar code.
  const std::size_t unit = kernels::roofline_granule * static_cast<std::size_t>(run.threads());
  const std::size_t n =
      std::max<std::size_t>(1, run.working_set_bytes("dram") / kernels::roofline_bytes_per_element / unit) * unit;
  run.need_memory(n * kernels::roofline_bytes_per_element);
  const Buffer<float> x = run.buffer<float>(n), y = run.buffer<float>(n);
  const kernels::Stream stream{run.seed(), 0};
  const auto start = [&](std::size_t i) { return 0.5F + static_cast<float>(u32_at(stream, i) >> 9) * 0x1p-24F; };
  fill_x(table_of(start), x, run.threads());
  run.data("4096 values uniform in [0.5, 1), rotated by the page");

  run.before_measuring([&] { kernels::spoil(y.data(), y.size_bytes(), run.exec()); });
  Curve curve{"roofline", "intensity", "FLOP/B", "throughput", "FLOP/s", {}};
  for (const std::size_t steps : points) {
    const double bytes = 8.0 * static_cast<double>(n);
    const double flop = 2.0 * static_cast<double>(steps) * static_cast<double>(n);
    const double intensity = kernels::roofline_intensity(steps);
    std::string label = std::to_string(intensity);
    label.erase(label.find_last_not_of('0') + 1);
    if (label.back() == '.') label.pop_back();
    run.operations_per_iteration(flop, "2 x s x n");
    run.bytes_per_iteration(bytes, "8 B x n");
    const Series& series = run.measure(
        [&](std::uint64_t iterations) {
          for (std::uint64_t i = 0; i < iterations; ++i) ops->run(run.exec(), n, steps, a, b, x.data(), y.data());
        },
        "flop_per_byte:" + label, 1.0 / std::size(points));
    if (steps == points[0]) run.rate("bandwidth", bytes);
    if (steps == std::end(points)[-1]) run.rate("arithmetic", flop);
    curve.points.push_back({intensity, median_rate(series, flop)});

    const std::vector<float> right =
        table_of([&](std::size_t i) { return kernels::roofline_expected(steps, a, b, start(i)); });
    run.verify(Check<float>{"y", y, [&](std::size_t first, std::span<float> out) { copy_pages(right, first, out); }});
  }
  run.curve(curve);
  const CurvePoint memory_side = curve.points.front(), arithmetic_side = curve.points.back();
  run.fact("ridge_flop_per_byte", std::to_string(arithmetic_side.y / (memory_side.y / memory_side.x)));
}

std::vector<Need> needs_of([[maybe_unused]] const Params& params) {
#if defined(__x86_64__)
  return {{"cpu.fma", 1, "a fused multiply-add needs FMA3"}};
#else
  return {};
#endif
}

const Benchmark roofline_benchmark{
    .name = "compute/roofline",
    .summary = "arithmetic per byte: throughput over intensity, and the ridge between memory and arithmetic",
    .params = {{"threads", {"all"}}},
    .metrics = {{"bandwidth", "B/s", Better::higher, "bytes read and written per second at 0.25 FLOP/B"},
                {"arithmetic", "FLOP/s", Better::higher, "floating-point operations per second at 64 FLOP/B"}},
    .needs = needs_of,
    .rank = [](const Params&) { return 35; },
    .setup_s = 1.5,
    .share = 4,
    .run = run_roofline,
};
REGISTER_BENCHMARK(roofline_benchmark);

}  // namespace
