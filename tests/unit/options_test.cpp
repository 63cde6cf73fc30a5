// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/base/error.h"
#include "harness/commands/run.h"
#include "harness/commands/verbs.h"

namespace assay {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

RunOptions parse(std::vector<std::string> words) {
  words.insert(words.begin(), "run");
  std::vector<char*> argv;
  for (std::string& text : words) argv.push_back(text.data());
  return parse_run(static_cast<int>(argv.size()), argv.data()).value();
}

std::string problem(const std::vector<std::string>& words) {
  try {
    parse(words);
  } catch (const UsageError& e) {
    return e.what();
  }
  return "no error";
}

TEST(Options, Defaults) {
  const RunOptions o = parse({});
  EXPECT_EQ(o.profile, "quick");
  EXPECT_TRUE(o.devices.empty());
  EXPECT_FALSE(o.budget_s);
  EXPECT_FALSE(o.dry_run);
}

TEST(Options, RepeatedOptionsTakeOneValueEach) {
  const RunOptions o =
      parse({"--filter", "a", "--filter=-b", "--exclude", "c", "--device", "cpu:0", "--device", "fake:x"});
  EXPECT_THAT(o.filters, ElementsAre("a", "-b"));
  EXPECT_THAT(o.excludes, ElementsAre("c"));
  EXPECT_THAT(o.devices, ElementsAre("cpu:0", "fake:x"));
  EXPECT_THAT(problem({"--filter", "a", "b"}), HasSubstr("'b' was not expected: cases are chosen with --filter"));
}

TEST(Options, Values) {
  const RunOptions o = parse({"--budget", "2min", "--sessions", "3", "--seed", "18446744073709551615", "--max-memory",
                              "1GiB", "--profile", "standard", "--out", "x", "--worker", "w", "--concurrent",
                              "--dry-run", "--hidden", "--quiet"});
  EXPECT_EQ(o.budget_s, 120);
  EXPECT_EQ(o.sessions, 3);
  EXPECT_EQ(o.seed, 18446744073709551615U);
  EXPECT_EQ(o.max_memory_bytes, 1073741824U);
  EXPECT_TRUE(o.concurrent && o.dry_run && o.hidden && o.quiet);
  EXPECT_EQ(parse({"--max-memory", "1048576"}).max_memory_bytes, 1048576U);
  EXPECT_EQ(parse({"--max-memory", "4kB"}).max_memory_bytes, 4000U);
}

TEST(Options, EveryMistakeIsOneSentence) {
  EXPECT_THAT(problem({"--filtre", "x"}), HasSubstr("run has no option '--filtre'; did you mean --filter?"));
  EXPECT_THAT(problem({"--quite"}), HasSubstr("did you mean --quiet?"));
  EXPECT_THAT(problem({"--budget", "2 parsecs"}), HasSubstr("'2 parsecs' is not a duration"));
  EXPECT_THAT(problem({"--budget", "0s"}), HasSubstr("more than 0"));
  EXPECT_THAT(problem({"--sessions", "0"}), HasSubstr("--sessions '0' must be a whole number from 1"));
  EXPECT_THAT(problem({"--sessions", "3x"}), HasSubstr("--sessions '3x'"));
  EXPECT_THAT(problem({"--seed", "-1"}), testing::Not(HasSubstr("no error")));
  EXPECT_THAT(problem({"--seed", "18446744073709551616"}), HasSubstr("--seed"));
  EXPECT_THAT(problem({"--max-memory", "lots"}), HasSubstr("'lots' is not a size"));
  EXPECT_THAT(problem({"--max-memory", "0"}), HasSubstr("more than 0"));
  EXPECT_THAT(problem({"--max-memory", "4"}), HasSubstr("--max-memory '4' needs a unit, as in 4GiB"));
  EXPECT_THAT(problem({"--max-memory", "1048575"}), HasSubstr("needs a unit"));
  EXPECT_THAT(problem({"--profile"}), HasSubstr("--profile"));
  EXPECT_THAT(problem({"--profile", "a", "--profile", "b"}), HasSubstr("--profile"));
  EXPECT_THAT(problem({"--out", ""}), HasSubstr("--out"));
  EXPECT_THAT(problem({"--resume", "r", "--seed", "2"}), HasSubstr("leave --seed out"));
  for (const char* text : {"--filtre", "--profile"}) EXPECT_EQ(problem({text}).find('\n'), std::string::npos);
}

TEST(Options, EveryVerbHasHelpWithExamplesOrUsage) {
  for (const std::string& verb : verb_names()) EXPECT_THAT(help_text(verb), HasSubstr("usage: assay " + verb));
  for (const char* verb : {"run", "list", "report"}) EXPECT_THAT(help_text(verb), HasSubstr("examples"));
  EXPECT_THROW(help_text("rnu"), UsageError);
}

}  // namespace
}  // namespace assay
