// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// assay run --against BEFORE: measured session by session until each verdict stands. verdict/sequential.h has the
// method, parent/plan_against.h the plan; here they meet the run.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "harness/commands/side_reader.h"
#include "harness/parent/plan.h"
#include "harness/parent/progress.h"
#include "harness/parent/run_data.h"
#include "harness/parent/store.h"
#include "harness/verdict/sequential.h"

namespace assay {

// Are the hosts what is compared? Then what a host calls a device is its identity.
bool across_hosts(const std::vector<std::string>& changed);

struct BeforeRun {
  RunData run;
  ReadSide side;
  std::vector<bool> measured;  // by case of its plan: has it a value in some session?
};
// Error for what is no run of our own: an import has no plan to measure by.
// `changed`: what is tested; with "host" among it, the devices of another host are the same by what that calls them.
BeforeRun read_before(const std::filesystem::path& folder, const std::vector<std::string>& changed);
// What a plan keeps of it.
Against against_of(const BeforeRun& before, const std::vector<std::string>& margins,
                   const std::vector<std::string>& changed);
// For a run that goes on. Error when BEFORE is gone, or has changed since.
BeforeRun read_before_again(const Against& against);

// The verdict that needs no measuring, if there is one: unlike things, or too few sessions. `after`: the plan, and what
// run.json would say of environment and build now.
std::optional<CompareResult> refused_before_measuring(const BeforeRun& before, const RunData& after);

class RunLooks {
 public:
  RunLooks(const BeforeRun& before, const std::filesystem::path& folder, const Plan& plan);
  // For people: what can hardly be decided in so many sessions.
  std::vector<std::string> doubts() const;
  // After `session`: judges what is stored, and writes into `plan` and the events which cases are measured no further.
  // Sessions that were looked at before a resume are only judged again.
  void look(Plan& plan, int session, Store& store, Progress& progress);
  CompareResult result(const RunData& after) const;

 private:
  const BeforeRun& before_;
  std::filesystem::path folder_;
  bool across_hosts_;
  SequentialSettings settings_;
  Sequential judge_;
  Side after_;
  bool over_ = false;
};

// The looks at a run that was measured against another, taken again: the same when `before` is what it was measured
// against, and as right when it is another side.
CompareResult look_again(const Side& before, const RunData& after, bool across_hosts,
                         const std::vector<EnvironmentChange>& changes, const CompareSettings& settings);

}  // namespace assay
