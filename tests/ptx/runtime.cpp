// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// What the tests of tests/simt call, for kernels that nvcc compiled: the calls of simt/api.h go to the function of the
// same name in libcudart (theirs are C++ functions, NVIDIA's are C functions, so the two have different symbols), and
// what runtime/rig.h says to the simulated device is done as far as a process can: it has one schedule (of the
// interpreter: CUSHIM_SCHED; of a device: its own).
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include "launches.h"
#include "runtime/rig.h"
#include "simt/api.h"

namespace {

// The function `name` of libcudart. There is no test without it.
template <class Function>
Function* in_libcudart(const char* name) {
  void* const address = dlsym(RTLD_DEFAULT, name);
  if (address == nullptr) {
    std::fprintf(stderr, "tests/ptx: no %s in libcudart\n", name);
    std::abort();
  }
  return reinterpret_cast<Function*>(address);
}

}  // namespace

#define ASSAY_PASS_ON(name, parameters, arguments) \
  cudaError_t name parameters { return in_libcudart<cudaError_t parameters>(#name) arguments; }
// Memory
ASSAY_PASS_ON(cudaMalloc, (void** memory, std::size_t bytes), (memory, bytes))
ASSAY_PASS_ON(cudaFree, (void* memory), (memory))
ASSAY_PASS_ON(cudaMemcpy, (void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind), (to, from, bytes, kind))
ASSAY_PASS_ON(cudaMemcpyAsync,
              (void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream),
              (to, from, bytes, kind, stream))
ASSAY_PASS_ON(cudaMemset, (void* memory, int value, std::size_t bytes), (memory, value, bytes))
ASSAY_PASS_ON(cudaMemsetAsync, (void* memory, int value, std::size_t bytes, cudaStream_t stream),
              (memory, value, bytes, stream))
// Devices. Not cudaGetDeviceProperties: the two structures have different members.
ASSAY_PASS_ON(cudaGetDevice, (int* device), (device))
ASSAY_PASS_ON(cudaDeviceGetAttribute, (int* value, cudaDeviceAttr attribute, int device), (value, attribute, device))
ASSAY_PASS_ON(cudaDeviceSynchronize, (), ())
ASSAY_PASS_ON(cudaGetLastError, (), ())
ASSAY_PASS_ON(cudaPeekAtLastError, (), ())
const char* cudaGetErrorString(cudaError_t error) {
  return in_libcudart<const char*(cudaError_t)>("cudaGetErrorString")(error);
}
const char* cudaGetErrorName(cudaError_t error) {
  return in_libcudart<const char*(cudaError_t)>("cudaGetErrorName")(error);
}
// Streams
ASSAY_PASS_ON(cudaStreamCreate, (cudaStream_t * stream), (stream))
ASSAY_PASS_ON(cudaStreamDestroy, (cudaStream_t stream), (stream))
ASSAY_PASS_ON(cudaStreamSynchronize, (cudaStream_t stream), (stream))
#undef ASSAY_PASS_ON

namespace assay::simt {
namespace {

constexpr Schedule of_the_process[] = {Schedule::random};

}  // namespace

const Schedules all_schedules = {of_the_process, 1};

const char* name_of(Schedule) {
  const char* const name = std::getenv("CUSHIM_SCHED");
  return name != nullptr ? name : "seq";
}
void set_schedule(Schedule, std::uint64_t) {}
void set_processors(int count) { ptx::set_processors(count); }
// Only the other rig counts them; `run` leaves out tests that are called so.
void count_bank_conflicts(bool) { throw std::logic_error("tests/ptx counts no bank conflicts"); }
std::vector<BankConflicts> bank_conflicts() { return {}; }
// A device's context takes long to make, so only one that an error has made useless is given up.
void reset() {
  cudaGetLastError();
  if (cudaDeviceSynchronize() != cudaSuccess) in_libcudart<cudaError_t()>("cudaDeviceReset")();
  cudaGetLastError();
}

}  // namespace assay::simt
