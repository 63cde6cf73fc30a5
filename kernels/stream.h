// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Streaming kernels: seven operations that touch every element of one to three arrays in order. They measure the
// bandwidth of the level of memory in which the arrays live.
//
// Bytes an operation moves per iteration, as the program sees them (W = sizeof(T) * n):
//   read W, write W, copy 2W, scale 2W, add 3W, triad 3W, dot 2W.
// With regular stores a cache first reads the line it is about to write ("write-allocate"), so DRAM moves one W more
// than this for write, copy, scale, add and triad; Stores::non_temporal avoids that and is right for arrays far larger
// than the last cache, and wrong (many times slower) for arrays that fit into a cache.
//
// Limits: DRAM: channels * transfers per second * 8 bytes. Cache: load and store ports (an AVX-512 Intel core: two
// loads and one store of 64 bytes per cycle). Device: memory clock * 2 * bus width; its L2 hides behind arrays below
// four times its size. Traps: see stream.cpp and stream.cu.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/backend.h"

namespace assay::kernels {

enum class Stores { regular, non_temporal };

// What one call works on. Each operation uses the members named in its line and ignores the others:
//   read   *bits = iterations * sum of the bit patterns of x[i], modulo 2^(8 sizeof(T))
//   write  out[i] = s
//   copy   out[i] = x[i]                    (bit patterns are kept, NaN included)
//   scale  out[i] = s * x[i]
//   add    out[i] = x[i] + y[i]
//   triad  out[i] = x[i] + s * y[i]         (rounded once where the target has FMA, else twice)
//   dot    *sum  = iterations * sum of x[i] * y[i]
//
// `iterations` passes are made inside one call, each thread over its own share(n, thread, threads, 64 / sizeof(T)) and
// without a barrier in between, so that small arrays do not measure thread start. Every pass adds to the result of read
// and dot; an odd count keeps every bit of read's sum visible in the result.
//
// `dot` is exact, whatever the order, when all products are multiples of one power of two g and |partial sums| stay
// below 2^24 g (float; a lane's sum over 65,536 elements, or over one pass if that is longer) and 2^53 g (the total).
//
// Contract: pointers are aligned to sizeof(T), no more; n = 0 or iterations = 0 changes nothing but sets *bits and *sum
// to 0; used pointers are not null unless n = 0. `out` is not x or y and overlaps neither; x may be y. For the CUDA
// rows all of them, `bits` and `sum` too, are memory of the device.
template <typename T>
struct StreamArgs {
  T* out = nullptr;
  const T* x = nullptr;
  const T* y = nullptr;
  T s{};
  std::size_t n = 0;
  std::uint64_t iterations = 1;
  Stores stores = Stores::regular;
  std::uint64_t* bits = nullptr;
  double* sum = nullptr;
};

template <typename T>
using StreamFunction = void (*)(const Exec&, const StreamArgs<T>&);

template <typename T>
struct StreamOps {
  StreamFunction<T> read, write, copy, scale, add, triad, dot;
};

// T is float or double. Null: this build has no row for the backend.
template <typename T>
const StreamOps<T>* stream_ops(Backend, int capability = newest_capability);

}  // namespace assay::kernels
