// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Memory marches: a test is a cycle of steps, and a step goes once over all words, in one direction, reading what the
// step before must have left and writing the next pattern. Between two steps every thread has finished, so a word that
// answers at two addresses is seen by the step that reads it. The idea and the names are those of memtest86; every
// step's expectation comes from the pattern, never from memory.
//
//   own_address        each word holds its own byte offset, then the complement: address lines, aliased memory
//   moving_inversions  0 and 0x55.. against their complements, upwards and downwards: stuck and coupled bits
//   walking_ones       one bit set, moved through all positions; word i starts at bit i mod 64: coupled data lines
//   random             a Philox stream and its complement: what regular patterns miss
//
// bytes = 8 * words * (number of reads + number of writes over the steps): 16 * words for a step of a cycle.
// Traps: a buffer that fits in a cache tests the cache; to reach memory it must be larger than the last one. A test is
// whole only after its whole cycle and a last reading: 64 steps for walking_ones. No words: null is allowed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/backend.h"
#include "kernels/evidence.h"
#include "kernels/philox.h"

namespace assay::kernels {

struct MarchPattern {
  enum class Kind { constant, own_offset, walking_one, philox };

  Kind kind = Kind::constant;
  std::uint64_t value = 0;  // constant: the word; walking_one: how far the bit has walked
  Stream stream;            // philox: u64_at(stream, i)
  bool complement = false;

  ASSAY_HOST_DEVICE constexpr bool is_complement_of(const MarchPattern& p) const {
    return kind == p.kind && value == p.value && stream.seed == p.stream.seed && stream.id == p.stream.id &&
           complement != p.complement;
  }
  // The definition: what word i must be.
  ASSAY_HOST_DEVICE constexpr std::uint64_t word(std::uint64_t i) const {
    const std::uint64_t flip = complement ? ~std::uint64_t{0} : 0;
    switch (kind) {
      case Kind::constant:
        return value ^ flip;
      case Kind::own_offset:
        return (8 * i) ^ flip;
      case Kind::walking_one:
        return (std::uint64_t{1} << ((i + value) % 64)) ^ flip;
      case Kind::philox:
        break;
    }
    return u64_at(stream, i) ^ flip;
  }
};

struct MarchStep {
  bool reads = false;
  MarchPattern expect;  // if it reads
  bool writes = false;
  MarchPattern store;  // if it writes
  bool descending = false;
};

enum class MarchTest { own_address, moving_inversions, walking_ones, random };

// The steps of a test, each reading and writing; the last one leaves what the first one reads, so they can be repeated.
// `stream` is used by `random` only.
std::vector<MarchStep> march_cycle(MarchTest test, Stream stream);

// What comes before a cycle (write what its first step reads) and what may end it after any step (read what that left).
MarchStep march_begin(const std::vector<MarchStep>& cycle);
MarchStep march_end(const MarchStep& last);

// A whole test: begin, the cycle once, end.
std::vector<MarchStep> march_steps(MarchTest test, Stream stream);

// Bytes moved by the steps over `words` words.
std::uint64_t march_bytes(const std::vector<MarchStep>& steps, std::size_t words);

struct MarchOps {
  // One step over words [0, words); `pass` is its number for the evidence. Wrong words are added to *report.
  void (*step)(std::uint64_t* memory, std::size_t words, const MarchStep& step, std::uint64_t pass,
               MismatchReport* report, const Exec& exec);
};

// Null if this build has no code for the backend.
const MarchOps* march_ops(Backend, int capability = newest_capability);

}  // namespace assay::kernels
