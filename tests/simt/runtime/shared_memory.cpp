// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
#include "shared_memory.h"

#include <link.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

#include "cuda_runtime.h"
#include "rig.h"

namespace assay::simt {
namespace {

constexpr std::size_t page = 4096, alignment = 1024, fence_bytes = 1024;
constexpr unsigned char fence = 0xFD;

class Dynamic {
 public:
  Dynamic() {
    void* mapping = mmap(nullptr, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapping == MAP_FAILED) throw std::bad_alloc();
    end_ = static_cast<unsigned char*>(mapping) + room;
    mprotect(end_, page, PROT_NONE);
  }
  void spoil(std::size_t bytes) {
    bytes_ = bytes;
    begin_ = end_ - (bytes + alignment - 1) / alignment * alignment;
    std::memset(begin_ - fence_bytes, fence, static_cast<std::size_t>(end_ - begin_) + fence_bytes);
    std::memset(begin_, spoilt_byte(), bytes);
  }
  unsigned char* begin() const { return begin_; }
  unsigned char* end() const { return end_; }
  bool is_damaged() const {
    const auto bad = [](unsigned char byte) { return byte != fence; };
    return std::any_of(begin_ - fence_bytes, begin_, bad) || std::any_of(begin_ + bytes_, end_, bad);
  }

 private:
  static constexpr std::size_t room = (most_dynamic_shared + fence_bytes + page) / page * page;
  unsigned char* end_ = nullptr;
  unsigned char* begin_ = nullptr;
  std::size_t bytes_ = 0;
};

struct Static {
  char* begin = nullptr;
  std::size_t bytes = 0;
};

// The thread-local variables of the program itself, which is the first that dl_iterate_phdr shows: those of the host
// thread that calls.
Static find_statics() {
  Static s;
  dl_iterate_phdr(
      [](dl_phdr_info* program, std::size_t, void* result) {
        for (int i = 0; i < program->dlpi_phnum; ++i) {
          if (program->dlpi_phdr[i].p_type != PT_TLS) continue;
          *static_cast<Static*>(result) = {static_cast<char*>(program->dlpi_tls_data), program->dlpi_phdr[i].p_memsz};
        }
        return 1;
      },
      &s);
  return s;
}

struct Slot {
  Dynamic dynamic;
  std::vector<char> statics;  // while another slot is selected
};

struct Shared {
  Static statics;
  std::vector<std::unique_ptr<Slot>> slots;
  unsigned used = 1, selected = 0;
};

Shared& shared() {
  static Shared one;
  return one;
}

std::uintptr_t number_of(const void* p) { return reinterpret_cast<std::uintptr_t>(p); }

// Those of the slot, wherever they are now.
const char* statics_of(unsigned slot) {
  const Shared& s = shared();
  return slot == s.selected ? s.statics.begin : s.slots[slot]->statics.data();
}

bool is_in_slot(const void* p, unsigned slot, std::size_t* index) {
  const Shared& s = shared();
  *index = number_of(p) - number_of(statics_of(slot));
  if (*index < s.statics.bytes) return true;
  const Dynamic& dynamic = s.slots[slot]->dynamic;
  const std::size_t at = number_of(p) - number_of(dynamic.begin());
  *index = s.statics.bytes + at;
  return at < static_cast<std::size_t>(dynamic.end() - dynamic.begin());
}

}  // namespace

void begin_shared(unsigned slots, std::size_t dynamic_bytes) {
  Shared& s = shared();
  static thread_local const Static mine = find_statics();
  s.statics = mine;
  s.used = slots;
  s.selected = 0;
  while (s.slots.size() < slots) s.slots.push_back(std::make_unique<Slot>());
  for (unsigned i = 0; i < slots; ++i) {
    s.slots[i]->dynamic.spoil(dynamic_bytes);
    if (slots > 1) s.slots[i]->statics.assign(s.statics.begin, s.statics.begin + s.statics.bytes);
  }
}

void select_shared(unsigned slot) {
  Shared& s = shared();
  if (slot == s.selected) return;
  std::memcpy(s.slots[s.selected]->statics.data(), s.statics.begin, s.statics.bytes);
  std::memcpy(s.statics.begin, s.slots[slot]->statics.data(), s.statics.bytes);
  s.selected = slot;
}

void* dynamic_shared() { return shared().slots[shared().selected]->dynamic.begin(); }

std::size_t all_shared_bytes() { return shared().statics.bytes + most_dynamic_shared; }

bool shared_index(const void* p, unsigned* slot, std::size_t* index) {
  const Shared& s = shared();
  *slot = s.selected;
  if (is_in_slot(p, s.selected, index)) return true;
  for (*slot = 0; *slot < s.used; ++*slot) {
    if (*slot != s.selected && is_in_slot(p, *slot, index)) return true;
  }
  return false;
}

const void* shared_in_slot(unsigned slot, std::size_t index) {
  const Shared& s = shared();
  return index < s.statics.bytes ? static_cast<const void*>(statics_of(slot) + index)
                                 : s.slots[slot]->dynamic.begin() + (index - s.statics.bytes);
}

std::string shared_damage() {
  const Shared& s = shared();
  const bool damaged = std::any_of(s.slots.begin(), s.slots.begin() + s.used,
                                   [](const auto& slot) { return slot->dynamic.is_damaged(); });
  return damaged ? "a write outside of the dynamic shared memory" : "";
}

}  // namespace assay::simt
