// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// How the copy engine of 9.0 sees a matrix of 2-byte numbers in device memory: made on the host, given to a kernel as a
// __grid_constant__ parameter. The function that makes it is the driver's; the runtime library finds it, so that no
// program needs libcuda to be linked.
#pragma once

#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdint>

namespace assay::kernels {

// A matrix by rows without gaps. Base: aligned to 16 bytes; a row: a multiple of 16 bytes.
struct Matrix16 {
  const void* base;
  std::uint64_t rows, columns;
};

// Boxes of box_rows x 64 columns, the 128 bytes of a row swizzled as wgmma reads them. False: this driver has no such
// function, or it refuses the matrix.
inline bool make_map(CUtensorMap* map, const Matrix16& matrix, unsigned box_rows) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result{};
  if (cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000, cudaEnableDefault, &result) !=
          cudaSuccess ||
      result != cudaDriverEntryPointSuccess) {
    return false;
  }
  const auto encode = reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(found);
  const cuuint64_t size[] = {matrix.columns, matrix.rows}, row_bytes[] = {2 * matrix.columns};
  const cuuint32_t box[] = {64, box_rows}, step[] = {1, 1};
  return encode(map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, const_cast<void*>(matrix.base), size, row_bytes, box, step,
                CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
                CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS;
}

}  // namespace assay::kernels
