// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Atomic additions by everybody at once to few or many counters: what contention costs. With one counter all updates
// queue for one word; with as many as there are threads they only share the path to it.
//
// Updates per second = n * iterations / time. Limit: none from a data sheet. A CPU core owns the line for some 10 to
// 100 ns per update if others want it too; the L2 of a device adds to one word about once per clock and slice. Traps:
// counters side by side share lines (64 bytes on a CPU, sectors of 32 on a device), so few counters contend even if
// they differ.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/backend.h"

namespace assay::kernels {

struct AtomicsOps {
  // For every i below n, `iterations` times: counters[i mod targets] += i + 1, modulo 2^64, each as an atomic addition
  // or with the same effect. `targets` is a power of two; counters are not null, aligned to their type, and not zeroed
  // here. n = 0 does nothing. For the CUDA rows they are memory of the device.
  void (*add)(const Exec&, std::uint64_t* counters, std::size_t targets, std::size_t n, std::uint64_t iterations);
};

// Null: this build has no row for the backend.
const AtomicsOps* atomics_ops(Backend, int capability = newest_capability);

// What add() adds to counters[j] in all, in closed form.
constexpr std::uint64_t atomics_expected(std::uint64_t j, std::uint64_t targets, std::uint64_t n,
                                         std::uint64_t iterations) {
  if (j >= n) return 0;
  const std::uint64_t m = (n - 1 - j) / targets + 1;  // updates: j, j + targets, ...
  const std::uint64_t triangle = m % 2 == 0 ? m / 2 * (m - 1) : (m - 1) / 2 * m;
  return iterations * (m * (j + 1) + targets * triangle);
}

}  // namespace assay::kernels
