// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// What a comparison found: how many elements were compared, how many were wrong, and the first few of them in full.
// Values are bit patterns, widened to 64 bits. `second_read` is the same element read again after its cache line was
// flushed: equal to `actual` means the memory holds the wrong value, equal to `expected` means the first read was
// transient. Both are failures; they point at different parts. (What a device can do about it: compare.cu.)
#pragma once

#include <cstdint>

#include "kernels/philox.h"

namespace assay::kernels {

struct Mismatch {
  std::uint64_t index = 0;  // element, not byte
  std::uint64_t expected = 0;
  std::uint64_t actual = 0;
  std::uint64_t second_read = 0;
  std::uint64_t pass = 0;  // which step of a march; 0 for a plain comparison

  ASSAY_HOST_DEVICE constexpr std::uint64_t difference() const { return expected ^ actual; }
};

struct MismatchReport {
  static constexpr std::uint64_t capacity = 8;

  std::uint64_t compared = 0;
  std::uint64_t mismatches = 0;
  std::uint64_t kept = 0;  // valid entries of `first`, which are ordered by pass, then index
  Mismatch first[capacity];

  // True if `m` would be among the first ones; a second read is only worth its price then.
  ASSAY_HOST_DEVICE constexpr bool wants(const Mismatch& m) const {
    return kept < capacity || before(m, first[capacity - 1]);
  }

  // Counts one wrong element and keeps it if it is among the first.
  ASSAY_HOST_DEVICE constexpr void add(const Mismatch& m) {
    ++mismatches;
    keep(m);
  }

  // Joins what another thread, or another pass, found.
  ASSAY_HOST_DEVICE constexpr void merge(const MismatchReport& other) {
    compared += other.compared;
    mismatches += other.mismatches;
    for (std::uint64_t i = 0; i < other.kept; ++i) keep(other.first[i]);
  }

  // The second half of add(), for whoever counts apart. Threads of a device look at `kept` and then at `first` while
  // another one keeps something: an entry is written before it counts.
  ASSAY_HOST_DEVICE constexpr void keep(const Mismatch& m) {
    if (!wants(m)) return;
    std::uint64_t at = kept < capacity ? kept : capacity - 1;
    for (; at > 0 && before(m, first[at - 1]); --at) first[at] = first[at - 1];
    first[at] = m;
    if (kept < capacity) {
#if defined(__CUDA_ARCH__)
      __threadfence();
#endif
      ++kept;
    }
  }

  ASSAY_HOST_DEVICE static constexpr bool before(const Mismatch& a, const Mismatch& b) {
    return a.pass != b.pass ? a.pass < b.pass : a.index < b.index;
  }
};

}  // namespace assay::kernels
