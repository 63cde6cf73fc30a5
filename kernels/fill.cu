// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// CUDA rows of kernels/fill.h.
//
//   element   a thread makes one element at a time, and for it a whole Philox block of four words. Bound by
//             multiplications: 20 wide ones for each element.
//   block     a thread makes a block at a time and stores all that comes out of it, 16 bytes at once where the buffer
//             is aligned to them: a quarter of the arithmetic. Bound by DRAM writes.
#include "kernels/fill.h"
#include "kernels/launch.cuh"
#include "kernels/philox_pack.cuh"
#include "kernels/ptx.cuh"

namespace assay::kernels {
namespace {

constexpr unsigned block_threads = 256, blocks_per_processor = 8;

template <typename T>
__global__ void __launch_bounds__(block_threads) fill_element(T* out, std::uint64_t n, Stream s, int bits) {
  for (std::uint64_t i = grid_thread(); i < n; i += grid_threads()) {
    constexpr unsigned size = stream_pack<T>;
    const StreamPack<T> pack(s, i / size, bits);
    T value = pack.at[0];
#pragma unroll
    for (unsigned k = 1; k < size; ++k) value = i % size == k ? pack.at[k] : value;  // an index would need memory
    store<Hint::streaming>(out + i, value);
  }
}

template <bool aligned, typename T>
__global__ void __launch_bounds__(block_threads) fill_block(T* out, std::uint64_t n, Stream s, int bits) {
  constexpr unsigned size = stream_pack<T>, wide = Pack<T>::size;
  for (std::uint64_t b = grid_thread(); b * size < n; b += grid_threads()) {
    const StreamPack<T> pack(s, b, bits);
    if (aligned && (b + 1) * size <= n) {
#pragma unroll
      for (unsigned k = 0; k < size; k += wide) {
        Pack<T> part;
#pragma unroll
        for (unsigned j = 0; j < wide; ++j) part.at[j] = pack.at[k + j];
        store16<Hint::streaming>(out + b * size + k, part);
      }
    } else {
#pragma unroll
      for (unsigned k = 0; k < size; ++k) {
        if (b * size + k < n) store<Hint::streaming>(out + b * size + k, pack.at[k]);
      }
    }
  }
}

enum class Version { element, block };

template <Version version, typename T>
void fill(T* out, std::size_t n, Stream s, int bits, const Exec& exec) {
  if (n == 0) return;
  if constexpr (version == Version::element) {
    launch(fill_element<T>, grid_for(n, block_threads, blocks_per_processor), exec.stream, out, n, s, bits);
  } else {
    const Shape shape = grid_for(n / stream_pack<T> + 1, block_threads, blocks_per_processor);
    const bool aligned = reinterpret_cast<std::uintptr_t>(out) % 16 == 0;
    launch(aligned ? fill_block<true, T> : fill_block<false, T>, shape, exec.stream, out, n, s, bits);
  }
}

template <Version version, typename T>
void fill_whole(T* out, std::size_t n, Stream s, const Exec& exec) {
  fill<version>(out, n, s, 0, exec);
}

template <Version version>
constexpr FillOps row = {fill_whole<version, std::uint32_t>, fill_whole<version, std::uint64_t>, fill<version, float>,
                         fill<version, double>};

constexpr CudaVersion<FillOps> versions[] = {{"element", &row<Version::element>}, {"block", &row<Version::block>}};

[[maybe_unused]] const bool announced = announce_cuda(versions);

}  // namespace
}  // namespace assay::kernels
