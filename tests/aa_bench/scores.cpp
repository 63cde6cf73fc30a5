// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See scores.h.
#include "tests/aa_bench/scores.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "harness/stats/distributions.h"

namespace assay::aa_bench {
namespace {

using Counted = std::function<std::size_t(const Tally&)>;

// Keeps the worse of two figures.
void worst(Scores& scores, const std::string& name, bool high_is_bad, const Score& score) {
  const auto [at, is_new] = scores.emplace(name, score);
  if (!is_new && (high_is_bad ? score.value > at->second.value : score.value < at->second.value)) at->second = score;
}

struct FamilyScore {
  const char* name;
  double effect;
  bool high_is_bad;
  std::vector<std::string_view> without;
  Counted count;
};

const std::vector<FamilyScore>& family_scores() {
  const Counted flags = [](const Tally&t) { return t.flags(); }, worse = [](const Tally&t) { return t.worse; },
                better = [](const Tally&t) { return t.better; }, passes = [](const Tally&t) { return t.passes; },
                unknown = [](const Tally&t) { return t.unknown; };
  static const std::vector<FamilyScore> all = {
      {"false_flag_worst", 0, true, {"epoch"}, flags},
      {"detect_2", 0.02, false, {"bimodal_session", "epoch", "noisy"}, worse},
      {"detect_3", 0.03, false, {"bimodal_session", "noisy"}, worse},
      {"detect_5", 0.05, false, {"noisy"}, worse},
      {"improved_3", -0.03, false, {"bimodal_session", "noisy"}, better},
      {"flag_at_margin", 0.01, true, {"epoch"}, worse},
      {"false_pass_2", 0.02, true, {"epoch"}, passes},
      {"inconclusive_0", 0, true, {"bimodal_session", "epoch", "noisy"}, unknown},
  };
  return all;
}

Score score_of(const Tally& tally, std::size_t count, std::string_view where) {
  return {tally.share(count), tally.pairs, std::string(where)};
}

void add_family_scores(Scores& scores, const Cells& cells) {
  for (std::size_t f = 0; f < families.size(); ++f) {
    for (const FamilyScore& s : family_scores()) {
      if (std::find(s.without.begin(), s.without.end(), families[f].name) != s.without.end()) continue;
      const Tally& tally = cells.at(f, s.effect);
      worst(scores, s.name, s.high_is_bad, score_of(tally, s.count(tally), families[f].name));
    }
    if (families[f].noise != Noise::epoch) continue;
    const Tally &unchanged = cells.at(f, 0), &slower = cells.at(f, 0.02);
    scores["false_flag_epoch"] = score_of(unchanged, unchanged.flags(), families[f].name);
    scores["false_pass_2_epoch"] = score_of(slower, slower.passes, families[f].name);
  }
}

void add_fleet_scores(Scores& scores, const std::vector<FleetCell>& cells, std::size_t FleetCell::*count) {
  for (const FleetCell& cell : cells) {
    const Score score{cell.share(cell.*count), cell.judged, cell.fleet};
    if (cell.contaminated) continue;
    if (cell.skewed && cell.effect == 0) scores["fleet_false_reject_skewed"] = score;
    if (cell.skewed || cell.spread > 0.006) continue;
    if (cell.effect == 0) worst(scores, "fleet_false_reject", true, score);
    if (cell.effect == 0.05) worst(scores, "fleet_detect_5", false, score);
  }
}

void add_series_scores(Scores& scores, const std::vector<SeriesCell>& cells, std::size_t SeriesCell::*count) {
  const bool own = count == &SeriesCell::ours;
  for (const SeriesCell& cell : cells) {
    if (!cell.noise.in_goal) continue;
    // An alarm before the fault is a false alarm, not a detection.
    const std::size_t found = cell.*count - (own ? cell.early : 0);
    const Score score{static_cast<double>(found) / static_cast<double>(cell.runs), cell.runs,
                      cell.warm_up ? "with warm-up" : "without warm-up"};
    if (cell.fault == Fault::none) worst(scores, "inrun_false_alarm", true, score);
    if (cell.fault == Fault::step && cell.size == 0.03) worst(scores, "inrun_step_3", false, score);
    if (cell.fault == Fault::decay && cell.size == 0.05) worst(scores, "inrun_decay_5", false, score);
  }
}

// Power at +effect of a one-sided test against `margin` with error 0.01 that knows the spread of a session's value.
double most_power(double session_sd, std::size_t sessions, double margin, double effect) {
  const double error = session_sd * std::sqrt(2 / static_cast<double>(sessions));
  return stats::normal_cdf((std::log1p(effect) - std::log1p(margin)) / error - stats::normal_quantile(0.99));
}

std::optional<double> bound_of(const Goal& goal, const Settings& settings) {
  if (goal.score == "detect_1_cycles") return most_power(true_session_sd(clock_family, settings.seed), 8, 0.005, 0.01);
  if (goal.score != "detect_2" && goal.score != "detect_3") return std::nullopt;
  for (const Family& family : families)
    if (goal.got && goal.got->where == family.name && family.noise != Noise::epoch)
      return most_power(true_session_sd(family, settings.seed), 5, 0.01, goal.score == "detect_2" ? 0.02 : 0.03);
  return std::nullopt;
}

}  // namespace

const std::vector<std::string>& score_names() {
  static const std::vector<std::string> names = {"false_flag_worst",   "false_flag_epoch",
                                                 "false_flag_60",      "detect_1_cycles",
                                                 "detect_2",           "detect_3",
                                                 "detect_5",           "improved_3",
                                                 "flag_at_margin",     "false_pass_2",
                                                 "false_pass_2_epoch", "inconclusive_0",
                                                 "fleet_false_reject", "fleet_false_reject_skewed",
                                                 "fleet_detect_5",     "inrun_false_alarm",
                                                 "inrun_step_3",       "inrun_decay_5"};
  return names;
}

Scores variant_scores(const Cells& cells) {
  Scores scores;
  add_family_scores(scores, cells);
  return scores;
}

std::vector<ToolScores> scores_of(const Results& results) {
  std::vector<ToolScores> all;
  for (const Cells& cells : results.tools) {
    Scores scores = variant_scores(cells);
    scores["detect_1_cycles"] = score_of(cells.clock, cells.clock.worse, "clock");
    const Suites& suites = results.suites.at(cells.tool.name);
    scores["false_flag_60"] = {static_cast<double>(suites.any) / static_cast<double>(suites.suites), suites.suites,
                               "suites"};
    if (cells.tool.name == "assay") {
      add_fleet_scores(scores, results.fleets, &FleetCell::ours);
      add_series_scores(scores, results.series, &SeriesCell::ours);
    } else if (cells.tool.name == "superbench") {
      add_fleet_scores(scores, results.fleets, &FleetCell::superbench);
    } else if (cells.tool.name == "five_percent") {
      add_fleet_scores(scores, results.fleets, &FleetCell::five_percent);
      add_series_scores(scores, results.series, &SeriesCell::last_first);
    }
    all.push_back({cells.tool, std::move(scores)});
  }
  ToolScores cusum{{"textbook_cusum", "CUSUM on raw samples, k 0.5, h 5", {}, 1, {}}, {}};
  add_series_scores(cusum.scores, results.series, &SeriesCell::textbook);
  all.push_back(std::move(cusum));
  return all;
}

bool Goal::met() const { return got && (at_most ? got->value <= bar : got->value >= bar); }

bool Goal::clearly_missed() const {
  if (!got) return true;
  const double error = std::sqrt(bar * (1 - bar) / static_cast<double>(got->trials));
  return at_most ? got->value > bar + 3 * error : got->value < bar - 3 * error;
}

std::vector<Goal> goals_of(const std::vector<ToolScores>& scores, const Settings& settings) {
  std::vector<Goal> goals = {
      {"false_flag_worst", true, 0.01},
      {"false_flag_epoch", true, 0.03},
      {"false_flag_60", true, 0.05},
      {"detect_3", false, 0.95},
      {"detect_2", false, 0.95},
      {"detect_1_cycles", false, 0.95},
      {"false_pass_2", true, 0.01},
      {"false_pass_2_epoch", true, 0.03},
      {"inconclusive_0", true, 0.05},
      {"fleet_false_reject", true, 0.01},
      {"fleet_false_reject_skewed", true, 0.02},
      {"fleet_detect_5", false, 0.95},
      {"inrun_false_alarm", true, 0.01},
      {"inrun_step_3", false, 0.99},
      {"inrun_decay_5", false, 0.98},
  };
  const Scores& own = scores.front().scores;
  for (Goal& goal : goals) {
    if (const auto at = own.find(goal.score); at != own.end()) goal.got = at->second;
    goal.bound = bound_of(goal, settings);
  }
  // Only with the real data.
  std::erase_if(goals, [](const Goal& g) { return g.score == "fleet_false_reject_skewed" && !g.got; });
  return goals;
}

}  // namespace assay::aa_bench
