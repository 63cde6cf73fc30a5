// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// misbehave/memory_hog (hidden): takes and touches memory until something stops it: the limit of its memory cgroup
// (killed: ERROR of kind memory_limit), of its address space (ERROR, std::bad_alloc), or, so that a machine without
// limits survives, its own bound of 8 GiB or half of what is available (ERROR saying so). Exit code 3 each time.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <vector>

#include "harness/benchmark.h"

namespace {

using namespace assay;

constexpr std::uint64_t piece_bytes = 64 << 20, most_bytes = std::uint64_t{8} << 30;

std::uint64_t bound_bytes() {
  const long pages = sysconf(_SC_AVPHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);
  if (pages <= 0 || page_bytes <= 0) return piece_bytes;
  return std::min(most_bytes, static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page_bytes) / 2);
}

void run_memory_hog(Run& run) {
  run.operations_per_iteration(1, "nothing");
  run.measure([](std::uint64_t) {
    std::vector<std::unique_ptr<char[]>> taken;
    const std::uint64_t bound = bound_bytes();
    for (std::uint64_t bytes = 0; bytes < bound; bytes += piece_bytes) {
      taken.emplace_back(new char[piece_bytes]);
      std::memset(taken.back().get(), 0x5A, piece_bytes);
    }
    throw std::runtime_error(
        fmt::format("nothing stopped it from taking {} MiB of memory", taken.size() * (piece_bytes >> 20)));
  });
}

const Benchmark memory_hog{.name = "misbehave/memory_hog",
                           .summary = "takes memory until it is stopped",
                           .hidden = true,
                           .run = run_memory_hog};
REGISTER_BENCHMARK(memory_hog);

}  // namespace
