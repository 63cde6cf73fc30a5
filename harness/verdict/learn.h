// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// From known-good devices to a baseline. Pure: values in, rows or refusals out. A metric is refused rather than
// guessed: a reference that is wrong makes every later verdict wrong. What is refused, each with its sentence:
// simulated or knobbed runs, devices of another class, wrong results, fewer than 3 devices, runs that can't be compared
// with each other (another worker, unit, mode or amount of work), two modes instead of one, and more than a quarter of
// outliers.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/outcome.h"
#include "harness/manifest.h"
#include "harness/stats/session.h"
#include "harness/verdict/baseline.h"

namespace assay {

using Conditions = std::map<std::string, std::string>;  // what, value
// Keeps one copy of each: a million values have a hundred sets of conditions between them.
class ConditionsPool {
 public:
  std::shared_ptr<const Conditions> one(const Conditions& conditions);

 private:
  std::map<Conditions, std::shared_ptr<const Conditions>> known_;
};

// One metric of one device in one session.
struct SessionValue {
  std::string device;   // identity: UUID, or host and PCI address; never an index
  std::string session;  // run and number
  std::string class_id, benchmark;
  MetricKey key;
  std::string unit;
  Better better = Better::higher;
  stats::Session value;            // in logs
  std::vector<double> samples;     // for the search for copies
  std::optional<double> clock_hz;  // mean of the session
  // What must be equal for values to be comparable: worker, modes, bytes, operations, threads.
  std::shared_ptr<const Conditions> conditions;
  std::string worker, modes, driver;
};

struct Refusal {
  Outcome outcome = Outcome::inconclusive;
  std::string metric;  // "" : the whole input
  std::string reason;  // one sentence
};

struct Provenance {
  std::string date, tool_version, source;
};

struct Learned {
  Baseline baseline;
  std::vector<Refusal> refusals;
};

// All `values` are of known-good, real runs; `class_id` is the class that the baseline is to be of.
Learned learn(const std::vector<SessionValue>& values, const std::string& class_id, const Provenance& provenance);

// Does driver version `a` come before `b`? "580.65.06" before "580.95"; by numbers, not by letters.
bool older_version(const std::string& a, const std::string& b);

}  // namespace assay
