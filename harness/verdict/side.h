// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// What one side of a comparison measured: for each device and metric, one value a session. A device is known by what
// stays with it (device_identity), never by its index. Records in, plain data out; no files.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "harness/base/outcome.h"
#include "harness/device/identity.h"
#include "harness/manifest.h"
#include "harness/record.h"
#include "harness/stats/copies.h"
#include "harness/stats/session.h"

namespace assay {

struct SideKey {
  std::string device;  // identities of the device set, joined by "+"
  std::string case_name, metric, series;
  auto operator<=>(const SideKey&) const = default;
};

// A session that ought to have a value and has none.
struct Unmeasured {
  Outcome outcome = Outcome::not_run;
  std::string reason;
};

struct SideMetric {
  std::string benchmark, worker, unit, cycle_unit;
  Better better = Better::higher;
  std::vector<stats::Session> seconds;     // logs of the values, in the order in which the sessions came
  std::vector<stats::Session> cycles;      // the same per cycle; as many as `seconds`, or none
  std::vector<double> log_clock;           // of each session; as many as `seconds`, or none
  std::optional<double> limit;             // what is physically possible, as the last record says
  std::size_t samples = 0, disturbed = 0;  // of all sessions; disturbed: something else used the CPUs
  std::vector<std::vector<double>> raw;    // samples of each session, for the search for copies; as many as `seconds`
};

struct SideCase {
  std::string benchmark;
  std::vector<Unmeasured> unmeasured;
  std::size_t measured = 0;  // sessions

  // Of the unmeasured; nullopt: there are none.
  std::optional<Unmeasured> worst_ending() const;
};

struct Side {
  std::vector<std::string> run_ids;
  std::set<std::string> files;  // hashes of what was imported
  std::map<SideKey, SideMetric> metrics;
  std::map<std::pair<std::string, std::string>, SideCase> cases;  // device, case name: all that was required
  bool simulated = false;
  std::map<std::string, std::string> test_knobs;
  bool imported = false;
};

// For the search for copies.
std::vector<stats::SessionSamples> samples_of(const SideMetric& metric);

// Adds what a run measured. Sessions of several runs (boots) follow each other. A session counts once: the same run
// twice, two sessions of one process, and sessions with the same samples (stats/copies.h) are Errors, for they would
// make an interval narrow out of nothing.
class SideBuilder {
 public:
  // Begins a run: its devices, and the host as device_identity takes it. Error for a run that is there already.
  void begin_run(const std::string& run_id, const std::vector<DeviceInfo>& devices, const std::string& host = {});
  // A case that the run's plan requires, in each of its sessions. Sessions without a record are NOT_RUN.
  void require(const std::string& case_name, const std::string& benchmark, const std::vector<std::string>& device_set,
               int sessions);
  // Of an import, whose files owe nothing but what they have.
  void require_recorded(const Record& record);
  void imported_from(const std::string& xxh3) { side_.files.insert(xxh3); }
  void add(const Record& record);
  // Error when a metric has changed its unit or direction between two runs of the side.
  void end_run();
  // Error for copies.
  Side finish();

 private:
  struct Session {
    std::string benchmark;
    int process = 0;
    Unmeasured ending{Outcome::not_run, "no record"};
    std::vector<std::pair<SideKey, SideMetric>> values;
  };
  std::string identity_of(const std::vector<std::string>& device_set) const;

  Side side_;
  std::set<std::string> run_ids_;
  std::map<std::string, std::string> identities_;
  std::string run_id_;
  // device, case name, session
  std::map<std::tuple<std::string, std::string, int>, Session> run_;
};

}  // namespace assay
