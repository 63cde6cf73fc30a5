// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// kernels/ptx_cluster.cuh for the CPU, found before it; runtime/grid.h. Stricter: between an arrival and its wait no
// thread arrives again, and an address of another block's shared memory is used by the thread that asked for it.
#pragma once

#include <cuda_runtime.h>

namespace assay::simt {
unsigned cluster_rank();
unsigned cluster_blocks();
void cluster_arrive(Where where);
void cluster_wait(Where where);
const void* shared_of_rank(const void* p, unsigned rank, Where where);
}  // namespace assay::simt

namespace assay::kernels {

inline unsigned cluster_rank() { return simt::cluster_rank(); }
inline unsigned cluster_blocks() { return simt::cluster_blocks(); }
inline void cluster_arrive(ASSAY_SIMT_WHERE) { simt::cluster_arrive(where); }
inline void cluster_wait(ASSAY_SIMT_WHERE) { simt::cluster_wait(where); }
inline void cluster_sync(ASSAY_SIMT_WHERE) {
  simt::cluster_arrive(where);
  simt::cluster_wait(where);
}
template <class T>
T* map_shared(T* p, unsigned rank, ASSAY_SIMT_WHERE) {
  return static_cast<T*>(const_cast<void*>(simt::shared_of_rank(p, rank, where)));
}

}  // namespace assay::kernels
