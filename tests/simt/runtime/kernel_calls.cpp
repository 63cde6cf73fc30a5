// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// What kernels call (include/simt/device.h), by the block whose thread runs.
#include <bit>

#include "accesses.h"
#include "grid.h"
#include "sanitizers.h"
#include "shared_memory.h"

namespace assay::simt {

int barrier(Vote vote, bool predicate, Where where) {
  const Unseen unseen;
  return block().barrier(vote, predicate, where);
}
void meet(std::uint32_t mask, Exchange* mine, Complete complete, bool orders_memory, const char* name, Where where) {
  const Unseen unseen;
  block().meet(mask, mine, complete, orders_memory, name, where);
}
void break_at_random() {
  const Unseen unseen;
  if (is_time_for_a_break()) block().take_a_break();
}
unsigned lane() { return block().number() % warp_size; }
void pause(Where where) {
  const Unseen unseen;
  block().pause(where);
}
void fence() { block().fence(); }
void atomic_access(const void* p, std::size_t bytes) { access(p, bytes, Access::atomic, __builtin_return_address(0)); }
void fail(cudaError_t error, const char* what, Where where) { block().fail(error, what, place(where)); }

void shuffle_lanes(Exchange* const (&lanes)[32], std::uint32_t mask) {
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    Exchange* reader = lanes[std::countr_zero(rest)];
    if ((mask >> reader->source & 1) != 0) reader->result = lanes[reader->source]->value;
  }
}

void ballot_lanes(Exchange* const (&lanes)[32], std::uint32_t mask) {
  std::uint32_t votes = 0;
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    if (lanes[lane]->value != 0) votes |= 1u << lane;
  }
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) lanes[std::countr_zero(rest)]->result = votes;
}

// Clusters ------------------------------------------------------------------------------------------------------------

unsigned cluster_rank() {
  const Cluster& cluster = *block().cluster();
  unsigned rank = 0;
  while (cluster.blocks[rank] != &block()) ++rank;
  return rank;
}
unsigned cluster_blocks() { return static_cast<unsigned>(block().cluster()->blocks.size()); }
void cluster_arrive(Where where) { block().cluster_arrive(where); }
void cluster_wait(Where where) { block().cluster_wait(where); }
const void* shared_of_rank(const void* p, unsigned rank, Where where) {
  std::size_t index = 0;
  unsigned slot = 0;
  if (!shared_index(p, &slot, &index) || slot != block().slot()) {
    fail(cudaErrorInvalidAddressSpace, "map_shared of an address that isn't in the block's own shared memory", where);
  }
  if (rank >= cluster_blocks()) {
    fail(cudaErrorLaunchFailure, "map_shared to a rank that the cluster doesn't have", where);
  }
  return shared_in_slot(block().cluster()->blocks[rank]->slot(), index);
}

}  // namespace assay::simt
