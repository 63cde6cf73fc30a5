// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Loops over the memory kernels. `size` is bytes per array (default 512 MiB); rates are in bytes moved (STREAM's count)
// per second, for the chase in steps per second. `nt` after the name: non-temporal stores.
#include <memory>
#include <string>

#include "kernels/chase.h"
#include "kernels/memcpy.h"
#include "kernels/random.h"
#include "kernels/stream.h"
#include "peer_loops.h"

namespace assay::bench {
namespace {

using kernels::Backend;
using kernels::Exec;
using kernels::Stores;

std::size_t bytes_of(const Setup& setup) { return setup.size ? setup.size : std::size_t{512} << 20; }

std::shared_ptr<Array> array_of(const Setup& setup, std::size_t bytes) {
  return std::make_shared<Array>(bytes, setup.threads);
}

// The three arrays are exactly as large as the operation needs: those it does not use are not allocated.
template <typename T, kernels::StreamFunction<T> kernels::StreamOps<T>::*op, int arrays, Stores stores>
Loop stream(const Setup& setup) {
  const std::size_t bytes = bytes_of(setup);
  std::shared_ptr<Array> a[3];
  for (int i = 0; i < arrays; ++i) a[i] = array_of(setup, bytes);
  const auto run = kernels::stream_ops<T>(Backend::cpu)->*op;
  const auto run_it = [=](std::uint64_t iterations) {
    std::uint64_t bits = 0;
    double sum = 0;
    kernels::StreamArgs<T> args;
    args.out = a[0]->template as<T>();
    args.x = (a[1] ? a[1] : a[0])->template as<T>();
    args.y = (a[2] ? a[2] : a[0])->template as<T>();
    args.s = T(3);
    args.n = bytes / sizeof(T);
    args.iterations = iterations;
    args.stores = stores;
    args.bits = &bits;
    args.sum = &sum;
    run(Exec{setup.threads, nullptr}, args);
  };
  return {run_it, arrays * static_cast<double>(bytes), "B/s"};
}

template <kernels::CopyFunction kernels::MemcpyOps::*op>
Loop copy(const Setup& setup) {
  const std::size_t bytes = bytes_of(setup);
  const auto to = array_of(setup, bytes), from = array_of(setup, bytes);
  const auto run = kernels::memcpy_ops(Backend::cpu)->*op;
  const auto run_it = [=](std::uint64_t iterations) {
    run(Exec{setup.threads, nullptr}, to->as<void>(), from->as<void>(), bytes, iterations);
  };
  return {run_it, 2 * static_cast<double>(bytes), "B/s"};
}

Loop chase(const Setup& setup) {
  const std::size_t n = bytes_of(setup) / sizeof(kernels::ChaseLine);
  const auto lines = array_of(setup, n * sizeof(kernels::ChaseLine));
  std::vector<std::uint32_t> order(n);
  kernels::chase_order(order.data(), n, 1);
  const kernels::ChaseOps& ops = *kernels::chase_ops(Backend::cpu);
  auto* first = lines->as<kernels::ChaseLine>();
  ops.link({setup.threads, nullptr}, first, order.data(), n);
  std::vector<kernels::ChaseLine*> position;
  for (int t = 0; t < setup.threads; ++t) {
    position.push_back(first + order[n * static_cast<std::size_t>(t) / static_cast<std::size_t>(setup.threads)]);
  }
  constexpr std::uint64_t steps = 1000;
  const auto run_it = [=, &ops](std::uint64_t iterations) mutable {
    (void)lines;
    ops.run({setup.threads, nullptr}, position.data(), steps * iterations);
  };
  return {run_it, static_cast<double>(steps), "1/s"};
}

Loop gather_computed(const Setup& setup) {
  const std::size_t n = bytes_of(setup) / 8;
  const auto data = array_of(setup, n * 8);
  constexpr std::size_t m = 1 << 16;
  const auto run_it = [=](std::uint64_t iterations) {
    std::uint64_t sum = 0;
    kernels::random_ops(Backend::cpu)
        ->gather_computed({setup.threads, nullptr}, data->as<std::uint64_t>(), n, 1, m * iterations, 1, &sum);
  };
  return {run_it, static_cast<double>(m), "1/s"};
}

template <std::size_t stride>
Loop strided(const Setup& setup) {
  const std::size_t n = bytes_of(setup) / 8;
  const auto data = array_of(setup, n * 8);
  const auto run_it = [=](std::uint64_t iterations) {
    std::uint64_t sum = 0;
    kernels::random_ops(Backend::cpu)
        ->strided({setup.threads, nullptr}, data->as<std::uint64_t>(), n, stride, iterations, &sum);
  };
  return {run_it, 8 * static_cast<double>(n / stride), "B/s"};
}

template <typename T>
void add_stream(const std::string& type) {
  using Ops = kernels::StreamOps<T>;
  constexpr Stores regular = Stores::regular, nt = Stores::non_temporal;
  AddItems({{"stream/read/" + type, stream<T, &Ops::read, 1, regular>},
            {"stream/write/" + type, stream<T, &Ops::write, 1, regular>},
            {"stream/write/" + type + "/nt", stream<T, &Ops::write, 1, nt>},
            {"stream/copy/" + type, stream<T, &Ops::copy, 2, regular>},
            {"stream/copy/" + type + "/nt", stream<T, &Ops::copy, 2, nt>},
            {"stream/scale/" + type, stream<T, &Ops::scale, 2, regular>},
            {"stream/scale/" + type + "/nt", stream<T, &Ops::scale, 2, nt>},
            {"stream/add/" + type, stream<T, &Ops::add, 3, regular>},
            {"stream/add/" + type + "/nt", stream<T, &Ops::add, 3, nt>},
            {"stream/triad/" + type, stream<T, &Ops::triad, 3, regular>},
            {"stream/triad/" + type + "/nt", stream<T, &Ops::triad, 3, nt>},
            {"stream/dot/" + type, stream<T, &Ops::dot, 2, regular>}});
}

const bool streams_added = (add_stream<float>("f32"), add_stream<double>("f64"), true);
const AddItems added({{"memcpy/libc", copy<&kernels::MemcpyOps::libc>},
                      {"memcpy/non_temporal", copy<&kernels::MemcpyOps::non_temporal>},
                      {"chase", chase},
                      {"random/gather_computed", gather_computed},
                      {"random/strided_1", strided<1>},
                      {"random/strided_8", strided<8>},
                      {"random/strided_64", strided<64>}});

}  // namespace
}  // namespace assay::bench
