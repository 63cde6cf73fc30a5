// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See place.h.
#include "harness/worker/place.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "harness/worker/placement.h"
#include "kernels/fill.h"

namespace assay {
namespace {

constexpr std::uint64_t least_dram = std::uint64_t{256} << 20;

class HostPlace final : public Place {
 public:
  HostPlace(MemoryPool& pool, const std::vector<int>& cpus)
      : pool_(pool), cpus_(cpus), threads_(static_cast<int>(cpus.size())), instrument_(host_instrument(cpus)) {}

  std::uint64_t cache_bytes(int level) const override {
    return level == 0 ? last_cache_bytes(cpus_) : assay::cache_bytes(level, cpus_);
  }
  std::uint64_t least_dram_bytes() const override { return least_dram; }
  // What the pool holds would be given back or is this case's own, so it counts as available.
  std::uint64_t available_bytes() const override { return available_memory_bytes() + pool_.resident_bytes(); }
  void reserve(std::uint64_t bytes) override { pool_.reserve(bytes, Touch::by_share, threads_, -1); }
  void* lend(std::size_t bytes, Touch touch, int node) override { return pool_.lend(bytes, touch, threads_, node); }
  bool is_host(const void*) const override { return true; }
  void read(void* host, const void* from, std::size_t bytes) override { std::memcpy(host, from, bytes); }
  void write(void* to, const void* host, std::size_t bytes) override { std::memcpy(to, host, bytes); }
  void spoil(void* memory, std::size_t bytes) override { kernels::spoil(memory, bytes, {threads_, nullptr}); }
  Instrument& instrument() override { return *instrument_; }
  void* stream() const override { return nullptr; }
  void collect(Record& record) override { record.huge_page_bytes = pool_.huge_page_bytes(); }

 private:
  MemoryPool& pool_;
  std::vector<int> cpus_;
  int threads_;
  std::unique_ptr<Instrument> instrument_;
};

class DevicePlace final : public Place {
 public:
  explicit DevicePlace(Accelerator& device) : device_(device), instrument_(device_instrument(device)) {}
  ~DevicePlace() override { device_.free_all(); }

  std::uint64_t cache_bytes(int level) const override {
    if (level != 0 && level != 2) return 0;  // L1 is each multiprocessor's own, and there is no third level
    return static_cast<std::uint64_t>(device_.info().fact("cache.l2_bytes"));
  }
  std::uint64_t least_dram_bytes() const override {
    return std::min(least_dram, static_cast<std::uint64_t>(device_.info().fact("memory_bytes")) / 16);
  }
  std::uint64_t available_bytes() const override { return device_.free_bytes(); }
  void reserve(std::uint64_t) override {}
  void* lend(std::size_t bytes, Touch, int) override { return device_.allocate(bytes); }
  bool is_host(const void* memory) const override { return !device_.owns(memory); }
  void read(void* host, const void* from, std::size_t bytes) override { device_.read(host, from, bytes); }
  void write(void* to, const void* host, std::size_t bytes) override { device_.write(to, host, bytes); }
  void spoil(void* memory, std::size_t bytes) override { device_.fill(memory, 0xA5, bytes); }
  Instrument& instrument() override { return *instrument_; }
  void* stream() const override { return device_.stream(); }
  void collect(Record& record) override { record.device_peak_bytes = device_.peak_bytes(); }

 private:
  Accelerator& device_;
  std::unique_ptr<Instrument> instrument_;
};

}  // namespace

std::unique_ptr<Place> host_place(MemoryPool& pool, const std::vector<int>& cpus) {
  return std::make_unique<HostPlace>(pool, cpus);
}
std::unique_ptr<Place> device_place(Accelerator& device) { return std::make_unique<DevicePlace>(device); }

}  // namespace assay
