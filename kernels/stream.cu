// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// CUDA rows of the streaming kernels, three versions of the same loops. Every thread goes over the data at the distance
// of the whole grid, so that the threads of a warp touch neighbouring elements.
//
//   scalar    one element for each thread and step: 4 or 8 bytes. Bound by bytes in flight: a device needs about
//             bandwidth * latency of them (Little; 3.3 TB/s * 600 ns = 2 MB on an H100, 15 KB a multiprocessor), and
//             2048 resident threads with one float each bring 8 KB.
//   vector    16 bytes for each thread and step, the widest access there is: a quarter of the instructions for float,
//             and 32 KB in flight on each multiprocessor. Bound by DRAM where the chip keeps 2048 threads resident.
//   deep      four loads of 16 bytes before the first use: the loop needs fewer resident threads to hide the latency,
//             at the price of registers. Bound by DRAM.
//
// 16-byte accesses need aligned addresses: if all used arrays are off by the same, single elements up to the boundary
// go first; else the scalar kernel does the work. Traps: arrays below four times L2 measure L2; written lines may still
// be in L2 when the kernel ends; `dot` adds blocks in any order, which is why the header asks for exact products.
#include "kernels/launch.cuh"
#include "kernels/ptx.cuh"
#include "kernels/stream.h"
#include "kernels/stream_parts.cuh"

namespace assay::kernels {
namespace {

enum class Map { write, copy, scale, add, triad };
enum class Fold { bits, dot };

constexpr unsigned block_threads = 256;
constexpr unsigned blocks_per_processor = 8;  // 2048 threads: all that a multiprocessor keeps resident
// What the registers must leave room for: all threads for one pack each, and half of them for deep ones. Without this nvcc
// 13.0 takes 40 registers for single packs (6 blocks), and 40 for four pairs of them, of which only one is then under way.
// From 10.0 on the same loops take more, and would be spilled.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 1000
constexpr unsigned asked_blocks = blocks_per_processor / 2;
#else
constexpr unsigned asked_blocks = blocks_per_processor;
#endif
template <int depth>
constexpr unsigned resident_blocks = blocks_that_fit(depth > 1 ? asked_blocks / 2 : asked_blocks, block_threads);
constexpr unsigned warp_threads = 32, block_warps = block_threads / warp_threads;
constexpr unsigned all_lanes = 0xFFFFFFFFu;

template <Map map>
constexpr bool reads_x = map != Map::write;
template <Map map>
constexpr bool reads_y = map == Map::add || map == Map::triad;

template <Map map, typename T>
__device__ __forceinline__ T mapped(T x, T y, T s) {
  if constexpr (map == Map::write) return s;
  if constexpr (map == Map::copy) return x;
  if constexpr (map == Map::scale) return s * x;
  if constexpr (map == Map::add) return x + y;
  return fma(s, y, x);
}

template <Map map, Hint hint, typename T>
__device__ __forceinline__ void map_one(T* out, const T* x, const T* y, T s, std::uint64_t i) {
  T a{}, b{};
  if constexpr (reads_x<map>) a = load<hint>(x + i);
  if constexpr (reads_y<map>) b = load<hint>(y + i);
  store<hint>(out + i, mapped<map>(a, b, s));
}

template <Map map, Hint hint, typename T>
__global__ void __launch_bounds__(block_threads)
    map_scalar(T* out, const T* x, const T* y, T s, std::uint64_t n, std::uint64_t iterations) {
  for (std::uint64_t iteration = 0; iteration < iterations; ++iteration) {
    for (std::uint64_t i = grid_thread(); i < n; i += grid_threads()) map_one<map, hint>(out, x, y, s, i);
    forget_memory();
  }
}

// The first element of the d-th pack of a thread that is at pack p: packs start at element `head`, and a thread's packs
// lie a grid apart.
template <typename T>
__device__ __forceinline__ std::uint64_t pack_begin(unsigned head, std::uint64_t p, int d) {
  return head + (p + static_cast<unsigned>(d) * grid_threads()) * Pack<T>::size;
}

template <Map map, Hint hint, int depth, typename T>
__device__ __forceinline__ void map_packs(T* out, const T* x, const T* y, T s, unsigned head, std::uint64_t p) {
  Pack<T> a[depth]{}, b[depth]{};
#pragma unroll
  for (int d = 0; d < depth; ++d) {
    const std::uint64_t i = pack_begin<T>(head, p, d);
    if constexpr (reads_x<map>) a[d] = load16<hint>(x + i);
    if constexpr (reads_y<map>) b[d] = load16<hint>(y + i);
  }
#pragma unroll
  for (int d = 0; d < depth; ++d) {
#pragma unroll
    for (unsigned k = 0; k < Pack<T>::size; ++k) a[d].at[k] = mapped<map>(a[d].at[k], b[d].at[k], s);
    store16<hint>(out + pack_begin<T>(head, p, d), a[d]);
  }
}

// `head` single elements lead to the first aligned one; what is left behind the last whole pack follows.
template <Map map, Hint hint, int depth, typename T>
__global__ void __launch_bounds__(block_threads, resident_blocks<depth>)
    map_vector(T* out, const T* x, const T* y, T s, std::uint64_t n, unsigned head, std::uint64_t iterations) {
  const std::uint64_t packs = (n - head) / Pack<T>::size, tail = head + packs * Pack<T>::size;
  for (std::uint64_t iteration = 0; iteration < iterations; ++iteration) {
    const std::uint64_t me = grid_thread();
    if (me < head) map_one<map, hint>(out, x, y, s, me);
    if (me < n - tail) map_one<map, hint>(out, x, y, s, tail + me);
    std::uint64_t p = me;
    for (; p + (depth - 1) * grid_threads() < packs; p += depth * grid_threads()) {
      map_packs<map, hint, depth>(out, x, y, s, head, p);
    }
    if constexpr (depth > 1) {
      for (; p < packs; p += grid_threads()) map_packs<map, hint, 1>(out, x, y, s, head, p);
    }
    forget_memory();
  }
}

// What a thread has seen: bit patterns as integers, products in lanes of T. A lane takes one pass and is then added to
// a double, so that it stays small (stream.h says when that is exact).
template <Fold fold, typename T>
class Sum;

template <typename T>
class Sum<Fold::bits, T> {
 public:
  __device__ void add(T x, T /*y*/) { total_ += bits_of_one(x); }
  __device__ void end_pass() {}
  __device__ unsigned long long total() const { return total_; }

 private:
  unsigned long long total_ = 0;
};

template <typename T>
class Sum<Fold::dot, T> {
 public:
  __device__ void add(T x, T y) { lane_ = fma(x, y, lane_); }
  __device__ void end_pass() {
    total_ += static_cast<double>(lane_);
    lane_ = 0;
  }
  __device__ double total() const { return total_; }

 private:
  T lane_ = 0;
  double total_ = 0;
};

// The sum over a block, valid in its first thread. All threads of the block call it, once.
template <typename V>
__device__ V block_sum(V value) {
  __shared__ V of_warp[block_warps];
  for (unsigned distance = warp_threads / 2; distance > 0; distance /= 2) {
    value += __shfl_down_sync(all_lanes, value, distance);
  }
  const unsigned lane = threadIdx.x % warp_threads, warp = threadIdx.x / warp_threads;
  if (lane == 0) of_warp[warp] = value;
  __syncthreads();
  V sum = 0;
  if (threadIdx.x == 0) {
    for (unsigned w = 0; w < block_warps; ++w) sum += of_warp[w];
  }
  return sum;
}

template <typename T>
__device__ void add_to(std::uint64_t* result, unsigned long long sum) {
  add_bits<T>(result, sum);
}
template <typename T>
__device__ void add_to(double* result, double sum) {
  atomicAdd(result, sum);
}

template <Fold fold, Hint hint, typename T>
__device__ __forceinline__ void fold_one(const T* x, const T* y, std::uint64_t i, Sum<fold, T>* sum) {
  T b{};
  if constexpr (fold == Fold::dot) b = load<hint>(y + i);
  sum->add(load<hint>(x + i), b);
}

template <Fold fold, Hint hint, typename T, typename Result>
__global__ void __launch_bounds__(block_threads)
    fold_scalar(const T* x, const T* y, Result* result, std::uint64_t n, std::uint64_t iterations) {
  Sum<fold, T> sum;
  for (std::uint64_t iteration = 0; iteration < iterations; ++iteration) {
    for (std::uint64_t i = grid_thread(); i < n; i += grid_threads()) fold_one<fold, hint>(x, y, i, &sum);
    sum.end_pass();
    forget_memory();
  }
  const auto of_block = block_sum(sum.total());
  if (threadIdx.x == 0) add_to<T>(result, of_block);
}

template <Fold fold, Hint hint, int depth, typename T>
__device__ __forceinline__ void fold_packs(const T* x, const T* y, unsigned head, std::uint64_t p,
                                           Sum<fold, T> (&sum)[Pack<T>::size]) {
  Pack<T> a[depth], b[depth]{};
#pragma unroll
  for (int d = 0; d < depth; ++d) {
    const std::uint64_t i = pack_begin<T>(head, p, d);
    a[d] = load16<hint>(x + i);
    if constexpr (fold == Fold::dot) b[d] = load16<hint>(y + i);
  }
#pragma unroll
  for (int d = 0; d < depth; ++d) {
#pragma unroll
    for (unsigned k = 0; k < Pack<T>::size; ++k) sum[k].add(a[d].at[k], b[d].at[k]);
  }
}

template <Fold fold, Hint hint, int depth, typename T, typename Result>
__global__ void __launch_bounds__(block_threads, resident_blocks<depth>)
    fold_vector(const T* x, const T* y, Result* result, std::uint64_t n, unsigned head, std::uint64_t iterations) {
  constexpr unsigned size = Pack<T>::size;
  const std::uint64_t packs = (n - head) / size, tail = head + packs * size;
  Sum<fold, T> sum[size];
  for (std::uint64_t iteration = 0; iteration < iterations; ++iteration) {
    const std::uint64_t me = grid_thread();
    if (me < head) fold_one<fold, hint>(x, y, me, &sum[0]);
    if (me < n - tail) fold_one<fold, hint>(x, y, tail + me, &sum[0]);
    std::uint64_t p = me;
    for (; p + (depth - 1) * grid_threads() < packs; p += depth * grid_threads()) {
      fold_packs<fold, hint, depth>(x, y, head, p, sum);
    }
    if constexpr (depth > 1) {
      for (; p < packs; p += grid_threads()) fold_packs<fold, hint, 1>(x, y, head, p, sum);
    }
    for (unsigned k = 0; k < size; ++k) sum[k].end_pass();
    forget_memory();
  }
  auto total = sum[0].total();
  for (unsigned k = 1; k < size; ++k) total += sum[k].total();
  const auto of_block = block_sum(total);
  if (threadIdx.x == 0) add_to<T>(result, of_block);
}

// Host side ----------------------------------------------------------------------------------------------------------

// depth 0: the scalar version. Pointers that an operation doesn't use are null from here on, and never touched.
template <typename T, Map map, int depth, Hint hint>
void map_with(const Exec& exec, const StreamArgs<T>& a) {
  const T* x = reads_x<map> ? a.x : nullptr;
  const T* y = reads_y<map> ? a.y : nullptr;
  if constexpr (depth > 0) {
    unsigned head = 0;
    if (common_head<T>({a.out, x, y}, a.n, &head)) {
      // At least as many threads as a head or a tail has elements: a block has more.
      const Shape shape = grid_for(a.n / Pack<T>::size / depth, block_threads, blocks_per_processor);
      launch(map_vector<map, hint, depth, T>, shape, exec.stream, a.out, x, y, a.s, a.n, head, a.iterations);
      return;
    }
  }
  const Shape shape = grid_for(a.n, block_threads, blocks_per_processor);
  launch(map_scalar<map, hint, T>, shape, exec.stream, a.out, x, y, a.s, a.n, a.iterations);
}

template <typename T, Map map, int depth>
void run_map(const Exec& exec, const StreamArgs<T>& a) {
  if (a.n == 0 || a.iterations == 0) return;
  if (a.stores == Stores::non_temporal) {
    map_with<T, map, depth, Hint::streaming>(exec, a);
  } else {
    map_with<T, map, depth, Hint::normal>(exec, a);
  }
}

template <typename T, Fold fold, int depth, Hint hint, typename Result>
void fold_with(const Exec& exec, const StreamArgs<T>& a, Result* result) {
  const T* y = fold == Fold::dot ? a.y : nullptr;
  if constexpr (depth > 0) {
    unsigned head = 0;
    if (common_head<T>({a.x, y}, a.n, &head)) {
      const Shape shape = grid_for(a.n / Pack<T>::size / depth, block_threads, blocks_per_processor);
      launch(fold_vector<fold, hint, depth, T, Result>, shape, exec.stream, a.x, y, result, a.n, head, a.iterations);
      return;
    }
  }
  const Shape shape = grid_for(a.n, block_threads, blocks_per_processor);
  launch(fold_scalar<fold, hint, T, Result>, shape, exec.stream, a.x, y, result, a.n, a.iterations);
}

template <typename T, Fold fold, int depth, typename Result>
void run_fold(const Exec& exec, const StreamArgs<T>& a, Result* result) {
  cudaMemsetAsync(result, 0, sizeof *result, static_cast<cudaStream_t>(exec.stream));
  if (a.n == 0 || a.iterations == 0) return;
  if (a.stores == Stores::non_temporal) {
    fold_with<T, fold, depth, Hint::streaming>(exec, a, result);
  } else {
    fold_with<T, fold, depth, Hint::normal>(exec, a, result);
  }
}

template <typename T, int depth>
void run_read(const Exec& exec, const StreamArgs<T>& a) {
  run_fold<T, Fold::bits, depth>(exec, a, a.bits);
}
template <typename T, int depth>
void run_dot(const Exec& exec, const StreamArgs<T>& a) {
  run_fold<T, Fold::dot, depth>(exec, a, a.sum);
}

template <typename T, int depth>
constexpr StreamOps<T> row = {run_read<T, depth>,
                              run_map<T, Map::write, depth>,
                              run_map<T, Map::copy, depth>,
                              run_map<T, Map::scale, depth>,
                              run_map<T, Map::add, depth>,
                              run_map<T, Map::triad, depth>,
                              run_dot<T, depth>};

template <typename T>
constexpr CudaVersion<StreamOps<T>> versions[] = {{"scalar", &row<T, 0>}, {"vector", &row<T, 1>}, {"deep", &row<T, 4>}};

[[maybe_unused]] const bool announced = announce_cuda(versions<float>) && announce_cuda(versions<double>);

}  // namespace
}  // namespace assay::kernels
