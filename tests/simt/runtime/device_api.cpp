// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// What the simulated device says about itself: one device of compute capability 9.0 unless told otherwise, with the limits of an H100 and the
// sizes of nothing real. A caller may plan with it, and may not take a figure from here for a GPU's.
#include <algorithm>
#include <cstring>
#include <string>

#include "memory.h"
#include "shared_memory.h"
#include "state.h"

namespace assay::simt {
namespace {

constexpr char name[] = "SIMT rig (kernels on the CPU)", pci_bus_id[] = "0000:00:00.0";
constexpr int most_threads = 1024, processor_blocks = 32, warp_threads = 32;
constexpr int processor_shared = 233472, block_reserve = 1024, registers = 65536, thread_registers = 32;
constexpr int version = CUDART_VERSION, clock_khz = 1'000'000, bus_bits = 64;

int attribute_of(cudaDeviceAttr attribute, bool* known) {
  *known = true;
  switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock:
      return most_threads;
    case cudaDevAttrMaxSharedMemoryPerBlock:
      return usual_dynamic_shared;
    case cudaDevAttrWarpSize:
      return warp_threads;
    case cudaDevAttrMaxRegistersPerBlock:
    case cudaDevAttrMaxRegistersPerMultiprocessor:
      return registers;
    case cudaDevAttrClockRate:
    case cudaDevAttrMemoryClockRate:
      return clock_khz;
    case cudaDevAttrMultiProcessorCount:
      return device().claimed_processors != 0 ? device().claimed_processors : device().processors;
    case cudaDevAttrGlobalMemoryBusWidth:
      return bus_bits;
    case cudaDevAttrL2CacheSize:
      return device().l2_bytes;
    case cudaDevAttrMaxThreadsPerMultiProcessor:
      return device().processor_threads;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
      return processor_shared;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      return static_cast<int>(most_dynamic_shared);
    case cudaDevAttrMaxBlocksPerMultiprocessor:
      return processor_blocks;
    case cudaDevAttrReservedSharedMemoryPerBlock:
      return block_reserve;
    case cudaDevAttrComputeCapabilityMajor:
      return device().capability / 10;
    case cudaDevAttrComputeCapabilityMinor:
      return device().capability % 10;
    case cudaDevAttrAsyncEngineCount:
    case cudaDevAttrCanMapHostMemory:
    case cudaDevAttrConcurrentKernels:
    case cudaDevAttrUnifiedAddressing:
    case cudaDevAttrStreamPrioritiesSupported:
    case cudaDevAttrManagedMemory:
    case cudaDevAttrConcurrentManagedAccess:
    case cudaDevAttrCooperativeLaunch:
    case cudaDevAttrMemoryPoolsSupported:
    case cudaDevAttrClusterLaunch:
      return 1;
    case cudaDevAttrIntegrated:
    case cudaDevAttrComputeMode:
    case cudaDevAttrEccEnabled:
    case cudaDevAttrPciBusId:
    case cudaDevAttrPciDeviceId:
    case cudaDevAttrPciDomainId:
    case cudaDevAttrPageableMemoryAccess:
      return 0;
  }
  *known = false;
  return 0;
}

int value_of(cudaDeviceAttr attribute) {
  bool known = false;
  return attribute_of(attribute, &known);
}

cudaDeviceProp properties() {
  cudaDeviceProp p{};
  std::memcpy(p.name, name, sizeof name);
  std::memcpy(p.uuid.bytes, "assay-simt-rig-0", sizeof p.uuid.bytes);
  p.totalGlobalMem = device().memory_bytes;
  p.sharedMemPerBlock = usual_dynamic_shared;
  p.sharedMemPerBlockOptin = most_dynamic_shared;
  p.sharedMemPerMultiprocessor = processor_shared;
  p.totalConstMem = 64 << 10;
  p.regsPerBlock = p.regsPerMultiprocessor = registers;
  p.warpSize = warp_threads;
  p.maxThreadsPerBlock = most_threads;
  p.maxThreadsPerMultiProcessor = device().processor_threads;
  p.maxBlocksPerMultiProcessor = processor_blocks;
  p.major = value_of(cudaDevAttrComputeCapabilityMajor);
  p.minor = value_of(cudaDevAttrComputeCapabilityMinor);
  p.multiProcessorCount = value_of(cudaDevAttrMultiProcessorCount);
  p.l2CacheSize = device().l2_bytes;
  p.memoryBusWidth = bus_bits;
  p.canMapHostMemory = p.concurrentKernels = p.asyncEngineCount = p.unifiedAddressing = p.managedMemory = 1;
  p.concurrentManagedAccess = p.cooperativeLaunch = p.clusterLaunch = p.memoryPoolsSupported = 1;
  return p;
}

cudaError_t peer(int number) { return done(number == 0 ? cudaErrorPeerAccessUnsupported : cudaErrorInvalidDevice); }

}  // namespace

cudaError_t set_attribute(const void* kernel, cudaFuncAttribute attribute, int value) {
  const Call call;
  if (attribute == cudaFuncAttributeNonPortableClusterSizeAllowed && value != 0) device().large_clusters.insert(kernel);
  if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize) return done(cudaSuccess);
  if (value < 0 || static_cast<std::size_t>(value) > most_dynamic_shared) return done(cudaErrorInvalidValue);
  device().dynamic_limits[kernel] = value;
  return done(cudaSuccess);
}

// Registers and shared memory of a kernel are what a compiler for the device makes of it, and unknown here.
cudaError_t get_attributes(cudaFuncAttributes* attributes, const void* kernel) {
  const Call call;
  if (attributes == nullptr) return done(cudaErrorInvalidValue);
  *attributes = {};
  attributes->maxThreadsPerBlock = most_threads;
  attributes->numRegs = thread_registers;
  attributes->ptxVersion = attributes->binaryVersion = device().capability;
  const auto limit = device().dynamic_limits.find(kernel);
  attributes->maxDynamicSharedSizeBytes = limit != device().dynamic_limits.end() ? limit->second : usual_dynamic_shared;
  return done(cudaSuccess);
}

cudaError_t most_blocks(int* count, const void*, int block_threads, std::size_t dynamic_shared_bytes) {
  const Call call;
  if (count == nullptr || block_threads < 1 || block_threads > most_threads) return done(cudaErrorInvalidValue);
  const int warps = (block_threads + warp_threads - 1) / warp_threads;
  const std::size_t by_shared = processor_shared / (dynamic_shared_bytes + block_reserve);
  *count = std::min({device().processor_threads / warp_threads / warps, processor_blocks, static_cast<int>(by_shared)});
  return done(cudaSuccess);
}

}  // namespace assay::simt

using namespace assay::simt;  // NOLINT: the calls below are all that follows

cudaError_t cudaGetDeviceCount(int* count) {
  const Call call;
  if (count == nullptr) return done(cudaErrorInvalidValue);
  *count = 1;
  return done(cudaSuccess);
}
cudaError_t cudaGetDevice(int* number) {
  const Call call;
  if (number == nullptr) return done(cudaErrorInvalidValue);
  *number = 0;
  return done(cudaSuccess);
}
cudaError_t cudaSetDevice(int number) {
  const Call call;
  return done(number == 0 ? cudaSuccess : cudaErrorInvalidDevice);
}
cudaError_t cudaSetDeviceFlags(unsigned) { return done(cudaSuccess); }
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int number) {
  const Call call;
  if (number != 0) return done(cudaErrorInvalidDevice);
  bool known = false;
  if (value != nullptr) *value = attribute_of(attribute, &known);
  return done(known ? cudaSuccess : cudaErrorInvalidValue);
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* all, int number) {
  const Call call;
  if (number != 0) return done(cudaErrorInvalidDevice);
  if (all == nullptr) return done(cudaErrorInvalidValue);
  *all = properties();
  return done(cudaSuccess);
}
cudaError_t cudaDeviceGetPCIBusId(char* id, int length, int number) {
  const Call call;
  if (number != 0) return done(cudaErrorInvalidDevice);
  if (id == nullptr || length < static_cast<int>(sizeof pci_bus_id)) return done(cudaErrorInvalidValue);
  std::memcpy(id, pci_bus_id, sizeof pci_bus_id);
  return done(cudaSuccess);
}
cudaError_t cudaDeviceGetByPCIBusId(int* number, const char* id) {
  const Call call;
  if (number == nullptr || id == nullptr) return done(cudaErrorInvalidValue);
  *number = 0;
  return done(std::strcmp(id, pci_bus_id) == 0 ? cudaSuccess : cudaErrorInvalidDevice);
}
cudaError_t cudaDeviceCanAccessPeer(int* can_access, int number, int other) {
  const Call call;
  if (can_access == nullptr) return done(cudaErrorInvalidValue);
  if (number != 0 || other != 0) return done(cudaErrorInvalidDevice);
  *can_access = 0;
  return done(cudaSuccess);
}
cudaError_t cudaDeviceEnablePeerAccess(int other, unsigned) {
  const Call call;
  return peer(other);
}
cudaError_t cudaDeviceDisablePeerAccess(int other) {
  const Call call;
  return done(other == 0 ? cudaErrorPeerAccessNotEnabled : cudaErrorInvalidDevice);
}
cudaError_t cudaDriverGetVersion(int* number) {
  const Call call;
  if (number == nullptr) return done(cudaErrorInvalidValue);
  *number = version;
  return done(cudaSuccess);
}
cudaError_t cudaRuntimeGetVersion(int* number) { return cudaDriverGetVersion(number); }

cudaError_t cudaPeekAtLastError() {
  const Call call;
  return device().last;
}
cudaError_t cudaGetLastError() {
  const Call call;
  const cudaError_t last = device().last;
  device().last = device().sticky;
  return last;
}
const char* cudaGetErrorName(cudaError_t error) {
  switch (error) {
    case cudaSuccess:
      return "cudaSuccess";
#define ASSAY_SIMT_ERROR(name, number, text) \
  case name:                                 \
    return #name;
      ASSAY_SIMT_ERRORS(ASSAY_SIMT_ERROR)
#undef ASSAY_SIMT_ERROR
  }
  return "unrecognized error code";
}
// Of a fault the whole report, where CUDA has one word.
const char* cudaGetErrorString(cudaError_t error) {
  const Call call;
  if (error != cudaSuccess && error == device().sticky) return fault().c_str();
  switch (error) {
    case cudaSuccess:
      return "no error";
#define ASSAY_SIMT_ERROR(name, number, text) \
  case name:                                 \
    return text;
      ASSAY_SIMT_ERRORS(ASSAY_SIMT_ERROR)
#undef ASSAY_SIMT_ERROR
  }
  return "unrecognized error code";
}
