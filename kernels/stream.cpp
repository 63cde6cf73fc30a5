// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// CPU row of the streaming kernels. Highway compiles the part between HWY_BEFORE_NAMESPACE and HWY_AFTER_NAMESPACE once
// per instruction set and picks one at run time. Threads are started outside of it; each runs all iterations over its
// own share.
//
// Traps, all measured:
//   - DRAM with non-temporal stores: the order of lines_inl.h. Software prefetch gains on some processors and costs on
//     others, so there is none.
//   - A store that crosses a line costs two: both variants first go element by element to a 64-byte boundary of `out`.
//   - A sum in one register waits for the adder: eight are kept.
//   - A compiler may see that a second pass repeats the first: the empty asm statement says memory may have changed.
#include "kernels/stream.h"

#include <algorithm>

// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/stream.cpp"
#include <hwy/foreach_target.h>
#include <hwy/cache_control.h>
#include <hwy/highway.h>
#include "kernels/lines_inl.h"
// clang-format on

#ifndef ASSAY_KERNELS_STREAM_ONCE
#define ASSAY_KERNELS_STREAM_ONCE
namespace assay::kernels {

enum class StreamOp { read, write, copy, scale, add, triad, dot };

struct StreamSums {
  std::uint64_t bits = 0;
  double sum = 0;
};

constexpr std::size_t line_bytes = 64, page_bytes = 4096;

}  // namespace assay::kernels
#endif

HWY_BEFORE_NAMESPACE();
namespace assay::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// One vector of `out` from one vector of each input.
template <StreamOp op, class D, typename T = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> map_vector(D d, const T* x, const T* y, T s) {
  if constexpr (op == StreamOp::write) return hn::Set(d, s);
  if constexpr (op == StreamOp::copy) return hn::LoadU(d, x);
  if constexpr (op == StreamOp::scale) return hn::Mul(hn::Set(d, s), hn::LoadU(d, x));
  if constexpr (op == StreamOp::add) return hn::Add(hn::LoadU(d, x), hn::LoadU(d, y));
  if constexpr (op == StreamOp::triad) return hn::MulAdd(hn::Set(d, s), hn::LoadU(d, y), hn::LoadU(d, x));
}

// `count` elements from i on, a multiple of a vector; out + i is at a line boundary.
template <StreamOp op, bool non_temporal, std::size_t count, typename T>
HWY_INLINE void map_some(const StreamArgs<T>& a, std::size_t i) {
  const hn::CappedTag<T, line_bytes / sizeof(T)> d;
  for (std::size_t k = i; k < i + count; k += hn::Lanes(d)) {
    const auto v = map_vector<op>(d, a.x + k, a.y + k, a.s);
    if constexpr (non_temporal) {
      hn::Stream(v, d, a.out + k);
    } else {
      hn::Store(v, d, a.out + k);
    }
  }
}

template <StreamOp op, bool non_temporal, typename T>
HWY_INLINE void map_share(const StreamArgs<T>& args) {
  const StreamArgs<T> a = args;  // a copy that no store can change
  const hn::CappedTag<T, 1> one;
  constexpr std::size_t line = line_bytes / sizeof(T), page = page_bytes / sizeof(T);
  const std::size_t misalignment = reinterpret_cast<std::uintptr_t>(a.out) % line_bytes;
  const std::size_t head = std::min(a.n, (line_bytes - misalignment) % line_bytes / sizeof(T));
  for (std::uint64_t iteration = 0; iteration < a.iterations; ++iteration) {
    std::size_t i = 0;
    for (; i < head; ++i) hn::StoreU(map_vector<op>(one, a.x + i, a.y + i, a.s), one, a.out + i);
    if constexpr (non_temporal) {
      i = for_lines<line, page>(i, a.n, [&a](std::size_t k) HWY_ATTR { map_some<op, true, line>(a, k); });
    } else {
      for (; i + 4 * line <= a.n; i += 4 * line) map_some<op, false, 4 * line>(a, i);
      for (; i + line <= a.n; i += line) map_some<op, false, line>(a, i);
    }
    for (; i < a.n; ++i) hn::StoreU(map_vector<op>(one, a.x + i, a.y + i, a.s), one, a.out + i);
    asm volatile("" ::: "memory");
  }
  if constexpr (non_temporal) hwy::FlushStream();
}

template <StreamOp op, typename T>
HWY_INLINE void map_share(const StreamArgs<T>& a) {
  if (a.stores == Stores::non_temporal) {
    map_share<op, true>(a);
  } else {
    map_share<op, false>(a);
  }
}

// What an element adds to an accumulator: its bit pattern (read, integers) or the product (dot).
struct AddBits {
  template <class D, typename T, class V>
  static HWY_INLINE V add(D d, const T* x, const T* /*y*/, V sum) {
    return hn::Add(sum, hn::BitCast(d, hn::LoadU(hn::Rebind<T, D>(), x)));
  }
};
struct AddProduct {
  template <class D, typename T, class V>
  static HWY_INLINE V add(D d, const T* x, const T* y, V sum) {
    return hn::MulAdd(hn::LoadU(d, x), hn::LoadU(d, y), sum);
  }
};

// `passes` passes over the share; lanes of type L, their sum of type Total.
template <class Step, typename L, typename Total, typename T>
HWY_INLINE Total reduce_passes(const StreamArgs<T>& a, std::uint64_t passes) {
  const hn::ScalableTag<L> d;
  const hn::CappedTag<L, 1> one;
  const std::size_t lanes = hn::Lanes(d), step = 8 * lanes;
  auto s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0, s4 = s0, s5 = s0, s6 = s0, s7 = s0;
  auto rest = hn::Zero(one);
  for (std::uint64_t pass = 0; pass < passes; ++pass) {
    const T *x = a.x, *y = a.y;
    std::size_t i = 0;
    for (; i + step <= a.n; i += step) {
      s0 = Step::add(d, x + i, y + i, s0);
      s1 = Step::add(d, x + i + lanes, y + i + lanes, s1);
      s2 = Step::add(d, x + i + 2 * lanes, y + i + 2 * lanes, s2);
      s3 = Step::add(d, x + i + 3 * lanes, y + i + 3 * lanes, s3);
      s4 = Step::add(d, x + i + 4 * lanes, y + i + 4 * lanes, s4);
      s5 = Step::add(d, x + i + 5 * lanes, y + i + 5 * lanes, s5);
      s6 = Step::add(d, x + i + 6 * lanes, y + i + 6 * lanes, s6);
      s7 = Step::add(d, x + i + 7 * lanes, y + i + 7 * lanes, s7);
    }
    for (; i + lanes <= a.n; i += lanes) s0 = Step::add(d, x + i, y + i, s0);
    for (; i < a.n; ++i) rest = Step::add(one, x + i, y + i, rest);
    asm volatile("" ::: "memory");
  }
  s0 = hn::Add(hn::Add(hn::Add(s0, s1), hn::Add(s2, s3)), hn::Add(hn::Add(s4, s5), hn::Add(s6, s7)));
  HWY_ALIGN L lane[hn::MaxLanes(hn::ScalableTag<L>())];
  hn::Store(s0, d, lane);
  Total total = static_cast<Total>(hn::GetLane(rest));
  for (std::size_t k = 0; k < lanes; ++k) total += static_cast<Total>(lane[k]);
  return total;
}

template <typename T>
HWY_INLINE StreamSums dot_share(const StreamArgs<T>& a) {
  StreamSums sums;
  // Lanes are folded into a double now and then, so that a float lane does not grow with the iterations.
  const std::uint64_t fold = std::max<std::uint64_t>(1, 65536 / std::max<std::size_t>(1, a.n));
  for (std::uint64_t done = 0; done < a.iterations; done += fold) {
    sums.sum += reduce_passes<AddProduct, T, double>(a, std::min(fold, a.iterations - done));
  }
  return sums;
}

template <typename T>
HWY_INLINE StreamSums share_of(StreamOp op, const StreamArgs<T>& a) {
  switch (op) {
    case StreamOp::read:
      return {reduce_passes<AddBits, hwy::MakeUnsigned<T>, std::uint64_t>(a, a.iterations), 0};
    case StreamOp::write:
      map_share<StreamOp::write>(a);
      break;
    case StreamOp::copy:
      map_share<StreamOp::copy>(a);
      break;
    case StreamOp::scale:
      map_share<StreamOp::scale>(a);
      break;
    case StreamOp::add:
      map_share<StreamOp::add>(a);
      break;
    case StreamOp::triad:
      map_share<StreamOp::triad>(a);
      break;
    case StreamOp::dot:
      return dot_share(a);
  }
  return {};
}

StreamSums share_f32(StreamOp op, const StreamArgs<float>& a) { return share_of(op, a); }
StreamSums share_f64(StreamOp op, const StreamArgs<double>& a) { return share_of(op, a); }

}  // namespace assay::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {
namespace {

HWY_EXPORT(share_f32);
HWY_EXPORT(share_f64);

StreamSums share_here(StreamOp op, const StreamArgs<float>& a) { return HWY_DYNAMIC_DISPATCH(share_f32)(op, a); }
StreamSums share_here(StreamOp op, const StreamArgs<double>& a) { return HWY_DYNAMIC_DISPATCH(share_f64)(op, a); }

template <typename T, StreamOp op>
void run(const Exec& exec, const StreamArgs<T>& args) {
  std::uint64_t bits = 0;
  double sum = 0;
#pragma omp parallel for num_threads(exec.threads) schedule(static, 1) reduction(+ : bits, sum)
  for (int thread = 0; thread < exec.threads; ++thread) {
    const Range range = share(args.n, thread, exec.threads, line_bytes / sizeof(T));
    StreamArgs<T> mine = args;
    mine.n = range.end - range.begin;
    if (mine.n == 0) continue;  // also keeps null pointers away from the additions below
    if (args.out) mine.out += range.begin;
    // Address arithmetic is done on every pointer, so the unused ones point at the used ones.
    mine.x = args.x ? args.x + range.begin : mine.out;
    mine.y = args.y ? args.y + range.begin : mine.x;
    const StreamSums sums = share_here(op, mine);
    bits += sums.bits;
    sum += sums.sum;
  }
  if (op == StreamOp::read) *args.bits = sizeof(T) == 8 ? bits : bits & 0xFFFFFFFFu;
  if (op == StreamOp::dot) *args.sum = sum;
}

template <typename T>
constexpr StreamOps<T> cpu_row = {run<T, StreamOp::read>,  run<T, StreamOp::write>, run<T, StreamOp::copy>,
                                  run<T, StreamOp::scale>, run<T, StreamOp::add>,   run<T, StreamOp::triad>,
                                  run<T, StreamOp::dot>};

}  // namespace

template <typename T>
const StreamOps<T>* stream_ops(Backend backend, int capability) {
  return ops_for(backend, capability, &cpu_row<T>);
}

template const StreamOps<float>* stream_ops<float>(Backend, int);
template const StreamOps<double>* stream_ops<double>(Backend, int);

}  // namespace assay::kernels
#endif  // HWY_ONCE
