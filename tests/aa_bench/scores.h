// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// From counts to the figures that are published, and to the goals.
//
//   false_flag_worst   called different though nothing changed: worst family but epoch, which has false_flag_epoch
//   false_flag_60      any such call in a suite of 60 metrics of the families but epoch
//   detect_N           found at +N %: worst family but noisy; detect_3 also without bimodal_session, detect_2 also
//                      without epoch
//   detect_1_cycles    found at +1 % while the clock differs by 1 % between sessions
//   false_pass_2       passed at +2 %: worst family but epoch, which has false_pass_2_epoch
//   inconclusive_0     undecided though nothing changed: worst of the families of detect_2
//   fleet_*            16 references: healthy devices rejected, devices 5 % slower found; worst fleet whose devices
//                      differ by at most 0.6 % (scaled MAD) and that is not skewed
//   inrun_*            a 600 s series, noise up to rho 0.8 and 0.5 %: false alarms, a 3 % step, a 5 % decay
//
// A number that a tool has no rule for is absent (JSON null).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/aa_bench/fleets.h"
#include "tests/aa_bench/real.h"
#include "tests/aa_bench/series.h"

namespace assay::aa_bench {

struct Score {
  double value = 0;
  std::size_t trials = 0;
  std::string where;  // the family or fleet that decided
};
using Scores = std::map<std::string, Score>;

struct ToolScores {
  Tool tool;
  Scores scores;
};

struct Results {
  Settings settings;
  std::string data;  // folder of the real data, "" if there is none
  std::vector<Cells> tools, variants;
  std::map<std::string, Suites> suites;     // by tool; families but epoch
  std::optional<Suites> suites_with_epoch;  // ours
  std::vector<FleetCell> fleets;
  std::vector<SeriesCell> series;
  std::vector<RealRow> real;
};

// Every figure, in the order in which it is shown.
const std::vector<std::string>& score_names();
std::vector<ToolScores> scores_of(const Results& results);
Scores variant_scores(const Cells& cells);

struct Goal {
  std::string score;
  bool at_most = true;
  double bar = 0;
  std::optional<Score> got;
  // The most that any test could reach that keeps 1 % error at the margin, had it known the spread of sessions (normal;
  // Neyman and Pearson). Detection only.
  std::optional<double> bound;
  bool met() const;
  // Missed by more than three standard errors of the count: chance does not explain it.
  bool clearly_missed() const;
};
std::vector<Goal> goals_of(const std::vector<ToolScores>& scores, const Settings& settings);

}  // namespace assay::aa_bench
