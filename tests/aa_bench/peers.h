// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// The rules by which other tools call two sets of times different, each written from its documentation and source (said
// which, in peers.cpp) with its defaults. Times are positive, lower is better.
#pragma once

#include <span>
#include <vector>

#include "tests/aa_bench/random.h"

namespace assay::aa_bench {

enum class Call {
  same,  // nothing found; what the tool lets pass
  worse,
  better,
  changed,  // something other than the place changed
  unknown,  // the tool says that it can't say
};

using Times = std::span<const double>;

// Google Benchmark's compare.py and benchstat: two-sided Mann-Whitney, p < 0.05. They differ in the delta they print.
Call compare_py(Times before, Times after);
Call benchstat(Times before, Times after);
// criterion.rs: bootstrapped t test, then the interval of the relative change against a noise threshold of 1 %.
Call criterion(Times before, Times after, Random& random, std::size_t resamples = 1000);
// nvbench-compare before 2026: the difference of the means against the smaller relative standard deviation.
Call nvbench_legacy(Times before, Times after);
// nvbench-compare-robust: intervals [min, q3] must be apart by 0.5 %, in time and in cycles. Clocks: the mean of each
// side.
Call nvbench_robust(Times before, Times after, double clock_before = 1, double clock_after = 1);
// What many continuous-integration set-ups do: means that differ by more than 5 %.
Call five_percent(Times before, Times after);
// SuperBench's rule "variance", criteria x > 5 %, one number a side. It looks at the worse side only.
Call superbench(Times before, Times after);

// SuperBench's baseline of a fleet ("fix_threshold"): the mean; whoever is more than 5 % worse is dropped; again.
double superbench_baseline(std::vector<double> values);

// A CUSUM as textbooks have it (k = 0.5, h = 5, mean and deviation from the first 60 samples), on raw samples.
bool textbook_cusum(std::span<const double> log_throughput);
// The last tenth of a run more than 5 % below its first tenth.
bool last_below_first(std::span<const double> log_throughput);

}  // namespace assay::aa_bench
