// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Memory of the simulated device: one range of addresses, cut into slots of which an allocation takes some, so that the
// one to which an address belongs is found at once. Between two allocations nothing can be touched. Content is spoilt
// at first: what is right afterwards was written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sanitizers.h"

namespace assay::simt {

// Which blocks touched 4 bytes last (accesses.cpp), by a number that no other block of the program has; 0: none.
struct GlobalWord {
  std::uint32_t written = 0, read = 0;
};

// All of these the device can touch: memory of its own, host memory that is pinned, and managed memory.
enum class Kind { device, pinned, managed };

class DeviceMemory {
 public:
  struct Allocation {
    std::uintptr_t begin = 0;
    std::size_t bytes = 0;
    Kind kind = Kind::device;
    GlobalWord* words = nullptr;
    bool contains(std::uintptr_t address, std::size_t size) const {
      return address - begin <= bytes && size <= bytes - (address - begin);
    }
  };

  DeviceMemory();
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  // Aligned to 256 bytes; null if there is none left. From sparse_bytes on it holds zeros instead of spoilt bytes, and
  // costs what is touched.
  void* allocate(std::size_t bytes, Kind kind = Kind::device);
  bool free(void* memory);
  std::size_t used_bytes() const { return used_bytes_; }  // of memory that isn't pinned
  // Is p an address of the device, allocated or not?
  bool is_device(const void* p) const { return reinterpret_cast<std::uintptr_t>(p) - range_ < range_bytes_; }
  // The allocation at or near an address of the device, or null.
  const Allocation* near(const void* p) const {
    return slots_[(reinterpret_cast<std::uintptr_t>(p) - range_) / slot_bytes];
  }
  // Do `bytes` bytes from p on lie in one allocation? With bytes = 0 the end of one counts as inside.
  bool contains(const void* p, std::size_t bytes) const;
  // From now on the host can't touch memory of the device, as on a GPU, but while one of these lives.
  void hide();
  class Shown {
   public:
    Shown();
    ~Shown();
    Shown(const Shown&) = delete;
    Shown& operator=(const Shown&) = delete;
  };
  // A forged card: from now on the device's own memory is the same `bytes` (whole pages) again and again.
  void repeat_after(std::size_t bytes);
  // Which allocation is near, in words: "4 bytes behind the end of an allocation of 64 bytes".
  std::string describe(const void* p) const;

 private:
  // The first of `count` free slots with a free one before them, or none: behind the last allocation if there is room.
  std::size_t free_slots(std::size_t count) const;

  void protect(const Allocation& a, bool shown) const;
  bool repeat(char* first, std::size_t bytes);

  static constexpr std::size_t most_bytes = std::size_t{1} << (sanitizes_threads ? 33 : 39),
                               least_bytes = std::size_t{1} << 31;  // of the range
  static constexpr std::size_t slot_bytes = std::size_t{1} << 20, sparse_bytes = std::size_t{1} << 30;

  int repeated_ = -1;  // the file whose pages are its memory; -1: each address has memory of its own
  std::size_t repeated_bytes_ = 0, repeated_next_ = 0;
  bool hides_ = false;
  int shown_ = 0;
  std::uintptr_t range_ = 0;
  std::size_t range_bytes_ = most_bytes, used_bytes_ = 0;
  std::map<std::uintptr_t, Allocation> allocations_;
  std::vector<const Allocation*> slots_;
};

DeviceMemory& device_memory();

}  // namespace assay::simt
