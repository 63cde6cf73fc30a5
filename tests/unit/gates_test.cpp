// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
#include "harness/parent/gates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>

namespace assay {
namespace {

using testing::HasSubstr;

const Metric bandwidth{"bandwidth", "B/s", Better::higher, ""};

Record good() {
  Record r;
  r.outcome = Outcome::measured;
  r.iterations = 10;
  r.bytes_per_iteration = 1e6;
  r.verification.elements_compared = 100;
  MetricResult result;
  result.metric = bandwidth;
  result.samples = {9e9, 1e10, 1.1e10};
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
  EXPECT_EQ(gated([](Record& r) { r.bytes_per_iteration = 0, r.operations_per_iteration = 1; }).outcome,
            Outcome::measured);
}

TEST(Gates, NoProofOfWorkIsAnError) {
  const std::vector<std::function<void(Record&)>> changes{
      [](Record& r) { r.iterations = 0; },
      [](Record& r) { r.bytes_per_iteration = 0; },
      [](Record& r) { r.bytes_per_iteration = std::numeric_limits<double>::quiet_NaN(); },
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
    EXPECT_EQ(gated([&](Record& r) { r.outcome = outcome; }).outcome, outcome);
}

}  // namespace
}  // namespace assay
