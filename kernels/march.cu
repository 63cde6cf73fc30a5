// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// CUDA rows of the memory marches. The end of a kernel is what separates two steps.
//
//   word   a thread takes 8 bytes at a time. For the random pattern it makes a Philox block and uses half.
//   pair   16 bytes at a time, which are one Philox block. Bound by DRAM.
//
// Upwards and downwards are the directions in which the grid moves over memory; inside of it all threads work at once.
// The second read of a wrong word comes from L2, see compare.cu.
#include "kernels/evidence.cuh"
#include "kernels/launch.cuh"
#include "kernels/march.h"
#include "kernels/ptx.cuh"

namespace assay::kernels {
namespace {

constexpr unsigned block_threads = 256, blocks_per_processor = 8;

// One word that was read.
__device__ __forceinline__ void compare_one(const std::uint64_t* memory, std::uint64_t i, std::uint64_t expected,
                                            std::uint64_t actual, std::uint64_t pass, MismatchReport* report,
                                            Tally* tally) {
  ++tally->compared;
  if (actual == expected) return;
  ++tally->wrong;
  Mismatch m;
  m.index = i;
  m.expected = expected;
  m.actual = actual;
  m.second_read = load_again(memory + i);
  m.pass = pass;
  keep_mismatch(report, m);
}

__device__ __forceinline__ void step_word(std::uint64_t* memory, std::uint64_t i, const MarchStep& step,
                                          std::uint64_t pass, MismatchReport* report, Tally* tally) {
  if (step.reads) {
    compare_one(memory, i, step.expect.word(i), load<Hint::streaming>(memory + i), pass, report, tally);
  }
  if (step.writes) store<Hint::streaming>(memory + i, step.store.word(i));
}

__global__ void __launch_bounds__(block_threads)
    march_word(std::uint64_t* memory, std::uint64_t words, MarchStep step, std::uint64_t pass, MismatchReport* report) {
  Tally tally;
  for (std::uint64_t k = grid_thread(); k < words; k += grid_threads()) {
    const std::uint64_t i = step.descending ? words - 1 - k : k;
    step_word(memory, i, step, pass, report, &tally);
  }
  add_tally(report, tally);
}

// Words 2p and 2p + 1 of a pattern.
__device__ __forceinline__ Pack<std::uint64_t> pattern_pair(const MarchPattern& pattern, std::uint64_t p) {
  if (pattern.kind != MarchPattern::Kind::philox) return {{pattern.word(2 * p), pattern.word(2 * p + 1)}};
  const std::uint64_t flip = pattern.complement ? ~std::uint64_t{0} : 0;
  const PhiloxCounter block = block_at(pattern.stream, p);
  return {{u64_of(block, 0) ^ flip, u64_of(block, 1) ^ flip}};
}

// `memory` is aligned to 16 bytes. A word without a partner is the first thread's; its index is written as an even number,
// which it is, so that nvcc needs no array in memory for its half of a Philox block. Four blocks: see compare.cu.
__global__ void __launch_bounds__(block_threads, 4)
    march_pair(std::uint64_t* memory, std::uint64_t words, MarchStep step, std::uint64_t pass, MismatchReport* report) {
  const std::uint64_t pairs = words / 2;
  Tally tally;
  for (std::uint64_t k = grid_thread(); k < pairs; k += grid_threads()) {
    const std::uint64_t p = step.descending ? pairs - 1 - k : k;
    if (step.reads) {
      const Pack<std::uint64_t> actual = load16<Hint::streaming>(memory + 2 * p),
                                expected = pattern_pair(step.expect, p);
#pragma unroll
      for (unsigned h = 0; h < 2; ++h) {
        compare_one(memory, 2 * p + h, expected.at[h], actual.at[h], pass, report, &tally);
      }
    }
    if (step.writes) store16<Hint::streaming>(memory + 2 * p, pattern_pair(step.store, p));
  }
  if (words % 2 != 0 && grid_thread() == 0) step_word(memory, 2 * pairs, step, pass, report, &tally);
  add_tally(report, tally);
}

enum class Version { word, pair };

template <Version version>
void run_step(std::uint64_t* memory, std::size_t words, const MarchStep& step, std::uint64_t pass,
              MismatchReport* report, const Exec& exec) {
  if (words == 0) return;
  if (version == Version::pair && reinterpret_cast<std::uintptr_t>(memory) % 16 == 0) {
    const Shape shape = grid_for(words / 2, block_threads, blocks_per_processor);
    launch(march_pair, shape, exec.stream, memory, words, step, pass, report);
  } else {
    const Shape shape = grid_for(words, block_threads, blocks_per_processor);
    launch(march_word, shape, exec.stream, memory, words, step, pass, report);
  }
}

template <Version version>
constexpr MarchOps row = {run_step<version>};

constexpr CudaVersion<MarchOps> versions[] = {{"word", &row<Version::word>}, {"pair", &row<Version::pair>}};

[[maybe_unused]] const bool announced = announce_cuda(versions);

}  // namespace
}  // namespace assay::kernels
