// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// What a warp does with matrices together, beside the products of mma.cpp: rows exchanged by ldmatrix, and the
// fragments of nvcuda::wmma, whose distribution over the lanes is ours to choose (include/kernels/wmma.cuh). Sums are
// exact before they are rounded once, as in mma.cpp.
#include <cstdint>
#include <cstring>

#include "grid.h"
#include "kernels/ptx.cuh"
#include "shared_memory.h"
#include "simt/half.h"

namespace assay::simt {
namespace {

struct Rows {
  const std::uint32_t* row;  // that this lane has read
  std::uint32_t* words;      // that it gets
};
struct Product {
  float* sum;
  const std::uint16_t *a, *b;
};

template <class Operands>
Operands& operands_of(Exchange* const (&lanes)[32], unsigned lane) {
  return *reinterpret_cast<Operands*>(static_cast<std::uintptr_t>(lanes[lane]->value));
}

template <class Operands>
void meet_with(Operands* operands, Complete complete, const char* name, Where where) {
  Exchange mine;
  mine.value = reinterpret_cast<std::uintptr_t>(operands);
  meet(0xFFFFFFFFu, &mine, complete, false, name, where);
}

void distribute(Exchange* const (&lanes)[32], std::uint32_t) {
  for (unsigned lane = 0; lane < 32; ++lane) {
    for (unsigned matrix = 0; matrix < 4; ++matrix) {
      operands_of<Rows>(lanes, lane).words[matrix] = operands_of<Rows>(lanes, 8 * matrix + lane / 4).row[lane % 4];
    }
  }
}

void multiply(Exchange* const (&lanes)[32], std::uint32_t) {
  constexpr unsigned side = wmma_side, part = wmma_lane_numbers;
  double a[side][side], b[side][side];
  for (unsigned lane = 0; lane < 32; ++lane) {
    const Product& mine = operands_of<Product>(lanes, lane);
    for (unsigned i = 0; i < part; ++i) {
      a[lane / 2][lane % 2 * part + i] = Bf16::value(mine.a[i]);
      b[lane / 2][lane % 2 * part + i] = Bf16::value(mine.b[i]);  // by columns
    }
  }
  for (unsigned lane = 0; lane < 32; ++lane) {
    for (unsigned i = 0; i < part; ++i) {
      float& to = operands_of<Product>(lanes, lane).sum[i];
      double sum = to;
      for (unsigned p = 0; p < side; ++p) sum += a[lane / 2][p] * b[lane % 2 * part + i][p];
      to = static_cast<float>(sum);
    }
  }
}

}  // namespace

void check_is_shared(const void* p, Where where) {
  unsigned slot = 0;
  std::size_t index = 0;
  if (!shared_index(p, &slot, &index) || slot != block().slot()) {
    fail(cudaErrorIllegalAddress, "an address that isn't in shared memory of the block", where);
  }
}

void exchange_rows(const std::uint32_t (&row)[4], std::uint32_t (&words)[4], Where where) {
  Rows rows{row, words};
  meet_with(&rows, distribute, "load_matrices", where);
}

void meet_at_fragment(const char* name, Where where) {
  Rows none{};
  meet_with(
      &none, [](Exchange* const(&)[32], std::uint32_t) {}, name, where);
}

void multiply_fragments(float (&sum)[wmma_lane_numbers], const std::uint16_t (&a)[wmma_lane_numbers],
                        const std::uint16_t (&b)[wmma_lane_numbers], Where where) {
  Product product{sum, a, b};
  meet_with(&product, multiply, "wmma_multiply", where);
}

}  // namespace assay::simt
