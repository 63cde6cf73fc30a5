// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Reads from the memory that is private to a core: shared memory of a multiprocessor, the L1 cache of a CPU core. The
// distance between the words of neighbouring lanes decides how many of them one access serves.
//
// Bytes: 4 * steps * 256 * groups. Limit on a device: 128 bytes per clock and multiprocessor (32 banks of 4 bytes),
// divided by the greatest common divisor of stride and 32: the lanes that want different words of one bank wait for
// each other. On a CPU: load ports (2 or 3 words per cycle, as these loads are scalar). Traps: the time of
// few steps is that of bringing the table in.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/backend.h"

namespace assay::kernels {

constexpr std::size_t shared_words = 4096, shared_lanes = 256, shared_steps_granule = 8;

struct SharedOps {
  // Lane l of each group reads table[(l * stride + s) mod shared_words] for s = 0 .. steps - 1:
  // sums[g * shared_lanes + l] = their sum modulo 2^32. `steps` is a multiple of shared_steps_granule, 0 is one; stride
  // is below shared_words; `table` has shared_words words and is aligned to 16 bytes; sums has shared_lanes * groups
  // words. No pointer is null unless groups = 0. For the CUDA rows both are memory of the device.
  void (*read)(const Exec&, const std::uint32_t* table, std::size_t stride, std::size_t steps, std::size_t groups,
               std::uint32_t* sums);
};

// Null: this build has no row for the backend.
const SharedOps* shared_ops(Backend, int capability = newest_capability);

}  // namespace assay::kernels
