// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
#include "shared_memory.h"

#include <link.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <new>

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

Dynamic& dynamic() {
  static Dynamic one;
  return one;
}

struct Static {
  const char* begin = nullptr;
  std::size_t bytes = 0;
};

// The thread-local variables of the program itself, which is the first that dl_iterate_phdr shows: those of the host
// thread that runs the kernel.
const Static& statics() {
  static thread_local const Static found = [] {
    Static s;
    dl_iterate_phdr(
        [](dl_phdr_info* program, std::size_t, void* result) {
          for (int i = 0; i < program->dlpi_phnum; ++i) {
            if (program->dlpi_phdr[i].p_type != PT_TLS) continue;
            *static_cast<Static*>(result) = {static_cast<const char*>(program->dlpi_tls_data),
                                             program->dlpi_phdr[i].p_memsz};
          }
          return 1;
        },
        &s);
    return s;
  }();
  return found;
}

}  // namespace

void spoil_shared(std::size_t dynamic_bytes) { dynamic().spoil(dynamic_bytes); }

void* dynamic_shared() { return dynamic().begin(); }

std::size_t all_shared_bytes() { return statics().bytes + most_dynamic_shared; }

bool shared_index(const void* p, std::size_t* index) {
  const auto address = reinterpret_cast<std::uintptr_t>(p);
  *index = address - reinterpret_cast<std::uintptr_t>(statics().begin);
  if (*index < statics().bytes) return true;
  const std::size_t at = address - reinterpret_cast<std::uintptr_t>(dynamic().begin());
  *index = statics().bytes + at;
  return at < static_cast<std::size_t>(dynamic().end() - dynamic().begin());
}

std::string shared_damage() { return dynamic().is_damaged() ? "a write outside of the dynamic shared memory" : ""; }

}  // namespace assay::simt
