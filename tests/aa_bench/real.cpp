// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See real.h.
#include "tests/aa_bench/real.h"

#include <fmt/format.h>

#include <cmath>

#include "harness/stats/compare.h"
#include "harness/stats/moments.h"
#include "tests/aa_bench/csv.h"
#include "tests/aa_bench/fleets.h"

namespace assay::aa_bench {
namespace {

constexpr std::uint64_t use_real = 300;
constexpr std::size_t launches = 32;

using Halves = void (*)(Trial&, std::size_t launch, double time);
void by_block(Trial& trial, std::size_t launch, double time) {
  (launch < launches / 2 ? trial.before : trial.after).times[0].push_back(time);
}
void by_turns(Trial& trial, std::size_t launch, double time) {
  (launch % 2 == 0 ? trial.before : trial.after).times[0].push_back(time);
}

void add_launches(std::vector<RealRow>& rows, const Csv& csv, const std::string& name, Halves halves,
                  const Settings& settings) {
  std::vector<Tool> tools = peers();
  tools.insert(tools.begin(), ours());
  std::erase_if(tools, [](const Tool& tool) { return tool.name.ends_with("_equal_budget"); });
  std::vector<Tally> tallies(tools.size());
  parallel_for(tools.size(), settings.threads, [&](std::size_t t) {
    for (std::size_t row = 0; row < csv.rows.size(); ++row) {
      Trial trial;
      for (Side* side : {&trial.before, &trial.after}) *side = {{{}}, {std::vector<double>(launches / 2, 1.0)}, 0};
      for (std::size_t i = 0; i < launches; ++i) halves(trial, i, csv.number(row, fmt::format("t{}", i)));
      Random random(settings.seed, {use_real, t, row});
      tallies[t].add(tools[t].judge(trial, random));
    }
  });
  for (std::size_t t = 0; t < tools.size(); ++t) rows.push_back({name, tools[t].name, 0, tallies[t]});
}

// The spread that a class prior would hold: pooled over all devices.
double pooled_sd(const Fleet& fleet) {
  double squares = 0, df = 0;
  for (const std::vector<double>& sessions : fleet.log_times) {
    squares += stats::squares_of(sessions);
    df += static_cast<double>(sessions.size() - 1);
  }
  return std::sqrt(squares / df);
}

void add_sessions(std::vector<RealRow>& rows, const Fleet& fleet) {
  stats::CompareOptions options;
  options.margin = 0.01;
  options.prior = {8, pooled_sd(fleet)};
  for (double effect : {0.0, 0.02, 0.03, 0.05}) {
    RealRow row{fleet.name + ", 3|3 sessions", "assay_prior", effect, {}};
    for (const std::vector<double>& sessions : fleet.log_times) {
      if (sessions.size() < 6) continue;
      std::vector<stats::Session> before, after;
      for (std::size_t i = 0; i < 6; ++i)
        i < 3 ? before.push_back({sessions[i], 0, 0, 1}) : after.push_back({sessions[i] + std::log1p(effect), 0, 0, 1});
      row.tally.add(answer_of(stats::compare(before, after, options)));
    }
    if (row.tally.pairs > 0) rows.push_back(std::move(row));
  }
}

}  // namespace

std::vector<RealRow> judge_real(const std::filesystem::path& data, const Settings& settings) {
  std::vector<RealRow> rows;
  for (const char* device : {"A100", "MI250X"}) {
    const auto file = data / "kernel_tuner_times" / fmt::format("convolution_{}.csv", device);
    if (!std::filesystem::exists(file)) continue;
    const Csv csv = read_csv(file);
    add_launches(rows, csv, fmt::format("{} launches, first half | second", device), by_block, settings);
    add_launches(rows, csv, fmt::format("{} launches, odd | even", device), by_turns, settings);
  }
  for (const Fleet& fleet : make_fleets(data, settings.seed))
    if (fleet.real && !fleet.skewed) add_sessions(rows, fleet);
  return rows;
}

}  // namespace assay::aa_bench
