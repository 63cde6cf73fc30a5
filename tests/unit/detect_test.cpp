// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Records in, findings out: where a fault was, that what was not looked at is counted, that sessions confirm and copies
// don't, memory of our own cases and of others, and how often devices that are all alike have a straggler.
#include "harness/verdict/detect.h"

#include <gmock/gmock.h>

#include <cmath>
#include <random>

namespace assay {
namespace {

using ::testing::HasSubstr;

constexpr std::size_t usual = 240;

DeviceInfo device(int number) {
  DeviceInfo info;
  info.kind = "fake";
  info.id = "fake:x#" + std::to_string(number);
  info.uuid = "FAKE-" + std::to_string(number);
  info.name = "Fake accelerator";
  info.labels["class"] = "fake-a";
  return info;
}

std::vector<DeviceInfo> devices(int count) {
  std::vector<DeviceInfo> all;
  for (int i = 0; i < count; ++i) all.push_back(device(i));
  return all;
}

struct Made {
  std::string case_name = "compute/fma/type:f32";
  int device = 0, session = 1;
  double speed = 1, clock = 1;
  std::size_t samples = usual;
  double drop = 0, from = 0.6;  // share of the rate, from this share of the series on
  unsigned seed = 1;
  double noise = 0.002;
};

Record record(const Made& m) {
  Record r;
  r.run_id = "run";
  r.case_name = m.case_name;
  r.benchmark = "compute/fma";
  r.worker = "fake";
  r.device_set = {device(m.device).id};
  r.session = r.process = m.session;
  r.outcome = Outcome::measured;
  Series& series = r.series.emplace_back();
  MetricResult& metric = r.metrics.emplace_back();
  metric.metric = {"rate", "FLOP/s", Better::higher, ""};
  metric.cycle_unit = "FLOP/cycle";
  std::mt19937_64 random(m.seed * 1000 + static_cast<unsigned>(100 * m.device + m.session));
  std::normal_distribution<double> normal(0, m.noise);
  const double between = 0.001 * normal(random) / m.noise;  // of the session
  for (std::size_t i = 0; i < m.samples; ++i) {
    const bool late = static_cast<double>(i) >= m.from * static_cast<double>(m.samples);
    Sample sample;
    sample.seconds = 0.25;
    sample.iterations = 1;
    sample.clock_hz = 1.5e9 * m.clock;
    metric.samples.push_back(6e13 * m.speed * std::exp(between + normal(random)) * (late ? 1 - m.drop : 1));
    metric.cycle_samples.push_back(metric.samples.back() / sample.clock_hz);
    series.samples.push_back(sample);
  }
  return r;
}

Detections look(const std::vector<Record>& records, int device_count = 1) {
  Detector detector;
  detector.begin_run("run", "host", devices(device_count));
  for (const Record& r : records) detector.add(r);
  return detector.finish();
}

TEST(Detect, ADropSaysWhereWhenAndOnWhat) {
  Made m;
  m.drop = 0.03;
  const Detections found = look({record(m)});
  ASSERT_EQ(found.findings.size(), 1U);
  const Finding& f = found.findings[0];
  EXPECT_EQ(f.what, Anomaly::drop);
  EXPECT_EQ(f.device_set, std::vector<std::string>{"fake:x#0"});
  EXPECT_EQ(std::tie(f.case_name, f.metric, f.run_id), std::tuple("compute/fma/type:f32", "rate", "run"));
  EXPECT_NEAR(f.begin_s.value_or(0), 0.25 * 144, 1.01);
  EXPECT_FALSE(f.end_s) << "it lasted";
  EXPECT_NEAR(f.change, -0.03, 0.003);
  EXPECT_EQ(f.samples, usual);
  EXPECT_EQ(f.clock_change, 0);
  EXPECT_THAT(f.sentence, HasSubstr("its rate fell at second 3"));
  EXPECT_EQ(found.series_examined, 1U);
}

TEST(Detect, AChangeThatRoundsToNothingHasNoSign) {
  Made m;
  m.drop = 0.03;
  Record r = record(m);
  for (std::size_t i = 144; i < usual; ++i) r.series[0].samples[i].clock_hz *= 0.99996;
  const Detections found = look({r});
  ASSERT_EQ(found.findings.size(), 1U);
  EXPECT_THAT(found.findings[0].sentence, HasSubstr("the clock does not explain it (0.00 %)"));
}

TEST(Detect, TooFewSamplesAreCountedAndNothingIsClaimed) {
  Made m;
  m.drop = 0.5;
  m.samples = 60;
  const Detections found = look({record(m)});
  EXPECT_TRUE(found.findings.empty());
  EXPECT_EQ(found.series_examined, 0U);
  EXPECT_EQ(found.series_too_short, 1U);
  EXPECT_EQ(found.peers_too_few, 1U);
}

TEST(Detect, OnlyMeasuredRecordsCount) {
  Made m;
  m.drop = 0.1;
  Record bad = record(m);
  bad.outcome = Outcome::fail;
  const Detections found = look({bad});
  EXPECT_TRUE(found.findings.empty());
  EXPECT_EQ(found.series_examined + found.series_too_short + found.peers_too_few, 0U);
}

TEST(Detect, MetricsOfTheSameSamplesAreOneSeries) {
  Made m;
  m.drop = 0.05;
  Record r = record(m);
  r.metrics.push_back(r.metrics[0]);
  r.metrics[1].metric.name = "other";
  const Detections found = look({r});
  EXPECT_EQ(found.findings.size(), 1U);
  EXPECT_EQ(found.series_examined, 1U);
}

TEST(Detect, SessionsWithTheSameFindingAreOne) {
  std::vector<Record> records;
  for (int session = 1; session <= 3; ++session) {
    Made m;
    m.session = session;
    m.drop = session == 2 ? 0 : 0.02 * session;
    records.push_back(record(m));
  }
  const Detections found = look(records);
  ASSERT_EQ(found.findings.size(), 1U);
  EXPECT_EQ(found.findings[0].session, 3) << "the worst";
  EXPECT_EQ(found.findings[0].seen_in, 2U);
  EXPECT_EQ(found.findings[0].looked_in, 3U);
  EXPECT_THAT(found.findings[0].sentence, HasSubstr("in 2 of 3 sessions"));
}

TEST(Detect, ADisturbedFindingSaysSoAndComesLast) {
  Made m;
  m.drop = 0.2;
  Record disturbed_one = record(m);
  for (std::size_t i = 144; i < usual; ++i) disturbed_one.series[0].samples[i].disturbed = disturbed::steal;
  m.case_name = "compute/fma/type:f64";
  m.drop = 0.03;
  const Detections found = look({disturbed_one, record(m)});
  ASSERT_EQ(found.findings.size(), 2U);
  EXPECT_FALSE(found.findings[0].disturbed);
  EXPECT_TRUE(found.findings[1].disturbed);
  EXPECT_THAT(found.findings[1].sentence, HasSubstr("(steal): measure again on a quiet machine"));
}

TEST(Detect, TemperatureComesFromTheTelemetry) {
  Made m;
  m.drop = 0.1;
  Record r = record(m);
  r.started_at = "2026-11-30T17:05:00Z";
  r.setup_s = 1;
  r.warmup_s = 2;
  for (Sample& sample : r.series[0].samples) sample.clock_hz = 0;
  r.metrics[0].cycle_samples.clear();
  std::vector<Warmth> warmth;  // hot from second 36 of measuring on
  for (int s = 0; s < 70; ++s) warmth.push_back({1796058300.0 + s, s < 3 + 36 ? 60.0 : 88.0});
  Detector detector;
  detector.begin_run("run", "host", devices(1), warmth);
  detector.add(r);
  const Detections found = detector.finish();
  ASSERT_EQ(found.findings.size(), 1U);
  EXPECT_EQ(found.findings[0].what, Anomaly::throttle);
  EXPECT_EQ(found.findings[0].celsius_change, 28);
}

// --- memory

std::vector<Record> process(std::size_t cases, double leak_bytes, double late_library = 0) {
  std::vector<Record> records;
  for (std::size_t i = 0; i < cases; ++i) {
    Made m;
    m.case_name += std::to_string(i);
    m.samples = 5;
    Record r = record(m);
    r.requested_bytes = 1'000'000'000 + 17'000'000 * (i % 3);
    const double held = 3e8 + leak_bytes * static_cast<double>(i) + (i > 2 ? late_library : 0);
    r.device_peak_bytes = r.requested_bytes + static_cast<std::uint64_t>(held);
    r.host_resident_peak_bytes = 500'000'000 + 1000 * (i % 2);
    records.push_back(r);
  }
  return records;
}

TEST(Detect, MemoryThatGrowsWithEveryCaseIsALeak) {
  const Detections found = look(process(8, 3e7));
  ASSERT_EQ(found.findings.size(), 1U);
  EXPECT_EQ(found.findings[0].what, Anomaly::leak);
  EXPECT_EQ(found.findings[0].metric, "device_peak_bytes");
  EXPECT_NEAR(found.findings[0].growth_bytes.value_or(0), 7 * 3e7, 2);
  EXPECT_EQ(found.memory_examined, 1U);
}

// At rest a small leak shows that the peaks of unlike cases hide.
TEST(Detect, WhatIsHeldAfterEachCaseIsLookedAtFirst) {
  const auto at_rest = [](double leak_bytes, double late_library) {
    std::vector<Record> records = process(8, 1e6);
    for (std::size_t i = 0; i < records.size(); ++i) {
      records[i].device_peak_bytes = std::nullopt;
      records[i].host_resident_peak_bytes = records[i].requested_bytes + (i % 3) * 200'000'000;
      records[i].host_resident_rest_bytes =
          static_cast<std::uint64_t>(5e7 + leak_bytes * static_cast<double>(i) + (i > 2 ? late_library : 0));
    }
    return look(records);
  };
  const Detections found = at_rest(1e6, 0);
  ASSERT_EQ(found.findings.size(), 1U);
  EXPECT_EQ(found.findings[0].metric, "host_resident_rest_bytes");
  EXPECT_EQ(found.findings[0].growth_bytes, 7e6);
  EXPECT_TRUE(at_rest(0, 4e8).findings.empty());
  EXPECT_TRUE(at_rest(4e5, 0).findings.empty());  // within what the kernel's count may be off by
}

// One case of which nothing was read at rest: then the peaks decide.
TEST(Detect, APeakStandsInWhereRestIsNotKnown) {
  std::vector<Record> records = process(8, 3e7);
  for (Record& r : records) r.device_rest_bytes = 1000;
  records[5].device_rest_bytes.reset();
  const Detections found = look(records);
  ASSERT_EQ(found.findings.size(), 1U);
  EXPECT_EQ(found.findings[0].metric, "device_peak_bytes");
}

TEST(Detect, LibrariesThatAreLoadedLateAreNone) {
  for (const Detections& found : {look(process(8, 0)), look(process(8, 0, 4e8)), look(process(8, 1e6))}) {
    EXPECT_TRUE(found.findings.empty());
    EXPECT_EQ(found.memory_examined, 1U);
  }
}

TEST(Detect, AFewCasesAreTooFewForALeak) {
  const Detections found = look(process(5, 1e9));
  EXPECT_TRUE(found.findings.empty());
  EXPECT_EQ(found.memory_too_short, 1U);
}

Record foreign(double bytes_per_s, bool with_times = true, double filling = 0) {
  Made m;
  m.samples = 0;
  Record r = record(m);
  r.imported = Imported{"csv", "f.csv", "00", ""};
  r.series.clear();
  r.metrics[0].metric = {"resident", "B", Better::lower, ""};
  r.metrics[0].cycle_unit.clear();
  r.metrics[0].cycle_samples.clear();
  Curve times{"time beside resident", "sample", "1", "time", "s", {}};
  for (int i = 0; i < 300; ++i) {
    const double t = 2.0 * i;  // a garbage collector of 20 s
    r.metrics[0].samples.push_back(1e9 + bytes_per_s * t + 5e6 * (i % 10) + filling * (1 - std::exp(-t / 150)));
    times.points.push_back({static_cast<double>(i), t});
  }
  if (with_times) r.curves.push_back(times);
  return r;
}

TEST(Detect, ForeignMemoryIsLookedAtInWindows) {
  const Detections leak = look({foreign(1e6)});
  ASSERT_EQ(leak.findings.size(), 1U);
  EXPECT_EQ(leak.findings[0].what, Anomaly::leak);
  EXPECT_FALSE(leak.findings[0].suspected);
  EXPECT_NEAR(leak.findings[0].bytes_per_second.value_or(0), 1e6, 2e4);
  const Detections filling = look({foreign(0, true, 5e8)});
  ASSERT_EQ(filling.findings.size(), 1U);
  EXPECT_TRUE(filling.findings[0].suspected) << "a cache that fills";
  EXPECT_TRUE(look({foreign(0)}).findings.empty());
  EXPECT_EQ(look({foreign(0)}).memory_examined, 1U);
  const Detections timeless = look({foreign(1e6, false)});
  EXPECT_TRUE(timeless.findings.empty());
  EXPECT_EQ(timeless.memory_too_short, 1U);
}

// --- peers

// `slow`: devices that are 5 % slower; only in sessions up to `until`.
std::vector<Record> node(int count, int sessions, int slow, int until = 100, double clock = 1, unsigned seed = 1) {
  std::vector<Record> records;
  for (int session = 1; session <= sessions; ++session)
    for (int d = 0; d < count; ++d) {
      Made m;
      m.device = d;
      m.session = session;
      m.samples = 10;
      m.seed = seed;
      if (d == slow && session <= until) {
        m.speed = 0.95;
        m.clock = clock;
      }
      records.push_back(record(m));
    }
  return records;
}

TEST(Detect, AStragglerIsCertainWhenFreshSessionsShowItAgain) {
  const Detections once = look(node(8, 1, 5), 8), again = look(node(8, 4, 5), 8);
  ASSERT_EQ(once.findings.size(), 1U);
  EXPECT_EQ(once.findings[0].what, Anomaly::straggler);
  EXPECT_TRUE(once.findings[0].suspected);
  ASSERT_EQ(again.findings.size(), 1U);
  EXPECT_FALSE(again.findings[0].suspected);
  EXPECT_EQ(again.findings[0].device_set, std::vector<std::string>{"fake:x#5"});
  EXPECT_NEAR(again.findings[0].change, -0.05, 0.004);
  EXPECT_EQ(again.findings[0].devices, 8U);
  EXPECT_THAT(again.findings[0].sentence, HasSubstr("no matter of its clock"));
  EXPECT_EQ(again.peers_examined, 1U);
  EXPECT_EQ(again.series_too_short, 32U) << "ten samples are no series";
}

TEST(Detect, OneBadSessionIsOnlySuspected) {
  for (const Finding& f : look(node(8, 2, 5, 1), 8).findings) EXPECT_TRUE(f.suspected);
}

TEST(Detect, ALowClockExplainsAStraggler) {
  const Detections found = look(node(8, 2, 5, 100, 0.95), 8);
  ASSERT_EQ(found.findings.size(), 1U);
  EXPECT_NEAR(found.findings[0].clock_change.value_or(0), -0.05, 1e-3);
  EXPECT_THAT(found.findings[0].sentence, HasSubstr("its clock explains it"));
}

TEST(Detect, AHighClockHidesNoStraggler) {
  std::vector<Record> records = node(8, 2, 5, 100, 1.06);
  for (Record& r : records)
    if (r.device_set[0] == "fake:x#5")
      for (double& v : r.metrics[0].samples) v /= 0.95;
  const Detections found = look(records, 8);
  ASSERT_EQ(found.findings.size(), 1U);
  EXPECT_THAT(found.findings[0].sentence, HasSubstr("a higher clock hides it"));
}

TEST(Detect, AClockThatOnlyTheStragglerTellsExplainsNothing) {
  std::vector<Record> records = node(8, 2, 5);
  for (Record& r : records)
    if (r.device_set[0] != "fake:x#5") r.metrics[0].cycle_samples.clear();
  const Detections found = look(records, 8);
  ASSERT_EQ(found.findings.size(), 1U);
  EXPECT_FALSE(found.findings[0].clock_change);
  EXPECT_FALSE(found.findings[0].suspected);
}

TEST(Detect, TwoDevicesHaveNoMajority) {
  const Detections found = look(node(2, 4, 1), 2);
  EXPECT_TRUE(found.findings.empty());
  EXPECT_EQ(found.peers_examined, 0U);
  EXPECT_EQ(found.peers_too_few, 1U);
}

TEST(Detect, OtherClassesAreNoPeers) {
  Detector detector;
  std::vector<DeviceInfo> mixed = devices(6);
  for (int d = 3; d < 6; ++d) mixed[static_cast<std::size_t>(d)].labels["class"] = "fake-b";
  detector.begin_run("run", "host", mixed);
  for (const Record& r : node(6, 2, 5)) detector.add(r);
  const Detections found = detector.finish();
  EXPECT_EQ(found.peers_examined, 2U);
  ASSERT_EQ(found.findings.size(), 1U);
  EXPECT_EQ(found.findings[0].devices, 3U);
}

TEST(Detect, TheSameRunTwiceConfirmsNothing) {
  Detector detector;
  for (int time = 0; time < 2; ++time) {
    detector.begin_run("run", "host", devices(8));
    for (const Record& r : node(8, 1, 5)) detector.add(r);
  }
  const Detections found = detector.finish();
  ASSERT_EQ(found.findings.size(), 1U);
  EXPECT_TRUE(found.findings[0].suspected);
  EXPECT_EQ(found.series_too_short, 8U);
}

TEST(Detect, ASecondRunConfirms) {
  Detector detector;
  for (const char* run : {"first", "second"}) {
    detector.begin_run(run, "host", devices(8));
    for (Record r : node(8, 1, 5, 100, 1, run[0])) {
      r.run_id = run;
      detector.add(r);
    }
  }
  const Detections found = detector.finish();
  ASSERT_EQ(found.findings.size(), 1U);
  EXPECT_FALSE(found.findings[0].suspected);
}

TEST(Detect, DevicesThatAreAlikeHaveNoStraggler) {
  int suspected = 0, certain = 0;
  constexpr int fleets = 400;
  for (unsigned seed = 0; seed < fleets; ++seed)
    for (const Finding& f : look(node(8, 4, -1, 0, 1, seed + 10), 8).findings) ++(f.suspected ? suspected : certain);
  EXPECT_EQ(certain, 0);
  EXPECT_LE(suspected, fleets / 50);
}

}  // namespace
}  // namespace assay
