// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Makes maps of matrices for the copy engine and refuses what the driver refuses.
#include "tensor_map.h"

#include <cstring>

#include "state.h"

namespace {

constexpr std::uint64_t most_elements = std::uint64_t{1} << 32, most_row_bytes = std::uint64_t{1} << 40;
constexpr unsigned most_box = 256, engine_bytes = 16, swizzle_bytes = 128;

}  // namespace

CUresult cuTensorMapEncodeTiled(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank, void* base,
                                const cuuint64_t* size, const cuuint64_t* stride_bytes, const cuuint32_t* box,
                                const cuuint32_t* step, CUtensorMapInterleave, CUtensorMapSwizzle swizzle,
                                CUtensorMapL2promotion, CUtensorMapFloatOOBfill) {
  const assay::simt::Call call;
  if (const cudaError_t fault = assay::simt::scripted_fault(); fault != cudaSuccess) {
    return static_cast<CUresult>(fault);  // the runtime library knows nothing of it
  }
  const unsigned bytes = type == CU_TENSOR_MAP_DATA_TYPE_BFLOAT16 ? 2 : 1;
  if (map == nullptr || reinterpret_cast<std::uintptr_t>(map) % alignof(CUtensorMap) != 0 || rank != 2 ||
      base == nullptr || reinterpret_cast<std::uintptr_t>(base) % engine_bytes != 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  for (int i = 0; i < 2; ++i) {
    if (size[i] == 0 || size[i] > most_elements || box[i] == 0 || box[i] > most_box || step[i] != 1) {
      return CUDA_ERROR_INVALID_VALUE;
    }
  }
  if (stride_bytes[0] % engine_bytes != 0 || stride_bytes[0] >= most_row_bytes || stride_bytes[0] < size[0] * bytes ||
      box[0] * bytes % engine_bytes != 0 || (swizzle == CU_TENSOR_MAP_SWIZZLE_128B && box[0] * bytes > swizzle_bytes)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  assay::simt::TensorMap made;
  made.base = static_cast<const char*>(base);
  made.rows = size[1];
  made.columns = size[0];
  made.row_bytes = stride_bytes[0];
  made.box_rows = box[1];
  made.box_columns = box[0];
  made.element_bytes = bytes;
  made.swizzled = swizzle == CU_TENSOR_MAP_SWIZZLE_128B;
  *map = {};
  std::memcpy(map, &made, sizeof made);
  return CUDA_SUCCESS;
}

cudaError_t cudaGetDriverEntryPointByVersion(const char* symbol, void** function, unsigned, unsigned long long,
                                             cudaDriverEntryPointQueryResult* result) {
  const bool is_known = std::strcmp(symbol, "cuTensorMapEncodeTiled") == 0;
  *function = is_known ? reinterpret_cast<void*>(&cuTensorMapEncodeTiled) : nullptr;
  if (result != nullptr) *result = is_known ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
  return cudaSuccess;
}
