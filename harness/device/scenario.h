// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// A fake device as text: what it is, what it can run, how fast and how noisy it is, and what goes wrong. The parent
// plans from it (for `fake:` devices the scenario is the manifest), assay-worker-fake plays it on a virtual clock.
// Every key is explained in tests/fixtures/scenarios/example.toml. A key that nobody knows, a wrong type or a value out
// of range is an Error (exit 3) with file, line and key: a misspelt fault that silently does nothing would make a test
// pass for nothing.
//
// Device ids: `fake:default` (built in), `fake:FILE.toml`, and `fake:FILE.toml#K` for device K of a scenario with
// `count` > 1. Everything random is a function of scenario seed, --seed, case, device and session, so the same run
// gives the same bits: a comparison of two "unchanged" runs needs two seeds.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/device/device.h"
#include "harness/manifest.h"

namespace assay {

// How a case behaves in time. Shifts and spreads are in the logarithm of the time of an iteration: 0.03 is 3 % slower.
// Times are seconds of the virtual clock since the case's first block (warm-up included).
struct FakeModel {
  double speed = 1, iteration_s = 1e-3;
  double session_sd = 0, noise_sd = 0, rho = 0, epoch_sd = 0, device_sd = 0, tail_degrees = 0;
  double outlier_probability = 0, outlier_mean = 0;
  double sample_mode_probability = 0, sample_mode_shift = 0, session_mode_probability = 0, session_mode_shift = 0;
  double tick = 0;
  double warmup_shift = 0, warmup_tau_s = 0.1;
  double step = 0, step_from_s = 0, step_until_s = 1e9;
  double decay = 0, decay_from_s = 0, decay_until_s = 1e9;
  double clock_measured = 1, clock_sd = 0, clock_factor = 1, clock_from_s = 0, clock_until_s = 1e9;
  double clock_elasticity = 1, throttled = 0;
  double issue_ratio = 1, disturbed_probability = 0, disturbed_shift = 0;
  double setup_s = 0.05, verify_s = 0.05;
  double host_bytes = 64e6, requested_bytes = 1e9, device_bytes = 1e9, leak_bytes = 0;
  double elements = 1e6;
};

struct FakeModelKey {
  const char* name;
  double FakeModel::*member;
  double least, most;
};
const std::vector<FakeModelKey>& fake_model_keys();

enum class FakeFaultKind {
  none,
  crash,
  exit,
  hang,
  silent,
  exception,
  garbage,
  wrong_result,
  missing_record,
  missing_metric,
  foreign_record,
  no_samples,
  slow_start,
  skip,
};
// "none", "crash", ... in the order of the enumeration: the words of the key `fault`.
const std::vector<std::string>& fake_fault_names();

struct FakeFault {
  FakeFaultKind kind = FakeFaultKind::none;
  std::string phase = "measure";  // setup | warmup | measure | verify: where it strikes
  int signal = 11;                // crash
  int exit_code = 7;              // exit
  std::string text;               // exception, skip: the sentence; garbage: the line
  std::string error_output;       // printed on stderr before it strikes
  std::string metric;             // missing_metric
  double delay_s = 0;             // slow_start: real seconds
  std::uint64_t mismatches = 1;   // wrong_result
};

struct FakeMetric {
  Metric metric;
  double median = 0;  // at speed 1, without noise
  std::optional<double> limit;
  std::string limit_source;
};

struct FakeBenchmark {
  BenchmarkInfo info;
  std::vector<FakeMetric> metrics;
  FakeModel model;
};

// Changes what was said so far for the cases, devices and sessions it names; later ones win.
struct FakeOverride {
  std::string cases = "*";  // shell pattern over the case name; * matches / too
  std::optional<int> device, session;
  std::vector<std::pair<const FakeModelKey*, double>> values;
  std::optional<FakeFault> fault;
  std::map<std::string, std::string> facts;
};

struct Scenario {
  std::string file;  // as named; "default" for the built-in one
  std::string name;
  std::uint64_t digest = 0;  // of its text
  std::uint64_t seed = 1;
  double real_time_factor = 0;  // real seconds per virtual second; 0: as fast as it goes
  double clock_hz = 1.5e9;
  std::vector<DeviceInfo> devices;
  std::vector<FakeBenchmark> benchmarks;
  std::vector<FakeOverride> overrides;
};

// One case as it is to be played on one device in one session, all overrides applied.
struct FakeCase {
  const FakeBenchmark* benchmark = nullptr;
  const CaseInfo* info = nullptr;
  FakeModel model;
  FakeFault fault;
  std::map<std::string, std::string> facts;
};

// `file` names the source in errors and device ids.
Scenario parse_scenario(const std::string& text, const std::string& file);
// "fake:default", "fake:FILE.toml" or "fake:FILE.toml#K".
Scenario read_scenario(const std::string& device_id);
// The devices that an id names: all of the scenario, or the one after `#`.
std::vector<DeviceInfo> fake_devices(const std::string& device_id);
// Index of a device of this scenario. Error when the id names none.
int fake_device_index(const Scenario& scenario, const std::string& device_id);
// Worker "fake", the scenario's benchmarks.
Manifest fake_manifest(const Scenario& scenario);
// Error when the scenario has no such case.
FakeCase fake_case(const Scenario& scenario, const std::string& case_name, int device, int session);

}  // namespace assay
