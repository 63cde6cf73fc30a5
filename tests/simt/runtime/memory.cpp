// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
#include "memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "rig.h"

namespace assay::simt {
namespace {

constexpr std::size_t page = 4096, granule = 256, word_bytes = 4;

std::size_t rounded(std::size_t bytes, std::size_t unit) { return (bytes + unit - 1) / unit * unit; }
std::size_t all_words(std::size_t bytes) { return bytes / word_bytes + 1; }

// Null if the system has no such range of addresses.
void* map(std::size_t bytes, int protection) {
  void* memory = mmap(nullptr, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory != MAP_FAILED ? memory : nullptr;
}

}  // namespace

DeviceMemory::DeviceMemory() {
  while ((range_ = reinterpret_cast<std::uintptr_t>(map(range_bytes_, PROT_NONE))) == 0) {
    range_bytes_ /= 2;  // `ulimit -v`
    if (range_bytes_ < least_bytes) throw std::bad_alloc();
  }
  slots_.resize(range_bytes_ / slot_bytes);
}

DeviceMemory::~DeviceMemory() {
  while (!allocations_.empty()) free(reinterpret_cast<void*>(allocations_.begin()->first));
  munmap(reinterpret_cast<void*>(range_), range_bytes_);
}

std::size_t DeviceMemory::free_slots(std::size_t count) const {
  const auto behind = [&](const Allocation& a) {
    return (a.begin + a.bytes + slot_bytes / 2 - range_) / slot_bytes + 1;
  };
  const std::size_t last = allocations_.empty() ? 0 : behind(allocations_.rbegin()->second);
  if (last + count <= slots_.size()) return last;
  std::size_t slot = 0;
  for (const auto& [begin, a] : allocations_) {
    if (slot + count <= (begin - range_) / slot_bytes) return slot;
    slot = behind(a);
  }
  return slots_.size();
}

// Half a slot before and behind stays empty, and the end of the allocation is less than a granule from the end of its
// last page.
void* DeviceMemory::allocate(std::size_t bytes, Kind kind) {
  if (bytes > range_bytes_ / 2) return nullptr;
  const std::size_t taken = rounded(std::max<std::size_t>(bytes, 1), granule), body = rounded(taken, page);
  const std::size_t slot = free_slots(body / slot_bytes + 2);
  if (slot == slots_.size()) return nullptr;
  char* const first = reinterpret_cast<char*>(range_) + slot * slot_bytes + slot_bytes / 2;
  const bool repeats = repeated_ >= 0 && kind == Kind::device;
  if (repeats ? !repeat(first, body) : mprotect(first, body, PROT_READ | PROT_WRITE) != 0) return nullptr;
  auto* const words = static_cast<GlobalWord*>(map(all_words(bytes) * sizeof(GlobalWord), PROT_READ | PROT_WRITE));
  if (words == nullptr) return nullptr;
  char* const memory = first + body - taken;
  if (bytes < sparse_bytes) std::memset(memory, spoilt_byte(), bytes);
  poison(first, body);
  unpoison(memory, bytes);
  const auto begin = reinterpret_cast<std::uintptr_t>(memory);
  const Allocation& made = allocations_[begin] = {begin, bytes, kind, words};
  if (kind != Kind::pinned) used_bytes_ += taken;
  std::fill_n(&slots_[slot], body / slot_bytes + 2, &made);
  if (hides_ && shown_ == 0) protect(made, false);
  return memory;
}

void DeviceMemory::repeat_after(std::size_t bytes) {
  repeated_ = memfd_create("assay-simt", 0);
  repeated_bytes_ = rounded(bytes, page);
  if (repeated_ < 0 || ftruncate(repeated_, static_cast<off_t>(repeated_bytes_)) != 0) throw std::bad_alloc();
}

// Puts the pages of the file there, on from where the last allocation ended.
bool DeviceMemory::repeat(char* first, std::size_t bytes) {
  for (std::size_t done = 0; done < bytes;) {
    const std::size_t size = std::min(bytes - done, repeated_bytes_ - repeated_next_);
    if (mmap(first + done, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, repeated_,
             static_cast<off_t>(repeated_next_)) == MAP_FAILED)
      return false;
    repeated_next_ = (repeated_next_ + size) % repeated_bytes_;
    done += size;
  }
  return true;
}

void DeviceMemory::protect(const Allocation& a, bool shown) const {
  if (a.kind != Kind::device) return;
  const std::size_t body = rounded(rounded(std::max<std::size_t>(a.bytes, 1), granule), page);
  mprotect(reinterpret_cast<void*>(a.begin / page * page), body, shown ? PROT_READ | PROT_WRITE : PROT_NONE);
}

void DeviceMemory::hide() {
  hides_ = true;
  for (const auto& [begin, a] : allocations_) protect(a, shown_ > 0);
}

DeviceMemory::Shown::Shown() {
  DeviceMemory& memory = device_memory();
  if (!memory.hides_ || memory.shown_++ > 0) return;
  for (const auto& [begin, a] : memory.allocations_) memory.protect(a, true);
}

DeviceMemory::Shown::~Shown() {
  DeviceMemory& memory = device_memory();
  if (!memory.hides_ || --memory.shown_ > 0) return;
  for (const auto& [begin, a] : memory.allocations_) memory.protect(a, false);
}

bool DeviceMemory::free(void* memory) {
  const auto found = allocations_.find(reinterpret_cast<std::uintptr_t>(memory));
  if (found == allocations_.end()) return false;
  const Allocation& a = found->second;
  if (a.kind != Kind::pinned) used_bytes_ -= rounded(std::max<std::size_t>(a.bytes, 1), granule);
  munmap(a.words, all_words(a.bytes) * sizeof(GlobalWord));
  const std::size_t body = rounded(rounded(std::max<std::size_t>(a.bytes, 1), granule), page);
  void* const first = reinterpret_cast<void*>(a.begin / page * page);
  unpoison(first, body);
  madvise(first, body, MADV_DONTNEED);
  mprotect(first, body, PROT_NONE);
  std::fill_n(&slots_[(a.begin - range_) / slot_bytes], body / slot_bytes + 2, nullptr);
  allocations_.erase(found);
  return true;
}

bool DeviceMemory::contains(const void* p, std::size_t bytes) const {
  if (!is_device(p)) return false;
  const Allocation* a = near(p);
  return a != nullptr && a->contains(reinterpret_cast<std::uintptr_t>(p), bytes);
}

std::string DeviceMemory::describe(const void* p) const {
  const auto address = reinterpret_cast<std::uintptr_t>(p);
  if (address < page) return "a null pointer";
  if (!is_device(p)) return "no memory of the device";
  const Allocation* a = near(p);
  if (a == nullptr) return "memory of the device that is not allocated";
  const std::string size = " an allocation of " + std::to_string(a->bytes) + " bytes";
  if (address < a->begin) return std::to_string(a->begin - address) + " bytes before" + size;
  if (address < a->begin + a->bytes) return "inside" + size;
  return std::to_string(address - a->begin - a->bytes) + " bytes behind the end of" + size;
}

DeviceMemory& device_memory() {
  static DeviceMemory memory;
  return memory;
}

}  // namespace assay::simt
