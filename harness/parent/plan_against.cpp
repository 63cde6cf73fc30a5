// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See plan_against.h. Everything that the workers of BEFORE could measure is planned, hidden cases too, and then what
// BEFORE did not measure is left out.
#include "harness/parent/plan_against.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "harness/base/error.h"
#include "harness/base/text.h"
#include "harness/parent/coverage.h"
#include "harness/parent/profile.h"

namespace assay {
namespace {

// Case name and device ids as BEFORE has them.
using CaseKey = std::pair<std::string, std::vector<std::string>>;

std::vector<WorkerFile> same_workers(const Plan& before, const std::vector<WorkerFile>& workers) {
  std::vector<WorkerFile> same;
  for (const PlannedWorker& wanted : before.workers) {
    const auto found = std::find_if(workers.begin(), workers.end(),
                                    [&](const WorkerFile& w) { return w.manifest.worker == wanted.name; });
    if (found == workers.end())
      throw Error(
          fmt::format("BEFORE was measured by assay-worker-{}, which is not in {}; build it, or name its folder "
                      "with ASSAY_WORKER_DIR",
                      wanted.name, worker_folder().string()));
    same.push_back(*found);
  }
  return same;
}

void leave_out(PlannedCase& c, const std::string& text) {
  c.coverage = Coverage::excluded;
  c.reason = "against";
  c.text = text;
  c.fact.clear();
}

}  // namespace

PlanAgainst make_plan_against(const Plan& before, const std::vector<bool>& measured, int most_sessions,
                              const std::vector<WorkerFile>& workers,
                              const std::vector<std::optional<FoundDevice>>& devices) {
  std::vector<FoundDevice> here;
  std::map<std::string, std::string> id_before;  // by the id now
  for (std::size_t i = 0; i < devices.size(); ++i)
    if (devices[i]) {
      here.push_back(*devices[i]);
      id_before[devices[i]->info.id] = before.devices[i].id;
    }
  if (here.empty()) throw Error("none of the devices of BEFORE is here, so nothing can be measured against it");

  PlanOptions options;
  options.sessions = most_sessions;
  options.seed = before.seed;
  options.max_memory_bytes = before.max_memory_bytes;
  options.concurrent = before.concurrent;
  options.hidden = true;
  Profile same;
  same.name = before.profile;
  same.policy = before.policy;
  PlanAgainst result{make_plan(options, same, same_workers(before, workers), here), {}};
  Plan& plan = result.plan;
  plan.filters = before.filters;
  plan.excludes = before.excludes;
  plan.budget_s = before.budget_s;
  plan.patience = before.patience;

  std::map<CaseKey, std::size_t> place;
  for (std::size_t i = 0; i < before.cases.size(); ++i)
    place.emplace(CaseKey(before.cases[i].name, before.cases[i].device_set), i);
  const auto place_of = [&](const PlannedCase& c) {
    std::vector<std::string> ids;
    for (const std::string& id : c.device_set) ids.push_back(id_before[id]);
    const auto found = place.find(CaseKey(c.name, ids));
    return found == place.end() ? before.cases.size() : found->second;
  };
  std::vector<std::string> why(before.cases.size(), "it is not there any more");
  for (std::size_t i = 0; i < before.cases.size(); ++i)
    for (std::size_t d = 0; d < devices.size(); ++d)
      if (!devices[d] && before.cases[i].device_set.front() == before.devices[d].id) why[i] = "its device is not here";
  std::set<std::string> used;
  for (PlannedCase& c : plan.cases) {
    const std::size_t i = place_of(c);
    const bool wanted = i < before.cases.size() && before.cases[i].coverage == Coverage::required;
    if (wanted && measured[i]) {
      why[i] = c.coverage == Coverage::required ? "" : c.text;
      c.estimate_s = before.cases[i].estimate_s;
      c.deadline_s = before.cases[i].deadline_s;
    } else if (c.coverage == Coverage::required) {
      leave_out(c, wanted ? "BEFORE has no value for it" : "BEFORE was not to measure it");
    }
    if (c.coverage == Coverage::required) used.insert(c.worker);
  }
  for (std::size_t i = 0; i < before.cases.size(); ++i)
    if (before.cases[i].coverage == Coverage::required && measured[i] && !why[i].empty())
      result.lost.push_back(
          fmt::format("{} on {}: {}", before.cases[i].name, device_set_name(before.cases[i].device_set), why[i]));
  if (used.empty())
    throw Error(result.lost.empty() ? "BEFORE has no value that could be held against"
                                    : "nothing of BEFORE can be measured here: " + result.lost.front());
  std::stable_sort(plan.cases.begin(), plan.cases.end(),
                   [&](const PlannedCase& a, const PlannedCase& b) { return place_of(a) < place_of(b); });
  plan.workers.erase(std::remove_if(plan.workers.begin(), plan.workers.end(),
                                    [&](const PlannedWorker& w) { return used.count(w.name) == 0; }),
                     plan.workers.end());
  return result;
}

}  // namespace assay
