// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Fragments of wmma, for kernels/ptx.cuh. PTX doesn't say which lane holds what of a fragment: here each has half a row
// of 16 numbers. A lane reads and writes its part itself, so an access that is wrong has a file and a line.
#pragma once

#include <cstdint>
#include <cstring>

#include "device.h"

namespace assay::simt {
inline constexpr unsigned wmma_side = 16, wmma_lane_numbers = 8;
void meet_at_fragment(const char* name, Where where);
void multiply_fragments(float (&sum)[wmma_lane_numbers], const std::uint16_t (&a)[wmma_lane_numbers],
                        const std::uint16_t (&b)[wmma_lane_numbers], Where where);

// A pointer aligned to 32 bytes and rows whose distance is a multiple of 16: PTX asks for both.
template <class T>
T* lane_part(T* matrix, unsigned row_numbers, Where where) {
  check_is_shared(matrix, where);
  if (reinterpret_cast<std::uintptr_t>(matrix) % 32 != 0 || row_numbers * sizeof(T) % 16 != 0) {
    fail(cudaErrorMisalignedAddress, "a fragment that isn't aligned to 32 bytes, or its rows to 16", where);
  }
  return matrix + lane() / 2 * row_numbers + lane() % 2 * wmma_lane_numbers;
}
}  // namespace assay::simt

namespace assay::kernels {

class WmmaFragment {
  friend void wmma_load(WmmaFragment& to, const std::uint16_t* matrix, unsigned row_numbers, simt::Where where);
  friend void wmma_multiply(class WmmaSum& sum, const WmmaFragment& a, const WmmaFragment& b, simt::Where where);
  std::uint16_t part_[simt::wmma_lane_numbers];
};
class WmmaA : public WmmaFragment {};
class WmmaB : public WmmaFragment {};
class WmmaSum {
  friend void wmma_clear(WmmaSum& sum);
  friend void wmma_multiply(WmmaSum& sum, const WmmaFragment& a, const WmmaFragment& b, simt::Where where);
  friend void wmma_store(float* matrix, const WmmaSum& sum, unsigned row_numbers, simt::Where where);
  float part_[simt::wmma_lane_numbers];
};

inline void wmma_load(WmmaFragment& to, const std::uint16_t* matrix, unsigned row_numbers, ASSAY_SIMT_WHERE) {
  std::memcpy(to.part_, simt::lane_part(matrix, row_numbers, where), sizeof to.part_);
  simt::meet_at_fragment("wmma_load", where);
}
inline void wmma_clear(WmmaSum& sum) {
  for (float& element : sum.part_) element = 0;
}
inline void wmma_multiply(WmmaSum& sum, const WmmaFragment& a, const WmmaFragment& b, ASSAY_SIMT_WHERE) {
  simt::multiply_fragments(sum.part_, a.part_, b.part_, where);
}
inline void wmma_store(float* matrix, const WmmaSum& sum, unsigned row_numbers, ASSAY_SIMT_WHERE) {
  simt::meet_at_fragment("wmma_store", where);
  float* const to = simt::lane_part(matrix, row_numbers, where);
  for (unsigned i = 0; i < simt::wmma_lane_numbers; ++i) to[i] = sum.part_[i];  // a memcpy of 32 bytes isn't watched
}

}  // namespace assay::kernels
