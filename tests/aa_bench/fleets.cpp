// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See fleets.h.
#include "tests/aa_bench/fleets.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "harness/stats/moments.h"
#include "harness/stats/robust.h"
#include "harness/stats/session.h"
#include "harness/stats/tolerance.h"
#include "tests/aa_bench/csv.h"

namespace assay::aa_bench {
namespace {

using stats::mean_of;

constexpr std::uint64_t use_fleet = 200, use_draw = 201;

std::vector<double> means(const std::vector<std::vector<double>>& devices) {
  std::vector<double> result;
  for (const std::vector<double>& sessions : devices) result.push_back(mean_of(sessions));
  return result;
}

void keep_healthy(Fleet& fleet) {
  const std::vector<double> values = means(fleet.log_times);
  const double centre = stats::median(values), far = 4.5 * stats::scaled_mad(values);
  std::vector<std::vector<double>> healthy;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (std::fabs(values[i] - centre) <= far) healthy.push_back(fleet.log_times[i]);
  fleet.log_times = std::move(healthy);
}

// Median iteration times: the mean of ResNet's holds a first iteration of 11 s.
Fleet read_fleet(const std::filesystem::path& file, std::string name, bool skewed) {
  const Csv csv = read_csv(file);
  std::map<std::string, std::vector<double>> by_device;
  for (std::size_t row = 0; row < csv.rows.size(); ++row)
    by_device[csv.text(row, "uuid")].push_back(std::log(csv.number(row, "perf")));
  Fleet fleet{std::move(name), true, skewed, {}};
  for (auto& [device, sessions] : by_device) fleet.log_times.push_back(std::move(sessions));
  return fleet;
}

Fleet synthetic(std::string name, double device_sd, double session_sd, std::size_t sessions, std::uint64_t seed,
                std::uint64_t number) {
  constexpr std::size_t devices = 300;
  Random random(seed, {use_fleet, number});
  Fleet fleet{std::move(name), false, false, {}};
  for (std::size_t d = 0; d < devices; ++d) {
    const double device = device_sd * random.normal();
    std::vector<double>& values = fleet.log_times.emplace_back(sessions);
    for (double& v : values) v = device + session_sd * random.normal();
  }
  return fleet;
}

// What the class knows after its references were measured, and the limits that follow.
struct Learnt {
  stats::ClassLimit limit;
  stats::Prior prior;
  double superbench_limit = 0, five_percent_limit = 0;
};
Learnt learn(const std::vector<std::vector<double>>& references) {
  std::vector<double> values = means(references), kept;
  const std::vector<std::size_t> outlying = stats::outlying_references(values);
  double squares = 0, df = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::binary_search(outlying.begin(), outlying.end(), i)) continue;
    kept.push_back(values[i]);
    squares += stats::squares_of(references[i]);
    df += static_cast<double>(references[i].size() - 1);
  }
  Learnt learnt;
  learnt.limit = *stats::class_limit({kept.size(), mean_of(kept), stats::sd_of(kept)}, Better::lower);
  learnt.prior = {std::min(8.0, df), std::sqrt(squares / df)};
  for (double& v : values) v = std::exp(v);
  learnt.superbench_limit = 1.05 * superbench_baseline(values);
  learnt.five_percent_limit = 1.05 * mean_of(values);
  return learnt;
}

Outcome accept(std::span<const double> log_times, const Learnt& learnt, const stats::Prior& prior) {
  std::vector<stats::Session> sessions;
  for (double v : log_times) sessions.push_back({v, 0, 0, 1});
  const auto interval = stats::device_interval(sessions, prior);
  return interval ? stats::against_limit(*interval, learnt.limit, Better::lower) : Outcome::inconclusive;
}

void draw(FleetCell& cell, const Fleet& fleet, Random& random) {
  std::vector<std::vector<double>> devices = fleet.log_times;
  for (std::size_t i = 0; i < cell.references; ++i)
    std::swap(devices[i], devices[i + random.below(devices.size() - i)]);
  std::vector<std::vector<double>> references(devices.begin(),
                                              devices.begin() + static_cast<std::ptrdiff_t>(cell.references));
  const std::size_t bad = cell.contaminated ? (cell.references + 5) / 10 : 0;
  for (std::size_t i = 0; i < bad; ++i)
    for (double& v : references[i]) v += std::log(1.1);
  const Learnt learnt = learn(references);
  for (std::size_t d = cell.references; d < devices.size(); ++d) {
    for (double& v : devices[d]) v += std::log1p(cell.effect);
    const Outcome plain = accept(devices[d], learnt, {});
    const double time = std::exp(mean_of(devices[d]));
    ++cell.judged;
    cell.ours += plain == Outcome::fail;
    cell.ours_unknown += plain == Outcome::inconclusive;
    cell.with_prior += accept(devices[d], learnt, learnt.prior) == Outcome::fail;
    cell.superbench += time > learnt.superbench_limit;
    cell.five_percent += time > learnt.five_percent_limit;
  }
}

}  // namespace

double Fleet::spread() const { return stats::scaled_mad(means(log_times)); }

std::vector<Fleet> make_fleets(const std::filesystem::path& data, std::uint64_t seed) {
  std::vector<Fleet> fleets;
  const std::filesystem::path pal = data / "pal_gpu_fleet";
  if (std::filesystem::exists(pal / "frontera-bert-agg.csv"))
    fleets.push_back(read_fleet(pal / "frontera-bert-agg.csv", "Frontera RTX 5000, BERT", false));
  if (std::filesystem::exists(pal / "frontera-resnet-agg.csv"))
    fleets.push_back(read_fleet(pal / "frontera-resnet-agg.csv", "Frontera RTX 5000, ResNet-50 (skewed)", true));
  fleets.push_back(synthetic("as V100 SGEMM, cycles", 0.0029, 0.0012, 5, seed, 0));
  fleets.push_back(synthetic("as H100 ResNet-50", 0.0013, 0.0004, 3, seed, 1));
  fleets.push_back(synthetic("as RTX 5000 BERT", 0.0041, 0.0018, 6, seed, 2));
  fleets.push_back(synthetic("as V100 SGEMM, time", 0.0172, 0.0012, 5, seed, 3));
  for (Fleet& fleet : fleets) keep_healthy(fleet);
  return fleets;
}

std::vector<FleetCell> judge_fleets(const std::vector<Fleet>& fleets, const Settings& settings) {
  std::vector<FleetCell> cells;
  std::vector<const Fleet*> of_cell;
  for (const Fleet& fleet : fleets)
    for (bool contaminated : {false, true})
      for (double effect : {0.0, 0.03, 0.05, 0.1}) {
        cells.push_back({fleet.name, fleet.real, fleet.skewed, fleet.spread(), 16, contaminated, effect});
        of_cell.push_back(&fleet);
      }
  const std::size_t draws = std::max<std::size_t>(1, settings.pairs * 3 / 10);
  parallel_for(cells.size(), settings.threads, [&](std::size_t c) {
    for (std::size_t i = 0; i < draws; ++i) {
      Random random(settings.seed, {use_draw, c, i});
      draw(cells[c], *of_cell[c], random);
    }
  });
  return cells;
}

}  // namespace assay::aa_bench
