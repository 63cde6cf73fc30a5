// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Where a case runs: whose memory its buffers are, how large the caches above that are, what times its blocks. The CPU
// is one place, a device another; run.cpp knows no difference.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "harness/benchmark.h"
#include "harness/device/accelerator.h"
#include "harness/worker/instrument.h"
#include "harness/worker/memory.h"

namespace assay {

class Place {
 public:
  virtual ~Place() = default;
  // Of all caches of that level which the case reaches; 0: there is none, or its size isn't known. 0 as level: the last.
  virtual std::uint64_t cache_bytes(int level) const = 0;
  virtual std::uint64_t least_dram_bytes() const = 0;  // of a working set that no cache holds
  virtual std::uint64_t available_bytes() const = 0;
  virtual void reserve(std::uint64_t bytes) = 0;
  virtual void* lend(std::size_t bytes, Touch touch, int node) = 0;
  // Memory that the host can read and write as it is; for the rest the calls below.
  virtual bool is_host(const void* memory) const = 0;
  virtual void read(void* host, const void* from, std::size_t bytes) = 0;
  virtual void write(void* to, const void* host, std::size_t bytes) = 0;
  virtual void spoil(void* memory, std::size_t bytes) = 0;
  virtual Instrument& instrument() = 0;
  virtual void* stream() const = 0;
  // What the record tells of the memory.
  virtual void collect(Record& record) = 0;
};

// `cpus`: those of the OpenMP team, in thread order.
std::unique_ptr<Place> host_place(MemoryPool& pool, const std::vector<int>& cpus);
// Frees the memory of the case at its end.
std::unique_ptr<Place> device_place(Accelerator& device);

}  // namespace assay
