// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See report.h.
#include <fmt/format.h>

#include <algorithm>

#include "tests/aa_bench/report.h"

namespace assay::aa_bench {
namespace {

double ratio(std::size_t part, std::size_t whole) { return static_cast<double>(part) / static_cast<double>(whole); }

// Why a goal was missed, as far as that can be said.
std::string why(const Goal& goal) {
  if (goal.met()) return "";
  if (!goal.got) return "  not measured";
  if (goal.bound && *goal.bound < goal.bar)
    return fmt::format("  no test with 1 % error at the margin finds more than {:.3f} there", *goal.bound);
  return goal.clearly_missed() ? "" : "  within three standard errors";
}

void goals_table(std::string& out, const std::vector<Goal>& goals) {
  out += fmt::format("{:<26} {:>7} {:>8}  {:<7} {:>6}  {}\n", "ours", "value", "goal", "", "bound", "decided by");
  for (const Goal& goal : goals)
    out += fmt::format("{:<26} {:>7} {} {:>5.2f}  {:<7} {:>6}  {}{}\n", goal.score,
                       goal.got ? fmt::format("{:.4f}", goal.got->value) : "-", goal.at_most ? "<=" : ">=", goal.bar,
                       goal.met() ? "met" : "MISSED", goal.bound ? fmt::format("{:.3f}", *goal.bound) : "",
                       goal.got ? fmt::format("{}, {} trials", goal.got->where, goal.got->trials) : "", why(goal));
}

constexpr std::pair<const char*, const char*> columns[] = {
    {"false_flag_worst", "flag"},  {"false_flag_epoch", "epoch"}, {"false_flag_60", "of 60"},
    {"detect_1_cycles", "+1%cyc"}, {"detect_2", "+2%"},           {"detect_3", "+3%"},
    {"detect_5", "+5%"},           {"improved_3", "-3%"},         {"flag_at_margin", "at +1%"},
    {"false_pass_2", "pass+2%"},   {"inconclusive_0", "undec."}};

void header(std::string& out, const char* title) {
  out += fmt::format("\n{:<46}", title);
  for (const auto& [name, shown] : columns) out += fmt::format("{:>8}", shown);
  out += '\n';
}
void row(std::string& out, const std::string& what, const Scores& scores) {
  out += fmt::format("{:<46}", what);
  for (const auto& [name, shown] : columns) {
    const auto at = scores.find(name);
    out += fmt::format("{:>8}", at == scores.end() ? "-" : fmt::format("{:.3f}", at->second.value));
  }
  out += '\n';
}

void families_row(std::string& out, const std::string& what, const Cells& cells, double effect,
                  std::size_t (*count)(const Tally&)) {
  out += fmt::format("{:<24}", what);
  for (std::size_t f = 0; f < families.size(); ++f) {
    const Tally& tally = cells.at(f, effect);
    out += fmt::format("{:>9.3f}", tally.share(count(tally)));
  }
  out += '\n';
}

void families_table(std::string& out, const Results& results) {
  out += fmt::format("\n{:<24}", "called different at 0");
  for (const Family& family : families) {
    const bool two_words = family.name.find('_') != std::string_view::npos;
    out += fmt::format("{:>9}", two_words ? fmt::format("bimod_{}", family.name.substr(8, 2)) : family.name);
  }
  out += '\n';
  for (const Cells& cells : results.tools)
    families_row(out, cells.tool.name, cells, 0, [](const Tally& t) { return t.flags(); });
  for (double effect : {0.01, 0.02, 0.03})
    families_row(out, fmt::format("ours found at +{:.0f} %", 100 * effect), results.tools.front(), effect,
                 [](const Tally& t) { return t.worse; });
}

// One line for each fleet, clean or contaminated: the cells come with effects 0, 3, 5 and 10 %.
void fleets_table(std::string& out, const std::vector<FleetCell>& fleets) {
  out += fmt::format("\n{:<38}{:>8}{:>6} |{:>7}{:>7}{:>7}{:>7}{:>7} |{:>7} |{:>7}{:>7} |{:>7}\n",
                     "rejected, by 16 references", "spread", "bad", "ours 0", "undec.", "+3 %", "+5 %", "+10 %",
                     "prior 5", "S'B 0", "+5 %", "5 % +5");
  for (std::size_t i = 0; i + 3 < fleets.size(); i += 4) {
    const FleetCell &zero = fleets[i], &five = fleets[i + 2];
    out += fmt::format(
        "{:<38}{:>6.2f} %{:>6} |{:>7.4f}{:>7.3f}{:>7.3f}{:>7.3f}{:>7.3f} |{:>7.3f} |{:>7.3f}{:>7.3f} |{:>7.3f}\n",
        zero.fleet, 100 * zero.spread, zero.contaminated ? "10 %" : "0", zero.share(zero.ours),
        zero.share(zero.ours_unknown), fleets[i + 1].share(fleets[i + 1].ours), five.share(five.ours),
        fleets[i + 3].share(fleets[i + 3].ours), five.share(five.with_prior), zero.share(zero.superbench),
        five.share(five.superbench), five.share(five.five_percent));
  }
}

void series_table(std::string& out, const std::vector<SeriesCell>& series) {
  std::string last_noise;
  for (const SeriesCell& c : series) {
    const std::string noise =
        fmt::format("rho {:.2f}, sd {:.1f} %{}", c.noise.rho, 100 * c.noise.sd, c.warm_up ? ", warm-up" : "");
    if (last_noise.empty()) {
      out += fmt::format("\n{:<28}", "600 s series: alarms");
      for (const SeriesCell& first : series) {
        if (first.noise.rho != c.noise.rho || first.warm_up) break;
        out += fmt::format("{:>9}", fmt::format("{:.5} {:.0f}", word(first.fault), 100 * first.size));
      }
      out += "   early | none by textbook CUSUM, last < first";
    }
    if (noise != last_noise) {
      std::size_t early = 0, runs = 0;
      for (const SeriesCell& same : series)
        if (same.noise.rho == c.noise.rho && same.warm_up == c.warm_up && same.fault != Fault::none) {
          early += same.early;
          runs += same.runs;
        }
      out += fmt::format("\n{:<28}", noise);
      std::string rest = fmt::format("{:>8.4f} |{:>6.3f} {:>6.3f}", ratio(early, runs), ratio(c.textbook, c.runs),
                                     ratio(c.last_first, c.runs));
      for (const SeriesCell& same : series)
        if (same.noise.rho == c.noise.rho && same.warm_up == c.warm_up)
          out += fmt::format("{:>9.3f}", ratio(same.ours - same.early, same.runs));
      out += rest;
      last_noise = noise;
    }
  }
  out += '\n';
}

// Share called slower or faster, and in brackets the undecided; rows in the order of the data.
void real_table(std::string& out, const std::vector<RealRow>& real) {
  out += fmt::format("\n{:<40} {:<16} {:>6} {:>6} {:>7} {:>7} {:>7}\n", "real data, nothing changed", "tool", "put on",
                     "pairs", "slower", "faster", "undec.");
  for (const RealRow& r : real)
    out += fmt::format("{:<40} {:<16} {:>4.0f} % {:>6} {:>7.3f} {:>7.3f} {:>7.3f}\n", r.data, r.tool, 100 * r.effect,
                       r.tally.pairs, r.tally.share(r.tally.worse), r.tally.share(r.tally.better),
                       r.tally.share(r.tally.unknown));
}

// What looking often saves where nothing changed, family by family.
std::string sessions_line(const Cells& cells) {
  std::string out = "  mean sessions until decided:";
  for (std::size_t f = 0; f < families.size(); ++f) {
    const Tally& unchanged = cells.at(f, 0);
    out += fmt::format("{} {} {:.1f}", f == 0 ? "" : ",", families[f].name, ratio(unchanged.sessions, unchanged.pairs));
  }
  return out + "\n";
}

}  // namespace

std::string as_tables(const Results& results) {
  const std::vector<ToolScores> scores = scores_of(results);
  std::string out = fmt::format("aa-bench, seed {}, {} pairs a cell; real data: {}\n\n", results.settings.seed,
                                results.settings.pairs, results.data.empty() ? "none" : results.data);
  goals_table(out, goals_of(scores, results.settings));
  if (const auto& all = results.suites_with_epoch)
    out += fmt::format(
        "a suite of 60 with epoch among its families: any flag {:.3f}; any REGRESSED with an adjusted p "
        "(Benjamini-Hochberg) of at most 0.05: {:.3f}\n",
        ratio(all->any, all->suites), ratio(all->adjusted, all->suites));
  header(out, "all tools");
  for (const ToolScores& tool : scores)
    if (tool.tool.judge) row(out, tool.tool.what, tool.scores);
  header(out, "ours otherwise (not among the goals)");
  for (const Cells& cells : results.variants) row(out, cells.tool.what, variant_scores(cells));
  for (const Cells& cells : results.variants)
    if (cells.tool.name == "assay_sequential") out += sessions_line(cells);
  families_table(out, results);
  fleets_table(out, results.fleets);
  series_table(out, results.series);
  if (!results.real.empty()) real_table(out, results.real);
  return out;
}

}  // namespace assay::aa_bench
