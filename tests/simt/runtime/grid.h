// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// The blocks of a launch. One runs after another, in an order of the schedule; those of a cluster, and all of a
// cooperative launch, run together: the one which goes on is the schedule's choice as well. Each block has shared
// memory of its own then (shared_memory.h).
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "block.h"

namespace assay::simt {

struct Grid {
  dim3 blocks, threads, cluster;  // cluster: blocks of one
  std::size_t dynamic_shared_bytes = 0;
  bool cooperative = false;
  const void* kernel = nullptr;
};

struct Cluster {
  std::vector<Block*> blocks;  // by rank
  unsigned here = 0, arrived = 0;
  std::uint64_t passed = 0;  // how many of its barriers
};

// Runs all blocks. The first fault ends the kernel.
Fault run_grid(const Grid& grid, const std::function<void()>& body);

// While a kernel runs.
bool is_running();
Block& block();  // the one whose thread runs
const std::function<void()>& kernel_body();
Block& block_in_slot(unsigned slot);
Stacks& stacks();
Context* scheduler();
std::uint64_t new_number();  // of a barrier
std::uint32_t first_block_of_launch();
std::uint64_t group_begin();
unsigned blocks_together();
void note_progress();  // a thread got further than a spin loop
void note_fault(const Fault& fault);
void finish_cluster_barrier(Cluster* cluster);
unsigned running_thread();             // of all that run together
void forget_copies(unsigned threads);  // copies.cpp: asynchronous copies, by running_thread()
[[noreturn]] void fail_at(cudaError_t error, const std::string& what, const void* code);
[[noreturn]] void fail_with(cudaError_t error, const std::string& what, Where where);

}  // namespace assay::simt
