// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
#include "harness/parent/gates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>
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

void with_cycles(Record& r) {
  r.metrics[0].cycle_unit = "B/cycle";
  for (std::size_t i = 0; i < 3; ++i) {
    r.series[0].samples[i].clock_hz = 2e9;
    r.metrics[0].cycle_samples.push_back(r.metrics[0].samples[i] / 2e9);
  }
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

TEST(Gates, ValuesPerCyclePass) {
  EXPECT_EQ(gated(with_cycles).outcome, Outcome::measured);
  EXPECT_EQ(gated([](Record& r) {
              with_cycles(r);
              r.metrics[0].cycle_samples[1] *= 1.009;
            }).outcome,
            Outcome::measured);
  Record latency = good();  // the other way round: a time is multiplied
  with_cycles(latency);
  MetricResult& result = latency.metrics[0];
  result.metric = {"latency", "s", Better::lower, ""};
  result.cycle_unit = "cycle";
  result.samples = {1e-9, 1e-9, 1.5e-9};
  result.cycle_samples = {2, 2, 3};
  apply_gates(latency, {result.metric});
  EXPECT_EQ(latency.outcome, Outcome::measured) << latency.reason;
}

TEST(Gates, ABoundedComparisonMayHaveAnError) {
  for (const char* method :
       {"out: |difference| <= 0 + 1e-5 x |expected|", "a: bitwise; b: |difference| <= 1 + 0 x |expected|"})
    EXPECT_EQ(gated([=](Record& r) {
                r.verification.method = method;
                r.verification.max_error = 1e-6;
              }).outcome,
              Outcome::measured);
}

TEST(Gates, ASimulatedSampleHasATimeOfItsOwn) {
  EXPECT_EQ(gated([](Record& r) {
              r.simulated = true;
              r.cpus.clear();
              r.metrics[0].samples = {1, 1, 1};
              for (Sample& sample : r.series[0].samples) sample.seconds = 0.9e-6;
            }).outcome,
            Outcome::measured);
}

TEST(Gates, WorkThatEndsTooSoonIsInvalid) {
  const auto shortened = [](std::size_t how_many, std::size_t of) {
    return gated([=](Record& r) {
      r.series[0].samples.resize(of);
      r.metrics[0].samples.resize(of);
      r.iterations = 10 * of;
      r.bytes = 1e7 * static_cast<double>(of);
      for (std::size_t i = 0; i < how_many; ++i) r.series[0].samples[i].disturbed = disturbed::short_block;
    });
  };
  EXPECT_EQ(shortened(3, 3).outcome, Outcome::invalid);
  EXPECT_THAT(shortened(3, 3).reason, HasSubstr("all 3 blocks came out shorter than asked for"));
  EXPECT_EQ(shortened(2, 3).outcome, Outcome::measured);
  EXPECT_EQ(shortened(1, 1).outcome, Outcome::measured);  // one alone says nothing
  const Record fast = gated([](Record& r) {
    r.series[0].samples[0].iterations += 1'000'000'000'000;
    r.iterations += 1'000'000'000'000;
    r.bytes = 1e6 * static_cast<double>(r.iterations);
  });
  EXPECT_EQ(fast.outcome, Outcome::invalid);
  EXPECT_THAT(fast.reason, HasSubstr("more than one a cycle of any clock"));
}

TEST(Gates, OnlyDeclaredMetricsCount) {
  const Record undeclared = gated([](Record& r) {
    r.metrics.push_back(r.metrics[0]);
    r.metrics[1].metric.name = "dream";
  });
  EXPECT_EQ(undeclared.outcome, Outcome::error);
  EXPECT_THAT(undeclared.reason, HasSubstr("declares no metric dream"));
  const Record many = gated([](Record& r) { r.metrics.resize(3, r.metrics[0]); });
  EXPECT_THAT(many.reason, HasSubstr("it has 3 metrics, its manifest declares 1"));
}

// Judging each value derived from the whole by going through all samples would take minutes.
TEST(Gates, ManyMetricsOfManySamples) {
  Record r = good();
  r.series[0].samples.resize(400'000, r.series[0].samples[0]);
  r.iterations = 10 * r.series[0].samples.size();
  r.bytes = 1e6 * static_cast<double>(r.iterations);
  r.measure_s = r.wall_s = 1000;
  r.setup_s = 0;
  r.metrics[0].samples = {9e9};
  r.metrics.resize(12'000, r.metrics[0]);
  for (std::size_t i = 0; i < r.metrics.size(); ++i) r.metrics[i].metric.name += std::to_string(i);
  EXPECT_EQ(contradiction(r), "");
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
      {"sums without end",
       [](Record& r) {
         r.series[0].bytes_per_iteration = 1e308;
         r.bytes = 1;
         r.metrics[0].samples = {1e300, 1e300, 1e300};
       }},
      {"iterations that wrap around",
       [](Record& r) {
         r.series[0].samples[0].iterations = std::numeric_limits<std::uint64_t>::max();
         r.series[0].samples[1].iterations = 21;
         r.bytes = 1e6 * (std::pow(2, 64) + 30);
       }},
      {"a sample that no timer resolves",
       [](Record& r) {
         for (Sample& sample : r.series[0].samples) sample.seconds = 0.9e-6;
       }},
      {"a clock below 0", [](Record& r) { r.series[0].samples[0].clock_hz = -5; }},
      {"a slow clock", [](Record& r) { r.series[0].samples[0].clock_hz = 0.9e6; }},
      {"a fast clock", [](Record& r) { r.series[0].samples[0].clock_hz = 1.1e11; }},
      {"no number as clock", [=](Record& r) { r.series[0].samples[0].clock_hz = nan; }},
      {"cycles without a clock",
       [](Record& r) {
         with_cycles(r);
         r.series[0].samples[2].clock_hz = 0;
       }},
      {"cycles without a unit",
       [](Record& r) {
         with_cycles(r);
         r.metrics[0].cycle_unit.clear();
       }},
      {"cycles in bananas",
       [](Record& r) {
         with_cycles(r);
         r.metrics[0].cycle_unit = "bananas";
       }},
      {"cycles of another clock",
       [](Record& r) {
         with_cycles(r);
         r.metrics[0].cycle_samples[1] *= 1.02;
       }},
      {"cycles of one value from many samples",
       [](Record& r) {
         with_cycles(r);
         r.metrics[0].samples.resize(1);
         r.metrics[0].cycle_samples.resize(1);
       }},
      {"a metric twice", [](Record& r) { r.metrics.push_back(r.metrics[0]); }},
      {"two series of one name",
       [](Record& r) {
         r.series.push_back(r.series[0]);
         r.iterations *= 2;
         r.bytes *= 2;
         r.measure_s *= 2;
       }},
      {"an error of what is the same bit for bit", [](Record& r) { r.verification.max_error = 1e-9; }},
      {"the same of two buffers",
       [](Record& r) {
         r.verification.method = "a: bitwise; b: bitwise";
         r.verification.max_error = 1e-9;
       }},
      {"phases longer than the case", [](Record& r) { r.wall_s = 0.1; }},
      {"a CPU below 0",
       [](Record& r) {
         r.cpus = {-1, 0};
       }},
      {"a CPU twice",
       [](Record& r) {
         r.cpus = {0, 1, 0};
       }},
      {"threads without number", [](Record& r) { r.threads = 65537; }},
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

// As import makes one.
Record imported() {
  Record r;
  r.imported = Imported{"nvbench", "a.json", "0123456789abcdef", ""};
  r.outcome = Outcome::measured;
  MetricResult result;
  result.metric = bandwidth;
  result.samples = {9.8e9, 1e10};
  result.limit.kind = "none";
  r.metrics = {result};
  return r;
}

void per_cycle(Record& r) {
  r.metrics[0].cycle_unit = "B/cycle";
  r.metrics[0].cycle_samples = {4.9, 5};
  r.curves = {{"clock beside " + r.metrics[0].metric.name, "sample", "1", "clock", "Hz", {{1, 2e9}, {2, 2e9}}}};
}

TEST(Imported, NeedsNoProofAndMayClaimNone) {
  EXPECT_EQ(contradiction(imported()), "");
  const std::vector<std::pair<const char*, std::function<void(Record&)>>> lies{
      {"iterations", [](Record& r) { r.iterations = 1; }},
      {"series", [](Record& r) { r.series.emplace_back(); }},
      {"time", [](Record& r) { r.measure_s = 1; }},
      {"verification", [](Record& r) { r.verification.elements_compared = 5; }},
      {"method", [](Record& r) { r.verification.method = "bitwise"; }},
      {"threads", [](Record& r) { r.threads = 1; }},
      {"cpus", [](Record& r) { r.cpus = {0}; }},
      {"simulated", [](Record& r) { r.simulated = true; }},
      {"limit", [](Record& r) { r.metrics[0].limit.value = 1e12; }},
      {"a series that isn't there", [](Record& r) { r.metrics[0].series = "x"; }},
      {"no metric", [](Record& r) { r.metrics.clear(); }},
      {"no sample", [](Record& r) { r.metrics[0].samples.clear(); }},
      {"a sample of 0", [](Record& r) { r.metrics[0].samples[1] = 0; }},
      {"NaN", [](Record& r) { r.metrics[0].samples[1] = std::nan(""); }},
      {"no file", [](Record& r) { r.imported->file.clear(); }},
      {"no hash", [](Record& r) { r.imported->xxh3.clear(); }},
      {"a reason", [](Record& r) { r.reason = "because"; }},
      {"a value per cycle without its unit",
       [](Record& r) {
         r.metrics[0].cycle_samples = {4.9, 5};
       }},
      {"another clock than the one beside it", [](Record& r) { per_cycle(r), r.curves[0].points[1].y = 1e9; }},
      {"values that the clock doesn't give", [](Record& r) { per_cycle(r), r.metrics[0].samples[1] *= 2; }},
      {"a clock of nothing", [](Record& r) { per_cycle(r), r.curves.clear(), r.metrics[0].cycle_samples[1] = 1e5; }},
  };
  Record with_cycles = imported();
  per_cycle(with_cycles);
  EXPECT_EQ(contradiction(with_cycles), "");
  for (const auto& [what, change] : lies) {
    Record r = imported();
    change(r);
    EXPECT_NE(contradiction(r), "") << what;
    apply_gates(r);
    EXPECT_EQ(r.outcome, Outcome::error) << what;
  }
  for (const Outcome outcome : {Outcome::fail, Outcome::invalid}) {
    Record judged = imported();
    judged.outcome = outcome;
    judged.reason = "so";
    judged.verification.elements_compared = judged.verification.mismatches = 1;
    apply_gates(judged);
    EXPECT_EQ(judged.outcome, Outcome::error);
  }
  Record bare = imported();
  bare.imported.reset();
  EXPECT_NE(contradiction(bare), "") << "without its origin it has no proof of work";
}

TEST(Imported, AWorkerCannotClaimIt) {
  Record r = good();
  r.imported = imported().imported;
  apply_gates(r, {bandwidth});
  EXPECT_EQ(r.outcome, Outcome::error);
  EXPECT_THAT(r.reason, HasSubstr("imported"));
  EXPECT_FALSE(r.imported) << "a run that measures has no place for such a record";
}

}  // namespace
}  // namespace assay
