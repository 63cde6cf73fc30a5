// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// What is known of the machine code of each CUDA kernel: results/kernels.csv, which scripts/inspect --write makes from
// a build, and the turns in which shared memory served it, as tests/simt counted them (results/models/conflicts.csv,
// where there is one).
// Trap: the table holds the architectures that the build was for. Code for 80 runs on 8.6 and 8.9, too (same major, not
// newer); code for 90a on 9.0 only. A device of another generation has no machine code here, so no registers.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace assay::model {

// "map_vector<Map::triad, Hint::streaming, 4, double>" in its parts; arguments without what stands before "::".
struct KernelName {
  explicit KernelName(const std::string& full);

  std::string base;                    // map_vector
  std::vector<std::string> arguments;  // triad, streaming, 4, double

  std::string argument(std::size_t i) const { return i < arguments.size() ? arguments[i] : ""; }
};

struct KernelFacts {
  std::string file, kernel, architecture, compiler;  // stream.cu, ..., "90a", "nvcc 13.0.88"
  double threads = 0;                                // of a block; 0: any
  double registers = 0, shared_bytes = 0, local_bytes = 0;
  double in_flight_bytes = 0;  // asked of global memory by a thread and not needed yet, in the loop where that is most

  // Without machine code nothing but file, kernel and threads is known.
  bool known() const { return !architecture.empty(); }
};

struct Conflicts {
  std::string file, kernel, operation;  // kernel: a pattern, * stands for anything; operation "": all it does
  // Of warps to shared memory; the wavefronts that they took, and how many of them beyond the least.
  double accesses = 0, wavefronts = 0, conflicts = 0;
  std::string how;
};

// "90a" and "9.0" -> 90, "100" -> 100; 0 for what has no digit.
int capability_number(const std::string& text);

class KernelTable {
 public:
  // Error (exit 3) with file, line and column for a damaged table. A missing `conflicts` is an empty one.
  KernelTable(const std::filesystem::path& kernels, const std::filesystem::path& conflicts);

  const std::vector<KernelFacts>& kernels() const { return kernels_; }
  // The architecture whose code of this file a device of this capability runs; "": the table has none.
  std::string architecture_for(const std::string& file, const std::string& compute_capability) const;
  // Each kernel of the file once. Architecture "": their names only, for a device that runs none of the machine code.
  std::vector<KernelFacts> of(const std::string& file, const std::string& architecture) const;
  const Conflicts* conflicts(const std::string& file, const std::string& kernel, const std::string& operation) const;

 private:
  std::vector<KernelFacts> kernels_;
  std::vector<Conflicts> conflicts_;
};

}  // namespace assay::model
