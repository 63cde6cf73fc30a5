// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Where a kernel row runs and how wide. Every family offers a table of operations per backend and a lookup
// `const XOps* x_ops(Backend, capability)`; a null result means "this build has no code for that device", and
// cuda_versions<XOps>.describe(...) says in a sentence why.
// Kernels know no harness: plain pointers, 64-bit sizes, no exceptions, no allocation inside a timed operation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

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

// --- CUDA rows, and which of them a device runs ---
//
// A compute capability is 10 * major + minor: 9.0 is 90. Code is chosen by ranges of it, never by a list of exact ones:
// a minor version that nobody knew when this was built runs the code of its family, and a record can say so.
constexpr int newest_capability = 999;  // a device newer than all: only what has no upper end runs there

// A version of a family, for capabilities from `from` to before `below`. Code for 9.0a runs on 9.0 only: 90, 91.
// Code for 10.0f runs on all 10.x: 100, 110.
template <class Ops>
struct CudaVersion {
  const char* name;
  const Ops* ops;
  int from = 0, below = 1000;
  bool executed = true;  // false: compiled and inspected, but no rig can run it, so nothing has shown that it is right
  const char* images = "";    // set by announce_cuda: what its file was compiled for
  const char* file_key = "";  // the same: tells the versions of one file from those of another
};

// The machine code of a file: "80_90a_ptx120" is code for 8.0, 9.0a and, as text that the driver compiles, 12.0. Empty:
// not known, as for the CPU's stand-in, which runs everything. cuda_image: the capability whose code a device of
// `capability` would run, as the driver chooses it; -1: none.
int cuda_image(const char* images, int capability);
bool cuda_newer(const char* images, int capability);  // than all of them
std::string cuda_capability_text(int capability);     // "9.0"

// How a family's versions fit a device, for the sentence about it.
struct CudaFit {
  const char* version = nullptr;  // that runs; null: none
  bool in_range = false;          // a version is for this capability, whether this build has its machine code or not
  bool executed = true;
  const char* images = "";                    // of that version
  int lowest = newest_capability, below = 0;  // what all versions are for
};
std::string cuda_describe(const char* family, int capability, const CudaFit& fit);

// The versions of a family, from the naive to the best one: they have one contract and give equal results, and what
// lies between two of them is what an optimisation is worth. Sorted by `from`; versions of one file stay in their
// order, those of several files with the same `from` stand in the order of their files' first names. So it doesn't
// matter which .cu file announced first, which C++ leaves open. Where no .cu file is linked into the program, there are
// none.
template <class Ops>
struct CudaVersions {
  static constexpr std::size_t most = 24;
  CudaVersion<Ops> first[most] = {};
  std::size_t count = 0;

  const CudaVersion<Ops>* begin() const { return first; }
  const CudaVersion<Ops>* end() const { return first + count; }

  // The last version with code for this device; null: there is none, and describe() says why. Machine code older than
  // the version's range doesn't count: in it, the body of the kernel is left out.
  const CudaVersion<Ops>* find(int capability) const { return find_if(capability, any_version); }
  // The last one that has this row, of a family whose versions needn't have all.
  template <class Row>
  const CudaVersion<Ops>* find(int capability, const Row* Ops::*row) const {
    return find_if(capability, has(row));
  }
  // That version, by its name.
  const CudaVersion<Ops>* find(int capability, const char* name) const { return find_if(capability, is(name)); }
  bool knows(const char* name) const {
    for (const CudaVersion<Ops>& each : *this)
      if (is(name)(each)) return true;
    return false;
  }
  const Ops* best(int capability = newest_capability) const {
    const CudaVersion<Ops>* version = find(capability);
    return version != nullptr ? version->ops : nullptr;
  }
  // One sentence for a record, or for a person before anything runs: which version of which family's code, whether the
  // device is newer than all that this build knows, or why there is no code for it.
  std::string describe(const char* family, int capability) const {
    return describe_if(family, capability, any_version);
  }
  // The same about one version.
  std::string describe(const char* family, int capability, const char* name) const {
    return describe_if(family, capability, is(name));
  }
  // The same about one row.
  template <class Row>
  std::string describe(const char* family, int capability, const Row* Ops::*row) const {
    return describe_if(family, capability, has(row));
  }

  void add(CudaVersion<Ops> version, const char* file_key, const char* images) {
    if (count == most) std::abort();  // more versions than `most`: every start of the program stops here
    version.file_key = file_key;
    version.images = images;
    std::size_t at = count++;
    for (; at > 0 && stands_before(version, first[at - 1]); --at) first[at] = first[at - 1];
    first[at] = version;
  }

 private:
  static bool any_version(const CudaVersion<Ops>&) { return true; }
  static auto is(const char* name) {
    return [name](const CudaVersion<Ops>& version) { return std::strcmp(version.name, name) == 0; };
  }
  template <class Row>
  static auto has(const Row* Ops::*row) {
    return [row](const CudaVersion<Ops>& version) { return version.ops->*row != nullptr; };
  }
  template <class Condition>
  const CudaVersion<Ops>* find_if(int capability, Condition condition) const {
    for (std::size_t i = count; i-- > 0;) {
      const CudaVersion<Ops>& version = first[i];
      const bool runs = in_range(version, capability) && cuda_image(version.images, capability) >= version.from;
      if (runs && condition(version)) return &version;
    }
    return nullptr;
  }
  template <class Condition>
  std::string describe_if(const char* family, int capability, Condition condition) const {
    CudaFit fit;
    const auto take = [&fit](const CudaVersion<Ops>& version) {
      fit.in_range = true;
      fit.executed = version.executed;
      fit.images = version.images;
    };
    for (const CudaVersion<Ops>& each : *this) {
      if (!condition(each)) continue;
      fit.lowest = each.from < fit.lowest ? each.from : fit.lowest;
      fit.below = each.below > fit.below ? each.below : fit.below;
      if (in_range(each, capability)) take(each);
    }
    if (const CudaVersion<Ops>* version = find_if(capability, condition)) {
      take(*version);
      fit.version = version->name;
    }
    return cuda_describe(family, capability, fit);
  }
  static bool in_range(const CudaVersion<Ops>& version, int capability) {
    return version.from <= capability && capability < version.below;
  }
  static bool stands_before(const CudaVersion<Ops>& a, const CudaVersion<Ops>& b) {
    return a.from != b.from ? a.from < b.from : std::strcmp(a.file_key, b.file_key) < 0;
  }
};

template <class Ops>
inline CudaVersions<Ops> cuda_versions{};

#ifndef ASSAY_CUDA_IMAGES
#define ASSAY_CUDA_IMAGES ""  // the build sets it for .cu files
#endif
// A .cu file announces its versions before main(). static: each file has its own, with its own images.
template <class Ops, std::size_t count>
static bool announce_cuda(const CudaVersion<Ops> (&versions)[count]) {
  for (const CudaVersion<Ops>& version : versions) cuda_versions<Ops>.add(version, versions[0].name, ASSAY_CUDA_IMAGES);
  return true;
}

// What a family's lookup returns: the CPU row, or the best version for the device.
template <class Ops>
const Ops* ops_for(Backend backend, int capability, const Ops* cpu) {
  return backend == Backend::cpu ? cpu : cuda_versions<Ops>.best(capability);
}

}  // namespace assay::kernels
