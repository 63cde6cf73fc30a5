// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Copies of plain bytes inside host memory, in two ways: the C library's memcpy, which every program uses and which
// picks its own strategy by size, and a copy with non-temporal stores, which is what the memory can do.
//
// Bytes per iteration: `n` copied, 2n moved (read and written). A rate of copied bytes is half of one of moved bytes:
// say which. Limit: DRAM bandwidth / 2 per copied byte; 3 instead of 2 where the copy uses regular stores, because a
// line is read before it is overwritten. Traps: glibc goes over to non-temporal stores at a size that depends on the
// cache it believes to own (x86_non_temporal_threshold), so a curve over sizes has a step there. The non-temporal row
// is slow inside caches.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/backend.h"

namespace assay::kernels {

// Copies n bytes from `from` to `to`, `iterations` times; thread t copies share(n, t, threads, 64), again and again and
// without a barrier in between. Any alignment; the areas do not overlap; pointers are not null unless n = 0.
using CopyFunction = void (*)(const Exec&, void* to, const void* from, std::size_t n, std::uint64_t iterations);

struct MemcpyOps {
  CopyFunction libc;
  CopyFunction non_temporal;
};

// Null: this build has no row for the backend.
const MemcpyOps* memcpy_ops(Backend backend);

}  // namespace assay::kernels
