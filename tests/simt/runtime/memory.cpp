// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
#include "memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "rig.h"

namespace assay::simt {
namespace {

constexpr std::size_t page = 4096, granule = 256;
constexpr std::size_t guard = std::size_t{1} << 20;  // on both sides: addresses that nothing may touch
constexpr unsigned char fence = 0xFD;

std::size_t rounded(std::size_t bytes, std::size_t unit) { return (bytes + unit - 1) / unit * unit; }

}  // namespace

DeviceMemory::~DeviceMemory() {
  for (const auto& [address, allocation] : allocations_) munmap(allocation.mapping, allocation.mapping_bytes);
}

void* DeviceMemory::allocate(std::size_t bytes) {
  const std::size_t taken = rounded(std::max<std::size_t>(bytes, 1), granule), body = rounded(taken, page);
  if (body < bytes) return nullptr;
  const std::size_t mapping_bytes = body + 2 * guard;
  void* mapping =
      mmap(nullptr, mapping_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED) return nullptr;
  char* first = static_cast<char*>(mapping) + guard;
  mprotect(mapping, guard, PROT_NONE);
  mprotect(first + body, guard, PROT_NONE);
  char* memory = first + body - taken;
  std::memset(first, fence, body);
  std::memset(memory, spoilt_byte(), bytes);
  allocations_[reinterpret_cast<std::uintptr_t>(memory)] = {bytes, static_cast<char*>(mapping), mapping_bytes};
  return memory;
}

bool DeviceMemory::free(void* memory) {
  const auto found = allocations_.find(reinterpret_cast<std::uintptr_t>(memory));
  if (found == allocations_.end()) return false;
  munmap(found->second.mapping, found->second.mapping_bytes);
  allocations_.erase(found);
  return true;
}

bool DeviceMemory::contains(const void* p, std::size_t bytes) const {
  const auto address = reinterpret_cast<std::uintptr_t>(p);
  auto next = allocations_.upper_bound(address);
  if (next == allocations_.begin()) return false;
  const auto& [begin, allocation] = *--next;
  return address - begin <= allocation.bytes && bytes <= allocation.bytes - (address - begin);
}

std::string DeviceMemory::describe(const void* p) const {
  const auto address = reinterpret_cast<std::uintptr_t>(p);
  if (address < page) return "a null pointer";
  for (const auto& [begin, allocation] : allocations_) {
    const std::string size = " an allocation of " + std::to_string(allocation.bytes) + " bytes";
    const auto mapping = reinterpret_cast<std::uintptr_t>(allocation.mapping);
    if (address < mapping || address >= mapping + allocation.mapping_bytes) continue;
    if (address < begin) return std::to_string(begin - address) + " bytes before" + size;
    if (address >= begin + allocation.bytes) {
      return std::to_string(address - begin - allocation.bytes) + " bytes behind the end of" + size;
    }
    return "inside" + size;
  }
  return "no memory of the device";
}

std::string DeviceMemory::damage() {
  std::string found;
  for (const auto& [begin, allocation] : allocations_) {
    auto* const memory = reinterpret_cast<unsigned char*>(begin);
    auto* const first = reinterpret_cast<unsigned char*>(allocation.mapping) + guard;
    auto* const last = reinterpret_cast<unsigned char*>(allocation.mapping) + allocation.mapping_bytes - guard;
    const auto check = [&](unsigned char* from, unsigned char* to) {
      auto* const wrong = std::find_if(from, to, [](unsigned char byte) { return byte != fence; });
      if (wrong == to) return;
      found = "a write " + describe(wrong);
      std::memset(from, fence, static_cast<std::size_t>(to - from));
    };
    check(first, memory);
    check(memory + allocation.bytes, last);
  }
  return found;
}

DeviceMemory& device_memory() {
  static DeviceMemory memory;
  return memory;
}

}  // namespace assay::simt
