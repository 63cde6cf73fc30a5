// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Pairs judged and counted: cells of one tool, family and effect, and suites of many metrics on an unchanged machine.
// Every pair has a generator of its own, so any number of threads gives the same counts.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "tests/aa_bench/tools.h"

namespace assay::aa_bench {

struct Settings {
  std::uint64_t seed = 1001;
  std::size_t pairs = 1000;
  std::size_t threads = 1;
};

// Calls body(0) .. body(count - 1), each once, on some thread.
void parallel_for(std::size_t count, std::size_t threads, const std::function<void(std::size_t)>& body);

struct Tally {
  std::size_t pairs = 0, worse = 0, better = 0, changed = 0, passes = 0, unknown = 0, sessions = 0;
  void add(const Answer& answer);
  double share(std::size_t count) const { return static_cast<double>(count) / static_cast<double>(pairs); }
  std::size_t flags() const { return worse + better + changed; }
};

struct Cells {
  Tool tool;
  std::vector<std::vector<Tally>> by_family;  // [family][effect], as in families.h
  Tally clock;                                // clock_family, +1 %
  const Tally& at(std::size_t family, double effect) const;
};
std::vector<Cells> judge_pairs(const std::vector<Tool>& tools, const Settings& settings);
Tally judge_clock(const Tool& tool, const Settings& settings);

// Suites of 60 metrics, nothing changed.
struct Suites {
  std::size_t suites = 0;
  std::size_t any = 0;       // at least one metric called different
  std::size_t adjusted = 0;  // at least one called worse whose p, adjusted by Benjamini-Hochberg, is at most 0.05
};
// Metrics take turns over the families, with or without "epoch".
Suites judge_suites(const Tool& tool, bool with_epoch, const Settings& settings);

// Standard deviation of what session_of() makes of one session of 20 samples, per cycle, by simulation.
double true_session_sd(const Family& family, std::uint64_t seed);

}  // namespace assay::aa_bench
