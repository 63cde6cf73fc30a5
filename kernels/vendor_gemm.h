// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Matrix multiplication by the vendors' libraries: what a user's program gets on this machine. C = A * B, row major and
// contiguous, A m x k, B k x n, C m x n, C overwritten. 2 m n k FLOP (or integer operations).
// Everything is made ready by make_vendor_gemm(); run() is the library's call and nothing else.
//
//   type   A      B      C     libraries
//   f32    f32    f32    f32   OpenBLAS, oneDNN
//   f64    f64    f64    f64   OpenBLAS
//   bf16   bf16   bf16   f32   oneDNN
//   int8   u8     s8     s32   oneDNN
#pragma once

#include <memory>
#include <string>

#include "kernels/backend.h"
#include "kernels/gemm.h"

namespace assay::kernels {

enum class VendorLibrary { openblas, onednn };
enum class VendorType { f32, f64, bf16, int8 };

struct VendorElementBytes {
  std::size_t a, b, c;
};

constexpr VendorElementBytes vendor_element_bytes(VendorType type) {
  switch (type) {
    case VendorType::f32:
      return {4, 4, 4};
    case VendorType::f64:
      return {8, 8, 8};
    case VendorType::bf16:
      return {2, 2, 4};
    case VendorType::int8:
      return {1, 1, 4};
  }
  return {0, 0, 0};
}

class VendorGemm {
 public:
  virtual ~VendorGemm() = default;
  // Returns when C is complete. False: the library reported an error and C is undefined. One caller at a time, always
  // the thread that made the object (the libraries keep their thread count there).
  virtual bool run(const void* a, const void* b, void* c) = 0;
  // What the library chose: kernel or core name, and the threads it will use.
  virtual std::string implementation() const = 0;
  virtual int threads() const = 0;
};

struct VendorGemmResult {
  std::unique_ptr<VendorGemm> gemm;  // null: there is no such row here, and `reason` is a sentence that says why
  std::string reason;
};

VendorGemmResult make_vendor_gemm(Backend, VendorLibrary, VendorType, GemmShape, const Exec&);

// "OpenBLAS 0.3.21", "oneDNN 2.6.3"; empty: this build has no such library.
std::string vendor_version(VendorLibrary);

// A sentence when the library runs code far below what the CPU offers (OpenBLAS on a CPU it does not know), else empty.
std::string vendor_warning(VendorLibrary);

// int8 on x86 without VNNI adds pairs of products in 16 bits, which saturate: silently wrong above |u8 * s8 + u8 * s8|
// = 32767. True if a product with u8 255 and s8 127 and -128 comes out exact; else keep u8 <= 127 and say so.
bool int8_full_range_is_exact(Backend, const Exec&);

}  // namespace assay::kernels
