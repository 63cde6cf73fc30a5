// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// The core clock and the room on the core, on every CPU of the team at once: what makes a rate per second also a rate
// per cycle, and what tells a shared core from a slow one. See kernels/clock.h for how they are measured.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

namespace assay {

struct ClockState {
  double hertz = 0;        // mean over the team; 0: this architecture has no probe
  double issue_ratio = 0;  // smallest of the team, each as share of its CPU's best; 0: no probe
};

// The best issue ratio that each CPU has shown: its quiet value. Absolute values differ between processors, and between
// the cores of a mixed one; a busy sibling lowers it on all of them. A reading that no core can give (more than 5 %
// above kernels::issue_ratio_most) is none: as best value it would make every later one look like a shared core.
class BestIssue {
 public:
  // `seen` as share of the best of that CPU, this one included: 1 at most; 0 where `seen` is 0 or impossible.
  double share(int cpu, double seen);

 private:
  std::map<int, double> best_;
};

class ClockWatch {
 public:
  // `cpus`: those of the OpenMP team, which is pinned, in thread order. Where two of them are siblings, only the first
  // looks for room on the core: they would see each other.
  explicit ClockWatch(std::vector<int> cpus);
  ClockState read();
  // Mean over the team of the highest that each CPU has shown to this watch; 0: none was read. A single reading can be
  // too low where something else has the CPU, and never too high: this is what a physical limit stands on.
  double most_hertz() const;

 private:
  std::vector<int> cpus_;
  std::vector<std::uint8_t> probes_;
  std::vector<double> most_;  // of each CPU
};

}  // namespace assay
