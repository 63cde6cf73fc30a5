// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// The fake device: what a scenario says about speed, noise, clock and faults is what its records show; the same seed
// gives the same bits; the rules of a real sampler are obeyed. Statistical checks have fixed seeds, so they can't
// flicker.
#include "harness/worker/fake.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "harness/base/error.h"
#include "harness/parent/run_data.h"

namespace assay {
namespace {

// One benchmark "a/b" with a rate and a latency; `model` goes into [model], `rest` behind everything.
Scenario scenario(const std::string& model, const std::string& rest = "", const std::string& head = "") {
  return parse_scenario("name = \"t\"\n" + head + "\n[device]\nclock_hz = 2.0e9\n[model]\n" + model + R"(
[[benchmark]]
name = "a/b"
[[benchmark.metric]]
name = "bandwidth"
unit = "B/s"
median = 1.0e12
limit = 1.5e12
[[benchmark.metric]]
name = "latency"
unit = "s"
median = 4.0e-7
)" + rest,
                        "T");
}

class Listener : public Link {
 public:
  explicit Listener(int stop_after = -1) : stop_after_(stop_after) {}
  std::optional<std::int64_t> ready() override { return 77; }
  void phase(const char* name) override { phases.emplace_back(name); }
  void window(const std::string& metric, const std::string&, double value, double) override {
    last_metric = metric;
    last = value;
    ++windows;
  }
  bool stop_requested() const override { return stop_after_ >= 0 && windows >= stop_after_; }
  std::vector<std::string> phases;
  std::string last_metric;
  double last = 0;
  int windows = 0;

 private:
  int stop_after_;
};

CaseRequest request(int session = 1, std::uint64_t seed = 1, const std::string& device = "fake:T") {
  CaseRequest r;
  r.id = 1;
  r.case_name = "a/b";
  r.device_set = {device};
  r.session = session;
  r.policy.seed = seed;
  return r;
}

// Exactly n samples, with no early end.
CaseRequest samples_of(std::uint64_t n, int session = 1, std::uint64_t seed = 1) {
  CaseRequest r = request(session, seed);
  r.policy.samples_min = r.policy.samples_max = n;
  r.policy.measure_max_s = 1e9;
  return r;
}

Record run(const Scenario& s, const CaseRequest& r, const FakeStage& stage = {}) {
  Listener link;
  return play(s, r, link, stage);
}

std::vector<double> logs(const Record& record, std::size_t metric = 0) {
  std::vector<double> values;
  for (const double v : record.metrics.at(metric).samples) values.push_back(std::log(v));
  return values;
}

double median(const Record& record, std::size_t metric = 0) {
  return summarise(record.metrics.at(metric).samples).median;
}

std::string text_without_start(Record record) {
  record.started_at.clear();
  return line(to_json(record));
}

// --- same seed, same bits
// ----------------------------------------------------------------------------------------------

TEST(Fake, SameSeedSameBitsAnythingElseDiffers) {
  const Scenario s =
      scenario("noise_sd = 0.01\nsession_sd = 0.01\nclock_sd = 0.01\noutlier_probability = 0.1", "", "count = 2");
  const Record first = run(s, request(1, 1, "fake:T#0"));
  EXPECT_EQ(text_without_start(first), text_without_start(run(s, request(1, 1, "fake:T#0"))));
  for (const Record& other :
       {run(s, request(2, 1, "fake:T#0")), run(s, request(1, 2, "fake:T#0")), run(s, request(1, 1, "fake:T#1"))})
    EXPECT_NE(first.metrics[0].samples, other.metrics[0].samples);
  const Scenario other_seed = scenario("noise_sd = 0.01", "", "count = 2\nseed = 9");
  EXPECT_NE(first.metrics[0].samples, run(other_seed, request(1, 1, "fake:T#0")).metrics[0].samples);
}

TEST(Fake, RecordIsMarkedSimulatedAndComplete) {
  Listener link;
  const Record r = play(scenario("noise_sd = 0.01"), request(), link, {});
  EXPECT_TRUE(r.simulated);
  EXPECT_EQ(r.outcome, Outcome::measured);
  EXPECT_EQ(r.reason, "");
  EXPECT_EQ(r.worker, "fake");
  EXPECT_EQ(r.go_ns, 77);
  EXPECT_EQ(link.phases, (std::vector<std::string>{"setup", "warmup", "measure", "verify"}));
  EXPECT_EQ(link.windows, static_cast<int>(r.series.at(0).samples.size()));
  EXPECT_EQ(link.last_metric, "bandwidth");
  EXPECT_DOUBLE_EQ(link.last, r.metrics[0].samples.back());
  EXPECT_GT(r.verification.elements_compared, 0U);
  EXPECT_EQ(r.verification.mismatches, 0U);
  EXPECT_GT(r.setup_s * r.warmup_s * r.measure_s * r.verify_s, 0);
  EXPECT_EQ(line(to_json(record_from_json(to_json(r)))), line(to_json(r)));
}

TEST(Fake, WorkAgreesWithTheSamplesOnBothAxes) {
  const Record r = run(scenario("noise_sd = 0.01\niteration_s = 0.003"), request());
  std::uint64_t iterations = 0;
  const Series& series = r.series.at(0);
  for (std::size_t i = 0; i < series.samples.size(); ++i) {
    const Sample& s = series.samples[i];
    const double n = static_cast<double>(s.iterations);
    iterations += s.iterations;
    EXPECT_NEAR(r.metrics[0].samples[i], series.bytes_per_iteration * n / s.seconds, 1e-12 * 1e12);
    EXPECT_NEAR(r.metrics[0].cycle_samples[i], r.metrics[0].samples[i] / s.clock_hz, 1e-9);
    EXPECT_NEAR(r.metrics[1].samples[i], s.seconds / n * (4e-7 / 0.003), 1e-18);
    EXPECT_NEAR(r.metrics[1].cycle_samples[i], r.metrics[1].samples[i] * s.clock_hz, 1e-9);
  }
  EXPECT_EQ(r.metrics[0].cycle_unit, "B/cycle");
  EXPECT_EQ(r.metrics[1].cycle_unit, "cycle");
  EXPECT_EQ(r.iterations, iterations);
  EXPECT_GT(iterations, 0U);
}

// --- the sampler's rules
// -------------------------------------------------------------------------------------------------

TEST(Fake, BlocksAreAsLongAsThePolicySays) {
  CaseRequest r = request();
  r.policy.block_s = 0.25;
  const Record record = run(scenario(""), r);
  for (const Sample& s : record.series.at(0).samples) EXPECT_NEAR(s.seconds, 0.25, 0.002);
}

TEST(Fake, EachStopReason) {
  const Scenario quiet = scenario("noise_sd = 0.001"), noisy = scenario("noise_sd = 0.2");
  EXPECT_EQ(run(quiet, request()).series[0].stop_reason, "relative_error");
  EXPECT_GE(run(quiet, request()).measure_s, 0.5);
  const Record timed = run(noisy, request());
  EXPECT_EQ(timed.series[0].stop_reason, "max_time");
  EXPECT_GE(timed.measure_s, 2.0);
  EXPECT_LT(timed.measure_s, 3.0);
  const Record counted = run(noisy, samples_of(50));
  EXPECT_EQ(counted.series[0].stop_reason, "max_samples");
  EXPECT_EQ(counted.series[0].samples.size(), 50U);
  Listener impatient(3);
  const Record stopped = play(noisy, samples_of(1000), impatient, {});
  EXPECT_EQ(stopped.series[0].stop_reason, "stopped");
  EXPECT_EQ(stopped.series[0].samples.size(), 3U);
  EXPECT_EQ(stopped.outcome, Outcome::measured);
}

TEST(Fake, WarmUpIsLeftOutOfTheSamplesAndSaysWhenItWasCutShort) {
  const std::string cold = "noise_sd = 0.0005\nwarmup_shift = 0.5\nwarmup_tau_s = ";
  CaseRequest r = request();
  r.policy.warmup_max_s = 10;
  const Record warm = run(scenario(cold + "0.2"), r);
  EXPECT_TRUE(warm.series[0].warmup_flat);
  EXPECT_GT(warm.warmup_s, 0.6);
  EXPECT_GT(*std::min_element(warm.metrics[0].samples.begin(), warm.metrics[0].samples.end()), 0.98e12);
  r.policy.warmup_max_s = 0.5;
  const Record cut = run(scenario(cold + "1.0"), r);
  EXPECT_FALSE(cut.series[0].warmup_flat);
  EXPECT_LT(cut.metrics[0].samples.front(), 0.9e12);
}

TEST(Fake, TenVirtualMinutes) {
  const Record r = run(scenario("noise_sd = 0.01"), samples_of(6000));
  EXPECT_GT(r.measure_s, 595);
  EXPECT_EQ(r.metrics[0].samples.size(), 6000U);
}

// --- noise
// ---------------------------------------------------------------------------------------------------------------

TEST(Fake, MedianAndNoise) {
  const Summary s = summarise(logs(run(scenario("noise_sd = 0.02"), samples_of(4000))));
  EXPECT_NEAR(s.median, std::log(1e12), 0.002);
  EXPECT_NEAR(s.sd, 0.02, 0.001);
}

TEST(Fake, SessionSpreadIsSharedByTheSamplesOfASession) {
  const Scenario s = scenario("session_sd = 0.01");
  std::vector<double> sessions;
  for (int i = 1; i <= 500; ++i) {
    const std::vector<double> values = logs(run(s, samples_of(3, i)));
    EXPECT_NEAR(values[0], values[2], 1e-12);
    sessions.push_back(values[0]);
  }
  EXPECT_NEAR(summarise(sessions).sd, 0.01, 0.001);
  EXPECT_NEAR(summarise(sessions).mean, std::log(1e12), 0.002);
}

TEST(Fake, EpochIsSharedByTheSessionsOfARun) {
  const Scenario s = scenario("epoch_sd = 0.01");
  std::vector<double> runs;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) runs.push_back(logs(run(s, samples_of(1, 1, seed)))[0]);
  EXPECT_NEAR(logs(run(s, samples_of(1, 2, 5)))[0], runs[4], 1e-12);
  EXPECT_NEAR(summarise(runs).sd, 0.01, 0.0015);
}

TEST(Fake, NeighboursAreCorrelatedByRho) {
  const std::vector<double> v = logs(run(scenario("noise_sd = 0.02\nrho = 0.8"), samples_of(6000)));
  const Summary s = summarise(v);
  double together = 0;
  for (std::size_t i = 1; i < v.size(); ++i) together += (v[i] - s.mean) * (v[i - 1] - s.mean);
  EXPECT_NEAR(together / static_cast<double>(v.size()) / (s.sd * s.sd), 0.8, 0.04);
  EXPECT_NEAR(s.sd, 0.02, 0.002) << "the spread is that of the samples, not of the innovations";
}

TEST(Fake, TailsOutliersAndModes) {
  const auto beyond = [](const Record& r, double bound) {
    const std::vector<double> v = logs(r);
    return static_cast<double>(
               std::count_if(v.begin(), v.end(), [&](double x) { return std::log(1e12) - x > bound; })) /
           static_cast<double>(v.size());
  };
  // Student t with 3 degrees of freedom lies above 5 with probability 0.0077; a normal value practically never does.
  EXPECT_NEAR(beyond(run(scenario("noise_sd = 0.01\ntail_degrees = 3"), samples_of(10000)), 0.05), 0.0077, 0.003);
  EXPECT_EQ(beyond(run(scenario("noise_sd = 0.01"), samples_of(10000)), 0.05), 0);
  EXPECT_NEAR(beyond(run(scenario("outlier_probability = 0.1\noutlier_mean = 0.05"), samples_of(5000)), 0.05),
              0.1 / std::exp(1), 0.008);
  EXPECT_NEAR(beyond(run(scenario("sample_mode_probability = 0.3\nsample_mode_shift = 0.015"), samples_of(5000)), 0.01),
              0.3, 0.03);
  const Scenario modes = scenario("session_mode_probability = 0.3\nsession_mode_shift = 0.015");
  double slow = 0;
  for (int i = 1; i <= 1000; ++i) {
    const double share = beyond(run(modes, samples_of(2, i)), 0.01);
    EXPECT_TRUE(share == 0 || share == 1) << "a mode belongs to a whole session";
    slow += share / 1000;
  }
  EXPECT_NEAR(slow, 0.3, 0.05);
}

TEST(Fake, TicksMakeTies) {
  const Record r = run(scenario("noise_sd = 0.001\ntick = 0.0015"), samples_of(500));
  for (const Sample& s : r.series[0].samples) {
    const double ticks = s.seconds / static_cast<double>(s.iterations) / 1.5e-6;
    EXPECT_NEAR(ticks, std::round(ticks), 1e-6);
  }
  EXPECT_LE(std::set<double>(r.metrics[0].samples.begin(), r.metrics[0].samples.end()).size(), 20U);
}

TEST(Fake, DevicesOfANodeDifferTheSameWayInEveryRun) {
  const Scenario s = scenario("device_sd = 0.01", "", "count = 8");
  const auto value = [&](int device, std::uint64_t seed) {
    CaseRequest r = samples_of(1, 1, seed);
    r.device_set = {"fake:T#" + std::to_string(device)};
    return logs(run(s, r))[0];
  };
  for (int d = 0; d < 8; ++d) EXPECT_NEAR(value(d, 1), value(d, 2), 1e-12);
  EXPECT_GT(std::fabs(value(0, 1) - value(1, 1)), 1e-4);
}

// --- drift, clock, flags
// -------------------------------------------------------------------------------------------------

TEST(Fake, StepAndDecayHappenWhenTheyShould) {
  CaseRequest r = samples_of(100);
  const std::vector<double> step = logs(run(scenario("step = 0.03\nstep_from_s = 5\nstep_until_s = 8"), r));
  EXPECT_NEAR(step.front(), std::log(1e12), 1e-9);
  EXPECT_NEAR(step[60], std::log(1e12) - 0.03, 1e-9);
  EXPECT_NEAR(step.back(), std::log(1e12), 1e-9);
  EXPECT_NEAR(
      static_cast<double>(std::count_if(step.begin(), step.end(), [](double x) { return x < std::log(1e12) - 0.02; })),
      30, 1);
  const std::vector<double> decay = logs(run(scenario("decay = 0.05\ndecay_from_s = 2\ndecay_until_s = 6"), r));
  EXPECT_NEAR(decay.front(), std::log(1e12), 1e-9);
  EXPECT_NEAR(decay.back(), std::log(1e12) - 0.05, 1e-9);
  for (std::size_t i = 1; i < decay.size(); ++i) EXPECT_LE(decay[i], decay[i - 1] + 1e-9);
}

TEST(Fake, ALowerClockSlowsWhatDependsOnItAndLeavesThePerCycleAxis) {
  const Record elastic = run(scenario("clock_factor = 0.97\nclock_elasticity = 1"), request());
  EXPECT_NEAR(median(elastic), 0.97e12, 1);
  EXPECT_NEAR(summarise(elastic.metrics[0].cycle_samples).median, 1e12 / 2e9, 1e-6);
  EXPECT_NEAR(median(elastic, 1), 4e-7 / 0.97, 1e-15);
  EXPECT_EQ(elastic.series[0].samples[0].clock_hz, 0.97 * 2e9);
  const Record memory = run(scenario("clock_factor = 0.97\nclock_elasticity = 0"), request());
  EXPECT_NEAR(median(memory), 1e12, 1);
}

TEST(Fake, ThrottledBlocksAreFlaggedAndTheEdgeShowsAFrequencyChange) {
  CaseRequest r = samples_of(60);
  const Record record = run(scenario("clock_factor = 0.8\nclock_from_s = 3\nclock_until_s = 5\nthrottled = 1"), r);
  int throttled = 0, edges = 0, slow = 0;
  for (const Sample& s : record.series[0].samples) {
    throttled += (s.disturbed & disturbed::throttled) != 0;
    edges += (s.disturbed & disturbed::frequency) != 0;
    slow += s.clock_hz < 1.7e9;
  }
  EXPECT_NEAR(throttled, 17, 2);  // blocks are longer at a lower clock
  EXPECT_EQ(edges, 2);
  EXPECT_GE(slow, 14);
}

TEST(Fake, DisturbedSamplesAreKept) {
  const Record r =
      run(scenario("disturbed_probability = 0.2\ndisturbed_shift = 0.05\nissue_ratio = 0.7"), samples_of(1000));
  int disturbed_ones = 0;
  for (const Sample& s : r.series[0].samples) {
    disturbed_ones += (s.disturbed & disturbed::involuntary_switches) != 0;
    EXPECT_NE(s.disturbed & disturbed::shared_core, 0U);
  }
  EXPECT_NEAR(disturbed_ones, 200, 40);
  EXPECT_EQ(r.metrics[0].samples.size(), 1000U);
  EXPECT_EQ(r.outcome, Outcome::measured);
}

TEST(Fake, NoClockNoCycleAxis) {
  const Record r = run(scenario("clock_measured = 0"), request());
  EXPECT_EQ(r.series[0].samples[0].clock_hz, 0);
  EXPECT_EQ(r.metrics[0].cycle_unit, "");
  EXPECT_TRUE(r.metrics[0].cycle_samples.empty());
}

TEST(Fake, SpeedActsOnRatesAndTimes) {
  const Record r = run(scenario("speed = 0.97"), request());
  EXPECT_NEAR(median(r), 0.97e12, 1);
  EXPECT_NEAR(median(r, 1), 4e-7 / 0.97, 1e-15);
}

// --- memory, outcomes, faults
// ----------------------------------------------------------------------------------------------

TEST(Fake, LeakGrowsWithEveryCaseOfTheProcess) {
  const Scenario s = scenario("leak_bytes = 1e6\nhost_bytes = 5e6\ndevice_bytes = 7e6");
  FakeStage stage;
  stage.cases_before = 3;
  const Record r = run(s, request(), stage);
  EXPECT_EQ(r.host_resident_peak_bytes, 8'000'000U);
  EXPECT_EQ(r.device_peak_bytes, 10'000'000U);
  EXPECT_EQ(r.host_resident_rest_bytes, 9'000'000U);  // this case's own, too
  EXPECT_EQ(r.device_rest_bytes, 4'000'000U);
}

TEST(Fake, MoreMemoryThanThereIsIsNotRun) {
  const Record r = run(scenario("requested_bytes = 17e9"), request());
  EXPECT_EQ(r.outcome, Outcome::not_run);
  EXPECT_THAT(r.reason, testing::HasSubstr("15.8 GiB"));
  EXPECT_TRUE(r.series.empty());
  CaseRequest little = request();
  little.policy.max_memory_bytes = 1000;
  EXPECT_EQ(run(scenario(""), little).outcome, Outcome::not_run);
}

TEST(Fake, TheLimitIsInTheRecordForTheParentToJudge) {
  const Record r = run(scenario("speed = 2"), request());
  EXPECT_EQ(r.metrics.at(0).limit.value, 1.5e12);
  EXPECT_EQ(r.metrics[0].limit.kind, "spec");
  EXPECT_EQ(r.metrics.at(1).limit.kind, "none");
  EXPECT_GT(median(r), 1.5e12);
  EXPECT_EQ(r.outcome, Outcome::measured);
}

TEST(Fake, WrongResultsAreEvidence) {
  const Record r = run(scenario("", "[[override]]\nfault = \"wrong_result\"\nmismatches = 3\n"), request());
  EXPECT_EQ(r.outcome, Outcome::fail);
  EXPECT_EQ(r.verification.mismatches, 3U);
  ASSERT_EQ(r.verification.first_mismatches.size(), 3U);
  EXPECT_NE(r.verification.first_mismatches[0].expected, r.verification.first_mismatches[0].actual);
  EXPECT_EQ(r.verification.first_mismatches[0].xor_bits, "0x0000000000000001");
}

TEST(Fake, TestKnobsActAndAreRecorded) {
  FakeStage stage;
  stage.slowdown = 1.03;
  stage.test_knobs = {{"ASSAY_TEST_SLOWDOWN", "1.03"}};
  const Record slow = run(scenario(""), request(), stage);
  EXPECT_NEAR(median(slow), 1e12 / 1.03, 1);
  EXPECT_EQ(slow.test_knobs.at("ASSAY_TEST_SLOWDOWN"), "1.03");
  FakeStage corrupt;
  corrupt.corrupt = "a/b";
  EXPECT_EQ(run(scenario(""), request(), corrupt).outcome, Outcome::fail);
  corrupt.corrupt = "a/c";
  EXPECT_EQ(run(scenario(""), request(), corrupt).outcome, Outcome::measured);
}

TEST(Fake, EachFaultStrikesInItsPhaseOnce) {
  for (const std::string phase : {"setup", "warmup", "measure", "verify"}) {
    const Scenario s = scenario("", "[[override]]\nfault = \"crash\"\nphase = \"" + phase + "\"\n");
    Listener link;
    std::vector<std::string> struck;
    FakeStage stage;
    stage.strike = [&](const FakeFault& fault) { struck.push_back(fault.phase + "@" + link.phases.back()); };
    play(s, request(), link, stage);
    EXPECT_EQ(struck, std::vector<std::string>{phase + "@" + phase});
  }
}

TEST(Fake, FaultsThatShowInTheRecord) {
  const auto with = [](const std::string& fault) { return run(scenario("", "[[override]]\n" + fault), request()); };
  EXPECT_EQ(with("fault = \"skip\"\ntext = \"no pages\"\n").outcome, Outcome::not_run);
  EXPECT_EQ(with("fault = \"skip\"\ntext = \"no pages\"\n").reason, "no pages");
  const Record thrown = with("fault = \"exception\"\ntext = \"oh\"\n");
  EXPECT_EQ(thrown.outcome, Outcome::error);
  EXPECT_EQ(thrown.reason, "oh");
  EXPECT_EQ(thrown.failure.value().kind, "exception");
  EXPECT_EQ(thrown.benchmark, "a/b");
  EXPECT_NE(with("fault = \"foreign_record\"\n").case_name, "a/b");
  const Record partial = with("fault = \"missing_metric\"\nmetric = \"latency\"\n");
  ASSERT_EQ(partial.metrics.size(), 1U);
  EXPECT_EQ(partial.metrics[0].metric.name, "bandwidth");
  const Record hollow = with("fault = \"no_samples\"\n");
  EXPECT_TRUE(hollow.series[0].samples.empty());
  EXPECT_EQ(hollow.iterations, 0U);
  EXPECT_EQ(hollow.outcome, Outcome::measured) << "a lie, told on purpose: the parent must not believe it";
  EXPECT_EQ(with("facts = { \"ecc.corrected\" = \"2\" }\n").facts.at(0).value, "2");
}

TEST(Fake, UnknownCasesAndDevicesAreErrors) {
  CaseRequest r = request();
  r.case_name = "a/c";
  EXPECT_THROW(run(scenario(""), r), Error);
  EXPECT_THROW(run(scenario(""), request(1, 1, "fake:T#1")), Error);
}

}  // namespace
}  // namespace assay
