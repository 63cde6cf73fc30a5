// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
#include "fiber.h"

#include <pthread.h>
#include <sys/mman.h>

#include <cstdint>
#include <new>

#if defined(__x86_64__)
extern "C" void assay_simt_switch(void** save, void* load);
asm(R"(.text
.globl assay_simt_switch
.type assay_simt_switch,@function
assay_simt_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size assay_simt_switch, .-assay_simt_switch
)");
#endif

namespace assay::simt {
namespace {

constexpr std::size_t page = 4096;
// Stacks that begin at equal distances share the same few sets of the cache; these don't.
constexpr std::size_t stagger_bytes = 256, staggers = 16;

// What a sanitizer does before a switch, and after it, on the other side.
void announce_switch([[maybe_unused]] Context* from, Context* to) {
  stack_end = static_cast<const char*>(to->bottom) + to->bytes;
#if ASSAY_SIMT_SANITIZER == 1
  __sanitizer_start_switch_fiber(&from->fake_stack, to->bottom, to->bytes);
#elif ASSAY_SIMT_SANITIZER == 2
  constexpr unsigned without_order = 1;
  __tsan_switch_to_fiber(to->fiber, without_order);
#endif
}
void confirm_switch([[maybe_unused]] void* fake_stack) {
#if ASSAY_SIMT_SANITIZER == 1
  __sanitizer_finish_switch_fiber(fake_stack, nullptr, nullptr);
#endif
}

}  // namespace

void begin_fiber() { confirm_switch(nullptr); }

void arrive_by_jump(Context* to) {
  Context left;
  announce_switch(&left, to);
  confirm_switch(to->fake_stack);
}

void describe_own_stack([[maybe_unused]] Context* context) {
#if ASSAY_SIMT_SANITIZER == 1
  pthread_attr_t attributes;
  void* bottom = nullptr;
  pthread_getattr_np(pthread_self(), &attributes);
  pthread_attr_getstack(&attributes, &bottom, &context->bytes);
  pthread_attr_destroy(&attributes);
  context->bottom = bottom;
#elif ASSAY_SIMT_SANITIZER == 2
  context->fiber = __tsan_get_current_fiber();
#endif
}

void switch_context(Context* from, Context* to) {
  announce_switch(from, to);
#if defined(__x86_64__)
  assay_simt_switch(&from->stack_pointer, to->stack_pointer);
#else
  swapcontext(&from->machine, &to->machine);
#endif
  confirm_switch(from->fake_stack);
}

Stacks::~Stacks() {
  for (char* memory : memory_) munmap(memory, page + fiber_stack_bytes);
}

void Stacks::start(std::size_t index, Context* context, void (*entry)()) {
  while (memory_.size() <= index) {
    void* memory = mmap(nullptr, page + fiber_stack_bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (memory == MAP_FAILED || mprotect(memory, page, PROT_NONE) != 0) throw std::bad_alloc();
    memory_.push_back(static_cast<char*>(memory));
  }
  char* stack = memory_[index] + page;
  unpoison(stack, fiber_stack_bytes);  // of a thread that never came back
  context->bottom = stack;
  context->bytes = fiber_stack_bytes;
#if ASSAY_SIMT_SANITIZER == 2
  while (fibers_.size() <= index) fibers_.push_back(__tsan_create_fiber(0));
  context->fiber = fibers_[index];
#endif
  const std::size_t usable = fiber_stack_bytes - index % staggers * stagger_bytes;
#if defined(__x86_64__)
  // As if `entry` had been called: the stack is 8 off a 16-byte boundary behind the return address it never uses.
  auto* top = reinterpret_cast<void**>(stack + usable);
  *--top = nullptr;
  *--top = reinterpret_cast<void*>(entry);
  for (int saved = 0; saved < 6; ++saved) *--top = nullptr;
  context->stack_pointer = top;
#else
  getcontext(&context->machine);
  context->machine.uc_stack.ss_sp = stack;
  context->machine.uc_stack.ss_size = usable;
  context->machine.uc_link = nullptr;
  makecontext(&context->machine, entry, 0);
#endif
}

bool Stacks::is_guard(const void* address) const {
  const auto* a = static_cast<const char*>(address);
  for (const char* memory : memory_) {
    if (a >= memory && a < memory + page) return true;
  }
  return false;
}

}  // namespace assay::simt
