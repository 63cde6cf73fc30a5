// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// CPU row of the pointer chase. The loop is one load per step, unrolled so that its counter costs nothing even in L1.
#include "kernels/chase.h"

#include <utility>

#include "kernels/philox.h"

namespace assay::kernels {
namespace {

// SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
std::uint64_t next_random(std::uint64_t& state) { return mix64(state += 0x9E3779B97F4A7C15u); }

void link(const Exec& exec, ChaseLine* lines, const std::uint32_t* order, std::size_t n) {
#pragma omp parallel for num_threads(exec.threads) schedule(static)
  for (std::size_t i = 0; i < n; ++i) lines[order[i]].next = lines + order[i + 1 < n ? i + 1 : 0];
}

// Volatile: each load happens, in this order. A result that nobody used would otherwise delete the loop.
ChaseLine* follow(ChaseLine* line, std::uint64_t steps) {
  const auto step = [](ChaseLine* from) { return *static_cast<ChaseLine* volatile*>(&from->next); };
  for (; steps >= 16; steps -= 16) {
    for (int k = 0; k < 16; ++k) line = step(line);
  }
  for (; steps > 0; --steps) line = step(line);
  return line;
}

void run(const Exec& exec, ChaseLine** position, std::uint64_t steps) {
#pragma omp parallel for num_threads(exec.threads) schedule(static, 1)
  for (int thread = 0; thread < exec.threads; ++thread) position[thread] = follow(position[thread], steps);
}

constexpr ChaseOps cpu_row = {link, run};

}  // namespace

const ChaseOps* chase_ops(Backend backend, int capability) {
  return ops_for(backend, capability, &cpu_row);
}

void chase_order(std::uint32_t* order, std::size_t n, std::uint64_t seed) {
  for (std::size_t i = 0; i < n; ++i) order[i] = static_cast<std::uint32_t>(i);
  for (std::size_t i = n; i > 1; --i) {
    // A number below i from the upper 32 bits by multiplication; its bias is below i / 2^32.
    const auto j = static_cast<std::size_t>(((next_random(seed) >> 32) * i) >> 32);
    std::swap(order[i - 1], order[j]);
  }
}

}  // namespace assay::kernels
