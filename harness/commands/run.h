// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// assay run, as other verbs start it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/parent/plan.h"

namespace assay {

struct RunOptions : PlanOptions {
  std::vector<std::string> devices;  // empty: what is there, best first; the CPU when there is nothing else
  std::string profile = "quick";
  std::string out;                            // "": ./assay-run-<UTC>-<pid>
  std::string resume;                         // run folder to continue
  std::string against;                        // run folder: sessions are added until the verdict against it stands
  std::vector<std::string> margins, changed;  // of that verdict, as for compare
  int max_sessions = 12;
  bool dry_run = false, quiet = false;
  std::vector<std::string> command_line;  // as typed, for run.json
};

// argv[0] is "run". nullopt: help was asked for, and printed. All of it but command_line.
std::optional<RunOptions> parse_run(int argc, char** argv);
// The exit code of the run.
int command_run(const RunOptions& options);

}  // namespace assay
