// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// What is inside a CUtensorMap of the rig: a matrix in device memory and the box that one copy brings.
#pragma once

#include <cstdint>
#include <cstring>

#include "cuda.h"

namespace assay::simt {

struct TensorMap {
  static constexpr std::uint64_t magic_number = 0x4173736179204d61;
  std::uint64_t magic = magic_number;
  const char* base = nullptr;
  std::uint64_t rows = 0, columns = 0, row_bytes = 0;
  std::uint32_t box_rows = 0, box_columns = 0, element_bytes = 0;
  bool swizzled = false;  // 16 bytes c of line i of 128 bytes stand at c ^ i % 8
};
static_assert(sizeof(TensorMap) <= sizeof(CUtensorMap));

}  // namespace assay::simt
