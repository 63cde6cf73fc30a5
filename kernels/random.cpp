// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// CPU row of the reads out of order. Plain scalar loads: a vector gather instruction splits into the same loads, so it
// gains nothing where the data misses the caches. Four sums keep the adder out of the way.
#include "kernels/random.h"

namespace assay::kernels {
namespace {

// iterations * (at(begin) + ... + at(end - 1)) for each thread's share of [0, m), summed.
template <typename At>
std::uint64_t sum_over(const Exec& exec, std::size_t m, std::uint64_t iterations, const At& at) {
  std::uint64_t sum = 0;
#pragma omp parallel for num_threads(exec.threads) schedule(static, 1) reduction(+ : sum)
  for (int thread = 0; thread < exec.threads; ++thread) {
    const Range range = share(m, thread, exec.threads, 16);
    const At read = at;  // a copy of this thread: the original is reached through memory
    std::uint64_t s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    for (std::uint64_t iteration = 0; iteration < iterations; ++iteration) {
      std::size_t i = range.begin;
      for (; i + 4 <= range.end; i += 4) {
        s0 += read(i);
        s1 += read(i + 1);
        s2 += read(i + 2);
        s3 += read(i + 3);
      }
      for (; i < range.end; ++i) s0 += read(i);
      asm volatile("" ::: "memory");  // a second pass must not be derived from the first
    }
    sum += s0 + s1 + s2 + s3;
  }
  return sum;
}

void gather(const Exec& exec, const std::uint64_t* data, const std::uint32_t* index, std::size_t m,
            std::uint64_t iterations, std::uint64_t* sum) {
  *sum = sum_over(exec, m, iterations, [=](std::size_t i) { return data[index[i]]; });
}

void gather_computed(const Exec& exec, const std::uint64_t* data, std::size_t n, std::uint64_t seed, std::size_t m,
                     std::uint64_t iterations, std::uint64_t* sum) {
  *sum = sum_over(exec, m, iterations, [=](std::size_t i) { return data[random_index(i, n, seed)]; });
}

void strided(const Exec& exec, const std::uint64_t* data, std::size_t n, std::size_t stride, std::uint64_t iterations,
             std::uint64_t* sum) {
  const std::size_t m = n / stride + (n % stride != 0 ? 1 : 0);
  *sum = sum_over(exec, m, iterations, [=](std::size_t i) { return data[i * stride]; });
}

constexpr RandomOps cpu_row = {gather, gather_computed, strided};

}  // namespace

const RandomOps* random_ops(Backend backend, int capability) {
  return ops_for(backend, capability, &cpu_row);
}

}  // namespace assay::kernels
