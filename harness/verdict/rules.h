// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// A contract: what a buyer was promised, as a TOML file of comparisons. They are parsed, never evaluated as code; every
// number has a unit; a name that nobody knows is an error, because a rule that applies to nothing passes everything.
// results/README.md explains the keys. A pack is a contract in results/rules/: gates that others published.
//
//   [[rule]]
//   case = "memory/stream/op:triad/type:f64/size:dram"    # or a pattern: * matches anything
//   require = "bandwidth >= 3.9 TB/s"                      # on every device
//   [[rule]]
//   case = "memory/stream/op:triad/type:f64/size:dram"
//   require = "spread of bandwidth <= 3 %"                 # (greatest - least) / median over the devices of the node
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/base/json.h"
#include "harness/base/outcome.h"
#include "harness/manifest.h"
#include "harness/verdict/baseline.h"
#include "harness/verdict/classes.h"
#include "harness/verdict/evidence.h"

namespace assay {

enum class Comparator { at_least, above, at_most, below };

struct Comparison {
  std::string text;  // as written
  std::string metric;
  bool spread = false;  // of the devices of a node, in %
  Comparator comparator = Comparator::at_least;
  double bound = 0;  // in `unit`
  std::string unit;  // base unit; "%" for a spread
  Axis axis = Axis::second;

  bool holds(double value) const;
  bool is_floor() const { return comparator == Comparator::at_least || comparator == Comparator::above; }
};

struct Rule {
  std::string name;                  // its own, or its case
  std::vector<std::string> classes;  // that it is for; empty: all
  std::vector<std::string> shapes;   // machine types of a provider; empty: all
  std::optional<int> node_devices;   // only where a node has that many
  std::optional<int> devices;        // a rule of its own: the node must have exactly so many of these classes
  std::string case_pattern, series;
  std::vector<Comparison> require;
  bool later = false;      // no benchmark of this version measures it yet
  std::string comparable;  // same | similar | different: is our metric what the source measured?
  std::string published, note, source;
  std::map<std::string, std::string> set_aside;  // classes that a pack's rule for all can't be meant for, and why
};

// A published row that is no rule: `reason` says why.
struct NoRule {
  std::string published, reason, source;
};

struct Contract {
  std::string file, name, summary, source;
  bool pack = false;  // in results/rules/: others wrote it
  std::vector<Rule> rules;
  std::vector<NoRule> quarantined;  // the linter rejects them: they can't be what was meant
  std::vector<NoRule> left_out;     // nothing that Assay measures on a device
};

// Error (exit 3) with file, line and key for unknown keys, a comparison that isn't one, a missing unit, a bound that no
// machine can have, bounds that contradict each other.
Contract parse_contract(const std::string& text, const std::string& file);
// A file, or the name of a pack ("azure-nhc"). Error for a name that is neither, with the nearest.
Contract read_contract(const std::string& name_or_file);
std::vector<std::string> pack_names();

struct KnownMetric {
  std::string case_name, metric, unit;
  Better better = Better::higher;
};
// Error with the nearest names for an unknown class, case or metric, for a unit that the metric hasn't, for a floor
// under a metric that is better lower (and the reverse), for a bound beyond the physical limit of its class, and for a
// floor so far below it that what is plainly broken passes. A rule without classes is for `present`, those of the run;
// in a pack, where it is one gate for many machines, such a bound is set aside for that class instead
// (Rule::set_aside). Rules with `later` may name what isn't there yet.
void check_names(Contract& contract, const std::vector<KnownMetric>& known, const ClassTable& table,
                 const std::vector<std::string>& present = {});

struct MetricValue {
  double value = 0;
  std::string unit;
  Better better = Better::higher;
  std::optional<std::pair<double, double>> interval;  // of the sessions; nullopt: they can't tell one
  Evidence evidence;
};
struct DeviceValues {
  std::string device, class_id;
  std::map<MetricKey, MetricValue> values;
};

struct RuleResult {
  const Rule* rule = nullptr;
  const Comparison* comparison = nullptr;  // nullptr: about the number of devices, or a device that no rule is for
  std::string device;                      // "" : about the node
  MetricKey key;
  Outcome outcome = Outcome::not_run;  // PASS, FAIL, INCONCLUSIVE, NOT_RUN, INVALID or UNKNOWN
  std::optional<double> value;
  std::string reason;  // one sentence
};
struct Judgement {
  Outcome outcome = Outcome::unknown;  // the worst; UNKNOWN when no rule measures something on one of the devices
  std::string reason;
  std::vector<RuleResult> results;
  std::size_t not_applicable = 0;    // rules for other classes, shapes or sizes of node
  std::vector<std::string> remarks;  // which rules don't apply and why; which CPUs no rule is for
};
// Pure. A comparison is judged with the interval of the device's sessions: PASS when all of it keeps the bound, FAIL
// when none of it does, else INCONCLUSIVE; so is a value of one session, of equal sessions, or of disturbed samples.
// `devices` are those of one node. Only devices that some rule measures are passed: another GPU among them is UNKNOWN.
// A CPU beside GPUs is told and not judged by a contract that names no class of CPU; nor does a rule without classes
// ask it for what only GPUs have, or count it. Of a pattern each device owes every case that another one of its class
// has. `shape` "": rules are chosen by class and number of devices alone, and rules about the number of devices of a
// shape are alternatives that don't count, and what keeps a shape's bounds is UNKNOWN. The contract must outlive the result.
Judgement judge(const Contract& contract, const std::vector<DeviceValues>& devices, const std::string& shape = {});

}  // namespace assay
