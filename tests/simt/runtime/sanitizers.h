// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// What the address and the thread sanitizer must be told about a program that switches stacks and hands out its own
// memory; nothing in a build without them. The runtime itself is compiled without: it does what threads of a device
// can't, such as writing for other lanes. ASSAY_SIMT_SANITIZER: 1 address and undefined behaviour, 2 threads.
#pragma once

#include <cstddef>

#if !defined(ASSAY_SIMT_SANITIZER)
#define ASSAY_SIMT_SANITIZER 0
#endif

#if ASSAY_SIMT_SANITIZER == 1
extern "C" {
void __sanitizer_start_switch_fiber(void** fake_stack_save, const void* bottom, std::size_t bytes);
void __sanitizer_finish_switch_fiber(void* fake_stack_save, const void** bottom_old, std::size_t* bytes_old);
void __asan_poison_memory_region(const volatile void* p, std::size_t bytes);
void __asan_unpoison_memory_region(const volatile void* p, std::size_t bytes);
}
#elif ASSAY_SIMT_SANITIZER == 2
extern "C" {
void* __tsan_get_current_fiber();
void* __tsan_create_fiber(unsigned flags);
void __tsan_switch_to_fiber(void* fiber, unsigned flags);
void __tsan_acquire(void* p);
void __tsan_release(void* p);
void __tsan_read_range(void* p, std::size_t bytes);
void __tsan_write_range(void* p, std::size_t bytes);
void AnnotateIgnoreReadsBegin(const char* file, int line);
void AnnotateIgnoreReadsEnd(const char* file, int line);
void AnnotateIgnoreWritesBegin(const char* file, int line);
void AnnotateIgnoreWritesEnd(const char* file, int line);
}
#endif

namespace assay::simt {

inline constexpr bool sanitizes_addresses = ASSAY_SIMT_SANITIZER == 1;
inline constexpr bool sanitizes_threads = ASSAY_SIMT_SANITIZER == 2;

// Bytes that nobody may touch, and may again.
inline void poison([[maybe_unused]] const void* p, [[maybe_unused]] std::size_t bytes) {
#if ASSAY_SIMT_SANITIZER == 1
  __asan_poison_memory_region(p, bytes);
#endif
}
inline void unpoison([[maybe_unused]] const void* p, [[maybe_unused]] std::size_t bytes) {
#if ASSAY_SIMT_SANITIZER == 1
  __asan_unpoison_memory_region(p, bytes);
#endif
}

// What a thread did before it releases happens before what one does that acquires the same object later. The sanitizer
// knows of no other order: not the one in which fibers run.
inline void releases([[maybe_unused]] void* object) {
#if ASSAY_SIMT_SANITIZER == 2
  __tsan_release(object);
#endif
}
inline void acquires([[maybe_unused]] void* object) {
#if ASSAY_SIMT_SANITIZER == 2
  __tsan_acquire(object);
#endif
}

// An access that no instruction of the kernel makes.
inline void tell_access([[maybe_unused]] const void* p, [[maybe_unused]] std::size_t bytes,
                        [[maybe_unused]] bool is_atomic, [[maybe_unused]] bool is_write) {
#if ASSAY_SIMT_SANITIZER == 2
  void* const memory = const_cast<void*>(p);
  if (is_atomic) {
    acquires(memory);
    releases(memory);
  } else {
    is_write ? __tsan_write_range(memory, bytes) : __tsan_read_range(memory, bytes);
  }
#endif
}

// Between the two the thread sanitizer looks away.
inline void begin_unseen() {
#if ASSAY_SIMT_SANITIZER == 2
  AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
  AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
#endif
}
inline void end_unseen() {
#if ASSAY_SIMT_SANITIZER == 2
  AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
  AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
#endif
}

// In a function that kernels call, as long as it is the runtime's work.
class Unseen {
 public:
  Unseen() { begin_unseen(); }
  ~Unseen() { end_unseen(); }
  Unseen(const Unseen&) = delete;
  Unseen& operator=(const Unseen&) = delete;
};

}  // namespace assay::simt
