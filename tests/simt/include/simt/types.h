// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Keywords and vector types of CUDA C++ for g++. A __shared__ variable is a thread-local one: all threads of all blocks
// run on one thread of the host, and the runtime knows where such variables lie. Write `alignas` before __shared__.
#pragma once

#include <math.h>  // not <cmath>: CUDA has the overloads for float in the global namespace

#include <cstdint>

#define __global__
#define __device__
#define __host__
#define __constant__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __shared__ static thread_local

struct uint3 {
  unsigned x = 0, y = 0, z = 0;
};
struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};
struct alignas(8) uint2 {
  unsigned x, y;
};
struct alignas(16) uint4 {
  unsigned x, y, z, w;
};
struct alignas(8) float2 {
  float x, y;
};
struct alignas(16) float4 {
  float x, y, z, w;
};
struct alignas(16) double2 {
  double x, y;
};
struct alignas(16) ulonglong2 {
  unsigned long long x, y;
};

// Where the running thread is; set at every switch. Variables, because structures of CUDA have members of these names.
extern uint3 threadIdx, blockIdx;
extern dim3 blockDim, gridDim;
