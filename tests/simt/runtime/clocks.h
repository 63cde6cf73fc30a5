// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Who knows what of whom inside a block, beyond barriers of the whole block: vector clocks. A thread has a clock, which
// ticks at each release (arrival at an mbarrier, __syncwarp), and knows of the others how far their clocks were when
// something last ordered it behind them. Asynchronous engines have clocks as threads do: one for the copies of each
// mbarrier, and of each warp one for its products and one for its bulk stores.
//
// Nothing is counted before a block first uses any of these (is_active): most kernels never do. Blocks that run
// together, such as those of a cluster, can't: that is for a block alone.
#pragma once

#include <cstdint>
#include <vector>

namespace assay::simt {

using Knowledge = std::vector<std::uint32_t>;  // by who() - 0 .. threads, then engines

class Clocks {
 public:
  static constexpr unsigned first_engine = 1u << 20;  // numbers below are threads
  static constexpr unsigned barriers = 64, warps = 32, engines = barriers + 2 * warps;
  static unsigned copies_of(unsigned barrier) { return first_engine + barrier; }
  static unsigned products_of(unsigned warp) { return first_engine + barriers + warp; }
  static unsigned stores_of(unsigned warp) { return first_engine + barriers + warps + warp; }

  void begin_block(unsigned threads);
  void activate();
  bool is_active() const { return is_active_; }
  std::uint32_t now(unsigned thread) const { return is_active_ ? known_[thread][thread] : 1; }
  const Knowledge* known_to(unsigned thread) const { return is_active_ ? &known_[thread] : nullptr; }
  std::uint32_t of(const Knowledge& knowledge, unsigned who) const { return knowledge[place(who)]; }
  bool knows(const Knowledge& knowledge, unsigned who, std::uint32_t clock) const {
    return knowledge[place(who)] >= clock;
  }

  Knowledge nothing() const { return Knowledge(threads_ + engines); }
  void note(Knowledge* knowledge, unsigned who, std::uint32_t clock) const;
  void release(unsigned thread, Knowledge* into);  // the thread's knowledge, and its clock ticks
  void acquire(unsigned thread, const Knowledge& from);
  void learn(unsigned thread, unsigned who, std::uint32_t clock) { note(&known_[thread], who, clock); }
  void meet(unsigned first, std::uint32_t mask);  // of a warp: all learn what one of them knows
  void barrier();                                 // the same of all threads of the block

  // How often a thread has called fence_async.
  std::uint32_t fences(unsigned thread) const { return thread < fences_.size() ? fences_[thread] : 0; }
  void fence(unsigned thread) {
    if (thread < fences_.size()) ++fences_[thread];
  }

 private:
  unsigned place(unsigned who) const { return who < first_engine ? who : threads_ + who - first_engine; }

  bool is_active_ = false;
  unsigned threads_ = 0;
  std::vector<Knowledge> known_;
  std::vector<std::uint32_t> fences_;
};

Clocks& clocks();

}  // namespace assay::simt
