// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Looks at a virtual series: each at its own error, what stands stays, and what more sessions can't change is measured
// no further.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "harness/verdict/sequential.h"

namespace assay {
namespace {

constexpr const char* device = "GPU-1";
constexpr const char* a_case = "compute/x/type:f32";
constexpr double margin = 0.02;

// A metric (a time: lower is better) whose sessions scatter by `sd`, `worse` above 0 (a log).
class Series {
 public:
  Series(std::uint64_t seed, double sd, double worse = 0) : random_(seed), sd_(sd), worse_(worse) {
    metric_.benchmark = "compute/x";
    metric_.unit = "s";
    metric_.better = Better::lower;
  }
  const SideMetric& grow(std::size_t sessions) {
    for (; metric_.seconds.size() < sessions;)
      metric_.seconds.push_back({worse_ + sd_ * normal_(random_), 0.002 * (1 + 0.05 * normal_(random_)), 1e-9, 20});
    return metric_;
  }

 private:
  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
  double sd_, worse_;
  SideMetric metric_;
};

void add(Side& side, const SideMetric& metric, const std::string& case_name = a_case, const std::string& on = device) {
  side.metrics[{on, case_name, "time", ""}] = metric;
  side.cases[{on, case_name}] = {"compute/x", {}, metric.seconds.size()};
}

Side side_of(const SideMetric& metric) {
  Side side;
  add(side, metric);
  return side;
}

struct Ended {
  MetricVerdict verdict;
  std::size_t sessions = 0;  // measured
};

// One run against `before`, as `assay run --against` makes it.
Ended run(Series before, std::size_t before_sessions, Series after, std::size_t cap = default_cap) {
  Sequential judge(side_of(before.grow(before_sessions)), {{}, cap});
  std::size_t k = 0;
  Side now;
  do {
    now = side_of(after.grow(++k));
    judge.look(now, k);
  } while (k < cap && judge.open() > 0);
  return {judge.result(now, {}).metrics.front(), k};
}

// What these errors are worth together is in stats_sequential_test.cpp.
TEST(Sequential, EachLookHasTheErrorThatTheBoundaryAllowsIt) {
  for (const std::size_t sessions : {3, 5, 12}) {
    const auto looks = stats::looks_against(sessions, 0.01, first_look, default_cap);
    Series before(1, 0.004), after(2, 0.004, std::log1p(margin));
    Sequential judge(side_of(before.grow(sessions)), {});
    Side now;
    for (std::size_t k = 1; k <= default_cap; ++k) {
      judge.look(now = side_of(after.grow(k)), k);
      const MetricVerdict v = judge.result(now, {}).metrics.front();
      ASSERT_EQ(judge.open(), 1U) << "this test needs a series that is never decided";
      if (k >= first_look) {
        EXPECT_EQ(v.alpha, looks[k - first_look].alpha) << k;
      }
      EXPECT_FALSE(v.adjusted_p);
    }
  }
}

TEST(Sequential, WhatIsClearIsDecidedEarlyAndWhatIsNotGoesToTheCap) {
  int early = 0, found = 0, undecided = 0;
  for (std::uint64_t seed = 1; seed <= 16; seed += 2) {
    const Ended same = run({seed, 0.001}, 5, {seed + 1, 0.001});
    early += same.verdict.verdict == Outcome::no_regression && same.sessions <= 5;
    found += run({seed, 0.001}, 5, {seed + 1, 0.001, std::log(1.03)}).verdict.verdict == Outcome::regressed;
    const Ended border = run({seed, 0.003}, 5, {seed + 1, 0.003, std::log1p(margin)});
    undecided += border.verdict.verdict == Outcome::inconclusive && border.sessions == default_cap;
  }
  EXPECT_EQ(early, 8);
  EXPECT_EQ(found, 8);
  EXPECT_GE(undecided, 7);
}

TEST(Sequential, AVerdictThatStandsStays) {
  Series before(1, 0.001), good(2, 0.001), bad(3, 0.001, std::log(1.2));
  Sequential judge(side_of(before.grow(5)), {});
  Side now;
  for (std::size_t k = 1; k <= 4; ++k) judge.look(now = side_of(good.grow(k)), k);
  ASSERT_EQ(judge.open(), 0U);
  const MetricVerdict stood = judge.result(now, {}).metrics.front();
  EXPECT_EQ(stood.verdict, Outcome::no_regression);
  EXPECT_LT(stood.alpha, 0.01);
  judge.look(now = side_of(bad.grow(12)), 12);
  const MetricVerdict later = judge.result(now, {}).metrics.front();
  EXPECT_EQ(later.verdict, Outcome::no_regression);
  EXPECT_EQ(later.after, stood.after);
  // But no pass outlives a wrong result.
  now.cases[{device, a_case}].unmeasured = {{Outcome::fail, "for a test"}};
  judge.look(now, 12);
  EXPECT_EQ(judge.result(now, {}).verdict, Outcome::fail);
}

TEST(Sequential, OldSessionsAreNotJudgedAgainAtALargerError) {
  Series before(1, 0.01), after(2, 0.01);
  const Side was = side_of(before.grow(5));
  Sequential judge(was, {});
  Side now;
  for (std::size_t k = 1; k <= 3; ++k) judge.look(now = side_of(after.grow(k)), k);
  ASSERT_EQ(judge.open(), 1U) << "this test needs a series that is undecided at its third session";
  const double alpha = judge.result(now, {}).metrics.front().alpha;
  for (std::size_t k = 4; k <= 12; ++k) judge.look(now, k);  // no session is new
  EXPECT_EQ(judge.result(now, {}).metrics.front().alpha, alpha);
  EXPECT_EQ(judge.open(), 1U);
}

TEST(Sequential, NothingIsDecidedBeforeTheThirdSession) {
  Series before(1, 0.0001), after(2, 0.0001, 0.5);
  Sequential judge(side_of(before.grow(5)), {});
  for (std::size_t k = 1; k <= 2; ++k) {
    const Side now = side_of(after.grow(k));
    judge.look(now, k);
    EXPECT_EQ(judge.open(), 1U);
    EXPECT_TRUE(judge.result(now, {}).looks->looks.empty());
  }
  judge.look(side_of(after.grow(3)), 3);
  EXPECT_EQ(judge.open(), 0U);
}

TEST(Sequential, WhatCannotBeJudgedIsSettledAtOnce) {
  Side before;
  add(before, Series(1, 0.001).grow(5), "a/crashes");
  add(before, Series(2, 0.001).grow(5), "a/gone");
  add(before, Series(3, 0.001).grow(2), "a/too_few_before");
  add(before, Series(4, 0.001).grow(5), "a/fine");
  Side after;
  for (const char* name : {"a/crashes", "a/too_few_before", "a/fine"}) add(after, Series(5, 0.001).grow(1), name);
  after.cases[{device, "a/crashes"}].unmeasured = {{Outcome::error, "for a test"}};
  Sequential judge(before, {});
  judge.look(after, 1);
  EXPECT_EQ(judge.open_cases(), std::set<std::string>{"a/fine"});
  const CompareResult result = judge.result(after, {});
  EXPECT_EQ(result.verdict, Outcome::error);
  EXPECT_EQ(result.metrics.front().key.case_name, "a/crashes");
}

TEST(Sequential, ACaseGoesOnWhileOneOfItsDevicesIsOpen) {
  Side before, after;
  add(before, Series(1, 0.001).grow(5));
  add(before, Series(2, 0.02).grow(5), a_case, "GPU-2");
  add(after, Series(3, 0.001).grow(3));
  add(after, Series(4, 0.02).grow(3), a_case, "GPU-2");
  Sequential judge(before, {});
  for (std::size_t k = 1; k <= 3; ++k) judge.look(after, k);
  EXPECT_EQ(judge.open(), 1U);
  EXPECT_EQ(judge.open_cases().count(a_case), 1U);
}

TEST(Sequential, TellsBeforehandWhatCanHardlyBeDecided) {
  Side before;
  add(before, Series(1, 0.001).grow(5), "a/quiet");
  add(before, Series(2, 0.05).grow(5), "a/noisy");
  add(before, Series(3, 0.001).grow(2), "a/few");
  const Doubtful found = doubtful(before, {});
  ASSERT_EQ(found.too_noisy.size(), 1U);
  EXPECT_EQ(found.too_noisy.front().case_name, "a/noisy");
  ASSERT_EQ(found.too_few.size(), 1U);
  EXPECT_EQ(found.too_few.front().case_name, "a/few");
  SequentialSettings generous;
  generous.compare.margin = 0.5;
  EXPECT_TRUE(doubtful(before, generous).too_noisy.empty());
}

TEST(Sequential, TheSameAsOneLookWhenThereIsRoomForOne) {
  Series before(1, 0.003), after(2, 0.003, 0.01);
  const Side was = side_of(before.grow(5)), is = side_of(after.grow(3));
  Sequential judge(was, {{}, 3});
  for (std::size_t k = 1; k <= 3; ++k) judge.look(side_of(Series(2, 0.003, 0.01).grow(k)), k);
  CompareSettings once;
  once.sessions_min = 3;
  const MetricVerdict one = compare(was, is, {}, once).metrics.front(), looked = judge.result(is, {}).metrics.front();
  EXPECT_EQ(one.verdict, looked.verdict);
  EXPECT_NEAR(one.estimate->low, looked.estimate->low, 1e-9);
}

}  // namespace
}  // namespace assay
