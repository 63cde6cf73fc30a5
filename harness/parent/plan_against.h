// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// The plan of a run that is measured against an earlier one: the same cases with the same work, on the same devices,
// in the same order. Everything comes from the plan of BEFORE, nothing from today's profile of that name.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/parent/devices.h"
#include "harness/parent/plan.h"
#include "harness/parent/workers.h"

namespace assay {

struct PlanAgainst {
  Plan plan;                      // without `against`
  std::vector<std::string> lost;  // "CASE on DEVICE: why" for what BEFORE has values of and can't be measured now
};

// `measured`: for each case of `before`, whether it has a value there; what has none is left out, as there is nothing
// to hold it against. `devices`: of find_again(). Error when a worker of BEFORE isn't here, or nothing can be measured.
PlanAgainst make_plan_against(const Plan& before, const std::vector<bool>& measured, int most_sessions,
                              const std::vector<WorkerFile>& workers,
                              const std::vector<std::optional<FoundDevice>>& devices);

}  // namespace assay
