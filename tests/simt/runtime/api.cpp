// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// The runtime library of simt/api.h: checks what CUDA checks, then does the work at once.
#include <dlfcn.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <map>
#include <set>
#include <utility>

#include "block.h"
#include "memory.h"
#include "shared_memory.h"

namespace assay::simt {
namespace {

struct Device {
  Schedule schedule = Schedule::in_order;
  std::mt19937_64 random{1};
  unsigned until_break = 1;  // accesses
  int processors = 2;
  cudaError_t last = cudaSuccess, sticky = cudaSuccess;
  std::string fault;
  std::map<const void*, int> dynamic_limits;
  std::set<std::uint64_t> chosen_blocks;
};

Device& device() {
  static Device one;
  return one;
}

// Every call ends here: an error is kept for cudaGetLastError, one of a kernel for ever.
cudaError_t done(cudaError_t error) {
  Device& d = device();
  if (d.sticky != cudaSuccess) error = d.sticky;
  if (error != cudaSuccess) d.last = error;
  return error;
}

cudaError_t end_kernel(const void* kernel, const Fault& fault) {
  Device& d = device();
  const auto coordinates = [](uint3 v) {
    return "(" + std::to_string(v.x) + "," + std::to_string(v.y) + "," + std::to_string(v.z) + ")";
  };
  d.sticky = fault.error;
  if (d.fault.empty()) {
    d.fault = "kernel " + source_of(kernel).function + ", block " + coordinates(fault.block) + ", thread " +
              coordinates(fault.thread) + ", " + (fault.where.empty() ? "somewhere" : fault.where) + ": " + fault.what;
  }
  return cudaSuccess;  // the launch itself went well
}

constexpr unsigned most_threads = 1024, most_threads_z = 64, most_blocks_yz = 65535, most_blocks_x = 0x7FFFFFFF;
constexpr int usual_dynamic_shared = 48 << 10;

bool is_valid(const cudaLaunchConfig_t& config) {
  const dim3 &g = config.gridDim, &b = config.blockDim;
  const std::uint64_t threads = std::uint64_t{b.x} * b.y * b.z;
  return threads >= 1 && b.x <= most_threads && b.y <= most_threads && threads <= most_threads &&
         b.z <= most_threads_z && g.x >= 1 && g.y >= 1 && g.z >= 1 && g.x <= most_blocks_x && g.y <= most_blocks_yz &&
         g.z <= most_blocks_yz;
}

}  // namespace

const char* name_of(Schedule schedule) {
  constexpr std::array<const char*, 4> names = {"in order", "reverse", "random", "priority"};
  return names[static_cast<std::size_t>(schedule)];
}

void set_schedule(Schedule schedule, std::uint64_t seed) {
  device().schedule = schedule;
  device().random.seed(seed);
  device().until_break = 1;
}
void set_processors(int count) { device().processors = count; }
void run_only(std::set<std::uint64_t> blocks) { device().chosen_blocks = std::move(blocks); }
const std::set<std::uint64_t>& chosen_blocks() { return device().chosen_blocks; }
Schedule schedule() { return device().schedule; }
std::mt19937_64& random_numbers() { return device().random; }
bool breaks_at_random() { return device().schedule == Schedule::random; }
bool is_time_for_a_break() {
  Device& d = device();
  if (d.schedule != Schedule::random || --d.until_break != 0) return false;
  d.until_break = 1 + static_cast<unsigned>(d.random() % 31);
  return true;
}
unsigned char spoilt_byte() {
  constexpr std::array<unsigned char, 4> bytes = {0xFF, 0xCB, 0x7F, 0xFF};
  return bytes[static_cast<std::size_t>(device().schedule)];
}
const std::string& fault() { return device().fault; }
void reset() {
  Device& d = device();
  d.last = d.sticky = cudaSuccess;
  d.fault.clear();
}

Source source_of(const void* code) {
  char hex[32];
  std::snprintf(hex, sizeof hex, "%p", code);
  Source source{hex, ""};
  Dl_info info{};
  if (code == nullptr || dladdr(code, &info) == 0) return source;
  std::array<char, 4096> program{};
  if (readlink("/proc/self/exe", program.data(), program.size() - 1) <= 0) return source;
  const auto offset = reinterpret_cast<std::uintptr_t>(code) - reinterpret_cast<std::uintptr_t>(info.dli_fbase);
  char number[32];
  std::snprintf(number, sizeof number, "0x%zx", static_cast<std::size_t>(offset));
  FILE* pipe = popen(("addr2line -Cfe '" + std::string(program.data()) + "' " + number + " 2>/dev/null").c_str(), "r");
  if (pipe == nullptr) return source;
  std::array<char, 4096> line{};
  const auto next = [&] {
    std::string text = std::fgets(line.data(), static_cast<int>(line.size()), pipe) != nullptr ? line.data() : "";
    while (!text.empty() && text.back() == '\n') text.pop_back();
    return text;
  };
  const std::string function = next(), file = next();
  pclose(pipe);
  if (!function.empty() && function != "??") source.function = function;
  if (!file.empty() && file[0] != '?') source.place = file.substr(0, file.find(' '));
  return source;
}

cudaError_t set_dynamic_shared_limit(const void* kernel, int bytes) {
  if (bytes < 0 || static_cast<std::size_t>(bytes) > most_dynamic_shared) return done(cudaErrorInvalidValue);
  device().dynamic_limits[kernel] = bytes;
  return done(cudaSuccess);
}

cudaError_t launch(const cudaLaunchConfig_t& config, const void* kernel, const std::function<void()>& body,
                   const void* const* pointers, std::size_t count) {
  Device& d = device();
  if (d.sticky != cudaSuccess) return done(d.sticky);
  if (!is_valid(config)) return done(cudaErrorInvalidConfiguration);
  const auto limit = d.dynamic_limits.find(kernel);
  const int most = limit != d.dynamic_limits.end() ? limit->second : usual_dynamic_shared;
  if (config.dynamicSmemBytes > static_cast<std::size_t>(most)) return done(cudaErrorInvalidValue);
  for (std::size_t i = 0; i < count; ++i) {
    if (pointers[i] == nullptr || device_memory().contains(pointers[i], 0)) continue;
    const std::string what = "pointer argument " + std::to_string(i) + " (of " + std::to_string(count) +
                             ", counted from 0) points to no memory of the device";
    return end_kernel(kernel, {cudaErrorIllegalAddress, what, "at its launch", {}, {}});
  }
  const Fault fault = run_grid(config, body);
  return fault.error == cudaSuccess ? done(cudaSuccess) : end_kernel(kernel, fault);
}

}  // namespace assay::simt

using assay::simt::device;
using assay::simt::device_memory;
using assay::simt::done;

cudaError_t cudaMalloc(void** memory, std::size_t bytes) {
  *memory = bytes != 0 ? device_memory().allocate(bytes) : nullptr;
  return done(*memory != nullptr || bytes == 0 ? cudaSuccess : cudaErrorMemoryAllocation);
}
cudaError_t cudaFree(void* memory) {
  return done(memory == nullptr || device_memory().free(memory) ? cudaSuccess : cudaErrorInvalidValue);
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t) {
  if (device().sticky != cudaSuccess || bytes == 0) return done(cudaSuccess);
  const bool to_device = device_memory().contains(to, bytes), from_device = device_memory().contains(from, bytes);
  const bool wants_to = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
  const bool wants_from = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  if (kind != cudaMemcpyDefault && (wants_to != to_device || wants_from != from_device)) {
    return done(cudaErrorInvalidValue);
  }
  std::memmove(to, from, bytes);
  return done(cudaSuccess);
}
cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  return cudaMemcpyAsync(to, from, bytes, kind);
}
cudaError_t cudaMemsetAsync(void* memory, int value, std::size_t bytes, cudaStream_t) {
  if (device().sticky != cudaSuccess || bytes == 0) return done(cudaSuccess);
  if (!device_memory().contains(memory, bytes)) return done(cudaErrorInvalidValue);
  std::memset(memory, value, bytes);
  return done(cudaSuccess);
}
cudaError_t cudaMemset(void* memory, int value, std::size_t bytes) { return cudaMemsetAsync(memory, value, bytes); }
cudaError_t cudaGetDevice(int* number) {
  *number = 0;
  return done(cudaSuccess);
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int number) {
  if (number != 0) return done(cudaErrorInvalidDevice);
  switch (attribute) {
    case cudaDevAttrMultiProcessorCount:
      *value = device().processors;
      break;
    case cudaDevAttrComputeCapabilityMajor:
      *value = 9;
      break;
    case cudaDevAttrComputeCapabilityMinor:
      *value = 0;
      break;
  }
  return done(cudaSuccess);
}
cudaError_t cudaDeviceSynchronize() { return done(cudaSuccess); }
cudaError_t cudaStreamSynchronize(cudaStream_t) { return done(cudaSuccess); }
cudaError_t cudaPeekAtLastError() { return device().last; }
cudaError_t cudaGetLastError() {
  const cudaError_t last = device().last;
  device().last = device().sticky;
  return last;
}
const char* cudaGetErrorName(cudaError_t error) {
  switch (error) {
    case cudaSuccess:
      return "cudaSuccess";
    case cudaErrorInvalidValue:
      return "cudaErrorInvalidValue";
    case cudaErrorMemoryAllocation:
      return "cudaErrorMemoryAllocation";
    case cudaErrorInvalidConfiguration:
      return "cudaErrorInvalidConfiguration";
    case cudaErrorInvalidDevice:
      return "cudaErrorInvalidDevice";
    case cudaErrorIllegalAddress:
      return "cudaErrorIllegalAddress";
    case cudaErrorLaunchTimeout:
      return "cudaErrorLaunchTimeout";
    case cudaErrorAssert:
      return "cudaErrorAssert";
    case cudaErrorMisalignedAddress:
      return "cudaErrorMisalignedAddress";
    case cudaErrorLaunchFailure:
      return "cudaErrorLaunchFailure";
  }
  return "unknown";
}
const char* cudaGetErrorString(cudaError_t error) {
  const bool ours = error != cudaSuccess && error == device().sticky;
  return ours ? assay::simt::fault().c_str() : cudaGetErrorName(error);
}
