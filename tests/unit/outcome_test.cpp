// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// The table of words and exit codes: written out here a second time, because scripts of users depend on it.
#include "harness/base/outcome.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "harness/base/file.h"
#include "harness/base/text.h"
#include "tests/unit/sample_record.h"

namespace assay {
namespace {

TEST(Outcome, WordsAndCodesAreTheDocumentedOnes) {
  const std::vector<std::pair<const char*, int>> documented{
      {"MEASURED", 0},      {"PASS", 0},         {"MATCH", 0},     {"IMPROVED", 0},
      {"NO_REGRESSION", 0}, {"FAIL", 1},         {"REGRESSED", 1}, {"MISMATCH", 1},
      {"INCOMPLETE", 2},    {"INCONCLUSIVE", 2}, {"UNKNOWN", 2},   {"PROVISIONAL", 2},
      {"INVALID", 2},       {"MODE_SWITCH", 2},  {"NOT_RUN", 2},   {"ERROR", 3}};
  for (const auto& [text, expected] : documented) {
    const std::optional<Outcome> outcome = outcome_of(text);
    ASSERT_TRUE(outcome) << text;
    EXPECT_EQ(code(*outcome), expected) << text;
    EXPECT_EQ(word(*outcome), text);
  }
  EXPECT_EQ(code(Outcome::variance_better), 0);
  EXPECT_EQ(code(Outcome::variance_worse), 1);
  EXPECT_EQ(outcome_of("VARIANCE_CHANGED"), Outcome::variance_worse);
  EXPECT_FALSE(outcome_of("measured"));
  EXPECT_FALSE(outcome_of(""));
}

TEST(Outcome, WordsOfACaseAndOfARun) {
  const std::vector<std::string_view> of_a_case{"MEASURED", "FAIL", "INVALID", "NOT_RUN", "ERROR"};
  const std::vector<std::string_view> of_a_run{"MEASURED", "FAIL", "INCOMPLETE", "ERROR"};
  for (int i = 0; i <= static_cast<int>(Outcome::error); ++i) {
    const auto outcome = static_cast<Outcome>(i);
    const auto is_in = [&](const auto& words) {
      return std::find(words.begin(), words.end(), word(outcome)) != words.end();
    };
    EXPECT_EQ(is_case_outcome(outcome), is_in(of_a_case)) << word(outcome);
    EXPECT_EQ(is_run_outcome(outcome), is_in(of_a_run)) << word(outcome);
  }
}

TEST(Outcome, OneBeforeThreeBeforeTwoBeforeZero) {
  EXPECT_EQ(worst({Outcome::measured, Outcome::not_run}), Outcome::not_run);
  EXPECT_EQ(worst({Outcome::not_run, Outcome::error}), Outcome::error);
  EXPECT_EQ(worst({Outcome::error, Outcome::fail, Outcome::measured}), Outcome::fail);
  EXPECT_EQ(worst({Outcome::pass, Outcome::measured}), Outcome::pass);
  EXPECT_EQ(worst({}), Outcome::incomplete);
}

TEST(Outcome, TheTableOfTheReadmeHasEveryWordBesideItsCode) {
  std::map<int, std::string> rows;
  for (const std::string& line : split(read_file(source_folder() / "README.md"), '\n'))
    if (const auto cells = split(line, '|');
        cells.size() > 3 && trim(cells[1]).find_first_not_of("0123456789") == std::string::npos)
      rows[std::atoi(trim(cells[1]).c_str())] += cells[3];
  for (int i = 0; i <= static_cast<int>(Outcome::error); ++i) {
    const auto outcome = static_cast<Outcome>(i);
    EXPECT_THAT(rows[code(outcome)], ::testing::HasSubstr(std::string(word(outcome))));
  }
}

}  // namespace
}  // namespace assay
