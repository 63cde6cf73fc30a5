// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Memory of the cases. Blocks are mapped once and lent to case after case: mapping and zeroing a gigabyte costs as much
// time as measuring with it. Before a block is handed out it is filled with 0xA5 by the threads that will use it, which
// is first touch for a new block and poison for a used one: a kernel that writes nothing can't pass on an old right
// answer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "harness/benchmark.h"

namespace assay {

class MemoryPool {
 public:
  MemoryPool() = default;
  ~MemoryPool();
  MemoryPool(const MemoryPool&) = delete;
  MemoryPool& operator=(const MemoryPool&) = delete;

  // At least `bytes`, 64-byte aligned, huge pages asked for from 2 MiB on. `node` >= 0 binds to that NUMA node. Error
  // when the system refuses.
  void* lend(std::size_t bytes, Touch touch, int threads, int node);
  // All blocks are free again. Idle ones are kept up to a quarter of what is available, the longest unused go first.
  void end_case();
  void release_all();
  // Bytes mapped and touched that are lent to nobody: they count in the resident size, but not for the running case.
  std::uint64_t idle_bytes() const;
  std::uint64_t lent_bytes() const;

 private:
  void keep_idle(std::uint64_t bytes);

  struct Block {
    void* address;
    std::size_t bytes;
    Touch touch;
    int threads, node;
    bool lent;
    int unused_cases;  // age of an idle block
  };
  std::vector<Block> blocks_;
};

// MemAvailable, bounded by what the memory cgroup still allows.
std::uint64_t available_memory_bytes();
// Starts a new high-water mark of the resident size (/proc/self/clear_refs); false where the kernel refuses.
bool reset_resident_peak();
std::uint64_t resident_peak_bytes();
// Bytes of this process that lie in huge pages.
std::uint64_t huge_page_bytes();

}  // namespace assay
