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

bool met(int order, const std::string& comparison) {
  if (comparison == ">=") return order >= 0;
  if (comparison == "<=") return order <= 0;
  if (comparison == ">") return order > 0;
  if (comparison == "<") return order < 0;
  return order == 0;
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
  constexpr std::string_view words[] = {"sound", "broken", "unknown", "no_gpu"};
  return words[static_cast<int>(verdict)];
}

void Result::cannot_know(const std::string& source, Known why) {
  unknown_.push_back(why == Known::absent ? source + " is not known" : fmt::format("{} {}", source, phrase(why)));
}

bool Result::know_nvml(const Fact<NvmlAnswer>& nvml) {
  if (nvml && nvml->loaded) return true;
  if (nvml)
    unknown_.push_back("NVML does not start");
  else
    cannot_know("NVML", nvml.state);
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

std::vector<Requirement> parse_requirements(const std::string& text) {
  std::vector<Requirement> requirements;
  for (const std::string& part : split(text, ',')) {
    const std::size_t at = part.find_first_of("<>="), end = part.find_first_not_of("<>=", at);
    const std::string name = trim(part.substr(0, at));
    if (at == std::string::npos || end == std::string::npos)
      throw UsageError(fmt::format("--require: '{}' is no condition; write gpus>=1,capability>=8.0", shown(part)));
    const std::vector<std::string> names = {"gpus", "capability", "driver", "cuda"};
    if (std::find(names.begin(), names.end(), name) == names.end())
      throw UsageError(fmt::format("--require: nothing is called '{}'{}", shown(name), suggestion(name, names)));
    const std::string comparison = part.substr(at, end - at), value = trim(part.substr(end));
    const std::vector<std::string> known = {">=", "<=", ">", "<", "="};
    if (std::find(known.begin(), known.end(), comparison) == known.end() || value.empty() ||
        value.find_first_not_of("0123456789.") != std::string::npos ||
        value.find_first_of("0123456789") == std::string::npos)
      throw UsageError(fmt::format("--require: '{}' is no condition; write gpus>=1,capability>=8.0", shown(part)));
    if (comparison == ">=" && value.find_first_of("123456789") == std::string::npos)
      throw UsageError(fmt::format("--require: '{}' holds on every machine, so it asks for nothing", shown(part)));
    requirements.push_back({name, comparison, value});
  }
  return requirements;
}

Answer judge(const Requirement& requirement, const Case& one) {
  Answer answer{{"require." + requirement.name, Layer::cluster, "the machine has " + requirement.text()}};
  answer.check.why = "it was asked for with --require";
  const Facts& facts = one.facts;
  std::vector<std::string> values;
  if (requirement.name == "gpus" && !facts.bus.unknown())
    values.push_back(std::to_string(facts.gpus.size()));
  else if (requirement.name == "capability")
    for (const PciDevice& gpu : facts.gpus) values.push_back(one.knowledge.card(gpu).capability);
  else if (requirement.name == "driver" && facts.modules.version)
    values.push_back(*facts.modules.version);
  else if (requirement.name == "cuda" && facts.nvml && !facts.nvml->cuda.empty())
    values.push_back(facts.nvml->cuda);
  if (values.empty()) values.push_back("");
  for (const std::string& value : values) {
    if (value.empty()) {
      answer.unknown.push_back(requirement.name + " is not known");
      if (answer.state == State::sound) answer.state = State::unknown;
    } else if (!met(compare_versions(value, requirement.value), requirement.comparison)) {
      answer.state = State::finding;
      answer.what.push_back(fmt::format("{} is {}, and {} was asked for", requirement.name, value, requirement.text()));
    }
  }
  answer.check.chain = true;
  return answer;
}

Verdict verdict_of(const std::vector<Answer>& answers, const Facts& facts) {
  if (!facts.bus.unknown() && !facts.has_gpu()) return Verdict::no_gpu;
  Verdict verdict = Verdict::unknown;  // nothing was looked at, until something was
  for (const Answer& answer : answers)
    if (answer.state == State::sound || answer.state == State::finding) verdict = Verdict::sound;
  for (const Answer& answer : answers) {
    if (answer.state == State::finding && answer.severity == Severity::broken) return Verdict::broken;
    if (answer.state == State::unknown && answer.check.chain) verdict = Verdict::unknown;
  }
  return verdict;
}

int exit_code_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::sound:
      return exit_code::pass;
    case Verdict::broken:
      return exit_code::fail;
    default:
      return exit_code::inconclusive;
  }
}

}  // namespace assay::doctor
