// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// The one way in which kernels are started, and the shape of the usual grid. No <<<>>> anywhere: a launch is then an
// ordinary function call, which tests/simt can take over on a machine without a GPU.
//
// An error of a launch is returned, and CUDA keeps it for cudaGetLastError(): the rows of the tables return nothing, so
// whoever calls one asks there. What goes wrong later, in the kernel, is told by the next synchronisation.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "kernels/launches.h"

namespace assay::kernels {

struct Shape {
  dim3 grid;
  dim3 block;
  std::size_t shared_bytes = 0;  // dynamic shared memory of a block
  unsigned cluster = 1;          // blocks of a cluster, along x, by which the grid can be divided (9.0 and later)
};

// Enqueues kernel(args...) on `stream` (a cudaStream_t).
template <class... Parameters, class... Arguments>
cudaError_t launch(void (*kernel)(Parameters...), const Shape& shape, void* stream, Arguments&&... args) {
  cudaLaunchConfig_t config{};
  config.gridDim = shape.grid;
  config.blockDim = shape.block;
  config.dynamicSmemBytes = shape.shared_bytes;
  config.stream = static_cast<cudaStream_t>(stream);
  cudaLaunchAttribute cluster{};
  if (shape.cluster > 1) {  // where clusters are unknown, that is an error
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim.x = shape.cluster;
    cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
    config.attrs = &cluster;
    config.numAttrs = 1;
  }
  const cudaError_t error = cudaLaunchKernelEx(&config, kernel, std::forward<Arguments>(args)...);
  if (error == cudaSuccess) launch_count.fetch_add(1, std::memory_order_relaxed);
  return error;
}

// For __launch_bounds__: so many blocks shall fit on a multiprocessor, or as many as it has room for. It takes 2048
// threads, but 1024 on 7.5, and 1536 on 8.6 to 8.9 and on 12.x.
#if !defined(__CUDA_ARCH__)
constexpr unsigned processor_threads = 2048;
#elif __CUDA_ARCH__ >= 1200 || (__CUDA_ARCH__ > 800 && __CUDA_ARCH__ < 900)
constexpr unsigned processor_threads = 1536;
#else
constexpr unsigned processor_threads = __CUDA_ARCH__ == 750 ? 1024 : 2048;
#endif
__host__ __device__ constexpr unsigned blocks_that_fit(unsigned blocks, unsigned threads) {
  return blocks < processor_threads / threads ? blocks : processor_threads / threads;
}

// Multiprocessors of the current device.
inline unsigned processors() {
  int device = 0, count = 1;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device);
  return static_cast<unsigned>(std::max(count, 1));
}

// A grid for `items` independent items, at least one block and at most `per_processor` blocks for each multiprocessor:
// threads take further items at the distance of grid_threads(), which keeps neighbours in one access and needs no limit
// on `items`.
inline Shape grid_for(std::uint64_t items, unsigned threads, unsigned per_processor) {
  const std::uint64_t wanted = items / threads + (items % threads != 0 ? 1 : 0);
  const std::uint64_t most = std::uint64_t{processors()} * per_processor;
  return {dim3(static_cast<unsigned>(std::max<std::uint64_t>(1, std::min(wanted, most)))), dim3(threads), 0};
}

// The place of a thread in a grid of one dimension, and how many there are. 64 bits: a product of two 32-bit built-ins
// would wrap.
__device__ inline std::uint64_t grid_thread() {
  return static_cast<std::uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ inline std::uint64_t grid_threads() { return static_cast<std::uint64_t>(gridDim.x) * blockDim.x; }

}  // namespace assay::kernels
