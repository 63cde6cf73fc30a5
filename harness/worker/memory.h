// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Memory of the cases. Areas are mapped once and carved up anew for case after case: mapping and zeroing a gigabyte
// costs as much time as measuring with it. Before a buffer is handed out it is filled with 0xA5 by the threads that
// will use it, which is first touch for new memory and poison for used memory: a kernel that writes nothing can't pass
// on an old right answer. On a machine with several NUMA nodes an area serves one kind of placement only and gives its
// pages back after each case, since pages stay where they were touched first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "harness/benchmark.h"

namespace assay {

// MemAvailable, bounded by what the memory cgroup still allows.
std::uint64_t available_memory_bytes();

class MemoryPool {
 public:
  // `available`: what tells how many bytes can still be had; another one in tests.
  explicit MemoryPool(std::uint64_t (*available)() = available_memory_bytes) : available_(available) {}
  ~MemoryPool();
  MemoryPool(const MemoryPool&) = delete;
  MemoryPool& operator=(const MemoryPool&) = delete;

  // One area of `bytes` for the buffers to come, so that they lie in one piece and the next case finds it whole.
  void reserve(std::size_t bytes, Touch touch, int threads, int node);
  // At least `bytes`, page aligned (2 MiB, in huge pages where they can be had, from 2 MiB on). `node` >= 0 binds to
  // that NUMA node. Error when the system refuses.
  void* lend(std::size_t bytes, Touch touch, int threads, int node);
  // Everything is free again. Areas are kept up to a quarter of what is available, the longest unused go first.
  void end_case();
  void release_all();
  // Bytes mapped that are lent to nobody, and those that are lent.
  std::uint64_t idle_bytes() const;
  std::uint64_t lent_bytes() const;
  // Bytes that were touched and take memory: of all, and of what is lent to nobody. The latter are in the resident size
  // of the process, but not for the running case.
  std::uint64_t resident_bytes() const;
  std::uint64_t idle_resident_bytes() const;
  // Bytes of what is lent that lie in huge pages.
  std::uint64_t huge_page_bytes() const;

 private:
  struct Area {
    std::byte* begin;
    std::size_t bytes, used, touched;  // touched: the highest `used` since the pages were given back
    Touch touch;
    int threads, node;
    int unused_cases;  // age of an idle area
  };
  Area* find(std::size_t bytes, Touch touch, int threads, int node);
  Area& map(std::size_t bytes, Touch touch, int threads, int node);
  void keep_idle(std::uint64_t bytes);

  std::uint64_t (*available_)();
  std::vector<Area> areas_;
};

// Starts a new high-water mark of the resident size (/proc/self/clear_refs); false where the kernel refuses.
bool reset_resident_peak();
std::uint64_t resident_peak_bytes();
std::uint64_t resident_bytes();  // now

}  // namespace assay
