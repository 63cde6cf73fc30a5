// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Memory of the simulated device. An allocation ends at a page that can't be touched, its start and its rest up to 256
// bytes are filled with a known byte that is looked at after every kernel, and its content is spoilt: what is right
// afterwards was written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

namespace assay::simt {

class DeviceMemory {
 public:
  ~DeviceMemory();
  void* allocate(std::size_t bytes);  // aligned to 256 bytes; null if there is none left
  bool free(void* memory);
  // Do `bytes` bytes from p on lie in one allocation? With bytes = 0 the end of one counts as inside.
  bool contains(const void* p, std::size_t bytes) const;
  // Which allocation is near, in words: "4 bytes behind an allocation of 64 bytes".
  std::string describe(const void* p) const;
  // Empty, or what was written around an allocation; repaired, so that it is reported once.
  std::string damage();

 private:
  struct Allocation {
    std::size_t bytes;
    char* mapping;
    std::size_t mapping_bytes;
  };
  std::map<std::uintptr_t, Allocation> allocations_;
};

DeviceMemory& device_memory();

}  // namespace assay::simt
