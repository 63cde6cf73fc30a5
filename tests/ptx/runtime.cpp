// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// What the tests of tests/simt call, for kernels that nvcc compiled: the calls of simt/api.h go to the function of the
// same name in libcudart (theirs are C++ functions, NVIDIA's are C functions, so the two have different symbols), and
// what runtime/rig.h says to the simulated device is done as far as a process can: it has one schedule (CUSHIM_SCHED).
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

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

cudaError_t cudaMalloc(void** memory, std::size_t bytes) {
  return in_libcudart<cudaError_t(void**, std::size_t)>("cudaMalloc")(memory, bytes);
}
cudaError_t cudaFree(void* memory) { return in_libcudart<cudaError_t(void*)>("cudaFree")(memory); }
cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  return in_libcudart<cudaError_t(void*, const void*, std::size_t, cudaMemcpyKind)>("cudaMemcpy")(to, from, bytes,
                                                                                                  kind);
}
cudaError_t cudaMemset(void* memory, int value, std::size_t bytes) {
  return in_libcudart<cudaError_t(void*, int, std::size_t)>("cudaMemset")(memory, value, bytes);
}
cudaError_t cudaDeviceSynchronize() { return in_libcudart<cudaError_t()>("cudaDeviceSynchronize")(); }
cudaError_t cudaGetLastError() { return in_libcudart<cudaError_t()>("cudaGetLastError")(); }
const char* cudaGetErrorString(cudaError_t error) {
  return in_libcudart<const char*(cudaError_t)>("cudaGetErrorString")(error);
}

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
void reset() {
  in_libcudart<cudaError_t()>("cudaDeviceReset")();
  cudaGetLastError();
}

}  // namespace assay::simt
