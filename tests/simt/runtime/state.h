// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// What the calls of include/simt/api.h share: settings, the errors that stay, one lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <random>
#include <set>
#include <string>

#include "cuda_runtime.h"
#include "rig.h"

namespace assay::simt {

struct Device {
  Schedule schedule = Schedule::in_order;
  std::mt19937_64 random{1};
  unsigned until_break = 1;  // accesses
  int processors = 2, processor_threads = 2048, capability = 90, l2_bytes = 1 << 20;
  int claimed_processors = 0;  // what the library tells instead of `processors`; 0: the truth
  std::size_t memory_bytes = std::size_t{1} << 38;
  cudaError_t last = cudaSuccess, sticky = cudaSuccess;
  std::string fault;
  std::map<const void*, int> dynamic_limits;  // by kernel
  std::set<const void*> large_clusters;       // kernels that may have clusters of 16 blocks
  std::set<std::uint64_t> chosen_blocks;
  std::set<const void*> ran;  // kernels that ended well
  std::string kernel_file;    // gets the name of each, a line; empty: nobody wants it
};
Device& device();

// Held by every call of the library: a worker has several threads, the simulated device has one.
class Call {
 public:
  explicit Call(const char* name = __builtin_FUNCTION()) : lock_(mutex()) { begin_call(name); }

 private:
  static std::recursive_mutex& mutex();
  static void begin_call(const char* name);
  std::lock_guard<std::recursive_mutex> lock_;
};
// The scripted fault of the call under way (faults.cpp), cudaSuccess: none; and whether a process can go on after it.
cudaError_t scripted_fault();
bool is_lasting(cudaError_t error);

// Every call ends here: an error is kept for cudaGetLastError, one of a kernel for ever.
cudaError_t done(cudaError_t error);
// cudaErrorNotReady is an answer, which cudaGetLastError knows nothing of.
cudaError_t not_ready();

inline constexpr int usual_dynamic_shared = 48 << 10;

}  // namespace assay::simt
