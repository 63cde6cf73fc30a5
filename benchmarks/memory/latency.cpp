// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// memory/latency: how long a load takes whose address was only just loaded: a shuffled pointer chase over 64-byte
// lines, one thread, in each cache and in DRAM; and a sweep over working sets that finds the caches by itself. On a
// device: size:l2, size:dram and the sweep, by one thread of one block.
//
// Result: `latency`, seconds per load, lower is better; per cycle it is the load-to-use latency of the manuals.
// size:sweep measures working sets from 8 KiB to DRAM size: the curve `latency_over_working_set` (the fastest sample of
// each), the facts `knee_1`, `knee_2`, ... ("l1 at 45 KiB: 1.8 ns below, 5.6 ns above"), and as its metric the largest
// working set. A knee is where the curve crosses the geometric mean of the levels below and above; its name is that of
// the cache whose size the system tells within a factor of two, else "unnamed" (a TLB, a share of a cache that others
// use). A cache without a knee is named in a fact `no_knee_l3`: a guest often gets a share of the last cache only.
// Limit: none known: a latency has no data sheet.
// Traps: small pages add the page table's misses (field huge_page_bytes of the record). On a shared last cache the knee
// lies where the others left us room.
//
// Verified: the line at which the chase has arrived after all steps, against the order it was linked from. One wrong
// load anywhere leads elsewhere. Nothing is written, so there is no other output.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <string>
#include <vector>

#include "harness/benchmark.h"
#include "kernels/chase.h"

namespace {

using namespace assay;

constexpr std::uint64_t steps = 1024;  // per iteration

// The fastest sample: a disturbance only ever lengthens a chase, and a curve of medians has knees that are none.
double seconds_per_load(const Series& series) {
  double best = std::numeric_limits<double>::infinity();
  for (const Sample& s : series.samples) best = std::min(best, s.seconds / static_cast<double>(s.iterations * steps));
  return best;
}

// Chases through the first n lines and checks where it arrives.
double measure_lines(Run& run, Buffer<kernels::ChaseLine> all, Buffer<std::uint32_t> way, std::size_t n,
                     const std::string& label, double part) {
  const kernels::ChaseOps& ops = run.rows("chase", kernels::chase_ops);
  const kernels::Exec one{1, run.exec().stream};
  std::vector<std::uint32_t> order(n);
  kernels::chase_order(order.data(), n, run.seed(n));
  run.set(way.first(n), [&](std::size_t first, std::span<std::uint32_t> out) {
    std::copy_n(order.begin() + static_cast<std::ptrdiff_t>(first), out.size(), out.begin());
  });
  ops.link(run.exec(), all.data(), way.data(), n);
  const Buffer<kernels::ChaseLine*> position = run.buffer<kernels::ChaseLine*>(1);
  run.set(position, [&](std::size_t, std::span<kernels::ChaseLine*> out) { out[0] = all.data() + order[0]; });
  run.bytes_per_iteration(64.0 * steps, "64 B x 1024 loads");
  run.operations_per_iteration(steps, "1024 loads");
  const Series& series = run.measure([&](std::uint64_t i) { ops.run(one, position.data(), i * steps); }, label, part);

  auto arrived = static_cast<std::uint64_t>(run.get(position)[0] - all.data());
  const std::uint64_t right = order[run.iterations_done() * steps % n];
  run.verify(Check<std::uint64_t>{"line", {&arrived, 1}, [right](std::size_t, auto out) { out[0] = right; }});
  return seconds_per_load(series);
}

struct Knee {
  double bytes, below_s, above_s;
};

// Rising runs of the curve between flat parts. `points` ascend in x. A larger set can't be faster: a point that is
// slower than a later one was disturbed, and takes the later one's value.
std::vector<Knee> knees_of(std::vector<CurvePoint> points) {
  for (std::size_t i = points.size(); i-- > 1;) points[i - 1].y = std::min(points[i - 1].y, points[i].y);
  constexpr double flat = 1.12;  // growth per point that noise explains
  constexpr double least = 1.5;  // a knee separates levels that differ by this at least
  std::vector<Knee> knees;
  for (std::size_t i = 0; i + 1 < points.size();) {
    std::size_t end = i;
    while (end + 1 < points.size() && points[end + 1].y > flat * points[end].y) ++end;
    const double low = points[i].y, high = points[end].y;
    if (end > i && high > least * low) {
      const double middle = std::sqrt(low * high);
      std::size_t k = i;
      while (points[k + 1].y < middle) ++k;
      const double share = std::log(middle / points[k].y) / std::log(points[k + 1].y / points[k].y);
      knees.push_back({points[k].x * std::pow(points[k + 1].x / points[k].x, share), low, high});
    }
    i = std::max(end, i + 1);
  }
  return knees;
}

double cache_bytes(const std::string& level, const DeviceInfo& device) {
  return device.fact(level == "l1" ? "cache.l1d_bytes" : "cache." + level + "_bytes");
}

std::string name_of(const Knee& knee, const DeviceInfo& device) {
  std::string best = "unnamed";
  double nearest = std::log(2.0);
  for (const char* level : {"l1", "l2", "l3"}) {
    const double bytes = cache_bytes(level, device);
    if (bytes <= 0) continue;
    const double distance = std::fabs(std::log(knee.bytes / bytes));
    if (distance <= nearest) {
      nearest = distance;
      best = level;
    }
  }
  return best;
}

std::string describe(const Knee& knee, const DeviceInfo& device) {
  char text[128];
  std::snprintf(text, sizeof text, "%s at %.0f KiB: %.1f ns below, %.1f ns above", name_of(knee, device).c_str(),
                knee.bytes / 1024, knee.below_s * 1e9, knee.above_s * 1e9);
  return text;
}

// Two per doubling up to 64 MiB, then one: linking the large ones takes longer than measuring them.
std::vector<std::size_t> sweep_lines(std::size_t most) {
  constexpr std::size_t fine_below = (std::size_t{64} << 20) / 64;
  std::vector<std::size_t> lines;
  for (std::size_t n = 128; n < most; n *= 2) {
    lines.push_back(n);
    if (n < fine_below && n * 3 / 2 < most) lines.push_back(n * 3 / 2);
  }
  lines.push_back(most);
  return lines;
}

void run_latency(Run& run) {
  const bool sweep = run.param("size") == "sweep";
  const std::size_t n = std::max<std::size_t>(2, run.working_set_bytes(sweep ? "dram" : run.param("size")) / 64);
  run.need_memory(n * (sizeof(kernels::ChaseLine) + sizeof(std::uint32_t)));
  const auto lines = run.buffer<kernels::ChaseLine>(n);
  const auto order = run.buffer<std::uint32_t>(n);
  run.data("one random cycle through all lines");

  if (!sweep) {
    measure_lines(run, lines, order, n, "", 1);
    run.latency("latency", steps);
    return;
  }
  const std::vector<std::size_t> sizes = sweep_lines(n);
  Curve curve{"latency_over_working_set", "working_set", "B", "latency", "s", {}};
  for (const std::size_t size : sizes) {
    const double bytes = 64.0 * static_cast<double>(size);
    const double seconds = measure_lines(run, lines, order, size, "bytes:" + std::to_string(64 * size),
                                         1.0 / static_cast<double>(sizes.size()));
    curve.points.push_back({bytes, seconds});
  }
  run.latency("latency", steps);
  run.curve(curve);
  int number = 0;
  std::string seen;
  for (const Knee& knee : knees_of(curve.points)) {
    const std::string text = describe(knee, run.device());
    run.fact("knee_" + std::to_string(++number), text);
    seen += text.substr(0, text.find(' ')) + " ";
  }
  for (const char* level : {"l1", "l2", "l3"}) {
    const double bytes = cache_bytes(level, run.device());
    if (bytes <= 0 || seen.find(level) != std::string::npos) continue;
    run.fact("no_knee_" + std::string(level), "none within a factor of two of the " +
                                                  std::to_string(static_cast<std::uint64_t>(bytes) / 1024) +
                                                  " KiB that the system tells");
  }
}

const Benchmark latency_benchmark{
    .name = "memory/latency",
    .summary = "time of a load that depends on the load before, in caches and DRAM, and where the caches end",
    .devices = {"cpu", "cuda"},
    .params = {{"size", {"l1", "l2", "l3", "dram", "sweep"}}},
    .metrics = {{"latency", "s", Better::lower, "seconds per dependent load"}},
    .exists = [](const Params& params) { return params.on_cpu() || (params["size"] != "l1" && params["size"] != "l3"); },
    .needs = [](const Params& params) { return cache_needs(params["size"]); },
    .rank = [](const Params& params) { return params["size"] == "dram"    ? 15
                                              : params["size"] == "sweep" ? 48
                                                                          : 38; },
    .setup_s = 1.5,
    .run = run_latency,
};
REGISTER_BENCHMARK(latency_benchmark);

}  // namespace
