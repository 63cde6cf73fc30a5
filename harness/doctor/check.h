// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// What a check is, and how the answers of all of them become one. A check is a pure function over facts; each file
// checks_<layer>.cpp defines its checks in one `Registered`, and there is no list to edit. Rows of
// results/doctor/environment.csv become checks, too.
//
// The chain is read from below: a program that can't find the driver fails because the module isn't loaded, which
// isn't, because nouveau holds the card. So findings are ordered by layer, and one that only follows from another says
// so (`after`). A check whose fact can't be known says that, and never passes.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "harness/doctor/facts.h"
#include "harness/doctor/knowledge.h"

namespace assay::doctor {

// From the card up to the cluster; `health`: it works, but is not well.
enum class Layer { bus, module, node, driver, runtime, library, framework, configuration, container, cluster, health };
std::string_view word(Layer layer);

// broken: nothing can be computed, or not rightly. degraded: it works, slower than it could or at a risk. note: to
// know.
enum class Severity { broken, degraded, note };
std::string_view word(Severity severity);

enum class State { sound, finding, unknown, not_applicable };
std::string_view word(State state);

// `where`: any, debian (and Ubuntu), rhel, container, kubernetes, cloud. Commands are shown, never run.
struct Fix {
  std::string where, what;
};

// What must be there for the question to make sense.
enum class Needs { nothing, gpu, module };  // module: a GPU with a kernel module of this system (not in WSL)

struct Case {
  const Facts& facts;
  const Knowledge& knowledge;
};

struct Answer;
struct Check;

// What a check says. A finding wins over "could not know", that over "does not apply".
class Result {
 public:
  // Evidence for whatever is found next: "source: value". False, and noted as not known, where nobody can say.
  template <class T>
  bool know(const Fact<T>& fact) {
    if (fact.unknown()) {
      cannot_know(fact.source, fact.state);
      return false;
    }
    return true;
  }
  // The same, and that it is not there is no knowledge either: it must have a value.
  template <class T>
  bool have(const Fact<T>& fact) {
    if (!fact) cannot_know(fact.source, fact.state);
    return static_cast<bool>(fact);
  }
  template <class T>
  void because(const Fact<T>& fact) {
    because(fact.source, fact ? shown_value(*fact) : std::string(phrase(fact.state)));
  }
  void because(const std::string& source, const std::string& value) { evidence_.push_back(source + ": " + value); }
  void cannot_know(const std::string& source, Known why);
  void cannot_know(const std::string& sentence) { unknown_.push_back(sentence); }
  // NVML's answer with its devices; false, and noted as not known, without.
  bool know_nvml(const Fact<NvmlAnswer>& nvml);
  // The driver's version, of the module or by NVML; "no driver is loaded" is not applicable.
  bool know_driver(const Facts& facts);
  void not_applicable(const std::string& reason) { reason_ = reason; }
  // `severity`: that of the check, unless said otherwise.
  void found(const std::string& what) { what_.push_back(what); }
  void found(Severity severity, const std::string& what) {
    what_.push_back(what);
    severity_ = severity_ ? std::min(*severity_, severity) : severity;
  }
  // More to do than the check says for all cases.
  void fix(const std::string& where, const std::string& what) { fixes_.push_back({where, what}); }

 private:
  friend std::vector<Answer> judge(const std::vector<Check>&, const Case&);
  static std::string shown_value(const std::string& text) { return text; }
  static std::string shown_value(bool value) { return value ? "yes" : "no"; }
  static std::string shown_value(const std::vector<std::string>& list);
  static std::string shown_value(const Status&) { return "is there"; }
  template <class T>
  static std::enable_if_t<std::is_arithmetic_v<T> && !std::is_same_v<T, bool>, std::string> shown_value(T value) {
    return shown_number(static_cast<double>(value));
  }
  static std::string shown_number(double value);

  std::vector<std::string> what_, evidence_, unknown_;
  std::vector<Fix> fixes_;
  std::string reason_;
  std::optional<Severity> severity_;
};

struct Check {
  std::string id;
  Layer layer;
  std::string title;  // what is so on a sound machine: "nouveau does not hold the GPU"
  Severity severity = Severity::broken;
  Needs needs = Needs::module;
  bool chain = false;  // a link of the chain: when it can't be known, nobody can say that the machine is sound
  std::string why;     // why it matters
  std::vector<Fix> fixes;
  std::vector<std::string> after;  // ids: this follows from them, if they are found
  std::function<void(const Case&, Result&)> run;
};

struct Registered {
  explicit Registered(std::vector<Check> checks);
};

// All of them: registered ones by layer, then those of the tables.
std::vector<Check> all_checks(const Knowledge& knowledge);

struct Answer {
  Check check;
  State state = State::sound;
  Severity severity = Severity::broken;
  std::vector<std::string> what, evidence, unknown;
  std::string reason;  // why it does not apply
  std::vector<Fix> fixes;
  std::string follows_from;  // id; "" a cause of its own
};

// In the order of the checks.
std::vector<Answer> judge(const std::vector<Check>& checks, const Case& one);

// A condition of --require: gpus, capability, driver, cuda; >= > = < <=.
struct Requirement {
  std::string name, comparison, value;
  std::string text() const { return name + comparison + value; }
};
// UsageError for what is no requirement.
std::vector<Requirement> parse_requirements(const std::string& text);
Check check_of(const Requirement& requirement);

// no_gpu before broken before unknown before partial before sound. partial: what was looked at is sound, and links of
// the chain were left out.
enum class Verdict { sound, broken, unknown, no_gpu, partial };
std::string_view word(Verdict verdict);
// `whole`: no link of the chain was left out.
Verdict verdict_of(const std::vector<Answer>& answers, const Facts& facts, bool whole = true);
int exit_code_of(Verdict verdict);

}  // namespace assay::doctor
