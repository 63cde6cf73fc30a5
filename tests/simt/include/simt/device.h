// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// What a kernel calls: barriers, warp functions, atomics, fast mathematics. Every function at which threads meet takes
// the place in the source as a last argument nobody passes, so that a report names file and line.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <source_location>
#include <type_traits>

#include "api.h"

namespace assay::simt {

using Where = std::source_location;

enum class Vote { none, count, all, any };

// Waits for all threads of the block; for Vote::none the result means nothing.
int barrier(Vote vote, bool predicate, Where where);

// Lanes of a warp meet: all of `mask` must come, to the same function at the same place. The last one computes for all.
struct Exchange {
  std::uint64_t value = 0;
  std::uint64_t result = 0;
  unsigned source = 0;  // lane to read from, by shuffles
};
using Complete = void (*)(Exchange* const (&lanes)[32], std::uint32_t mask);
// orders_memory: what lanes wrote before is seen by all of them after.
void meet(std::uint32_t mask, Exchange* mine, Complete complete, bool orders_memory, const char* name, Where where);

unsigned lane();          // of the running thread in its warp
void pause(Where where);  // a spin loop: lets all others go on
void break_at_random();   // lets another thread go on, now and then, where the schedule is the random one
void fence();             // of the whole device
void atomic_access(const void* p, std::size_t bytes);
// While one lives, nobody comes in between (runtime/accesses.h).
class Unwatched {
 public:
  Unwatched();
  ~Unwatched();
  Unwatched(const Unwatched&) = delete;
  Unwatched& operator=(const Unwatched&) = delete;
};
// Ends the kernel as a fault does.
[[noreturn]] void fail(cudaError_t error, const char* what, Where where);

template <class T>
void check_alignment(const T* p, Where where) {
  if (reinterpret_cast<std::uintptr_t>(p) % sizeof(T) != 0) {
    fail(cudaErrorMisalignedAddress, "an access that isn't aligned to its size", where);
  }
}

void check_is_shared(const void* p, Where where);

void shuffle_lanes(Exchange* const (&lanes)[32], std::uint32_t mask);
void ballot_lanes(Exchange* const (&lanes)[32], std::uint32_t mask);

template <class T>
T shuffle(std::uint32_t mask, T value, unsigned source, const char* name, Where where) {
  static_assert(sizeof(T) <= sizeof(std::uint64_t));
  Exchange mine;
  std::memcpy(&mine.value, &value, sizeof value);
  mine.source = source;
  meet(mask, &mine, shuffle_lanes, false, name, where);
  if ((mask >> source & 1) == 0) {
    fail(cudaErrorLaunchFailure, "a shuffle that reads a lane which isn't in the mask", where);
  }
  std::memcpy(&value, &mine.result, sizeof value);
  return value;
}

inline std::uint32_t ballot(std::uint32_t mask, bool predicate, const char* name, Where where) {
  Exchange mine;
  mine.value = predicate ? 1 : 0;
  meet(mask, &mine, ballot_lanes, false, name, where);
  return static_cast<std::uint32_t>(mine.result);
}

template <class T>
using Same = std::type_identity_t<T>;  // takes no part in deduction: atomicAdd(&u64, 1)

template <class T, class Change>
T read_modify_write(T* p, const Change& change, Where where) {
  check_alignment(p, where);
  break_at_random();
  atomic_access(p, sizeof *p);
  const Unwatched whole;
  const T old = *p;
  *p = static_cast<T>(change(old));
  return old;
}

}  // namespace assay::simt

#define ASSAY_SIMT_WHERE ::assay::simt::Where where = ::assay::simt::Where::current()

// Barriers ------------------------------------------------------------------------------------------------------------

inline void __syncthreads(ASSAY_SIMT_WHERE) { assay::simt::barrier(assay::simt::Vote::none, false, where); }
inline int __syncthreads_count(int predicate, ASSAY_SIMT_WHERE) {
  return assay::simt::barrier(assay::simt::Vote::count, predicate != 0, where);
}
inline int __syncthreads_and(int predicate, ASSAY_SIMT_WHERE) {
  return assay::simt::barrier(assay::simt::Vote::all, predicate != 0, where);
}
inline int __syncthreads_or(int predicate, ASSAY_SIMT_WHERE) {
  return assay::simt::barrier(assay::simt::Vote::any, predicate != 0, where);
}
inline void __syncwarp(unsigned mask = 0xFFFFFFFFu, ASSAY_SIMT_WHERE) {
  assay::simt::Exchange mine;
  assay::simt::meet(
      mask, &mine, [](assay::simt::Exchange* const(&)[32], std::uint32_t) {}, true, "__syncwarp", where);
}
inline void __threadfence() { assay::simt::fence(); }  // stores are seen in order anyway: one thread runs at a time
inline void __threadfence_block() {}
inline void __nanosleep(unsigned, ASSAY_SIMT_WHERE) { assay::simt::pause(where); }

// Warps ---------------------------------------------------------------------------------------------------------------

template <class T>
T __shfl_sync(unsigned mask, T value, int source, int width = 32, ASSAY_SIMT_WHERE) {
  const unsigned first = assay::simt::lane() & ~static_cast<unsigned>(width - 1);
  return assay::simt::shuffle(mask, value, first | (static_cast<unsigned>(source) & static_cast<unsigned>(width - 1)),
                              "__shfl_sync", where);
}
template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned distance, int width = 32, ASSAY_SIMT_WHERE) {
  const unsigned lane = assay::simt::lane(), in_group = lane & static_cast<unsigned>(width - 1);
  return assay::simt::shuffle(mask, value, in_group < distance ? lane : lane - distance, "__shfl_up_sync", where);
}
template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned distance, int width = 32, ASSAY_SIMT_WHERE) {
  const unsigned lane = assay::simt::lane(), in_group = lane & static_cast<unsigned>(width - 1);
  const bool inside = in_group + distance < static_cast<unsigned>(width);
  return assay::simt::shuffle(mask, value, inside ? lane + distance : lane, "__shfl_down_sync", where);
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int bits, int width = 32, ASSAY_SIMT_WHERE) {
  const unsigned lane = assay::simt::lane(), source = lane ^ static_cast<unsigned>(bits);
  const unsigned last = lane | static_cast<unsigned>(width - 1);
  return assay::simt::shuffle(mask, value, source > last ? lane : source, "__shfl_xor_sync", where);
}
inline unsigned __ballot_sync(unsigned mask, int predicate, ASSAY_SIMT_WHERE) {
  return assay::simt::ballot(mask, predicate != 0, "__ballot_sync", where);
}
inline int __any_sync(unsigned mask, int predicate, ASSAY_SIMT_WHERE) {
  return assay::simt::ballot(mask, predicate != 0, "__any_sync", where) != 0;
}
inline int __all_sync(unsigned mask, int predicate, ASSAY_SIMT_WHERE) {
  return assay::simt::ballot(mask, predicate != 0, "__all_sync", where) == mask;
}

// Atomics -------------------------------------------------------------------------------------------------------------

template <class T>
T atomicAdd(T* p, assay::simt::Same<T> value, ASSAY_SIMT_WHERE) {
  return assay::simt::read_modify_write(
      p, [=](T old) { return old + value; }, where);
}
template <class T>
T atomicMin(T* p, assay::simt::Same<T> value, ASSAY_SIMT_WHERE) {
  return assay::simt::read_modify_write(
      p, [=](T old) { return value < old ? value : old; }, where);
}
template <class T>
T atomicMax(T* p, assay::simt::Same<T> value, ASSAY_SIMT_WHERE) {
  return assay::simt::read_modify_write(
      p, [=](T old) { return old < value ? value : old; }, where);
}
template <class T>
T atomicXor(T* p, assay::simt::Same<T> value, ASSAY_SIMT_WHERE) {
  return assay::simt::read_modify_write(
      p, [=](T old) { return old ^ value; }, where);
}
template <class T>
T atomicExch(T* p, assay::simt::Same<T> value, ASSAY_SIMT_WHERE) {
  return assay::simt::read_modify_write(
      p, [=](T) { return value; }, where);
}
template <class T>
T atomicCAS(T* p, assay::simt::Same<T> expected, assay::simt::Same<T> value, ASSAY_SIMT_WHERE) {
  const T old = assay::simt::read_modify_write(
      p, [=](T now) { return now == expected ? value : now; }, where);
  if (old != expected) assay::simt::pause(where);  // a lock: let its owner run
  return old;
}

// Numbers -------------------------------------------------------------------------------------------------------------

inline unsigned __float_as_uint(float x) { return std::bit_cast<unsigned>(x); }
inline float __uint_as_float(unsigned x) { return std::bit_cast<float>(x); }
inline long long __double_as_longlong(double x) { return std::bit_cast<long long>(x); }
inline double __longlong_as_double(long long x) { return std::bit_cast<double>(x); }
inline int __popc(unsigned x) { return std::popcount(x); }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<unsigned long long>((static_cast<Wide>(a) * b) >> 64);
}
