// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Which NUMA nodes there are, from the lists that Linux writes ("0-1,3"). Node numbers have gaps, and a node may have
// CPUs and no memory, so "the other node" is found in the list and not by adding one.
#pragma once

#include <charconv>
#include <string_view>

namespace assay::kernels {

// The first node of the list that is not `own`; -1: there is none, or the list is unreadable.
inline int other_node(std::string_view list, int own) {
  const char *at = list.data(), *end = at + list.size();
  while (at < end) {
    int first = -1, last = -1;
    auto read = std::from_chars(at, end, first);
    if (read.ec != std::errc()) return -1;
    last = first;
    if (read.ptr < end && *read.ptr == '-') read = std::from_chars(read.ptr + 1, end, last);
    if (read.ec != std::errc()) return -1;
    for (int node = first; node <= last; ++node) {
      if (node != own) return node;
    }
    at = read.ptr < end && *read.ptr == ',' ? read.ptr + 1 : end;
  }
  return -1;
}

}  // namespace assay::kernels
