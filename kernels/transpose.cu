// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// CUDA rows of the transposition. All cut the matrix into squares of 32 x 32 words; a block of 32 x 8 threads does one
// at a time, a thread four words of it.
//
//   direct    reads along rows, writes down columns: each of the 32 stores of a warp goes to another sector of 32
//             bytes. Bound by sectors: 32 written bytes for 4 useful ones.
//   tiled     through a square in shared memory, so that both sides go along rows. Bound by shared memory: a warp that
//             reads a column of 32 words of 4 bytes hits one bank 32 times.
//   padded    each row of the square is a word longer, which puts a column into 32 different banks. Bound by DRAM.
#include "kernels/launch.cuh"
#include "kernels/ptx.cuh"
#include "kernels/transpose.h"

namespace assay::kernels {
namespace {

constexpr unsigned side = 32, block_rows = 8, blocks_per_processor = 8;

enum class Version { direct, tiled, padded };

template <typename T>
__global__ void __launch_bounds__(side* block_rows)
    transpose_direct(T* out, const T* in, std::uint64_t rows, std::uint64_t columns, std::uint64_t squares) {
  const std::uint64_t across = (columns + side - 1) / side;
  for (std::uint64_t square = blockIdx.x; square < squares; square += gridDim.x) {
    const std::uint64_t c = square % across * side + threadIdx.x;
    for (unsigned k = threadIdx.y; k < side; k += block_rows) {
      const std::uint64_t r = square / across * side + k;
      if (r < rows && c < columns) out[c * rows + r] = load<Hint::streaming>(in + r * columns + c);
    }
  }
}

template <unsigned padding, typename T>
__global__ void __launch_bounds__(side* block_rows)
    transpose_tiled(T* out, const T* in, std::uint64_t rows, std::uint64_t columns, std::uint64_t squares) {
  __shared__ T tile[side][side + padding];
  const std::uint64_t across = (columns + side - 1) / side;
  for (std::uint64_t square = blockIdx.x; square < squares; square += gridDim.x) {
    const std::uint64_t row = square / across * side, column = square % across * side;
    for (unsigned k = threadIdx.y; k < side; k += block_rows) {
      const std::uint64_t r = row + k, c = column + threadIdx.x;
      if (r < rows && c < columns) tile[k][threadIdx.x] = load<Hint::streaming>(in + r * columns + c);
    }
    __syncthreads();
    for (unsigned k = threadIdx.y; k < side; k += block_rows) {
      const std::uint64_t r = row + threadIdx.x, c = column + k;
      if (r < rows && c < columns) store<Hint::streaming>(out + c * rows + r, tile[threadIdx.x][k]);
    }
    __syncthreads();  // before the next square is written over this one
  }
}

template <Version version, typename T>
void transpose(const Exec& exec, T* out, const T* in, std::size_t rows, std::size_t columns) {
  if (rows == 0 || columns == 0) return;
  const std::uint64_t squares = static_cast<std::uint64_t>((rows + side - 1) / side) * ((columns + side - 1) / side);
  Shape shape = grid_for(squares * (side * block_rows), side * block_rows, blocks_per_processor);
  shape.block = dim3(side, block_rows);
  if constexpr (version == Version::direct) {
    launch(transpose_direct<T>, shape, exec.stream, out, in, rows, columns, squares);
  } else {
    launch(transpose_tiled < version == Version::padded ? 1 : 0, T >, shape, exec.stream, out, in, rows, columns,
           squares);
  }
}

template <Version version>
constexpr TransposeOps row = {transpose<version, std::uint32_t>, transpose<version, std::uint64_t>};

constexpr CudaVersion<TransposeOps> versions[] = {
    {"direct", &row<Version::direct>}, {"tiled", &row<Version::tiled>}, {"padded", &row<Version::padded>}};

[[maybe_unused]] const bool announced = announce_cuda(versions);

}  // namespace
}  // namespace assay::kernels
