// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// The judge of a run: each outcome counted, and none of them makes a run look better than it is.
#include "harness/parent/coverage.h"

#include <gtest/gtest.h>

#include "harness/base/error.h"
#include "tests/unit/sample_record.h"

namespace assay {
namespace {

using namespace assay::testing;

Record ended(Outcome outcome, int session = 1) {
  Record record = measured_record(1);
  record.outcome = outcome;
  record.session = session;
  return record;
}

Outcome judged(const Plan& plan, const std::vector<Record>& records) {
  CoverageTally tally(plan);
  std::uint64_t sequence = 0;
  for (Record record : records) {
    record.sequence = ++sequence;
    tally.add(record);
  }
  return outcome_of(tally.counts());
}

Record numbered(Record record, std::uint64_t sequence) {
  record.sequence = sequence;
  return record;
}

TEST(Coverage, WordOfARun) {
  const Plan plan = sample_plan();
  EXPECT_EQ(judged(plan, {}), Outcome::incomplete);
  EXPECT_EQ(judged(plan, {ended(Outcome::measured)}), Outcome::measured);
  EXPECT_EQ(judged(plan, {ended(Outcome::fail)}), Outcome::fail);
  EXPECT_EQ(judged(plan, {ended(Outcome::error)}), Outcome::error);
  EXPECT_EQ(judged(plan, {ended(Outcome::invalid)}), Outcome::incomplete);
  EXPECT_EQ(judged(plan, {ended(Outcome::not_run)}), Outcome::incomplete);
  Plan nothing = plan;
  nothing.cases[0].coverage = Coverage::excluded;
  EXPECT_EQ(judged(nothing, {}), Outcome::incomplete);
}

TEST(Coverage, FailBeforeErrorBeforeIncomplete) {
  Plan plan = sample_plan();
  plan.sessions = 3;
  EXPECT_EQ(judged(plan, {ended(Outcome::error, 1), ended(Outcome::fail, 2)}), Outcome::fail);
  EXPECT_EQ(judged(plan, {ended(Outcome::error, 1), ended(Outcome::measured, 2)}), Outcome::error);
  EXPECT_EQ(judged(plan, {ended(Outcome::measured, 1), ended(Outcome::measured, 2)}), Outcome::incomplete);
}

TEST(Coverage, CountsAddUpAndForeignRecordsCountNothing) {
  Plan plan = sample_plan();
  plan.sessions = 2;
  plan.cases.push_back(plan.cases[0]);
  plan.cases.back().name = "memory/other";
  plan.cases.back().coverage = Coverage::not_applicable;
  CoverageTally tally(plan);
  EXPECT_EQ(tally.add(numbered(ended(Outcome::measured), 1)), 0);
  Record foreign = numbered(ended(Outcome::measured), 2);
  foreign.device_set = {"cpu:9"};
  EXPECT_EQ(tally.add(foreign), -1);
  EXPECT_EQ(tally.size(), 2U);
  const CoverageCounts counts = tally.counts();
  EXPECT_EQ(counts.required, 2U);
  EXPECT_EQ(counts.measured, 1U);
  EXPECT_EQ(counts.not_run, 1U);
  EXPECT_EQ(counts.not_applicable, 1U);
  EXPECT_EQ(coverage_line(plan, counts),
            "2 required = 1 measured + 1 not run (each case in 2 sessions); 1 not applicable");
  EXPECT_EQ(tally.find(0, 2), nullptr);
  EXPECT_EQ(*tally.find(0, 1), Outcome::measured);
}

TEST(Coverage, RecordsThatNoRunWritesAreErrors) {
  Plan plan = sample_plan();
  plan.sessions = 2;
  CoverageTally tally(plan);
  tally.add(numbered(ended(Outcome::fail), 1));
  EXPECT_THROW(tally.add(numbered(ended(Outcome::measured), 2)), Error) << "a second record of a session";
  EXPECT_THROW(tally.add(numbered(ended(Outcome::measured, 2), 1)), Error) << "a sequence twice";
  EXPECT_THROW(tally.add(numbered(ended(Outcome::measured, 2), 3)), Error) << "a record is missing";
  EXPECT_THROW(tally.add(numbered(ended(Outcome::measured, 3), 2)), Error) << "a session beyond the plan";
  EXPECT_THROW(tally.add(numbered(ended(Outcome::measured, 0), 2)), Error) << "a session below 1";
  tally.add(numbered(ended(Outcome::measured, 2), 2));
  EXPECT_EQ(outcome_of(tally.counts()), Outcome::fail);
}

TEST(Coverage, WordOfRunJsonMustBeThatOfTheRecords) {
  CoverageCounts counts;
  counts.required = counts.measured = 2;
  const Json good{{"outcome", "MEASURED"}, {"exit_code", 0}, {"interrupted", false}, {"coverage", to_json(counts)}};
  EXPECT_TRUE(run_word(good).agrees(counts));
  const std::vector<std::pair<const char*, Json>> changes{
      {"outcome", "FAIL"}, {"exit_code", 2}, {"interrupted", true}, {"coverage", to_json(CoverageCounts{})}};
  for (const auto& [key, value] : changes) {
    Json changed = good;
    changed[key] = value;
    EXPECT_FALSE(run_word(changed).agrees(counts)) << key;
  }
  const Json interrupted{
      {"outcome", "INCOMPLETE"}, {"exit_code", 130}, {"interrupted", true}, {"coverage", to_json(counts)}};
  EXPECT_TRUE(run_word(interrupted).agrees(counts));
  for (const Json& word : {Json("PASS"), Json("measured"), Json(5), Json(nullptr)}) {
    Json changed = good;
    changed["outcome"] = word;
    EXPECT_THROW(run_word(changed), Error) << word;
  }
}

TEST(Coverage, AnImportOwesWhatItsFilesHaveAndOnlyThat) {
  Plan plan = sample_plan();
  plan.sessions = 3;
  plan.imported = ImportSource{"nvbench", {{"a.json", "0123456789abcdef", "", {}}}};
  Record record = ended(Outcome::measured, 2);
  record.imported = Imported{"nvbench", "a.json", "0123456789abcdef", ""};
  EXPECT_EQ(judged(plan, {record}), Outcome::measured);
  EXPECT_EQ(judged(plan, {}), Outcome::incomplete);
  CoverageTally tally(plan);
  EXPECT_THROW(tally.add(numbered(ended(Outcome::measured), 1)), Error) << "measured here, in a run that was imported";
  const Plan measured = sample_plan();
  CoverageTally other(measured);
  record.session = 1;
  EXPECT_THROW(other.add(numbered(record, 1)), Error) << "imported, in a run that was measured";
}

TEST(Coverage, ADecidedCaseOwesNoMoreSessions) {
  Plan plan = sample_plan();
  plan.sessions = 3;
  plan.against = Against{"before", "run-1", "0123456789abcdef", {}, {}};
  CoverageTally tally(plan);
  tally.add(numbered(ended(Outcome::measured), 1));
  EXPECT_EQ(outcome_of(tally.counts()), Outcome::incomplete) << "not decided: all three are owed";
  plan.decided[plan.cases[0].name] = 1;
  EXPECT_EQ(outcome_of(tally.counts()), Outcome::measured);
  EXPECT_EQ(tally.counts().required, 1U);
  EXPECT_THROW(tally.add(numbered(ended(Outcome::measured, 2), 2)), Error) << "nobody measures on";
}

}  // namespace
}  // namespace assay
