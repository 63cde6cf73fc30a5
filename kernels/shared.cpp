// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// CPU row of the reads from a small table: scalar loads, one lane after another.
#include "kernels/shared.h"

namespace assay::kernels {
namespace {

void read(const Exec& exec, const std::uint32_t* table, std::size_t stride, std::size_t steps, std::size_t groups,
          std::uint32_t* sums) {
#pragma omp parallel for num_threads(exec.threads) schedule(static)
  for (std::size_t g = 0; g < groups; ++g) {
    for (std::size_t l = 0; l < shared_lanes; ++l) {
      std::uint32_t sum = 0;
      for (std::size_t s = 0; s < steps; ++s) sum += table[(l * stride + s) % shared_words];
      sums[g * shared_lanes + l] = sum;
      asm volatile("" ::: "memory");  // groups are equal; each is read all the same
    }
  }
}

constexpr SharedOps cpu_row = {read};

}  // namespace

const SharedOps* shared_ops(Backend backend, int capability) {
  return ops_for(backend, capability, &cpu_row);
}

}  // namespace assay::kernels
