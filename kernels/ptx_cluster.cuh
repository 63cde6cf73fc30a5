// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Clusters of blocks (9.0 and later): blocks that run at the same time and read each other's shared memory. A kernel
// gets them by Shape::cluster of launch.cuh. As for ptx.cuh, tests/simt has a header of the same name.
//
// Traps: another block's shared memory may be touched only between two cluster_sync() of all threads: before the first
// one that block may not have begun, after the last one it may have ended.
#pragma once

#include <cuda_runtime.h>

namespace assay::kernels {

// Which block of its cluster this is, and how many there are.
__device__ __forceinline__ unsigned cluster_rank() {
  unsigned rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}
__device__ __forceinline__ unsigned cluster_blocks() {
  unsigned count;
  asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(count));
  return count;
}

// A barrier of all threads of the cluster, in two halves: what a thread did before it arrives is seen by all behind the
// wait.
__device__ __forceinline__ void cluster_arrive() { asm volatile("barrier.cluster.arrive;" ::: "memory"); }
__device__ __forceinline__ void cluster_wait() { asm volatile("barrier.cluster.wait;" ::: "memory"); }
__device__ __forceinline__ void cluster_sync() {
  cluster_arrive();
  cluster_wait();
}

// Where the variable at `p`, in shared memory of this block, is in the one of block `rank`.
template <class T>
__device__ __forceinline__ T* map_shared(T* p, unsigned rank) {
  T* there;
  asm volatile("mapa.u64 %0, %1, %2;" : "=l"(there) : "l"(p), "r"(rank));
  return there;
}

}  // namespace assay::kernels
