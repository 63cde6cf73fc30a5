// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Runs one block at a time: its threads are fibers, which go on until they must wait for others. Which one is next is
// the schedule's choice. Stricter than a GPU on purpose: threads may leave a kernel only when no barrier is still to
// come, and a mask may name only lanes that exist and are still there.
#pragma once

#include <cstdint>
#include <functional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "cuda_runtime.h"
#include "fiber.h"
#include "rig.h"

namespace assay::simt {

struct Fault {
  cudaError_t error = cudaSuccess;
  std::string what;
  std::string where;  // file:line
  uint3 block, thread;
};

// Runs all blocks. The first fault ends the kernel.
Fault run_grid(const cudaLaunchConfig_t& config, const std::function<void()>& body);

// For accesses.cpp. A moment is how many barriers the program has passed and how many __syncwarp the warp: two accesses
// of one block are ordered by a barrier if the first number differs.
struct Moment {
  std::uint64_t barrier = 0, warp = 0;
};
struct Now {
  Moment when;
  std::uint64_t block_begin = 0;  // barrier number at which the block began; each block has a new one
  unsigned thread = 0;
};
// For global memory: each block of the program has a number of its own.
struct BlockNumbers {
  std::uint32_t block = 0, first_of_launch = 0;
  bool is_fenced = false;  // this thread has called __threadfence
};
bool is_running();  // a kernel
Now this_moment();
BlockNumbers block_numbers();
void break_at_random();
[[noreturn]] void fail_at(cudaError_t error, const std::string& what, const void* code);

// Of the schedule.
std::mt19937_64& random_numbers();
Schedule schedule();
bool breaks_at_random();
const std::set<std::uint64_t>& chosen_blocks();  // by run_only
bool is_time_for_a_break();                      // at one access of 16, if so

// Function and file:line of machine code, as far as addr2line knows them.
struct Source {
  std::string function, place;
};
Source source_of(const void* code);

// Asynchronous copies, by thread of the block.
void forget_copies(unsigned threads);
unsigned running_thread();

}  // namespace assay::simt
