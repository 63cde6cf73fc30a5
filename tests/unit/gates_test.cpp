// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
#include "harness/parent/gates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <utility>

namespace assay {
namespace {

using testing::HasSubstr;

const Metric bandwidth{"bandwidth", "B/s", Better::higher, ""};

// Three samples of ten iterations of 1 MB, which add up.
Record good() {
  Record r;
  r.outcome = Outcome::measured;
  r.started_at = "2026-11-30T17:05:01.123Z";
  r.setup_s = 0.1;
  r.measure_s = 0.004;
  r.wall_s = 0.2;
  r.block_s = 0.001;
  r.threads = 1;
  r.cpus = {0};
  r.iterations = 30;
  r.bytes = 30 * 1e6;
  r.verification.elements_compared = 100;
  r.verification.method = "out: bitwise";
  MetricResult result;
  result.metric = bandwidth;
  result.samples = {9.8e9, 1e10, 1.02e10};
  result.limit.kind = "none";
  Series series;
  series.block_s = 0.001;
  series.bytes_per_iteration = 1e6;
  series.stop_reason = "max_time";
  for (const double rate : result.samples) series.samples.push_back({10 * 1e6 / rate, 10});
  r.series = {series};
  r.metrics = {result};
  return r;
}

Record gated(const std::function<void(Record&)>& change) {
  Record r = good();
  change(r);
  apply_gates(r, {bandwidth});
  return r;
}

TEST(Gates, GoodPasses) {
  const Record r = gated([](Record&) {});
  EXPECT_EQ(r.outcome, Outcome::measured);
  EXPECT_EQ(r.reason, "");
  EXPECT_FALSE(r.failure);
}

TEST(Gates, OperationsAreWorkToo) {
  EXPECT_EQ(gated([](Record& r) {
              r.bytes = r.series[0].bytes_per_iteration = 0;
              r.operations = 30;
              r.series[0].operations_per_iteration = 1;
            }).outcome,
            Outcome::measured);
}

TEST(Gates, NoProofOfWorkIsAnError) {
  const std::vector<std::function<void(Record&)>> changes{
      [](Record& r) { r.iterations = 0; },
      [](Record& r) { r.bytes = 0; },
      [](Record& r) { r.bytes = r.series[0].bytes_per_iteration = 0; },
      [](Record& r) { r.bytes *= 2; },
      [](Record& r) { r.operations = 1; },
      [](Record& r) { r.series[0].bytes_per_iteration /= 2; },
      [](Record& r) { r.series[0].block_s = 0; },
      [](Record& r) { r.bytes = std::numeric_limits<double>::quiet_NaN(); },
      [](Record& r) { r.series[0].bytes_per_iteration = std::numeric_limits<double>::quiet_NaN(); },
      [](Record& r) { r.verification.elements_compared = 0; },
      [](Record& r) { r.metrics.clear(); },
      [](Record& r) { r.metrics[0].metric.name = "other"; },
      [](Record& r) { r.metrics[0].metric.unit = "s"; },
      [](Record& r) { r.metrics[0].metric.better = Better::lower; },
      [](Record& r) { r.metrics[0].samples.clear(); },
      [](Record& r) { r.metrics[0].samples[1] = std::numeric_limits<double>::infinity(); },
  };
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const Record r = gated(changes[i]);
    EXPECT_EQ(r.outcome, Outcome::error) << i;
    EXPECT_THAT(r.reason, HasSubstr("no proof of work")) << i;
    EXPECT_TRUE(r.failure) << i;
  }
  Record r = good();
  apply_gates(r, {});
  EXPECT_EQ(r.outcome, Outcome::error);
}

TEST(Gates, ARecordAtOddsWithItselfIsAnError) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<std::pair<const char*, std::function<void(Record&)>>> changes{
      {"negative values",
       [](Record& r) {
         r.metrics[0].samples = {-5, -5, -5};
       }},
      {"zero values",
       [](Record& r) {
         r.metrics[0].samples = {0, 0, 0};
       }},
      {"more than work and time give",
       [](Record& r) {
         r.metrics[0].samples = {1e18, 1e18, 1e18};
       }},
      {"more values than samples", [](Record& r) { r.metrics[0].samples.assign(50, 1e9); }},
      {"no time", [](Record& r) { r.series[0].samples[1].seconds = 0; }},
      {"unknown time", [=](Record& r) { r.series[0].samples[1].seconds = nan; }},
      {"phase without time", [=](Record& r) { r.verify_s = nan; }},
      {"no measuring", [](Record& r) { r.measure_s = 0; }},
      {"less measuring than its samples", [](Record& r) { r.measure_s = 0.001; }},
      {"no wall", [=](Record& r) { r.wall_s = nan; }},
      {"no start", [](Record& r) { r.started_at.clear(); }},
      {"no series", [](Record& r) { r.series.clear(); }},
      {"empty series", [](Record& r) { r.series[0].samples.clear(); }},
      {"no stop reason", [](Record& r) { r.series[0].stop_reason.clear(); }},
      {"samples without iterations", [](Record& r) { r.series[0].samples[0].iterations = 0; }},
      {"other work than its samples", [](Record& r) { r.iterations = 1'000'000'000'000; }},
      {"a series that isn't there", [](Record& r) { r.metrics[0].series = "bytes:64"; }},
      {"NaN in the output", [](Record& r) { r.verification.nan_count = 500; }},
      {"unknown error", [=](Record& r) { r.verification.max_error = nan; }},
      {"evidence of mismatches", [](Record& r) { r.verification.first_mismatches.resize(1); }},
      {"no method", [](Record& r) { r.verification.method.clear(); }},
      {"a failure",
       [](Record& r) {
         r.failure = Failure{"signal", "SIGSEGV", {}};
       }},
      {"a reason", [](Record& r) { r.reason = "it did not run"; }},
      {"no thread", [](Record& r) { r.threads = 0; }},
      {"no CPU", [](Record& r) { r.cpus.clear(); }},
      {"a wishful limit",
       [](Record& r) {
         r.metrics[0].limit = {1e12, "wishful", ""};
       }},
      {"a limit of nothing",
       [](Record& r) {
         r.metrics[0].limit = {0, "spec", ""};
       }},
      {"cycles of another length", [](Record& r) { r.metrics[0].cycle_unit = "B/cycle"; }},
  };
  for (const auto& [what, change] : changes) {
    EXPECT_EQ(gated(change).outcome, Outcome::error) << what;
    Record read_back = good();
    change(read_back);
    apply_gates(read_back);
    EXPECT_EQ(read_back.outcome, Outcome::error) << what << ", read back";
  }
}

TEST(Gates, EveryOtherEndingHasAReason) {
  for (const Outcome outcome : {Outcome::fail, Outcome::invalid, Outcome::not_run, Outcome::error}) {
    const Record r = gated([&](Record& record) {
      record.outcome = outcome;
      record.verification.mismatches = outcome == Outcome::fail ? 1 : 0;
    });
    EXPECT_EQ(r.reason, "the worker gave no reason");
    EXPECT_EQ(r.failure.has_value(), outcome == Outcome::error);
  }
}

TEST(Gates, OneSampleFarBeyondTheLimitIsInvalid) {
  const Record r = gated([](Record& record) {
    record.metrics[0].limit = {1.001e10, "spec", "data sheet"};
    record.series[0].samples[2].seconds /= 10;
    record.metrics[0].samples[2] *= 10;
  });
  EXPECT_EQ(r.outcome, Outcome::invalid);
}

TEST(Gates, MismatchesFail) {
  const Record r = gated([](Record& record) { record.verification.mismatches = 1; });
  EXPECT_EQ(r.outcome, Outcome::fail);
  EXPECT_THAT(r.reason, HasSubstr("1 of 100"));
}

TEST(Gates, BeyondALimitIsInvalid) {
  const auto with_limit = [](double limit, const char* kind, Better better = Better::higher) {
    Record r = good();
    r.metrics[0].limit = {limit, kind, "data sheet"};
    r.metrics[0].metric.better = better;
    apply_gates(r, {{"bandwidth", "B/s", better, ""}});
    return r.outcome;
  };
  EXPECT_EQ(with_limit(1e10, "spec"), Outcome::measured);
  EXPECT_EQ(with_limit(0.99e10, "spec"), Outcome::invalid);
  EXPECT_EQ(with_limit(0.99e10, "measured_clock"), Outcome::measured);  // the clock is known to 2 %
  EXPECT_EQ(with_limit(0.97e10, "measured_clock"), Outcome::invalid);
  EXPECT_EQ(with_limit(1.01e10, "spec", Better::lower), Outcome::invalid);
  EXPECT_EQ(with_limit(1e10, "spec", Better::lower), Outcome::measured);
}

TEST(Gates, NeverMakeARecordBetter) {
  for (const Outcome outcome : {Outcome::fail, Outcome::invalid, Outcome::not_run, Outcome::error})
    EXPECT_EQ(gated([&](Record& r) {
                r.outcome = outcome;
                r.verification.mismatches = outcome == Outcome::fail ? 1 : 0;
              }).outcome,
              outcome);
}

TEST(Gates, FailOwesEvidence) {
  const auto failed = [](std::uint64_t mismatches, std::uint64_t compared) {
    Record r = good();
    r.outcome = Outcome::fail;
    r.reason = "it is bad";
    r.verification.mismatches = mismatches;
    r.verification.elements_compared = compared;
    apply_gates(r, {bandwidth});
    return r;
  };
  EXPECT_EQ(failed(1, 100).outcome, Outcome::fail);
  EXPECT_EQ(failed(1, 100).reason, "it is bad");
  for (const Record& r : {failed(0, 100), failed(101, 100), failed(1, 0)}) {
    EXPECT_EQ(r.outcome, Outcome::error);
    ASSERT_TRUE(r.failure);
    EXPECT_EQ(r.failure->kind, "protocol");
    EXPECT_THAT(r.reason, HasSubstr("no proof of work: FAIL with"));
  }
  // Nor does MEASURED turn into a FAIL that could not be.
  EXPECT_EQ(gated([](Record& r) { r.verification.mismatches = 101; }).outcome, Outcome::error);
}

// One value from a whole series: its best sample is what could be reached.
TEST(Gates, ADerivedValueNeedsItsWorkToo) {
  const auto derived = [](double value) { return gated([=](Record& r) { r.metrics[0].samples = {value}; }).outcome; };
  EXPECT_EQ(derived(1.02e10), Outcome::measured);
  EXPECT_EQ(derived(5e9), Outcome::measured);
  EXPECT_EQ(derived(1.03e10), Outcome::error);
  // The same of a sweep, whose value belongs to no series of its own.
  const auto swept = [](double value) {
    return gated([=](Record& r) {
             r.metrics[0].samples = {value};
             r.series.push_back(r.series[0]);
             r.series[0].label = "bytes:1";
             r.series[1].label = "bytes:2";
             r.series[1].bytes_per_iteration *= 2;
             r.iterations *= 2;
             r.bytes *= 3;
             r.measure_s *= 2;
           })
        .outcome;
  };
  EXPECT_EQ(swept(2.04e10), Outcome::measured);
  EXPECT_EQ(swept(2.05e10), Outcome::error);
}

}  // namespace
}  // namespace assay
