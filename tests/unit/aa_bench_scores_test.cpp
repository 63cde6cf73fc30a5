// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// From counts to published figures: which families count for which score, what is a goal missed by more than chance,
// and the JSON that others read.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/aa_bench/report.h"
#include "tests/aa_bench/scores.h"

namespace assay::aa_bench {
namespace {

// 100 pairs a cell; unchanged machines pass, slower ones are found, faster ones too.
Cells perfect(const std::string& name) {
  Cells cells{{name, "", {}, 1, [](const Trial&, Random&) { return Answer{}; }},
              std::vector(families.size(), std::vector<Tally>(effects.size())),
              {}};
  for (auto& family : cells.by_family)
    for (std::size_t e = 0; e < effects.size(); ++e) {
      family[e].pairs = 100;
      (effects[e] < 0 ? family[e].better : effects[e] > 0.01 ? family[e].worse : family[e].passes) = 100;
    }
  cells.clock.pairs = cells.clock.worse = 100;
  return cells;
}
Tally& cell(Cells& cells, std::string_view family, double effect) {
  for (std::size_t f = 0; f < families.size(); ++f)
    if (families[f].name == family) return const_cast<Tally&>(cells.at(f, effect));
  throw std::runtime_error("no such family");
}

Results results_of(const Cells& cells) {
  Results results;
  results.settings = {1, 100, 1};
  results.tools = {cells};
  results.suites["assay"] = {100, 3, 1};
  return results;
}

double score(const Cells& cells, const std::string& name) {
  return scores_of(results_of(cells)).front().scores.at(name).value;
}

TEST(AaBenchScores, WorstFamilyDecidesAndSomeStandApart) {
  Cells cells = perfect("assay");
  EXPECT_EQ(score(cells, "false_flag_worst"), 0);
  EXPECT_EQ(score(cells, "detect_2"), 1);
  cell(cells, "epoch", 0).better = 9;
  cell(cells, "heavy", 0).worse = 2;
  cell(cells, "noisy", 0).changed = 3;
  EXPECT_DOUBLE_EQ(score(cells, "false_flag_worst"), 0.03);
  EXPECT_DOUBLE_EQ(score(cells, "false_flag_epoch"), 0.09);
  EXPECT_DOUBLE_EQ(score(cells, "false_flag_60"), 0.03);
  cell(cells, "epoch", 0.02).worse = 50;
  cell(cells, "noisy", 0.02).worse = 10;
  EXPECT_EQ(score(cells, "detect_2"), 1);
  cell(cells, "ar1", 0.02).worse = 97;
  EXPECT_DOUBLE_EQ(score(cells, "detect_2"), 0.97);
  cell(cells, "epoch", 0.03).worse = 90;
  EXPECT_DOUBLE_EQ(score(cells, "detect_3"), 0.90);
  cell(cells, "epoch", 0.02).passes = 2;
  cell(cells, "noisy", 0.02).passes = 1;
  EXPECT_DOUBLE_EQ(score(cells, "false_pass_2"), 0.01);
  EXPECT_DOUBLE_EQ(score(cells, "false_pass_2_epoch"), 0.02);
  cell(cells, "bimodal_session", 0).unknown = 40;
  cell(cells, "session", 0).unknown = 4;
  EXPECT_DOUBLE_EQ(score(cells, "inconclusive_0"), 0.04);
}

TEST(AaBenchScores, AGoalIsClearlyMissedOnlyBeyondChance) {
  Goal goal{"detect_3", false, 0.95, Score{0.94, 1000, ""}, {}};
  EXPECT_FALSE(goal.met());
  EXPECT_FALSE(goal.clearly_missed());  // 3 standard errors are 0.021
  goal.got->value = 0.92;
  EXPECT_TRUE(goal.clearly_missed());
  goal.got->trials = 100;
  EXPECT_FALSE(goal.clearly_missed());
  goal.got.reset();  // what was not measured is not met
  EXPECT_FALSE(goal.met());
  EXPECT_TRUE(goal.clearly_missed());
  EXPECT_TRUE((Goal{"false_flag_worst", true, 0.01, Score{0.02, 500, ""}, {}}.clearly_missed() == false));
  EXPECT_TRUE((Goal{"false_flag_worst", true, 0.01, Score{0.03, 500, ""}, {}}.clearly_missed()));
}

TEST(AaBenchScores, JsonNamesEveryScoreOfEveryTool) {
  const nlohmann::json json = nlohmann::json::parse(as_json(results_of(perfect("assay"))));
  EXPECT_EQ(json["seed"], 1);
  EXPECT_EQ(json["pairs"], 100);
  for (const std::string& name : score_names()) {
    EXPECT_TRUE(json["tools"]["assay"].contains(name)) << name;
    EXPECT_TRUE(json["tools"]["textbook_cusum"].contains(name)) << name;
  }
  EXPECT_EQ(json["tools"]["assay"]["detect_3"], 1);
  EXPECT_TRUE(json["tools"]["assay"]["inrun_step_3"].is_null());
  EXPECT_EQ(json["cells"]["assay"]["noisy"]["5"]["worse"], 100);
  EXPECT_NE(as_tables(results_of(perfect("assay"))).find("detect_3"), std::string::npos);
}

}  // namespace
}  // namespace assay::aa_bench
