// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See diagnosis.h.
#include "harness/explain/diagnosis.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "harness/base/outcome.h"
#include "harness/base/text.h"

namespace assay::explain {
namespace {

constexpr std::uint64_t often = 4;      // so often, and it is no single accident: context "repeated"
constexpr int follows_from_device = 7;  // up to this weight, what no device owns follows from a device's fault

struct Judged {
  const Event* event;
  const Row* row;
  bool follows = false;  // can't be the cause: it was nobody's, and a device has failed
};

bool matters(const Row& row) { return row.weight > 0 && row.kind != "none"; }
bool before(const Judged& a, const Judged& b) {
  if (a.follows != b.follows) return b.follows;
  if (a.row->weight != b.row->weight) return a.row->weight > b.row->weight;
  return a.event->line < b.event->line;
}

std::string code_of(const Judged& judged) {
  if (!judged.event->printed.empty()) return judged.event->printed;
  const std::string& code = judged.row->code;
  return code.empty() || code.front() == '*' ? "-" : code.substr(0, code.find('/'));
}

const Row* resolve(const Tables& tables, const Event& event, std::set<std::string> context) {
  if (event.count >= often) context.insert("repeated");
  if (event.text >= 0) {
    const Row& row = tables.texts[static_cast<std::size_t>(event.text)];
    return holds(row, context) ? &row : nullptr;
  }
  return tables.find(event.table, event.code, event.qualifier, context);
}

void add_unique(std::vector<Cause>& causes, const Cause& cause) {
  for (const Cause& known : causes)
    if (known.code == cause.code && known.kind == cause.kind) return;
  causes.push_back(cause);
}

// All events of one device, the cause first.
Finding conclude(const std::string& device, std::vector<Judged> judged) {
  std::stable_sort(judged.begin(), judged.end(), before);
  const Judged& cause = judged.front();
  Finding finding;
  finding.device = device;
  finding.row = cause.row;
  finding.first = {code_of(cause), cause.row->kind, cause.event->line};
  finding.layer = cause.row->layer;
  finding.severity = cause.row->severity;
  finding.action = cause.row->action;
  finding.confidence = cause.row->confidence;
  finding.meaning = cause.row->meaning;
  finding.source = cause.row->source;
  finding.count = cause.event->count;
  std::vector<Judged> in_order(judged.begin() + 1, judged.end());
  std::stable_sort(in_order.begin(), in_order.end(),
                   [](const Judged& a, const Judged& b) { return a.event->line < b.event->line; });
  for (const Judged& other : in_order)
    if (matters(*other.row)) add_unique(finding.consequences, {code_of(other), other.row->kind, other.event->line});
  if (cause.row->code == "*" && finding.first.code == "-")  // the number stands in another line
    for (const Judged& other : judged)
      if (const std::string code = code_of(other); code != "-") {
        finding.first.code = code;
        break;
      }
  finding.quotes.push_back({cause.event->line, cause.event->quote});
  for (const Judged& other : in_order)
    if (finding.quotes.size() < 5 && matters(*other.row))
      finding.quotes.push_back({other.event->line, other.event->quote});
  return finding;
}

Finding healthy(const std::string& device, const Input& input) {
  Finding finding;
  finding.device = device;
  finding.first.kind = "none";
  finding.layer = finding.severity = finding.action = "none";
  finding.confidence = input.format.empty() ? "low" : input.complete ? "high" : "medium";
  finding.meaning =
      input.format.empty() ? "Nothing in it looks like a fault." : "No fault in this output of " + input.format + ".";
  return finding;
}

// Whoever had to write it may have been kept from it: silence is no health.
Finding nothing_there() {
  Finding finding;
  finding.device = "-";
  finding.first.kind = finding.layer = "unknown";
  finding.severity = "none";
  finding.action = "collect: it again as root, or from where it is kept";
  finding.confidence = "low";
  finding.meaning = "There is nothing in it, so it says nothing.";
  return finding;
}

Finding not_understood() {
  Finding finding;
  finding.device = "-";
  finding.first.kind = finding.layer = "unknown";
  finding.severity = "escalate";
  finding.action = "collect: the kernel log (dmesg), nvidia-smi -q, and the lines before this one";
  finding.confidence = "low";
  finding.meaning = "It complains, but no rule knows these words.";
  return finding;
}

using Groups = std::map<std::string, std::vector<Judged>>;

bool has_fault(const std::vector<Judged>& group) {
  return std::any_of(group.begin(), group.end(), [](const Judged& judged) { return matters(*judged.row); });
}

// Several ranks that say the same are one fault of the job.
void join_ranks(Groups& groups) {
  std::map<std::string, std::vector<std::string>> by_cause;
  for (const auto& [device, group] : groups)
    if (starts_with(device, "rank ") && has_fault(group)) {
      const Judged& cause = *std::min_element(group.begin(), group.end(), before);
      by_cause[cause.row->kind + code_of(cause)].push_back(device);
    }
  for (const auto& [cause, devices] : by_cause) {
    if (devices.size() < 2) continue;
    for (const std::string& device : devices) {
      auto& all = groups["-"];
      all.insert(all.end(), groups[device].begin(), groups[device].end());
      groups.erase(device);
    }
  }
}

// What no device owns and what the machine owns are one where the machine has a fault.
void join_host(Groups& groups) {
  const auto host = groups.find("host"), nobody = groups.find("-");
  if (host == groups.end() || nobody == groups.end() || !has_fault(host->second)) return;
  host->second.insert(host->second.end(), nobody->second.begin(), nobody->second.end());
  groups.erase(nobody);
}

// "-" and "host" in a log where a device has failed: their lesser complaints are consequences.
void give_to_device(Groups& groups) {
  std::string first;
  std::uint64_t line = 0;
  for (const auto& [device, group] : groups) {
    if (device == "-" || device == "host" || !has_fault(group)) continue;
    const Judged& cause = *std::min_element(group.begin(), group.end(), before);
    if (cause.row->severity == "ignore" || (!first.empty() && line <= cause.event->line)) continue;
    first = device;
    line = cause.event->line;
  }
  if (first.empty()) return;
  for (const char* nobody : {"-", "host"}) {
    const auto group = groups.find(nobody);
    if (group == groups.end()) continue;
    std::vector<Judged> stay;
    for (const Judged& judged : group->second)
      if (matters(*judged.row) && judged.row->weight <= follows_from_device)
        groups[first].push_back({judged.event, judged.row, true});
      else
        stay.push_back(judged);
    group->second = std::move(stay);
    if (group->second.empty()) groups.erase(group);
  }
}

// A switch that complains after a GPU was lost is its victim.
void spare_victims(std::vector<Finding>& findings) {
  std::uint64_t lost = 0;
  for (const Finding& finding : findings)
    if (finding.first.kind == "xid" && (finding.first.code == "79" || finding.first.code == "74"))
      lost = lost == 0 ? finding.first.line : std::min(lost, finding.first.line);
  for (Finding& finding : findings)
    if (lost != 0 && finding.first.kind == "sxid" && finding.first.line > lost) {
      finding.severity = "ignore";
      finding.action = "watch: follows from the lost GPU; judge the switch again after that is repaired";
      finding.confidence = "medium";
    }
}

int order(const Finding& finding) {
  if (finding.row == nullptr) return finding.layer == "unknown" ? 1 : 9;
  if (finding.first.kind == "none") return 8;
  return finding.severity == "ignore" ? 7 : finding.layer == "unknown" ? 2 : 0;
}

}  // namespace

Diagnosis diagnose(const Tables& tables, const Events& events, const Input& input) {
  Diagnosis diagnosis;
  Groups groups;
  for (const Event& event : events.all())
    if (const Row* row = resolve(tables, event, events.contexts())) {
      groups[event.device].push_back({&event, row, false});
      diagnosis.used.push_back(row);
    }
  join_ranks(groups);
  join_host(groups);
  give_to_device(groups);
  for (auto& [device, group] : groups) diagnosis.findings.push_back(conclude(device, group));
  spare_victims(diagnosis.findings);
  for (const std::string& device : events.devices())
    if (groups.count(device) == 0) diagnosis.findings.push_back(healthy(device, input));
  if (diagnosis.findings.empty())
    diagnosis.findings.push_back(input.blank                               ? nothing_there()
                                 : input.format.empty() && input.complains ? not_understood()
                                                                           : healthy("-", input));
  std::stable_sort(diagnosis.findings.begin(), diagnosis.findings.end(),
                   [](const Finding& a, const Finding& b) { return order(a) < order(b); });
  return diagnosis;
}

int exit_code_of(const std::vector<Finding>& findings) {
  int code = exit_code::pass;
  for (const Finding& finding : findings) {
    const bool quiet = finding.first.kind == "none" || finding.severity == "ignore" || finding.severity == "none";
    if (finding.layer == "unknown")
      code = code == exit_code::fail ? code : exit_code::inconclusive;
    else if (!quiet)
      return exit_code::fail;
  }
  return code;
}

}  // namespace assay::explain
