// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Is this machine what it should be? Each metric is held against four references, and each answer stands on its own:
//   limit    what is physically possible: a number above it is INVALID, not great
//   class    a tolerance limit learnt from known-good devices of the class, on both axes
//   peers    the other devices of the node: none may stand out; who does, twice in two, FAILs
//   history  a tolerance limit learnt from what this device gave before, on both axes
// and, where one is given, against a contract (rules.h). The class decides where there is a reference; without one the
// answer is UNKNOWN with what can still be said, never PASS: neither peers nor history pass anything. A contract that
// covers all it names passes on its own.
//
// Two axes, four answers: slow and the same per cycle: the clock is low; slow on both: the device is; as it should be
// per second and low per cycle: a fault that a high clock hides; low on neither: PASS.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/outcome.h"
#include "harness/verdict/baseline.h"
#include "harness/verdict/classes.h"
#include "harness/verdict/rules.h"
#include "harness/verdict/side.h"

namespace assay {

struct Reference {
  Outcome outcome = Outcome::unknown;
  std::string reason;           // "no reference of this class", "0.8 % below the limit of 3.02 TB/s"
  std::optional<double> bound;  // in the metric's unit
};

struct AcceptedMetric {
  SideKey key;
  std::string benchmark, unit;
  Better better = Better::higher;
  std::optional<double> value;                        // geometric mean of the sessions
  std::optional<std::pair<double, double>> interval;  // 98 %; nullopt: one session
  std::size_t sessions = 0;
  Reference limit, klass, peers, history;
  Outcome verdict = Outcome::unknown;
  std::string reason;
};

struct AcceptedDevice {
  std::string identity, name;
  ClassMatch match;
  std::optional<GpuClass> gpu;       // its class, where limits are known for it
  std::optional<Baseline> baseline;  // of its class
  std::string baseline_source;       // file, or "none"
  std::string other_class;           // of the baseline that was given, when it isn't this device's; "": none was
};

struct AcceptSettings {
  double alpha = 0.01;
  double floor = 0.02, cycle_floor = 0.005;
  double coverage = 0.99, confidence = 0.95;
  std::string no_history = "no earlier run was given";  // why there is none
  std::string shape;                                    // machine type of a provider, for the contract; "": not told
};

struct AcceptResult {
  Outcome verdict = Outcome::unknown;
  std::string reason;
  std::vector<AcceptedDevice> devices;
  std::vector<AcceptedMetric> metrics;  // worst first
  std::optional<Judgement> contract;
  std::string contract_name;
  bool simulated = false;
  std::map<std::string, std::string> test_knobs;
};

// Earlier sessions of a device that make a history; fewer are PROVISIONAL.
inline constexpr std::size_t sessions_for_a_history = 8;

// `devices`: of the run, by what their metrics call them. `contract` and `history` (earlier runs that may be compared
// with this one) may be null.
AcceptResult accept(const Side& side, const std::vector<AcceptedDevice>& devices, const Contract* contract,
                    const Side* history = nullptr, const AcceptSettings& settings = {});

}  // namespace assay
