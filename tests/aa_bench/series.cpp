// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See series.h.
#include "tests/aa_bench/series.h"

#include <algorithm>
#include <cmath>

#include "harness/verdict/series.h"

namespace assay::aa_bench {
namespace {

constexpr std::size_t length = 600;
constexpr std::uint64_t use_series = 100;

std::size_t begin_of(Fault fault) {
  return fault == Fault::decay ? 120 : fault == Fault::saw_tooth ? 200 : fault == Fault::none ? length : 300;
}

// Share of the fault's size that is there at second t.
double share_of(Fault fault, std::size_t t) {
  const std::size_t begin = begin_of(fault);
  if (t < begin) return 0;
  switch (fault) {
    case Fault::step:
      return 1;
    case Fault::burst:
      return t < begin + 30 ? 1 : 0;
    case Fault::decay:
      return static_cast<double>(t - begin) / static_cast<double>(length - 1 - begin);
    case Fault::saw_tooth:
      return (t - begin) % 30 < 10 ? 1 : 0;
    default:
      return 0;
  }
}

void judge(SeriesCell& cell, std::span<const double> series) {
  ++cell.runs;
  cell.textbook += textbook_cusum(series);
  cell.last_first += last_below_first(series);
  // As `assay report` looks at it: a rate and when each sample began.
  TimedSeries timed;
  for (std::size_t t = 0; t < series.size(); ++t) {
    timed.values.push_back(std::exp(series[t]));
    timed.at_s.push_back(static_cast<double>(t));
  }
  const SeriesLook look = look_at(timed);
  if (look.look != Look::examined) {
    ++cell.unwatched;
    return;
  }
  if (!look.change) return;
  ++cell.ours;
  cell.early += cell.fault != Fault::none && look.change->seen <= begin_of(cell.fault);
}

}  // namespace

std::string_view word(Fault fault) {
  constexpr std::string_view words[] = {"none", "step", "burst", "decay", "saw-tooth"};
  return words[static_cast<std::size_t>(fault)];
}

std::vector<double> make_series(const SeriesNoise& noise, bool warm_up, Fault fault, double size, Random& random) {
  std::vector<double> series(length);
  double value = noise.sd * random.normal();
  for (std::size_t t = 0; t < length; ++t) {
    if (t > 0) value = noise.rho * value + std::sqrt(1 - noise.rho * noise.rho) * noise.sd * random.normal();
    series[t] =
        value + (warm_up ? 0.015 * std::exp(-static_cast<double>(t) / 40) : 0) + std::log1p(-size * share_of(fault, t));
  }
  return series;
}

std::vector<SeriesCell> judge_series(const Settings& settings) {
  const SeriesNoise noises[] = {{0.3, 0.002, true}, {0.8, 0.005, true}, {0.95, 0.005, false}, {0.5, 0.02, false}};
  const std::pair<Fault, std::vector<double>> faults[] = {{Fault::none, {0}},
                                                          {Fault::step, {0.01, 0.02, 0.03, 0.05}},
                                                          {Fault::burst, {0.03, 0.05}},
                                                          {Fault::decay, {0.03, 0.05}},
                                                          {Fault::saw_tooth, {0.03, 0.05}}};
  std::vector<SeriesCell> cells;
  for (const SeriesNoise& noise : noises)
    for (bool warm_up : {false, true})
      for (const auto& [fault, sizes] : faults)
        for (double size : sizes) cells.push_back({noise, warm_up, fault, size});
  const std::size_t runs = std::max<std::size_t>(1, settings.pairs / 2);
  parallel_for(cells.size(), settings.threads, [&](std::size_t c) {
    SeriesCell& cell = cells[c];
    for (std::size_t run = 0; run < runs; ++run) {
      Random random(settings.seed, {use_series, c, run});
      judge(cell, make_series(cell.noise, cell.warm_up, cell.fault, cell.size, random));
    }
  });
  return cells;
}

}  // namespace assay::aa_bench
