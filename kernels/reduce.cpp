// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// CPU row of the reductions, which spells the order of reduce.h out: loops over lanes, which the compiler turns into
// vectors. A tile is 4 or 8 KB, so its second half comes from the L1 cache.
#include "kernels/reduce.h"

#include <limits>

namespace assay::kernels {
namespace {

struct Sum {
  static constexpr double identity = 0;
  static double join(double a, double b) { return a + b; }
};
struct Maximum {
  static constexpr double identity = -std::numeric_limits<double>::infinity();
  static double join(double a, double b) { return a > b || a != a ? a : b; }
};

template <class Op, typename T>
double reduce_one_tile(const T* x, std::size_t n) {
  double lane[reduce_lanes];
  for (std::size_t l = 0; l < reduce_lanes; ++l) {
    const auto element = [&](std::size_t k) {
      const std::size_t i = reduce_lane_elements * l + k;
      return i < n ? static_cast<double>(x[i]) : Op::identity;
    };
    lane[l] = Op::join(Op::join(Op::join(element(0), element(1)), element(2)), element(3));
  }
  for (std::size_t d = reduce_lanes / 2; d > 0; d /= 2) {
    for (std::size_t l = 0; l < d; ++l) lane[l] = Op::join(lane[l], lane[l + d]);
  }
  return lane[0];
}

template <class Op, typename T>
void reduce_level(const Exec& exec, const T* x, std::size_t n, double* out) {
  const std::size_t tiles = reduce_tiles(n);
#pragma omp parallel for num_threads(exec.threads) schedule(static)
  for (std::size_t t = 0; t < tiles; ++t) {
    const std::size_t begin = t * reduce_tile, left = n - begin;
    out[t] = reduce_one_tile<Op>(begin != 0 ? x + begin : x, left < reduce_tile ? left : reduce_tile);
  }
}

template <class Op, typename T>
void reduce(const Exec& exec, const ReduceArgs<T>& a) {
  std::size_t tiles = reduce_tiles(a.n);
  double* level = a.scratch;
  reduce_level<Op>(exec, a.x, a.n, tiles > 1 ? level : a.result);
  while (tiles > 1) {
    const std::size_t next = reduce_tiles(tiles);
    reduce_level<Op>(exec, level, tiles, next > 1 ? level + tiles : a.result);
    level += tiles;
    tiles = next;
  }
}

template <typename T>
constexpr ReduceOps<T> cpu_row = {reduce<Sum, T>, reduce<Maximum, T>};

}  // namespace

template <typename T>
const ReduceOps<T>* reduce_ops(Backend backend, int capability) {
  return ops_for(backend, capability, &cpu_row<T>);
}

template const ReduceOps<float>* reduce_ops<float>(Backend, int);
template const ReduceOps<double>* reduce_ops<double>(Backend, int);

}  // namespace assay::kernels
