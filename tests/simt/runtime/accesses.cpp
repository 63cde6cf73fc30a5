// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
#include "accesses.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "banks.h"
#include "grid.h"
#include "memory.h"
#include "shared_memory.h"

namespace assay::simt {
namespace {

int unwatched = 0;

// Memory is watched in units of this size. On shared memory the last one counts who touched bytes of it, and only with
// those bytes; on global memory neighbours of one or two bytes are taken for one another.
constexpr std::size_t unit = 4;

// Who touched a unit last. Moments grow over the whole life of the program, so nothing is ever cleared. `thread`: of
// all blocks that run together, block_threads for each.
struct Touch {
  Moment when;
  unsigned thread = 0;
  std::uint8_t bytes = 0;  // of the unit, a bit each
  bool atomic = false;
  bool several = false, of_several_blocks = false;  // threads, of which this is one
  const void* code = nullptr;
};
struct Unit {
  Touch written, read;
};

constexpr unsigned block_threads = most_warps * warp_size;

// A barrier of the cluster is one of each of its blocks too, and has a new number there.
bool is_ordered(const Touch& before, const Now& now) {
  if (before.of_several_blocks || before.thread / block_threads != now.thread / block_threads) {
    return before.when.cluster != now.when.cluster;
  }
  if (before.when.barrier != now.when.barrier) return true;
  if (before.several) return false;
  return before.thread == now.thread ||
         (before.thread / warp_size == now.thread / warp_size && before.when.warp != now.when.warp);
}

void report_race(const Touch& other, const char* what, const char* mine, const void* code) {
  const std::string text = std::string("race on shared memory: ") + mine + " while thread number " +
                           std::to_string(other.thread % block_threads) + " " + what + " at " +
                           source_of(other.code).place + ", without a barrier in between";
  fail_at(cudaErrorLaunchFailure, text, code);
}

void watch(Unit* word, std::uint8_t bytes, const Now& now, Access kind, const void* code) {
  const bool atomic = kind == Access::atomic;
  const bool was_written = word->written.when.barrier >= now.group_begin;
  if (kind != Access::write && !was_written) {
    fail_at(cudaErrorLaunchFailure, "a read of shared memory that nobody in this block has written", code);
  }
  if (was_written && (bytes & word->written.bytes) != 0 && !(atomic && word->written.atomic) &&
      !is_ordered(word->written, now)) {
    report_race(word->written, "writes", kind == Access::read ? "a read" : "a write", code);
  }
  const bool was_read = word->read.when.barrier >= now.group_begin;
  if (kind != Access::read && was_read && (bytes & word->read.bytes) != 0 && !(atomic && word->read.atomic) &&
      !is_ordered(word->read, now)) {
    report_race(word->read, "reads", "a write", code);
  }
  if (kind != Access::write) {
    const Touch& read = word->read;
    const bool others =
        was_read && read.when.barrier == now.when.barrier && (read.several || read.thread != now.thread);
    const bool other_blocks = was_read && read.when.cluster == now.when.cluster &&
                              (read.of_several_blocks || read.thread / block_threads != now.thread / block_threads);
    word->read = {now.when, now.thread, bytes, atomic, others, other_blocks, code};
  }
  if (kind != Access::read) word->written = {now.when, now.thread, bytes, atomic, false, false, code};
}

// Shared memory of another block of the cluster: it must have begun, which only a barrier says, and not have ended.
void check_remote(unsigned slot, const Now& now, const void* code) {
  if (now.when.cluster == now.group_begin) {
    fail_at(cudaErrorLaunchFailure,
            "an access to shared memory of another block before a barrier of the cluster: it may not run yet", code);
  }
  if (block_in_slot(slot).has_ended()) {
    fail_at(cudaErrorLaunchFailure, "an access to shared memory of a block that has ended", code);
  }
}

void watch_shared(unsigned slot, std::size_t index, std::size_t bytes, Access kind, const void* code) {
  static std::vector<std::vector<Unit>> shadows;
  while (shadows.size() <= slot) shadows.emplace_back(all_shared_bytes() / unit + 1);
  std::vector<Unit>& shadow = shadows[slot];
  const Now now = block().now();
  if (slot != block().slot()) check_remote(slot, now, code);
  if (counts_banks() && kind != Access::atomic) count_banks(now.thread, index, bytes, code);
  for (std::size_t k = index / unit; k * unit < index + bytes && k < shadow.size(); ++k) {
    const std::size_t first = std::max(index, k * unit), last = std::min(index + bytes, (k + 1) * unit);
    const unsigned mask = ((1u << (last - first)) - 1) << (first - k * unit);
    watch(&shadow[k], static_cast<std::uint8_t>(mask), now, kind, code);
  }
}

// A block's number, and whether it was an atomic access.
constexpr std::uint32_t atomic_bit = 1u << 31;

bool is_race(std::uint32_t touch, const BlockNumbers& now, bool atomic) {
  const std::uint32_t block = touch & ~atomic_bit;
  return block >= now.first_of_launch && block != now.block && !(atomic && (touch & atomic_bit) != 0);
}

void watch_global(const void* p, std::size_t bytes, Access kind, const void* code) {
  const auto address = reinterpret_cast<std::uintptr_t>(p);
  const DeviceMemory::Allocation* const a = device_memory().near(p);
  if (a == nullptr || !a->contains(address, bytes)) {
    const bool overlaps = a != nullptr && address - a->begin < a->bytes;  // then what is wrong begins behind its end
    const void* const wrong = overlaps ? reinterpret_cast<const void*>(a->begin + a->bytes) : p;
    fail_at(cudaErrorIllegalAddress, "an access to " + device_memory().describe(wrong), code);
  }
  const BlockNumbers now = block().numbers();
  if (now.is_fenced) return;
  const bool atomic = kind == Access::atomic;
  const std::size_t last = (address - a->begin + bytes - 1) / unit;
  for (std::size_t k = (address - a->begin) / unit; k <= last; ++k) {
    GlobalWord& word = a->words[k];
    if (is_race(word.written, now, atomic)) {
      fail_at(cudaErrorLaunchFailure,
              kind == Access::read ? "race on global memory: a read of what another block writes"
                                   : "race on global memory: a write to what another block writes",
              code);
    }
    if (kind != Access::read && is_race(word.read, now, atomic)) {
      fail_at(cudaErrorLaunchFailure, "race on global memory: a write to what another block reads", code);
    }
    (kind == Access::read ? word.read : word.written) = now.block | (atomic ? atomic_bit : 0);
  }
}

}  // namespace

Unwatched::Unwatched() { ++unwatched; }
Unwatched::~Unwatched() { --unwatched; }

void watch_again() { unwatched = 0; }

void access(const void* p, std::size_t bytes, Access kind, const void* code) {
  if (unwatched != 0 || !is_running()) return;
  // The thread's own stack, which lies above this variable: nobody else's business.
  const char here = 0;
  if (static_cast<std::uintptr_t>(static_cast<const char*>(p) - &here) < fiber_stack_bytes) return;
  std::size_t index = 0;
  unsigned slot = 0;
  if (shared_index(p, &slot, &index)) {
    watch_shared(slot, index, bytes, kind, code);
  } else if (device_memory().is_device(p)) {
    watch_global(p, bytes, kind, code);
  }
  if (kind != Access::atomic) break_at_random();
}

}  // namespace assay::simt

// What the compiler calls.
#define ASSAY_SIMT_ACCESS(bytes)                                                            \
  void __tsan_read##bytes(void* p) {                                                        \
    assay::simt::access(p, bytes, assay::simt::Access::read, __builtin_return_address(0));  \
  }                                                                                         \
  void __tsan_write##bytes(void* p) {                                                       \
    assay::simt::access(p, bytes, assay::simt::Access::write, __builtin_return_address(0)); \
  }                                                                                         \
  void __tsan_unaligned_read##bytes(void* p) {                                              \
    assay::simt::access(p, bytes, assay::simt::Access::read, __builtin_return_address(0));  \
  }                                                                                         \
  void __tsan_unaligned_write##bytes(void* p) {                                             \
    assay::simt::access(p, bytes, assay::simt::Access::write, __builtin_return_address(0)); \
  }

extern "C" {
ASSAY_SIMT_ACCESS(1)
ASSAY_SIMT_ACCESS(2)
ASSAY_SIMT_ACCESS(4)
ASSAY_SIMT_ACCESS(8)
ASSAY_SIMT_ACCESS(16)
void __tsan_read_range(void* p, std::size_t bytes) {
  assay::simt::access(p, bytes, assay::simt::Access::read, __builtin_return_address(0));
}
void __tsan_write_range(void* p, std::size_t bytes) {
  assay::simt::access(p, bytes, assay::simt::Access::write, __builtin_return_address(0));
}
// Of the test programs and the C++ library: counters of shared pointers, guards of static variables.
#define ASSAY_SIMT_ATOMIC(bits, type)                                                                               \
  type __tsan_atomic##bits##_load(const type* p, int) { return __atomic_load_n(p, __ATOMIC_SEQ_CST); }              \
  void __tsan_atomic##bits##_store(type* p, type v, int) { __atomic_store_n(p, v, __ATOMIC_SEQ_CST); }              \
  type __tsan_atomic##bits##_fetch_add(type* p, type v, int) { return __atomic_fetch_add(p, v, __ATOMIC_SEQ_CST); } \
  type __tsan_atomic##bits##_fetch_sub(type* p, type v, int) { return __atomic_fetch_sub(p, v, __ATOMIC_SEQ_CST); }
ASSAY_SIMT_ATOMIC(8, std::uint8_t)
ASSAY_SIMT_ATOMIC(32, std::uint32_t)
ASSAY_SIMT_ATOMIC(64, std::uint64_t)
void __tsan_vptr_update(void**, void*) {}
void __tsan_vptr_read(void**) {}
void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
}
