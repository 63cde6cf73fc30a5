// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// What went on inside the runs, from their records: rates that fell while they were measured, memory that did not come
// back, a device that is slower than its peers. Records in, plain data out; no files.
// How to read it: a finding says what, where, how much and on what it stands. What was not looked at is counted beside
// what was: no finding among 3 series examined and 40 too short is no clean bill of health.
// Traps: one session or run can be unlucky, so a straggler is only suspected until fresh sessions show it again. A rate
// that falls at the same second in every session may be the load's own phase, or the same heat.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "harness/device/device.h"
#include "harness/manifest.h"
#include "harness/record.h"
#include "harness/stats/robust.h"
#include "harness/verdict/series.h"

namespace assay {

// Cases of one process, for a leak from case to case.
inline constexpr std::size_t fewest_cases_for_leak = 6;

enum class Anomaly {
  throttle,   // the rate fell with the clock, or the device says that it throttles, or it got hot
  drop,       // the rate fell suddenly, at the same clock where a clock was read
  decay,      // it fell little by little
  leak,       // memory grows and does not come back
  straggler,  // slower than the other devices of its class
};
// "THROTTLE", ...: the words of reports.
std::string_view word(Anomaly anomaly);

struct Finding {
  Anomaly what = Anomaly::drop;
  bool suspected = false;  // seen once where twice is asked for
  bool disturbed = false;  // a quarter of the samples concerned, or more, were taken while something else was at work

  // Where. Empty: it is of no single run, case or metric.
  std::string run_id, benchmark, case_name, metric, series;
  std::vector<std::string> device_set;
  int session = 0;                         // 0: of several sessions together
  std::size_t seen_in = 1, looked_in = 1;  // sessions: with the same finding; in which it was looked for
  std::optional<double> begin_s, end_s;    // seconds of measuring in that session; end_s: it was over by then
  std::size_t begin_sample = 0;            // the first sample concerned, from 0

  // How much: of the rate, relative to what it was or to the peers (-0.03); of memory, what was gained (0.5).
  double change = 0;
  std::optional<stats::Interval> interval;  // 95 %
  std::optional<double> clock_change, celsius_change, throttled_share;
  std::optional<double> growth_bytes, bytes_per_second;  // LEAK

  // On what it stands: samples, samples a block, blocks behind the reference; devices compared.
  std::size_t samples = 0, per_block = 0, blocks = 0, devices = 0;
  std::string sentence;
};

struct Detections {
  std::vector<Finding> findings;  // worst first: certain before suspected, undisturbed before disturbed, by size
  std::size_t series_examined = 0, series_too_short = 0, series_unsteady = 0;
  double least_watched = 1;  // of the examined ones: the smallest share of its samples in which a fall would be seen
  std::size_t memory_examined = 0, memory_too_short = 0;  // processes with several cases, and foreign memory series
  std::size_t peers_examined = 0, peers_too_few = 0;      // case x metric x series of a class of devices
};

// One look at a sensor while a run went on.
struct Warmth {
  double unix_s = 0, celsius = 0;
};

class Detector {
 public:
  // Begins a run. The same run again, given twice, is not looked at a second time: its sessions count once. `host`
  // tells devices apart that have no UUID. `warmth` ascends in time.
  void begin_run(const std::string& run_id, const std::string& host, const std::vector<DeviceInfo>& devices,
                 std::vector<Warmth> warmth = {});
  // A record of the run that was begun last, in the order of the file. Only MEASURED ones have numbers.
  void add(const Record& record);
  Detections finish();

 private:
  struct Process {
    std::vector<std::string> device_set;
    std::string run_id;
    int session = 1;
    std::size_t cases = 0;
    std::map<std::string, std::vector<double>> held;  // by field of the record's memory: bytes a case, in their order
  };
  struct PeerKey {
    std::string device_class, benchmark, case_name, metric, series, worker;
    auto operator<=>(const PeerKey&) const = default;
  };
  struct Peer {
    std::string run_id, id;               // of its last session
    std::vector<double> seconds, cycles;  // log of each session's value
    std::size_t samples = 0, disturbed = 0;
  };
  struct PeerGroup {
    Better better = Better::higher;
    std::map<std::string, Peer> devices;  // by identity
  };

  void add_series(const Record& record, const MetricResult& metric, const TimedSeries& series);
  void add_foreign_memory(const Record& record, const MetricResult& metric, const TimedSeries& series);
  void add_footprint(const Record& record);
  void add_peer(const Record& record, const MetricResult& metric);
  void find_growth(const Process& process);
  void find_stragglers(const PeerKey& key, const PeerGroup& group);
  void merge_sessions();

  std::string run_id_, host_;
  bool again_ = false;
  std::set<std::string> run_ids_;
  std::map<std::string, DeviceInfo> devices_;
  std::vector<Warmth> warmth_;
  std::map<std::tuple<std::string, std::string, int>, Process> processes_;  // run, device set, process
  std::map<PeerKey, PeerGroup> peers_;
  // How many sessions of a series were examined: run, device set, case, metric, series.
  std::map<std::tuple<std::string, std::string, std::string, std::string, std::string>, std::size_t> looked_;
  Detections found_;
};

}  // namespace assay
