// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// CUDA rows of kernels/compare.h.
//
//   element   a thread looks at one element at a time and makes a whole Philox block for it. Bound by multiplications.
//   block     a thread looks at all elements of a Philox block, 16 bytes at once where the buffer is aligned to them.
//             Bound by DRAM reads.
//
// The second read of a wrong element asks for the word again (ld.global.cv), which gets it from L2: on a device nothing
// can drop a line from there. Equal to `actual` therefore means L2 or memory, equal to `expected` something nearer.
#include "kernels/bits.h"
#include "kernels/compare.h"
#include "kernels/evidence.cuh"
#include "kernels/launch.cuh"
#include "kernels/philox_pack.cuh"
#include "kernels/ptx.cuh"

namespace assay::kernels {
namespace {

constexpr unsigned block_threads = 256, blocks_per_processor = 8, warp_threads = 32;
constexpr unsigned all_lanes = 0xFFFFFFFFu;
using Word = unsigned long long;  // what atomicAdd takes

enum class Version { element, block };

// One element.
template <typename T>
__device__ __forceinline__ void compare_one(const T* buffer, std::uint64_t i, T expected, BitsOf<T> actual,
                                            MismatchReport* report, Tally* tally) {
  ++tally->compared;
  if (actual == bits_of(expected)) return;
  ++tally->wrong;
  Mismatch m;
  m.index = i;
  m.expected = bits_of(expected);
  m.actual = actual;
  m.second_read = load_again(reinterpret_cast<const BitsOf<T>*>(buffer) + i);
  keep_mismatch(report, m);
}

template <typename T>
__global__ void __launch_bounds__(block_threads)
    compare_element(const T* buffer, std::uint64_t n, Stream s, int bits, MismatchReport* report) {
  constexpr unsigned size = stream_pack<T>;
  Tally tally;
  for (std::uint64_t i = grid_thread(); i < n; i += grid_threads()) {
    const StreamPack<T> pack(s, i / size, bits);
    T expected = pack.at[0];
#pragma unroll
    for (unsigned k = 1; k < size; ++k) expected = i % size == k ? pack.at[k] : expected;
    const auto actual = load<Hint::streaming>(reinterpret_cast<const BitsOf<T>*>(buffer) + i);
    compare_one(buffer, i, expected, actual, report, &tally);
  }
  add_tally(report, tally);
}

// Five blocks are 48 registers: left to itself, nvcc 13.0 gives some of these 32 and spills.
template <bool aligned, typename T>
__global__ void __launch_bounds__(block_threads, blocks_that_fit(5, block_threads))
    compare_block(const T* buffer, std::uint64_t n, Stream s, int bits, MismatchReport* report) {
  constexpr unsigned size = stream_pack<T>, wide = Pack<T>::size;
  const auto* const memory = reinterpret_cast<const BitsOf<T>*>(buffer);
  Tally tally;
  for (std::uint64_t b = grid_thread(); b * size < n; b += grid_threads()) {
    BitsOf<T> actual[size];
    if (aligned && (b + 1) * size <= n) {
#pragma unroll
      for (unsigned k = 0; k < size; k += wide) {
        const Pack<BitsOf<T>> part = load16<Hint::streaming>(memory + b * size + k);
#pragma unroll
        for (unsigned j = 0; j < wide; ++j) actual[k + j] = part.at[j];
      }
    } else {
#pragma unroll
      for (unsigned k = 0; k < size; ++k) {
        actual[k] = b * size + k < n ? load<Hint::streaming>(memory + b * size + k) : BitsOf<T>{};
      }
    }
    const StreamPack<T> pack(s, b, bits);
#pragma unroll
    for (unsigned k = 0; k < size; ++k) {
      if (b * size + k < n) compare_one(buffer, b * size + k, pack.at[k], actual[k], report, &tally);
    }
  }
  add_tally(report, tally);
}

template <Version version, typename T>
void compare(const T* buffer, std::size_t n, Stream s, int bits, MismatchReport* report, const Exec& exec) {
  if (n == 0) return;
  if constexpr (version == Version::element) {
    const Shape shape = grid_for(n, block_threads, blocks_per_processor);
    launch(compare_element<T>, shape, exec.stream, buffer, n, s, bits, report);
  } else {
    const Shape shape = grid_for(n / stream_pack<T> + 1, block_threads, blocks_per_processor);
    const bool aligned = reinterpret_cast<std::uintptr_t>(buffer) % 16 == 0;
    launch(aligned ? compare_block<true, T> : compare_block<false, T>, shape, exec.stream, buffer, n, s, bits, report);
  }
}

template <Version version, typename T>
void compare_whole(const T* buffer, std::size_t n, Stream s, MismatchReport* report, const Exec& exec) {
  compare<version>(buffer, n, s, 0, report, exec);
}

// The word at byte 8i, zero-padded behind the end; `buffer` may have any alignment.
template <bool aligned>
__device__ __forceinline__ Word word_at(const unsigned char* buffer, std::uint64_t bytes, std::uint64_t i) {
  if (aligned && 8 * i + 8 <= bytes) return load<Hint::streaming>(reinterpret_cast<const Word*>(buffer) + i);
  Word word = 0;
  for (unsigned k = 0; k < 8 && 8 * i + k < bytes; ++k) word |= static_cast<Word>(buffer[8 * i + k]) << (8 * k);
  return word;
}

template <bool aligned>
__global__ void __launch_bounds__(block_threads)
    digest_words(const unsigned char* buffer, std::uint64_t bytes, std::uint64_t* digest) {
  Word sum = 0;
  for (std::uint64_t i = grid_thread(); 8 * i < bytes; i += grid_threads()) {
    sum += digest_term(word_at<aligned>(buffer, bytes, i), i);
  }
  for (unsigned d = warp_threads / 2; d > 0; d /= 2) sum += __shfl_down_sync(all_lanes, sum, d);
  if (threadIdx.x % warp_threads == 0) atomicAdd(reinterpret_cast<Word*>(digest), sum);
}

void digest(const void* buffer, std::size_t bytes, std::uint64_t* result, const Exec& exec) {
  if (bytes == 0) return;
  const Shape shape = grid_for(bytes / 8 + 1, block_threads, blocks_per_processor);
  const bool aligned = reinterpret_cast<std::uintptr_t>(buffer) % 8 == 0;
  launch(aligned ? digest_words<true> : digest_words<false>, shape, exec.stream,
         static_cast<const unsigned char*>(buffer), bytes, result);
}

template <Version version>
constexpr CompareOps row = {compare_whole<version, std::uint32_t>, compare_whole<version, std::uint64_t>,
                            compare<version, float>, compare<version, double>, digest};

constexpr CudaVersion<CompareOps> versions[] = {{"element", &row<Version::element>}, {"block", &row<Version::block>}};

[[maybe_unused]] const bool announced = announce_cuda(versions);

}  // namespace
}  // namespace assay::kernels
