// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Compares all of an output with its expectation, in chunks, on all threads of the case. NaN where none is expected is
// a mismatch and counted on its own. Mismatches become evidence: index, both values, their bits, and a second read.
#pragma once

#include <cstdint>

#include "harness/benchmark.h"
#include "harness/worker/place.h"

namespace assay {

// Adds to `result`. `threads`: how many OpenMP threads compare.
template <class T>
void compare(const Check<T>& check, int threads, Verification& result);
// The same for an output that the host can't read where it is: it is copied, a part at a time, and what is wrong is read
// from the device once more.
template <class T>
void compare_elsewhere(const Check<T>& check, int threads, Place& place, Verification& result);

// Flips one bit of `actual` such that the change lies above the check's bounds; returns the element's index. Error when
// there is no such bit, or nothing to flip. `seed` chooses the element.
template <class T>
std::uint64_t corrupt(const Check<T>& check, std::uint64_t seed);
template <class T>
std::uint64_t corrupt_elsewhere(const Check<T>& check, std::uint64_t seed, Place& place);

}  // namespace assay
