// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// What it costs to start and to join a team of threads, and to hold it at a barrier: the floor under every parallel
// kernel. The work inside is one increment of a counter per thread, so that the result shows that every thread took
// part in every region.
#pragma once

#include <cstdint>

#include "kernels/backend.h"

namespace assay::kernels {

// One per thread, 128 bytes apart (processors fetch lines in pairs), so that counting costs no traffic between cores.
struct alignas(64) TeamCounter {
  std::uint64_t rounds = 0;      // regions or barriers this thread took part in
  std::uint64_t violations = 0;  // times it left a barrier before its neighbour had arrived
  std::uint64_t unused[14] = {};
};

struct TeamOps {
  // `repeats` parallel regions, one after the other. counters[t].rounds grows by `repeats` for each thread t.
  void (*fork_join)(TeamCounter* counters, std::uint64_t repeats, const Exec& exec);
  // One region with `repeats` barriers. After each one a thread looks whether its neighbour had arrived.
  void (*barrier)(TeamCounter* counters, std::uint64_t repeats, const Exec& exec);
};

// Null if this build has no code for the backend. `counters` has exec.threads entries.
const TeamOps* team_ops(Backend backend);

}  // namespace assay::kernels
