// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See clock_watch.h. The quiet value of the issue ratio is the best this process has seen: absolute values differ from
// processor to processor, a busy sibling lowers it on all of them.
#include "harness/worker/clock_watch.h"

#include <algorithm>
#include <atomic>
#include <vector>

#include "kernels/clock.h"

namespace assay {
namespace {

double best_issue_ratio(double seen) {
  static std::atomic<double> best{0};
  double known = best.load();
  while (seen > known && !best.compare_exchange_weak(known, seen)) {
  }
  return std::max(known, seen);
}

}  // namespace

ClockWatch watch_clock(std::size_t threads) {
  std::vector<kernels::ClockReading> readings(std::max<std::size_t>(threads, 1));
  kernels::read_clocks(readings.data(), static_cast<int>(readings.size()));
  ClockWatch watch;
  double smallest = readings.front().issue_ratio, largest = 0;
  for (const kernels::ClockReading& reading : readings) {
    if (!reading.known()) return {};
    watch.hertz += reading.hertz / static_cast<double>(readings.size());
    smallest = std::min(smallest, reading.issue_ratio);
    largest = std::max(largest, reading.issue_ratio);
  }
  const double best = best_issue_ratio(largest);
  watch.issue_ratio = best > 0 ? smallest / best : 0;
  return watch;
}

}  // namespace assay
