// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// The order in which kernels with non-temporal stores go over memory: one 64-byte line of each of four pages in turns.
// A longer step leaves partly filled write-combining buffers behind, and a hardware prefetcher follows one stream per
// page (one thread, copy: 1.2 times the rate of one page after the other). Included once per Highway target (no #pragma
// once: the guard toggles), by .cpp files only.
#if defined(ASSAY_KERNELS_LINES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ASSAY_KERNELS_LINES_INL_H_
#undef ASSAY_KERNELS_LINES_INL_H_
#else
#define ASSAY_KERNELS_LINES_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>

HWY_BEFORE_NAMESPACE();
namespace assay::kernels {
namespace HWY_NAMESPACE {

// Calls at(k) for the first element k of each whole line in [i, n), where i begins one; `line` and `page` in elements.
// Returns where the last whole line ends.
template <std::size_t line, std::size_t page, class At>
HWY_INLINE HWY_ATTR std::size_t for_lines(std::size_t i, std::size_t n, const At& at) {
  for (; i + 4 * page <= n; i += 4 * page) {
    for (std::size_t k = i; k < i + page; k += line) {
      for (std::size_t p = 0; p < 4 * page; p += page) at(k + p);
    }
  }
  for (; i + line <= n; i += line) at(i);
  return i;
}

}  // namespace HWY_NAMESPACE
}  // namespace assay::kernels
HWY_AFTER_NAMESPACE();

#endif
