// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// --require: what a gate asks of a machine, as checks. Trap: in a container the bus is the host's, with GPUs that
// nobody here can use; and what the range of a PCI id lets one guess is no knowledge, so it satisfies nothing.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "harness/base/error.h"
#include "harness/base/text.h"
#include "harness/doctor/questions.h"

namespace assay::doctor {
namespace {

bool met(int order, const std::string& comparison) {
  if (comparison == ">=") return order >= 0;
  if (comparison == "<=") return order <= 0;
  if (comparison == ">") return order > 0;
  if (comparison == "<") return order < 0;
  return order == 0;
}

void compare(const Requirement& asked, const std::string& what, const std::string& value, Result& result) {
  if (!met(compare_versions(value, asked.value), asked.comparison))
    result.found(fmt::format("{} is {}, and {} was asked for", what, value, asked.text()));
}

// Bus, device nodes and NVML each say how many there are at most; all three together, how many a program can use.
void gpus(const Requirement& asked, const Case& one, Result& result) {
  const Facts& facts = one.facts;
  std::size_t most = std::numeric_limits<std::size_t>::max();
  bool all = true;
  const auto at_most = [&](bool known, const std::string& source, std::size_t count) {
    all = all && known;
    if (!known) return;
    result.because(source, counted(count, "GPU"));
    most = std::min(most, count);
  };
  if (!facts.system.wsl) {  // its bus and its nodes are in Windows
    at_most(result.know(facts.bus), facts.bus.source, facts.gpus.size());
    at_most(result.have(facts.nodes.gpus), facts.nodes.gpus.source, facts.nodes.gpus->size());
  }
  at_most(result.know_nvml(facts.nvml), "NVML",
          static_cast<std::size_t>(
              std::count_if(facts.nvml->devices.begin(), facts.nvml->devices.end(),
                            [](const DeviceInfo& device) { return device.labels.count("nvml") == 0; })));
  const int order =
      most == std::numeric_limits<std::size_t>::max() ? 1 : compare_versions(std::to_string(most), asked.value);
  // What may be fewer is too few already.
  const bool too_few = order < 0 || (order == 0 && asked.comparison == ">");
  if (all || too_few) compare(asked, "gpus", std::to_string(most), result);
}

void capability(const Requirement& asked, const Case& one, Result& result) {
  const Facts& facts = one.facts;
  const bool answered = facts.nvml && facts.nvml->loaded && facts.nvml->code == 0;
  const auto ask = [&](const std::string& address, const std::string& value) {
    if (value.empty())
      result.cannot_know(fmt::format("the capability of {} is not known: neither a table nor NVML has it", address));
    else
      compare(asked, "the capability of " + address, value, result);
  };
  if (facts.bus.unknown()) result.know(facts.bus);
  std::size_t count = 0;
  for (const PciDevice& gpu : facts.gpus) {
    // A container is asked for what it was given.
    if (facts.container.kind && answered && seen_by_nvml(facts, gpu.address) == nullptr) continue;
    ++count;
    const Card card = identify(one, gpu);
    ask(gpu.address, card.exact ? card.capability : "");
  }
  if (facts.gpus.empty())
    for (const DeviceInfo& device : facts.nvml->devices) {
      ++count;
      ask(device.name, capability_of(device));
    }
  if (count == 0) result.cannot_know("capability is not known: there is no GPU to ask");
}

void driver(const Requirement& asked, const Case& one, Result& result) {
  const std::string version = one.facts.driver_version();
  if (version.empty()) return result.cannot_know("driver is not known: none is loaded that says its version");
  compare(asked, "driver", version, result);
}

void cuda(const Requirement& asked, const Case& one, Result& result) {
  if (!result.know_nvml(one.facts.nvml)) return;
  if (one.facts.nvml->cuda.empty()) return result.cannot_know("cuda is not known: NVML does not tell it");
  compare(asked, "cuda", one.facts.nvml->cuda, result);
}

struct Condition {
  const char* name;
  void (*run)(const Requirement&, const Case&, Result&);
};
constexpr Condition conditions[] = {{"gpus", gpus}, {"capability", capability}, {"driver", driver}, {"cuda", cuda}};

}  // namespace

std::vector<Requirement> parse_requirements(const std::string& text) {
  std::vector<Requirement> requirements;
  for (const std::string& part : split(text, ',')) {
    const std::size_t at = part.find_first_of("<>="), end = part.find_first_not_of("<>=", at);
    const std::string name = trim(part.substr(0, at));
    if (at == std::string::npos || end == std::string::npos)
      throw UsageError(fmt::format("--require: '{}' is no condition; write gpus>=1,capability>=8.0", shown(part)));
    std::vector<std::string> names;
    for (const Condition& condition : conditions) names.push_back(condition.name);
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

Check check_of(const Requirement& asked) {
  Check check{"require." + asked.name, Layer::cluster, "the machine has " + asked.text()};
  check.needs = Needs::nothing;
  check.chain = true;
  check.why = "it was asked for with --require";
  for (const Condition& condition : conditions)
    if (asked.name == condition.name)
      check.run = [asked, run = condition.run](const Case& one, Result& result) { run(asked, one, result); };
  return check;
}

}  // namespace assay::doctor
