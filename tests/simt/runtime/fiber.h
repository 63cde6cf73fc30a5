// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Stacks to switch between: one for each thread of a block. A switch saves the registers that a called function must
// keep and nothing else, on x86-64 in eight instructions; elsewhere it is ucontext's, which is slower by a system call.
#pragma once

#include <cstddef>
#include <vector>

#include "sanitizers.h"

#if !defined(__x86_64__)
#include <ucontext.h>
#endif

namespace assay::simt {

// The address sanitizer puts gaps between all variables.
inline constexpr std::size_t fiber_stack_bytes = std::size_t{sanitizes_addresses ? 256 : 64} << 10;

// A place to return to: a suspended fiber, or the scheduler while a fiber runs.
struct Context {
#if defined(__x86_64__)
  void* stack_pointer = nullptr;
#else
  ucontext_t machine;
#endif
  // For a sanitizer: which stack that is, or which fiber.
  const void* bottom = nullptr;
  std::size_t bytes = 0;
  void* fake_stack = nullptr;
  void* fiber = nullptr;
};

// Behind the stack on which the program runs; null for one that isn't a fiber's.
inline const char* stack_end = nullptr;

// Makes `context` that of the stack on which the caller runs.
void describe_own_stack(Context* context);
// First in the function that Stacks::start was given.
void begin_fiber();
// After a jump from another stack to `to`, past switch_context.
void arrive_by_jump(Context* to);

// Suspends `from` and goes on with `to`.
void switch_context(Context* from, Context* to);

// Stacks with a guard page below each, made as needed and used again and again.
class Stacks {
 public:
  ~Stacks();
  // Fiber number `index`, which begins in `entry` at the next switch to it. `entry` never returns.
  void start(std::size_t index, Context* context, void (*entry)());
  // Is `address` in the guard page below a stack? Then that thread used too much.
  bool is_guard(const void* address) const;

 private:
  std::vector<char*> memory_;
  std::vector<void*> fibers_;  // of the thread sanitizer
};

}  // namespace assay::simt
