// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Allocations and copies of include/simt/api.h. What a copy does to the host is CUDA's: from ordinary host memory it
// has read all when the call returns, into it it is over by then; with pinned memory it is under way.
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "memory.h"
#include "state.h"
#include "streams.h"

namespace assay::simt {
namespace {

cudaError_t allocate(void** memory, std::size_t bytes, Kind kind, const char* name = __builtin_FUNCTION()) {
  const Call call(name);
  if (memory == nullptr) return done(cudaErrorInvalidValue);
  *memory = nullptr;
  if (device().sticky != cudaSuccess || bytes == 0) return done(cudaSuccess);
  const bool fits = kind == Kind::pinned ||
                    (bytes <= device().memory_bytes && device_memory().used_bytes() <= device().memory_bytes - bytes);
  if (fits) *memory = device_memory().allocate(bytes, kind);
  return done(*memory != nullptr ? cudaSuccess : cudaErrorMemoryAllocation);
}

// As CUDA does, it waits for all work: nobody may still use the memory.
cudaError_t free_now(void* memory, bool pinned, const char* name = __builtin_FUNCTION()) {
  const Call call(name);
  if (memory == nullptr) return done(cudaSuccess);
  if (!device_memory().contains(memory, 0)) return done(cudaErrorInvalidValue);
  if ((device_memory().near(memory)->kind == Kind::pinned) != pinned) return done(cudaErrorInvalidValue);
  finish_all();
  return done(device_memory().free(memory) ? cudaSuccess : cudaErrorInvalidValue);
}

// Empty: memory of the host that CUDA doesn't know. `inside`: all of it is allocated.
std::optional<Kind> kind_of(const void* p, std::size_t bytes, bool* inside) {
  *inside = true;
  if (!device_memory().is_device(p)) return std::nullopt;
  *inside = device_memory().contains(p, bytes);
  return *inside ? device_memory().near(p)->kind : Kind::device;
}

bool is_direction(cudaMemcpyKind kind, std::optional<Kind> to, std::optional<Kind> from) {
  if (kind == cudaMemcpyDefault) return true;
  const auto fits = [](std::optional<Kind> memory, bool wants_device) {
    return memory == Kind::managed || (memory == Kind::device) == wants_device;
  };
  return fits(to, kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice) &&
         fits(from, kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice);
}

// Work that touches these parts of the device's memory (none: a null pointer), which must still be there then.
void enqueue_on(cudaStream_t stream, const void* to, const void* from, std::size_t bytes, std::function<void()> run) {
  enqueue(stream, [=] {
    for (const void* p : {to, from}) {
      if (p == nullptr || device_memory().contains(p, bytes)) continue;
      device().sticky = cudaErrorIllegalAddress;
      if (device().fault.empty()) device().fault = "a copy or memset of memory that has been freed";
      return;
    }
    run();
  });
}

cudaError_t copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream, bool waits) {
  if (!is_stream(stream)) return done(cudaErrorInvalidResourceHandle);
  if (device().sticky != cudaSuccess || bytes == 0) return done(cudaSuccess);
  if (to == nullptr || from == nullptr) return done(cudaErrorInvalidValue);
  bool to_inside = false, from_inside = false;
  const std::optional<Kind> to_kind = kind_of(to, bytes, &to_inside), from_kind = kind_of(from, bytes, &from_inside);
  if (!to_inside || !from_inside) return done(cudaErrorInvalidValue);
  if (!is_direction(kind, to_kind, from_kind)) {
    return done(cudaErrorInvalidValue);
  }
  const void* const device_to = to_kind ? to : nullptr;
  if (!from_kind && to_kind && is_lazy(device().schedule)) {  // the caller may change his memory from now on
    auto staged =
        std::make_shared<std::vector<char>>(static_cast<const char*>(from), static_cast<const char*>(from) + bytes);
    enqueue_on(stream, device_to, nullptr, bytes, [=] { std::memcpy(to, staged->data(), bytes); });
    return done(cudaSuccess);
  }
  enqueue_on(stream, device_to, from_kind ? from : nullptr, bytes, [=] { std::memmove(to, from, bytes); });
  const bool on_device = to_kind == Kind::device && from_kind == Kind::device;
  if (!to_kind || !from_kind || (waits && !on_device)) finish(stream);
  return done(cudaSuccess);
}

cudaError_t set(void* memory, int value, std::size_t bytes, cudaStream_t stream, bool waits) {
  if (!is_stream(stream)) return done(cudaErrorInvalidResourceHandle);
  if (device().sticky != cudaSuccess || bytes == 0) return done(cudaSuccess);
  if (!device_memory().contains(memory, bytes)) return done(cudaErrorInvalidValue);
  enqueue_on(stream, memory, nullptr, bytes, [=] { std::memset(memory, value, bytes); });
  if (waits && device_memory().near(memory)->kind == Kind::pinned) finish(stream);
  return done(cudaSuccess);
}

}  // namespace
}  // namespace assay::simt

using namespace assay::simt;  // NOLINT: the calls below are all that follows

cudaError_t cudaMalloc(void** memory, std::size_t bytes) { return allocate(memory, bytes, Kind::device); }
cudaError_t cudaMallocHost(void** memory, std::size_t bytes, unsigned) { return allocate(memory, bytes, Kind::pinned); }
cudaError_t cudaHostAlloc(void** memory, std::size_t bytes, unsigned) { return allocate(memory, bytes, Kind::pinned); }
cudaError_t cudaMallocManaged(void** memory, std::size_t bytes, unsigned) {
  return allocate(memory, bytes, Kind::managed);
}
cudaError_t cudaMallocAsync(void** memory, std::size_t bytes, cudaStream_t stream) {
  const Call call;
  return is_stream(stream) ? allocate(memory, bytes, Kind::device) : done(cudaErrorInvalidResourceHandle);
}
cudaError_t cudaFree(void* memory) { return free_now(memory, false); }
cudaError_t cudaFreeHost(void* memory) { return free_now(memory, true); }
cudaError_t cudaFreeAsync(void* memory, cudaStream_t stream) {
  const Call call;
  if (!is_stream(stream)) return done(cudaErrorInvalidResourceHandle);
  if (memory == nullptr || !device_memory().contains(memory, 0)) return done(cudaErrorInvalidValue);
  enqueue_on(stream, memory, nullptr, 0, [=] { device_memory().free(memory); });
  return done(cudaSuccess);
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  const Call call;
  return copy(to, from, bytes, kind, stream, false);
}
cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  const Call call;
  return copy(to, from, bytes, kind, nullptr, true);
}
cudaError_t cudaMemsetAsync(void* memory, int value, std::size_t bytes, cudaStream_t stream) {
  const Call call;
  return set(memory, value, bytes, stream, false);
}
cudaError_t cudaMemset(void* memory, int value, std::size_t bytes) {
  const Call call;
  return set(memory, value, bytes, nullptr, true);
}
cudaError_t cudaMemGetInfo(std::size_t* free_bytes, std::size_t* all_bytes) {
  const Call call;
  const std::size_t all = device().memory_bytes, used = device_memory().used_bytes();
  if (free_bytes != nullptr) *free_bytes = all > used ? all - used : 0;
  if (all_bytes != nullptr) *all_bytes = all;
  return done(cudaSuccess);
}
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* memory) {
  const Call call;
  if (attributes == nullptr) return done(cudaErrorInvalidValue);
  *attributes = {cudaMemoryTypeUnregistered, -1, nullptr, const_cast<void*>(memory)};
  if (!device_memory().contains(memory, 0)) return done(cudaSuccess);
  const Kind kind = device_memory().near(memory)->kind;
  attributes->type = kind == Kind::device   ? cudaMemoryTypeDevice
                     : kind == Kind::pinned ? cudaMemoryTypeHost
                                            : cudaMemoryTypeManaged;
  attributes->device = 0;
  attributes->devicePointer = const_cast<void*>(memory);
  if (kind == Kind::device) attributes->hostPointer = nullptr;
  return done(cudaSuccess);
}
cudaError_t cudaHostGetDevicePointer(void** on_device, void* on_host, unsigned flags) {
  const Call call;
  if (on_device == nullptr || flags != 0 || !device_memory().contains(on_host, 0) ||
      device_memory().near(on_host)->kind != Kind::pinned) {
    return done(cudaErrorInvalidValue);
  }
  *on_device = on_host;
  return done(cudaSuccess);
}
