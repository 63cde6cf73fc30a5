// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Barriers in shared memory, and the copies that end at them: include/kernels/ptx_hopper.cuh. Their state is beside the
// eight bytes, which are watched as if each call accessed them atomically: a barrier that is used before others can
// know that it's initialised is a race.
#include <map>

#include "async.h"
#include "kernels/ptx_hopper.cuh"
#include "sanitizers.h"
#include "shared_memory.h"

namespace assay::simt {
namespace {

struct Barrier {
  unsigned arrivals = 0, missing = 0;  // of a phase, of this phase
  std::uint64_t phase = 0;
  std::int64_t bytes = 0;  // announced and not come; below 0: come and not announced
  unsigned loads = 0;      // under way for this phase
  unsigned number = 0, made_by = 0;
  bool is_published = false;
  Knowledge gathered, released;  // of those who arrived: in this phase, in the one before
};

std::map<std::size_t, Barrier>& barriers() {
  static std::map<std::size_t, Barrier> all;
  return all;
}

std::string name_of(const void* p) {
  std::size_t index = 0;
  shared_at(p, &index);
  const auto at = static_cast<const char*>(p) - static_cast<const char*>(dynamic_shared());
  return "mbarrier at byte " + (at >= 0 ? std::to_string(at) + " of dynamic" : std::to_string(index) + " of") +
         " shared memory";
}

Barrier& find(const void* p, Where where) {
  std::size_t index = 0;
  if (!shared_at(p, &index)) fail(cudaErrorIllegalAddress, "an mbarrier that is not in shared memory", where);
  const auto found = barriers().find(index);
  if (found == barriers().end()) {
    fail_with(cudaErrorLaunchFailure, name_of(p) + ": nobody in this block has initialised it", where);
  }
  return found->second;
}

std::string counts(const Barrier& b) {
  return "phase " + std::to_string(b.phase) + " still lacks " + std::to_string(b.missing) + " arrivals and " +
         std::to_string(b.bytes) + " bytes";
}

void end_phase_if_done(const void* p, Barrier* b, Where where) {
  if (b->missing != 0 || b->bytes != 0) return;
  if (b->loads != 0) {
    fail_with(cudaErrorLaunchFailure,
              name_of(p) + ": phase " + std::to_string(b->phase) +
                  " ends before the copies that belong to it; not all their bytes were announced",
              where);
  }
  ++b->phase;
  b->missing = b->arrivals;
  b->released = b->gathered;
  b->gathered = clocks().nothing();
  block().look_again();
}

void arrive_at(void* p, unsigned bytes, Where where, const void* code) {
  const Unseen unseen;
  access(p, sizeof(kernels::Mbarrier), Access::atomic, code);
  break_at_random();
  Barrier& b = find(p, where);
  b.bytes += bytes;
  clocks().release(running_thread(), &b.gathered);
  --b.missing;
  end_phase_if_done(p, &b, where);
}

}  // namespace

void forget_barriers() { barriers().clear(); }

std::string describe_barriers() {
  std::string text;
  for (const auto& [index, b] : barriers()) {
    if (b.missing == b.arrivals && b.bytes == 0) continue;  // nobody has come yet
    text += " mbarrier " + std::to_string(b.number) + " in the order of their initialisation: " + counts(b) + ";";
  }
  return text;
}

Operation operation_of(unsigned who, std::uint32_t clock, Where where) {
  const unsigned thread = running_thread();
  return {block().now(), *clocks().known_to(thread), who, clock, where};
}

Operation begin_load(void* barrier, Where where) {
  Barrier& b = find(barrier, where);
  if (!b.is_published) {
    fail_with(cudaErrorLaunchFailure,
              name_of(barrier) + ": its initialisation isn't known to the copy engine, publish_barriers() is missing",
              where);
  }
  ++b.loads;
  return operation_of(Clocks::copies_of(b.number), static_cast<std::uint32_t>(b.phase + 1), where);
}

void end_load(void* barrier, std::size_t bytes, const Operation& operation) {
  Barrier& b = find(barrier, operation.where);
  --b.loads;
  b.bytes -= static_cast<std::int64_t>(bytes);
  clocks().note(&b.gathered, operation.who, operation.clock);
  end_phase_if_done(barrier, &b, operation.where);
}

void init_barrier(void* p, unsigned arrivals, Where where) {
  const Unseen unseen;
  std::size_t index = 0;
  if (reinterpret_cast<std::uintptr_t>(p) % 8 != 0) {
    fail(cudaErrorMisalignedAddress, "an mbarrier that isn't aligned to 8 bytes", where);
  }
  if (!shared_at(p, &index)) fail(cudaErrorIllegalAddress, "an mbarrier that is not in shared memory", where);
  if (barriers().size() == Clocks::barriers) fail(cudaErrorLaunchFailure, "more mbarriers than the rig knows", where);
  if (arrivals == 0) fail(cudaErrorLaunchFailure, "an mbarrier for no arrivals", where);
  use_clocks(where);
  access(p, sizeof(kernels::Mbarrier), Access::write, __builtin_return_address(0));
  const auto number = static_cast<unsigned>(barriers().size());
  Barrier b;
  b.arrivals = b.missing = arrivals;
  b.number = number;
  b.made_by = running_thread();
  b.gathered = b.released = clocks().nothing();
  if (!barriers().emplace(index, std::move(b)).second) {
    fail_with(cudaErrorLaunchFailure, name_of(p) + ": it is initialised twice", where);
  }
}

void publish_barriers() {
  const Unseen unseen;
  for (auto& [index, b] : barriers()) b.is_published = b.is_published || b.made_by == running_thread();
}

void arrive(void* p, unsigned bytes, Where where) { arrive_at(p, bytes, where, __builtin_return_address(0)); }

void wait_barrier(void* p, unsigned parity, Where where) {
  const Unseen unseen;
  access(p, sizeof(kernels::Mbarrier), Access::atomic, __builtin_return_address(0));
  break_at_random();
  const Barrier& b = find(p, where);
  const std::uint64_t phase = b.phase;
  if (phase % 2 == parity % 2) {
    block().wait_until([&] { return b.phase != phase; }, "wait_barrier", where);
    if (b.phase != phase + 1) {
      fail_with(cudaErrorLaunchFailure,
                name_of(p) +
                    ": the phase that a thread waited for has passed, and the one after it before the thread "
                    "went on: on a device it might wait for ever",
                where);
    }
  }
  clocks().acquire(running_thread(), b.released);
  acquires(p);
}

}  // namespace assay::simt
