// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// The core clock and the room on the core, on every CPU of the team at once: what makes a rate per second also a rate
// per cycle, and what tells a shared core from a slow one. See kernels/clock.h for how they are measured.
#pragma once

#include <cstddef>

namespace assay {

struct ClockWatch {
  double hertz = 0;        // mean over the team; 0: this architecture has no probe
  double issue_ratio = 0;  // smallest of the team, as share of the best this process has seen; 0: no probe
};

// `threads`: the OpenMP team of the case, already pinned.
ClockWatch watch_clock(std::size_t threads);

}  // namespace assay
