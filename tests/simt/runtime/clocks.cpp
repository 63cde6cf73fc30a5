// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
#include "clocks.h"

#include <algorithm>
#include <bit>

namespace assay::simt {
namespace {

void join(Knowledge* into, const Knowledge& from) {
  for (std::size_t i = 0; i < from.size(); ++i) (*into)[i] = std::max((*into)[i], from[i]);
}

}  // namespace

void Clocks::begin_block(unsigned threads) {
  is_active_ = false;
  threads_ = threads;
  fences_.assign(threads, 0);
}

void Clocks::activate() {
  if (is_active_) return;
  is_active_ = true;
  known_.resize(threads_);
  for (unsigned t = 0; t < threads_; ++t) {
    known_[t].assign(threads_ + engines, 0);
    known_[t][t] = 1;
  }
}

void Clocks::note(Knowledge* knowledge, unsigned who, std::uint32_t clock) const {
  std::uint32_t& known = (*knowledge)[place(who)];
  known = std::max(known, clock);
}

void Clocks::release(unsigned thread, Knowledge* into) {
  join(into, known_[thread]);
  ++known_[thread][thread];
}

void Clocks::acquire(unsigned thread, const Knowledge& from) { join(&known_[thread], from); }

void Clocks::meet(unsigned first, std::uint32_t mask) {
  if (!is_active_) return;
  Knowledge all = nothing();
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    release(first + static_cast<unsigned>(std::countr_zero(rest)), &all);
  }
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    join(&known_[first + static_cast<unsigned>(std::countr_zero(rest))], all);
  }
}

// What threads did before a barrier is ordered by its number; what engines did isn't, so that only must be passed on.
void Clocks::barrier() {
  if (!is_active_) return;
  for (std::size_t e = threads_; e < threads_ + engines; ++e) {
    std::uint32_t most = 0;
    for (const Knowledge& known : known_) most = std::max(most, known[e]);
    for (Knowledge& known : known_) known[e] = most;
  }
}

Clocks& clocks() {
  static Clocks one;
  return one;
}

}  // namespace assay::simt
