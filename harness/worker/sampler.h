// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// The sampler: sizes blocks, warms up, measures, watches clock and noise, stops. A sample is one block of iterations,
// at least `block_s` and 1000 times the timer's cost and resolution long, so no time is ever truncated to nothing. The
// first launch is dropped; everything timed later is kept, disturbed or not: a block that came out shorter than asked
// for is flagged, and dropped only when the timer can't resolve it. The total of iterations is odd: work that undoes
// itself (a swap, a sign) can't end as if nothing had been done.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "harness/protocol.h"
#include "harness/record.h"
#include "harness/worker/instrument.h"
#include "harness/worker/link.h"

namespace assay {

struct Sampling {
  Series series;
  double warmup_s = 0, measure_s = 0;  // measure_s: the samples, not what is read between them
  double most_clock_hz = 0;            // the highest beside the samples
  std::uint64_t iterations_done = 0;   // since before_measuring, or since the first launch where there is none
};

struct SamplerSetting {
  Policy policy;
  double part = 1;        // share of the case's time that this series gets
  double slowdown = 1;    // ASSAY_TEST_SLOWDOWN: timed work takes this many times as long
  std::vector<int> cpus;  // CPUs the work runs on: their clock and noise are watched
  Instrument* instrument = nullptr;  // null: the CPU's, on `cpus`
  std::string unit;       // of the rate sent to the live line: "B/s", "op/s"
  double amount_per_iteration = 0;
  std::function<void()> before_measuring = nullptr;  // between warm-up and the first sample: spoils old outputs
  std::function<void()> after_each_call = nullptr;   // of the work; not timed
};

// Error when the work takes no time at all.
Sampling sample(const Work& work, const SamplerSetting& setting, Link& link);

}  // namespace assay
