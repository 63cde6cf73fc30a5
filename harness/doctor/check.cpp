// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See check.h.
#include "harness/doctor/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "harness/base/error.h"
#include "harness/base/outcome.h"
#include "harness/base/text.h"

namespace assay::doctor {
namespace {

std::vector<Check>& registered() {
  static std::vector<Check> checks;
  return checks;
}

Severity severity_of(const std::string& text) {
  return text == "broken" ? Severity::broken : text == "degraded" ? Severity::degraded : Severity::note;
}

// Does the value spring the trap? set: any value; on: any but "", 0 and what means no; is: this value; has: contains
// it.
bool sprung(const Trap& trap, const std::string& value) {
  if (trap.when == "set") return !value.empty();
  if (trap.when == "on") return !value.empty() && value != "0" && value != "false" && value != "no";
  if (trap.when == "empty") return value.empty();
  if (trap.when == "has") return value.find(trap.value) != std::string::npos;
  return value == trap.value;
}

// Several rows of one variable are one check each: "configuration.nccl_debug", "configuration.nccl_debug_2".
std::string id_of(const Trap& trap, std::set<std::string>& taken) {
  std::string id = "configuration." + trap.variable;
  std::transform(id.begin(), id.end(), id.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const std::string plain_id = id;
  for (int n = 2; !taken.insert(id).second; ++n) id = fmt::format("{}_{}", plain_id, n);
  return id;
}

Check check_of(const Trap& trap, std::set<std::string>& taken) {
  Check check{id_of(trap, taken), Layer::configuration, fmt::format("{} is no trap", trap.variable)};
  check.severity = severity_of(trap.severity);
  check.needs = Needs::nothing;
  check.why = trap.why;
  check.fixes = {{"any", trap.action}};
  check.run = [trap](const Case& one, Result& result) {
    const Fact<Environment>& environment = one.facts.environment;
    if (!environment) return result.cannot_know("environment", environment.state);
    const auto set = environment->find(trap.variable);
    if (set == environment->end() || !sprung(trap, set->second)) return;
    result.because("environment", trap.variable + "=" + shown(set->second));
    result.found(trap.what);
  };
  return check;
}

}  // namespace

std::string_view word(Layer layer) {
  constexpr std::string_view words[] = {"bus",       "kernel-module", "device-node", "driver",  "runtime", "library",
                                        "framework", "configuration", "container",   "cluster", "health"};
  return words[static_cast<int>(layer)];
}

std::string_view word(Severity severity) {
  constexpr std::string_view words[] = {"broken", "degraded", "note"};
  return words[static_cast<int>(severity)];
}

std::string_view word(State state) {
  constexpr std::string_view words[] = {"sound", "finding", "unknown", "not_applicable"};
  return words[static_cast<int>(state)];
}

std::string_view word(Verdict verdict) {
  constexpr std::string_view words[] = {"sound", "broken", "unknown", "no_gpu", "partial"};
  return words[static_cast<int>(verdict)];
}

void Result::cannot_know(const std::string& source, Known why) {
  unknown_.push_back(why == Known::absent ? source + " is not known" : fmt::format("{} {}", source, phrase(why)));
}

bool Result::know_nvml(const Fact<NvmlAnswer>& nvml) {
  if (nvml && nvml->loaded && nvml->code == 0) return true;
  if (nvml)
    unknown_.push_back(nvml->loaded || nvml->code == nvml_not_asked ? nvml->detail : "NVML does not start");
  else
    cannot_know("NVML", nvml.state);
  return false;
}

bool Result::know_driver(const Facts& facts) {
  if (!facts.driver_version().empty()) return true;
  if (know(facts.modules.version)) not_applicable("no driver is loaded");
  return false;
}

std::string Result::shown_value(const std::vector<std::string>& list) {
  return list.empty() ? "nothing" : join(list, ", ");
}

std::string Result::shown_number(double value) { return fmt::format("{:.10g}", value); }

Registered::Registered(std::vector<Check> checks) {
  for (Check& check : checks) registered().push_back(std::move(check));
}

std::vector<Check> all_checks(const Knowledge& knowledge) {
  std::vector<Check> checks = registered();
  std::set<std::string> taken;
  for (const Check& check : checks)
    if (!taken.insert(check.id).second) throw Error(fmt::format("two checks are called {}", check.id));
  for (const Trap& trap : knowledge.traps) checks.push_back(check_of(trap, taken));
  std::stable_sort(checks.begin(), checks.end(), [](const Check& a, const Check& b) { return a.layer < b.layer; });
  return checks;
}

std::vector<Answer> judge(const std::vector<Check>& checks, const Case& one) {
  std::vector<Answer> answers;
  for (const Check& check : checks) {
    Result result;
    const bool needs_gpu = check.needs != Needs::nothing;
    if (needs_gpu && one.facts.bus.unknown())
      result.cannot_know(one.facts.bus.source, one.facts.bus.state);
    else if (needs_gpu && !one.facts.has_gpu())
      result.not_applicable("no GPU is on the bus");
    else if (check.needs == Needs::module && one.facts.system.wsl)
      result.not_applicable("WSL has the driver outside, in Windows");
    else
      check.run(one, result);
    Answer answer{check};
    answer.state = !result.what_.empty()      ? State::finding
                   : !result.unknown_.empty() ? State::unknown
                   : !result.reason_.empty()  ? State::not_applicable
                                              : State::sound;
    answer.severity = result.severity_.value_or(check.severity);
    answer.what = result.what_;
    answer.evidence = result.evidence_;
    answer.unknown = result.unknown_;
    answer.reason = result.reason_;
    answer.fixes = result.fixes_;
    answer.fixes.insert(answer.fixes.end(), check.fixes.begin(), check.fixes.end());
    answers.push_back(std::move(answer));
  }
  for (Answer& answer : answers)
    for (const std::string& cause : answer.check.after)
      for (const Answer& other : answers)
        if (answer.state == State::finding && other.check.id == cause && other.state == State::finding &&
            other.severity == Severity::broken && answer.follows_from.empty())
          answer.follows_from = cause;
  return answers;
}

Verdict verdict_of(const std::vector<Answer>& answers, const Facts& facts, bool whole) {
  if (!facts.bus.unknown() && !facts.has_gpu()) return Verdict::no_gpu;
  Verdict verdict = Verdict::unknown;  // nothing was looked at, until something was
  for (const Answer& answer : answers)
    if (answer.state == State::sound || answer.state == State::finding)
      verdict = whole ? Verdict::sound : Verdict::partial;
  for (const Answer& answer : answers) {
    if (answer.state == State::finding && answer.severity == Severity::broken) return Verdict::broken;
    if (answer.state == State::unknown && answer.check.chain) verdict = Verdict::unknown;
  }
  return verdict;
}

int exit_code_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::sound:
    case Verdict::partial:
      return exit_code::pass;
    case Verdict::broken:
      return exit_code::fail;
    default:
      return exit_code::inconclusive;
  }
}

}  // namespace assay::doctor
