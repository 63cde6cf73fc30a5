// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Asynchronous copies from global to shared memory, by thread: a queue of groups. See include/kernels/ptx.cuh.
#include <cstring>
#include <deque>
#include <vector>

#include "accesses.h"
#include "grid.h"
#include "kernels/ptx.cuh"

namespace assay::simt {
namespace {

constexpr std::size_t copy_bytes = 16;

struct Copy {
  void* to;
  const void* from;  // null: zeros
  const void* code;  // of the kernel, where it began
};
struct Copies {
  std::vector<Copy> open;  // not committed yet
  std::deque<std::vector<Copy>> groups;
};
bool left_over = false;  // by a block that began some, perhaps
std::vector<Copies>& all_copies() {
  static std::vector<Copies> copies;
  return copies;
}

void finish(const Copy& copy) {
  access(copy.to, copy_bytes, Access::write, copy.code);
  if (copy.from == nullptr) {
    std::memset(copy.to, 0, copy_bytes);
    return;
  }
  access(copy.from, copy_bytes, Access::read, copy.code);
  std::memcpy(copy.to, copy.from, copy_bytes);
}

}  // namespace

void forget_copies(unsigned threads) {
  if (all_copies().size() < threads) all_copies().resize(threads);
  if (!left_over) return;  // most kernels have none
  left_over = false;
  for (Copies& copies : all_copies()) {
    copies.open.clear();
    copies.groups.clear();
  }
}

void begin_copy(void* shared, const void* global, bool zeros) {
  const Copy copy{shared, zeros ? nullptr : global, __builtin_return_address(0)};
  if (breaks_at_random() && random_numbers()() % 2 == 0) {
    finish(copy);
    return;
  }
  left_over = true;
  access(shared, copy_bytes, Access::copy, copy.code);
  std::memset(shared, spoilt_byte(), copy_bytes);
  all_copies()[running_thread()].open.push_back(copy);
}

void commit_copies() {
  Copies& mine = all_copies()[running_thread()];
  mine.groups.push_back(std::move(mine.open));
  mine.open.clear();
}

void wait_copies(std::size_t pending) {
  Copies& mine = all_copies()[running_thread()];
  for (; mine.groups.size() > pending; mine.groups.pop_front()) {
    for (const Copy& copy : mine.groups.front()) finish(copy);
  }
}

}  // namespace assay::simt
