// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See clock_watch.h.
#include "harness/worker/clock_watch.h"

#include <algorithm>
#include <numeric>

#include "harness/worker/placement.h"
#include "kernels/clock.h"

namespace assay {
namespace {

// Of the whole process: a sibling that is busy all through one case has been quiet in another.
BestIssue& process_best() {
  static BestIssue best;
  return best;
}

}  // namespace

double BestIssue::share(int cpu, double seen) {
  if (!(seen > 0) || seen > 1.05 * kernels::issue_ratio_most) return 0;
  double& best = best_[cpu];
  best = std::max(best, seen);
  return seen / best;
}

ClockWatch::ClockWatch(std::vector<int> cpus) : cpus_(std::move(cpus)) {
  for (const bool first : first_of_core(cpus_)) probes_.push_back(first ? 1 : 0);
  most_.resize(cpus_.size());
}

double ClockWatch::most_hertz() const {
  const double sum = std::accumulate(most_.begin(), most_.end(), 0.0);
  return most_.empty() ? 0 : sum / static_cast<double>(most_.size());
}

ClockState ClockWatch::read() {
  if (cpus_.empty()) return {};
  std::vector<kernels::ClockReading> readings(cpus_.size());
  kernels::read_clocks(readings.data(), static_cast<int>(readings.size()), probes_.data());
  ClockState state;
  for (std::size_t i = 0; i < cpus_.size(); ++i) {
    if (!readings[i].known()) return {};
    state.hertz += readings[i].hertz / static_cast<double>(cpus_.size());
    most_[i] = std::max(most_[i], readings[i].hertz);
    if (probes_[i] == 0) continue;
    const double share = process_best().share(cpus_[i], readings[i].issue_ratio);
    if (share > 0) state.issue_ratio = state.issue_ratio > 0 ? std::min(state.issue_ratio, share) : share;
  }
  return state;
}

}  // namespace assay
