// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Where a kernel row runs and how wide. Every family offers a table of operations per backend and a lookup
// `const XOps* x_ops(Backend)`; a null result means "this build has no code for that backend".
// Kernels know no harness: plain pointers, 64-bit sizes, no exceptions, no allocation inside a timed operation.
#pragma once

#include <cstddef>
#include <cstdint>

namespace assay::kernels {

enum class Backend { cpu, cuda };

// How an operation is executed. A CPU row runs on `threads` OpenMP threads and returns when the work is done; a CUDA
// row enqueues on `stream` (a cudaStream_t) and returns at once.
struct Exec {
  int threads = 1;
  void* stream = nullptr;
};

struct Range {
  std::size_t begin;
  std::size_t end;
};

// The share of thread `thread` of `threads` in [0, n): contiguous, boundaries at multiples of `granule` elements. First
// touch, kernels and verification use this one function, so that a page lives on the node of the thread that uses it.
inline Range share(std::size_t n, int thread, int threads, std::size_t granule) {
  const std::size_t blocks = (n + granule - 1) / granule;
  const auto t = static_cast<std::size_t>(thread), all = static_cast<std::size_t>(threads);
  const std::size_t begin = blocks * t / all * granule, end = blocks * (t + 1) / all * granule;
  return {begin < n ? begin : n, end < n ? end : n};
}

// The CUDA rows of a family, from the naive to the best one: they have one contract and give equal results, and what
// lies between two of them is what an optimisation is worth. The .cu file of a family announces its rows before main(),
// where it is linked into the program; elsewhere there are none, and x_ops(Backend::cuda) is null.
template <class Ops>
struct CudaVersion {
  const char* name;
  const Ops* ops;
};

template <class Ops>
struct CudaVersions {
  const CudaVersion<Ops>* first = nullptr;
  std::size_t count = 0;

  const Ops* best() const { return count != 0 ? first[count - 1].ops : nullptr; }
};

template <class Ops>
inline CudaVersions<Ops> cuda_versions{};

template <class Ops, std::size_t count>
bool announce_cuda(const CudaVersion<Ops> (&versions)[count]) {
  cuda_versions<Ops> = {versions, count};
  return true;
}

}  // namespace assay::kernels
