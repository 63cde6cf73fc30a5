// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// CUDA rows of the streaming kernels for 9.0 and later, by bulk copies of the copy engine through a ring of tiles in
// shared memory. What is under way no longer costs registers or resident threads: three blocks with three stages of 16
// KiB each keep 144 KiB of a multiprocessor on their way, where 1024 threads with four packs have 64. Bound by DRAM.
//
//   copy                one thread of a block: in, and out again from the same stage.
//   scale, add, triad   256 threads change the tile of x in its place, then it goes out.
//   read                256 threads add up.
//   write, dot          by "deep" of stream.cu: nothing comes in, or nothing goes out while two come in; not faster here.
//
// All addresses must be multiples of 16 bytes: single elements up to the first that all arrays share, and what is left
// behind the last 16 bytes, are done by threads; arrays without a common one are left to "deep". Traps as in stream.cu.
#include <cstring>

#include "kernels/launch.cuh"
#include "kernels/ptx_hopper.cuh"
#include "kernels/stream.h"
#include "kernels/stream_parts.cuh"

namespace assay::kernels {
namespace {

enum class Tiles { copy, scale, add, triad, read };

constexpr unsigned stages = 4, stage_bytes = 16 << 10, worker_threads = 256, warp_threads = 32;
constexpr unsigned blocks_per_processor = 3;
constexpr unsigned all_lanes = 0xFFFFFFFFu;
constexpr std::size_t shared_bytes = stages * stage_bytes + stages * sizeof(Mbarrier);

template <Tiles op>
constexpr bool has_y = op == Tiles::add || op == Tiles::triad;
template <Tiles op>
constexpr unsigned tile_bytes = has_y<op> ? stage_bytes / 2 : stage_bytes;  // of each array
template <Tiles op>
constexpr unsigned block_threads = op == Tiles::copy ? warp_threads : worker_threads;

template <Tiles op, typename T>
__device__ __forceinline__ T changed(T x, T y, T s) {
  if constexpr (op == Tiles::scale) return s * x;
  if constexpr (op == Tiles::add) return x + y;
  if constexpr (op == Tiles::triad) return fma(s, y, x);
  return x;
}

// What a block goes through: pass after pass, its tiles at the distance of the grid. Counts for the engine's side and
// for the side that uses the data, each of which has one.
template <Tiles op, typename T>
class Walk {
 public:
  static constexpr unsigned tile = tile_bytes<op> / sizeof(T);
  __device__ Walk(std::uint64_t first, std::uint64_t end, std::uint64_t iterations)
      : first_(first), end_(end), at_(first + std::uint64_t{blockIdx.x} * tile), left_(at_ < end ? iterations : 0) {}
  __device__ bool is_over() const { return left_ == 0; }
  __device__ std::uint64_t begin() const { return at_; }
  __device__ unsigned bytes() const {
    return static_cast<unsigned>(at_ + tile < end_ ? tile : end_ - at_) * static_cast<unsigned>(sizeof(T));
  }
  __device__ unsigned stage() const { return stage_; }
  __device__ unsigned parity() const { return parity_; }
  __device__ void advance() {
    at_ += std::uint64_t{gridDim.x} * tile;
    if (at_ >= end_) {
      at_ = first_ + std::uint64_t{blockIdx.x} * tile;
      --left_;
    }
    if (++stage_ == stages) {
      stage_ = 0;
      parity_ ^= 1;
    }
  }

 private:
  std::uint64_t first_, end_, at_, left_;
  unsigned stage_ = 0, parity_ = 0;
};

struct Ring {
  unsigned char* memory = dynamic_shared<unsigned char>();
  Mbarrier* full = reinterpret_cast<Mbarrier*>(memory + stages * stage_bytes);

  template <typename T>
  __device__ T* stage(unsigned i) const {
    return reinterpret_cast<T*>(memory + i * stage_bytes);
  }
  // By all threads.
  __device__ void begin() const {
    if (threadIdx.x == 0) {
      for (unsigned s = 0; s < stages; ++s) init_barrier(full + s, 1);
      publish_barriers();
    }
    __syncthreads();
  }
};

// The next tile of x, and of y behind it, if there is one. By one thread.
template <Tiles op, Hint hint, typename T>
__device__ void ask_for_next(const Ring& ring, Walk<op, T>* asked, const T* x, const T* y) {
  if (asked->is_over()) return;
  Mbarrier* const full = ring.full + asked->stage();
  T* const to = ring.stage<T>(asked->stage());
  arrive_expecting(full, asked->bytes() * (has_y<op> ? 2 : 1));
  load_bulk<hint>(to, x + asked->begin(), asked->bytes(), full);
  if constexpr (has_y<op>) load_bulk<hint>(to + Walk<op, T>::tile, y + asked->begin(), asked->bytes(), full);
  asked->advance();
}

template <Tiles op, typename T>
__device__ __forceinline__ void change_tile(T* x, const T* y, T s, unsigned bytes) {
  for (unsigned i = threadIdx.x * Pack<T>::size; i < bytes / sizeof(T); i += worker_threads * Pack<T>::size) {
    Pack<T> a = *reinterpret_cast<const Pack<T>*>(x + i), b{};
    if constexpr (has_y<op>) b = *reinterpret_cast<const Pack<T>*>(y + i);
#pragma unroll
    for (unsigned k = 0; k < Pack<T>::size; ++k) a.at[k] = changed<op>(a.at[k], b.at[k], s);
    *reinterpret_cast<Pack<T>*>(x + i) = a;
  }
}

// The elements before `first` and from `end` on, one for each thread: fewer than 16 bytes each.
template <Tiles op, Hint hint, typename T>
__device__ void change_ends(T* out, const T* x, const T* y, T s, std::uint64_t n, std::uint64_t first,
                            std::uint64_t end) {
  std::uint64_t i = grid_thread();
  if (i >= first) i = end + (i - first);
  if (i >= n) return;
  const T b = has_y<op> ? load<hint>(y + i) : T{};
  store<hint>(out + i, changed<op>(load<hint>(x + i), b, s));
}

template <Tiles op, Hint hint, typename T>
__global__ void __launch_bounds__(block_threads<op>)
    change_tiles(T* out, const T* x, const T* y, T s, std::uint64_t n, std::uint64_t first, std::uint64_t end,
                 std::uint64_t iterations) {
  const Ring ring;
  ring.begin();
  change_ends<op, hint>(out, x, y, s, n, first, end);
  Walk<op, T> asked(first, end, iterations), walk = asked;
  const bool leads = threadIdx.x == 0;
  if (leads) {
    for (unsigned i = 0; i < stages; ++i) ask_for_next<op, hint>(ring, &asked, x, y);
  }
  bool is_first = true;
  for (; !walk.is_over(); walk.advance()) {
    T* const tile = ring.stage<T>(walk.stage());
    if constexpr (op == Tiles::copy) {
      if (!leads) return;
      wait_barrier(ring.full + walk.stage(), walk.parity());
    } else {
      wait_barrier(ring.full + walk.stage(), walk.parity());
      change_tile<op>(tile, tile + Walk<op, T>::tile, s, walk.bytes());
      fence_async();
      __syncthreads();
    }
    if (leads) {
      store_bulk<hint>(out + walk.begin(), tile, walk.bytes());
      commit_bulk();
      wait_bulk_read<1>();  // the stage before this one is free
      if (!is_first) ask_for_next<op, hint>(ring, &asked, x, y);
      is_first = false;
    }
  }
  if (leads) wait_bulk_read<0>();
}

template <Hint hint, typename T>
__global__ void __launch_bounds__(block_threads<Tiles::read>)
    read_tiles(const T* x, std::uint64_t* result, std::uint64_t n, std::uint64_t first, std::uint64_t end,
               std::uint64_t iterations) {
  const Ring ring;
  ring.begin();
  Walk<Tiles::read, T> asked(first, end, iterations), walk = asked;
  const T* const no_y = nullptr;
  const bool leads = threadIdx.x == 0;
  if (leads) {
    for (unsigned i = 0; i < stages; ++i) ask_for_next<Tiles::read, hint>(ring, &asked, x, no_y);
  }
  unsigned long long sum = 0;
  std::uint64_t i = grid_thread();
  if (i >= first) i = end + (i - first);
  if (i < n) sum = iterations * bits_of_one(load<hint>(x + i));
  for (; !walk.is_over(); walk.advance()) {
    wait_barrier(ring.full + walk.stage(), walk.parity());
    const T* const tile = ring.stage<T>(walk.stage());
    for (unsigned k = threadIdx.x * Pack<T>::size; k < walk.bytes() / sizeof(T); k += worker_threads * Pack<T>::size) {
      const Pack<T> pack = *reinterpret_cast<const Pack<T>*>(tile + k);
#pragma unroll
      for (unsigned p = 0; p < Pack<T>::size; ++p) sum += bits_of_one(pack.at[p]);
    }
    __syncthreads();  // all have read the stage
    if (leads) ask_for_next<Tiles::read, hint>(ring, &asked, x, no_y);
  }
  for (unsigned distance = warp_threads / 2; distance > 0; distance /= 2) {
    sum += __shfl_down_sync(all_lanes, sum, distance);
  }
  if (threadIdx.x % warp_threads != 0) return;
  add_bits<T>(result, sum);
}

// Host side ----------------------------------------------------------------------------------------------------------

template <typename T>
const StreamOps<T>& deep() {
  for (const CudaVersion<StreamOps<T>>& version : cuda_versions<StreamOps<T>>) {
    if (std::strcmp(version.name, "deep") == 0) return *version.ops;
  }
  std::abort();  // stream.cu is part of every program that has this file
}

template <Tiles op, typename T>
Shape shape_for(std::size_t elements) {
  constexpr std::size_t tile = tile_bytes<op> / sizeof(T);
  Shape shape = grid_for((elements + tile - 1) / tile, 1, blocks_per_processor);
  shape.block = dim3(block_threads<op>);
  shape.shared_bytes = shared_bytes;
  return shape;
}

template <Tiles op, Hint hint, typename T>
void change(const Exec& exec, const StreamArgs<T>& a, const T* y, std::size_t first) {
  const std::size_t end = first + (a.n - first) / Pack<T>::size * Pack<T>::size;
  const auto kernel = change_tiles<op, hint, T>;
  cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared_bytes));
  launch(kernel, shape_for<op, T>(end - first), exec.stream, a.out, a.x, y, a.s, a.n, first, end, a.iterations);
}

template <typename T, Tiles op, StreamFunction<T> StreamOps<T>::*same>
void run(const Exec& exec, const StreamArgs<T>& a) {
  if (a.n == 0 || a.iterations == 0) return;
  const T* const y = has_y<op> ? a.y : nullptr;
  unsigned first = 0;
  if (!common_head<T>({a.out, a.x, y}, a.n, &first)) return (deep<T>().*same)(exec, a);
  if (a.stores == Stores::non_temporal) {
    change<op, Hint::streaming>(exec, a, y, first);
  } else {
    change<op, Hint::normal>(exec, a, y, first);
  }
}

template <typename T>
void run_read(const Exec& exec, const StreamArgs<T>& a) {
  cudaMemsetAsync(a.bits, 0, sizeof *a.bits, static_cast<cudaStream_t>(exec.stream));
  if (a.n == 0 || a.iterations == 0) return;
  unsigned first = 0;
  common_head<T>({a.x}, a.n, &first);  // one array always has it
  const std::size_t end = first + (a.n - first) / Pack<T>::size * Pack<T>::size;
  const auto kernel = a.stores == Stores::non_temporal ? read_tiles<Hint::streaming, T> : read_tiles<Hint::normal, T>;
  cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared_bytes));
  launch(kernel, shape_for<Tiles::read, T>(end - first), exec.stream, a.x, a.bits, a.n, first, end, a.iterations);
}

template <typename T, StreamFunction<T> StreamOps<T>::*same>
void run_deep(const Exec& exec, const StreamArgs<T>& a) {
  (deep<T>().*same)(exec, a);
}

template <typename T>
constexpr StreamOps<T> row = {run_read<T>,
                              run_deep<T, &StreamOps<T>::write>,
                              run<T, Tiles::copy, &StreamOps<T>::copy>,
                              run<T, Tiles::scale, &StreamOps<T>::scale>,
                              run<T, Tiles::add, &StreamOps<T>::add>,
                              run<T, Tiles::triad, &StreamOps<T>::triad>,
                              run_deep<T, &StreamOps<T>::dot>};

template <typename T>
constexpr CudaVersion<StreamOps<T>> versions[] = {{"bulk", &row<T>, 90}};

[[maybe_unused]] const bool announced = announce_cuda(versions<float>) && announce_cuda(versions<double>);

}  // namespace
}  // namespace assay::kernels
