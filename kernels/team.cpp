// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// CPU row of kernels/team.h: OpenMP, as every other CPU kernel here uses it.
#include "kernels/team.h"

#include <omp.h>

namespace assay::kernels {
namespace {

// Counters that a neighbour reads while they change are accessed whole; ordering comes from the barrier alone.
std::uint64_t load(const std::uint64_t* p) { return __atomic_load_n(p, __ATOMIC_RELAXED); }
void store(std::uint64_t* p, std::uint64_t value) { __atomic_store_n(p, value, __ATOMIC_RELAXED); }

void cpu_fork_join(TeamCounter* counters, std::uint64_t repeats, const Exec& exec) {
  for (std::uint64_t r = 0; r < repeats; ++r) {
#pragma omp parallel num_threads(exec.threads)
    ++counters[omp_get_thread_num()].rounds;
  }
}

void cpu_barrier(TeamCounter* counters, std::uint64_t repeats, const Exec& exec) {
#pragma omp parallel num_threads(exec.threads)
  {
    const int thread = omp_get_thread_num(), threads = omp_get_num_threads();
    TeamCounter& mine = counters[thread];
    const TeamCounter& neighbour = counters[(thread + 1) % threads];
    const std::uint64_t mine_before = mine.rounds, neighbour_before = load(&neighbour.rounds);
#pragma omp barrier  // nobody counts before everybody has looked
    for (std::uint64_t r = 1; r <= repeats; ++r) {
      store(&mine.rounds, mine_before + r);
#pragma omp barrier
      if (load(&neighbour.rounds) < neighbour_before + r) ++mine.violations;
    }
  }
}

constexpr TeamOps cpu_team{cpu_fork_join, cpu_barrier};

}  // namespace

const TeamOps* team_ops(Backend backend) { return backend == Backend::cpu ? &cpu_team : nullptr; }

}  // namespace assay::kernels
