// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// CPU row of the atomic additions: relaxed, one locked instruction each on x86-64.
#include "kernels/atomics.h"

#include <atomic>

namespace assay::kernels {
namespace {

void add(const Exec& exec, std::uint64_t* counters, std::size_t targets, std::size_t n, std::uint64_t iterations) {
#pragma omp parallel for num_threads(exec.threads) schedule(static, 1)
  for (int thread = 0; thread < exec.threads; ++thread) {
    const Range mine = share(n, thread, exec.threads, 16);
    for (std::uint64_t iteration = 0; iteration < iterations; ++iteration) {
      for (std::size_t i = mine.begin; i < mine.end; ++i) {
        std::atomic_ref(counters[i & (targets - 1)]).fetch_add(i + 1, std::memory_order_relaxed);
      }
    }
  }
}

constexpr AtomicsOps cpu_row = {add};

}  // namespace

const AtomicsOps* atomics_ops(Backend backend, int capability) {
  return ops_for(backend, capability, &cpu_row);
}

}  // namespace assay::kernels
