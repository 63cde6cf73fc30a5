// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
#include "accesses.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "banks.h"
#include "clocks.h"
#include "grid.h"
#include "memory.h"
#include "shared_memory.h"
#include "simulated_time.h"

namespace assay::simt {
namespace {

int unwatched = 0;

// Memory is watched in units of this size. On shared memory the last one counts who touched bytes of it, and only with
// those bytes; on global memory neighbours of one or two bytes are taken for one another.
constexpr std::size_t unit = 4;

// Who touched a unit last. Moments grow over the whole life of the program, so nothing is ever cleared. `who`: a thread
// of all blocks that run together, block_threads for each, or from Clocks::first_engine on an engine.
struct Touch {
  Moment when;
  unsigned who = 0;
  std::uint32_t clock = 0, fences = 0;
  std::uint8_t bytes = 0;  // of the unit, a bit each
  bool atomic = false;
  bool several = false, of_several_blocks = false;  // threads, of which this is one
  unsigned readers = 0;  // where clocks count: who they are, in all_readers; 0: this one alone
  unsigned series = 0;   // of reads, of which this is the first; 0: of none
  const void* code = nullptr;
};
struct Unit {
  Touch written, read;
};

constexpr unsigned block_threads = most_warps * warp_size;

// Who accesses now.
struct Accessor {
  Now now;
  const Knowledge* known = nullptr;
  unsigned who = 0;
  std::uint32_t clock = 0;
  const void* code = nullptr;
  const Where* where = nullptr;  // of an engine: where it was told to
  bool is_end = false;
  unsigned series = 0;
};

std::uint64_t writes = 0;

struct Series {
  std::uint32_t clock = 0;  // of the last read
  bool is_lost = false;
};
std::vector<Series>& all_series() {
  static std::vector<Series> all(1);
  return all;
}
std::uint32_t clock_of(const Touch& touch) {
  return touch.series == 0 ? touch.clock : std::max(touch.clock, all_series()[touch.series].clock);
}

std::vector<std::vector<Touch>>& all_readers(std::uint64_t group_begin) {
  static std::vector<std::vector<Touch>> readers(1);
  static std::uint64_t of_group = 0;
  if (of_group != group_begin) readers.resize(1);
  of_group = group_begin;
  return readers;
}

// A barrier of the cluster is one of each of its blocks too, and has a new number there.
bool is_ordered(const Touch& before, const Accessor& me) {
  if (before.readers != 0) {
    const std::vector<Touch>& readers = all_readers(me.now.group_begin)[before.readers];
    return std::all_of(readers.begin(), readers.end(), [&](const Touch& reader) { return is_ordered(reader, me); });
  }
  const bool is_known = me.known != nullptr && clocks().knows(*me.known, before.who, clock_of(before));
  if (before.who >= Clocks::first_engine) {
    return is_known || (me.is_end && before.who == me.who && clock_of(before) == me.clock);
  }
  if (before.of_several_blocks || before.who / block_threads != me.now.thread / block_threads) {
    return before.when.cluster != me.now.when.cluster;
  }
  if (before.when.barrier < me.now.when.barrier) return true;
  if (before.several) return false;
  if (is_known || (me.where == nullptr && before.who == me.who)) return true;
  return before.who / warp_size == me.now.thread / warp_size && before.when.warp < me.now.when.warp;
}

// The one of several readers that a report is about.
const Touch& unordered(const Touch& read, const Accessor& me) {
  if (read.readers == 0) return read;
  const std::vector<Touch>& readers = all_readers(me.now.group_begin)[read.readers];
  return *std::find_if(readers.begin(), readers.end(), [&](const Touch& reader) { return !is_ordered(reader, me); });
}

[[noreturn]] void report(const std::string& what, const Accessor& me) {
  if (me.where != nullptr) fail_with(cudaErrorLaunchFailure, what, *me.where);
  fail_at(cudaErrorLaunchFailure, what, me.code);
}

void report_race(const Touch& other, const char* what, const char* mine, const Accessor& me) {
  const std::string by = me.where != nullptr ? " by an asynchronous operation" : "";
  const std::string who = other.who >= Clocks::first_engine
                              ? "an asynchronous operation"
                              : "thread number " + std::to_string(other.who % block_threads);
  const std::string at = other.code != nullptr ? " at " + source_of(other.code).place : "";
  report(std::string("race on shared memory: ") + mine + by + " while " + who + " " + what + at +
             ", without a barrier in between",
         me);
}

// `mine` takes the place of who read there before.
void replace_read(Touch* read, bool was_read, const Touch& mine, const Accessor& me) {
  if (was_read) {
    const auto lose = [&](const Touch& touch) {
      if (touch.series != mine.series) all_series()[touch.series].is_lost = true;
    };
    lose(*read);
    if (read->readers != 0) {
      const std::vector<Touch>& readers = all_readers(me.now.group_begin)[read->readers];
      std::for_each(readers.begin(), readers.end(), lose);
    }
  }
  *read = mine;
}

void note_read(Touch* read, bool was_read, const Touch& mine, const Accessor& me) {
  if (!clocks().is_active() || mine.atomic) {
    const bool others = was_read && read->when.barrier == me.now.when.barrier && (read->several || read->who != me.who);
    const bool other_blocks = was_read && read->when.cluster == me.now.when.cluster &&
                              (read->of_several_blocks || read->who / block_threads != me.now.thread / block_threads);
    replace_read(read, was_read, mine, me);
    read->several = others;
    read->of_several_blocks = other_blocks;
    return;
  }
  if (!was_read || (read->readers == 0 && read->who == me.who) || is_ordered(*read, me)) {
    replace_read(read, was_read, mine, me);
    return;
  }
  auto& all = all_readers(me.now.group_begin);
  if (read->readers == 0) {
    all.push_back({*read});
    read->readers = static_cast<unsigned>(all.size() - 1);
  }
  read->bytes |= mine.bytes;
  for (Touch& reader : all[read->readers]) {
    if (reader.who != me.who) continue;
    replace_read(&reader, true, mine, me);
    return;
  }
  all[read->readers].push_back(mine);
}

void watch(Unit* word, std::uint8_t bytes, const Accessor& me, Access kind) {
  const bool atomic = kind == Access::atomic, reads = kind == Access::read || atomic;
  const Touch &written = word->written, &read = word->read;
  const bool was_written = written.when.barrier >= me.now.group_begin;
  if (reads && !was_written) {
    report("a read of shared memory that nobody in this block has written", me);
  }
  if (was_written && (bytes & written.bytes) != 0 && !(atomic && written.atomic) && !is_ordered(written, me)) {
    report_race(written, "writes", kind == Access::read ? "a read" : "a write", me);
  }
  if (kind == Access::read && me.where != nullptr && written.who < Clocks::first_engine &&
      clocks().fences(written.who) <= written.fences) {
    report("an asynchronous read of what thread number " + std::to_string(written.who) + " wrote at " +
               source_of(written.code).place + ", without fence_async() by that thread in between",
           me);
  }
  const bool was_read = read.when.barrier >= me.now.group_begin;
  if (kind != Access::read && was_read && (bytes & read.bytes) != 0 && !(atomic && read.atomic) &&
      !is_ordered(read, me)) {
    report_race(unordered(read, me), "reads", "a write", me);
  }
  const std::uint32_t fences = me.where == nullptr ? clocks().fences(me.who) : 0;
  const Touch mine{me.now.when, me.who, me.clock, fences, bytes, atomic, false, false, 0, me.series, me.code};
  if (reads) note_read(&word->read, was_read, mine, me);
  if (kind == Access::copy) word->written = {};
  if (kind == Access::write || atomic) word->written = mine;
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

void watch_units(unsigned slot, std::size_t index, std::size_t bytes, Access kind, const Accessor& me) {
  static std::vector<std::vector<Unit>> shadows;
  while (shadows.size() <= slot) shadows.emplace_back(all_shared_bytes() / unit + 1);
  std::vector<Unit>& shadow = shadows[slot];
  if (kind != Access::read) ++writes;
  for (std::size_t k = index / unit; k * unit < index + bytes && k < shadow.size(); ++k) {
    const std::size_t first = std::max(index, k * unit), last = std::min(index + bytes, (k + 1) * unit);
    const unsigned mask = ((1u << (last - first)) - 1) << (first - k * unit);
    watch(&shadow[k], static_cast<std::uint8_t>(mask), me, kind);
  }
}

void watch_shared(unsigned slot, std::size_t index, std::size_t bytes, Access kind, const void* code) {
  const Now now = block().now();
  if (slot != block().slot()) check_remote(slot, now, code);
  if (counts_banks() && kind != Access::atomic && kind != Access::copy) count_banks(now.thread, index, bytes, code);
  const Clocks& c = clocks();
  watch_units(slot, index, bytes, kind,
              {now, c.known_to(now.thread), now.thread, c.now(now.thread), code, nullptr, false, 0});
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

Unwatched::Unwatched() {
  ++unwatched;
  begin_unseen();
}
Unwatched::~Unwatched() {
  end_unseen();
  --unwatched;
}

void watch_again() { unwatched = 0; }

// Where a sanitizer watches, it sees what kernels do themselves; what the runtime does for them the one for threads is
// told.
void access(const void* p, std::size_t bytes, Access kind, const void* code) {
  if constexpr (sanitizes_threads) tell_access(p, bytes, kind == Access::atomic, kind == Access::write);
  if constexpr (sanitizes_threads || sanitizes_addresses) return;
  if (unwatched != 0 || !is_running()) return;
  simulated_ns += access_ns;
  // The thread's own stack, which lies above this variable: nobody else's business.
  const char here = 0;
  if (std::less<>()(&here, p) && std::less<>()(p, static_cast<const void*>(stack_end))) return;
  std::size_t index = 0;
  unsigned slot = 0;
  if (shared_index(p, &slot, &index)) {
    watch_shared(slot, index, bytes, kind, code);
  } else if (device_memory().is_device(p)) {
    watch_global(p, bytes, kind, code);
  }
  if (kind != Access::atomic) break_at_random();
}

void access(const void* p, std::size_t bytes, Access kind, const Operation& operation, bool is_end) {
  if constexpr (sanitizes_threads || sanitizes_addresses) return;
  simulated_ns += access_ns * ((bytes + 15) / 16);
  std::size_t index = 0;
  unsigned slot = 0;
  if (shared_index(p, &slot, &index)) {
    watch_units(slot, index, bytes, kind,
                {operation.begun, &operation.known, operation.who, operation.clock, nullptr, &operation.where, is_end,
                 operation.series});
  } else {
    watch_global(p, bytes, kind, __builtin_return_address(0));
  }
}

std::uint64_t shared_writes() { return writes; }

unsigned begin_series(std::uint32_t clock) {
  all_series().push_back({clock, false});
  return static_cast<unsigned>(all_series().size() - 1);
}

bool continue_series(unsigned number, std::uint32_t clock) {
  Series& series = all_series()[number];
  series.clock = std::max(series.clock, clock);
  return !series.is_lost;
}

void forget_series() { all_series().resize(1); }

namespace {

[[maybe_unused]] void check_aligned(const void* p, std::size_t bytes, const void* code) {
  if (reinterpret_cast<std::uintptr_t>(p) % bytes == 0 || unwatched != 0 || !is_running()) return;
  fail_at(cudaErrorMisalignedAddress, "an access that isn't aligned to its size", code);
}

}  // namespace

}  // namespace assay::simt

#if ASSAY_SIMT_SANITIZER == 0
// What the compiler calls. The first two: where an object of the type must be aligned to its size.
#define ASSAY_SIMT_ACCESS(bytes)                                                            \
  void __tsan_read##bytes(void* p) {                                                        \
    assay::simt::check_aligned(p, bytes, __builtin_return_address(0));                      \
    assay::simt::access(p, bytes, assay::simt::Access::read, __builtin_return_address(0));  \
  }                                                                                         \
  void __tsan_write##bytes(void* p) {                                                       \
    assay::simt::check_aligned(p, bytes, __builtin_return_address(0));                      \
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
#endif
