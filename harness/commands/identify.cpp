// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// assay identify: is a card what it says it is? A worker measures, in a child with a time limit; verdict/identity.h
// judges.
#include <fmt/format.h>

#include <cstdio>

#include "harness/base/error.h"
#include "harness/base/printed_json.h"
#include "harness/base/text.h"
#include "harness/commands/arguments.h"
#include "harness/commands/verb.h"
#include "harness/model/hardware.h"
#include "harness/parent/ask_worker.h"
#include "harness/parent/devices.h"
#include "harness/parent/worker_choice.h"
#include "harness/verdict/identity.h"

namespace assay {
namespace {

std::string help() {
  return R"(assay identify: is a card what it says it is? What it shows by working against what it claims.

usage: assay identify [options]

  --device ID               cuda:0, or simt:0 for a rehearsal (default: cuda:0)
  --format console|json     (default: console)
  --patience SECONDS        how long the worker may take (default: 120)

Compared are the multiprocessors that were seen, the multiply-adds of f32 in a cycle of each, and memory: nearly
all that is free is written, with other numbers in each place, before any is read again, so that memory which is
there twice under two addresses shows. Nothing else should run on the device.

examples
  assay identify
  assay identify --device cuda:1 --format json

A fact that was not measured is UNKNOWN and never a MATCH, and this version doesn't measure L2, bus, ECC, PCIe
and NVLink: so far it can find a forgery (MISMATCH), and can't say that a card is none.
Exit code 1: MISMATCH; 2: UNKNOWN; 3: no such device or no answer; 0 once every fact is a MATCH; 64: wrong usage.
)";
}

std::string capability_text(const DeviceInfo& device) {
  const int capability = static_cast<int>(device.fact("capability"));
  return fmt::format("{}.{}", capability / 10, capability % 10);
}

std::optional<double> documented_lanes(const DeviceInfo& device) {
  const model::Hardware hardware(results_folder() / "models");
  const model::Multiprocessor* processor = hardware.multiprocessor(capability_text(device));
  if (processor == nullptr) return std::nullopt;
  const auto lanes = processor->lanes.find("f32");
  return lanes == processor->lanes.end() ? std::nullopt : std::optional(lanes->second);
}

// Of the worker that serves the device.
std::vector<ShownFact> shown_by(const FoundDevice& device, double limit_s) {
  std::string problems;
  for (const WorkerFile& worker : find_workers()) {
    if (!may_serve(worker, device)) continue;
    ShownAnswer answer{worker.problem, {}};
    if (answer.problem.empty()) answer = ask_shown(worker.path, device.info.id, limit_s);
    if (answer.problem.empty()) return answer.facts;
    problems += fmt::format("; assay-worker-{}: {}", worker.manifest.worker, answer.problem);
  }
  throw Error(fmt::format("{} showed nothing{}", device.info.id, problems));
}

Json as_json(const DeviceInfo& device, const std::vector<IdentityLine>& lines, Outcome outcome) {
  const auto value = [](const std::optional<double>& v) { return v ? number(*v) : Json(nullptr); };
  Json facts = Json::array();
  for (const IdentityLine& line : lines)
    facts.push_back({{"fact", line.fact},
                     {"claimed", value(line.claimed)},
                     {"shown", value(line.shown)},
                     {"outcome", word(line.outcome)},
                     {"reason", line.reason}});
  return {{"schema", "assay.identify.v1"}, {"device", to_json(device)},
          {"simulated", device.simulated}, {"facts", facts},
          {"outcome", word(outcome)},      {"exit_code", code(outcome)}};
}

void print(const DeviceInfo& device, const std::vector<IdentityLine>& lines) {
  const auto value = [](const std::optional<double>& v) { return v ? fmt::format("{:.10g}", *v) : std::string("-"); };
  fmt::print("{}  {}{}\n\n", device.id, plain(device.name), device.simulated ? "  SIMULATED" : "");
  fmt::print("{:<16} {:>14} {:>14}  {}\n", "fact", "claimed", "shown", "");
  for (const IdentityLine& line : lines)
    fmt::print("{:<16} {:>14} {:>14}  {}: {}\n", line.fact, value(line.claimed), value(line.shown), word(line.outcome),
               plain(line.reason));
}

// The facts of this outcome, for the last sentence.
std::string named(const std::vector<IdentityLine>& lines, Outcome outcome) {
  std::vector<std::string> names;
  for (const IdentityLine& line : lines)
    if (line.outcome == outcome) names.push_back(line.fact);
  return join(names, ", ");
}

int from_command_line(int argc, char** argv) {
  std::string id = "cuda:0", format = "console", patience = "120";
  Parser parser("identify", ": a device is named with --device");
  parser.text("--device", id);
  parser.text("--format", format);
  parser.text("--patience", patience);
  if (!parser.parse(argc, argv)) return exit_code::pass;
  check_word("--format", format, {"console", "json"});
  const double limit_s = static_cast<double>(whole_number("--patience", patience, 1, 3600));
  const std::string kind = id.substr(0, id.find(':'));
  if (kind == "cpu" || kind == "fake") throw UsageError(fmt::format("{} is no card; identify is for GPUs", id));
  const FoundDevice found = find_devices({id}).front();
  const DeviceInfo& device = found.info;
  const std::vector<IdentityLine> lines = judge_identity(device, documented_lanes(device), shown_by(found, limit_s));
  std::vector<Outcome> outcomes;
  for (const IdentityLine& line : lines) outcomes.push_back(line.outcome);
  const Outcome outcome = worst(outcomes);
  if (format == "json") {
    fmt::print("{}\n", printed(as_json(device, lines, outcome), 2));
  } else {
    print(device, lines);
    fmt::print("\n{}: {} (exit code {})\n", word(outcome), named(lines, outcome), code(outcome));
  }
  return code(outcome);
}

}  // namespace

extern const Verb identify_verb{"identify", "is a card what it says it is? measured against claimed", help,
                                from_command_line};

}  // namespace assay
