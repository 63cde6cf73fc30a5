// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// What every version of the CUDA streaming kernels must do, for the tests of each file: the results of the CPU row, bit for
// bit, with arrays anywhere.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "device_array.h"
#include "kernels/stream.h"

namespace assay::kernels {

struct Offsets {
  std::size_t out, x, y;  // elements before each array
};

struct StreamCase {
  std::size_t n;
  Offsets offsets;
  Stores stores;
  std::uint64_t iterations;
};

// Small whole numbers of both signs: every product and every sum below is exact. They begin again after a prime number of
// elements, so a tile or a row of the grid in the place of another one shows.
template <typename T>
std::vector<T> numbers(std::size_t n, std::size_t factor) {
  std::vector<T> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = static_cast<T>(static_cast<int>(i * factor % 251 % 17) - 8);
  return values;
}

template <typename T>
struct NamedOp {
  const char* name;
  StreamFunction<T> StreamOps<T>::*run;
};
template <typename T>
constexpr NamedOp<T> maps[] = {{"write", &StreamOps<T>::write},
                               {"copy", &StreamOps<T>::copy},
                               {"scale", &StreamOps<T>::scale},
                               {"add", &StreamOps<T>::add},
                               {"triad", &StreamOps<T>::triad}};

template <typename T>
void check_stream(const StreamOps<T>& ops, const StreamCase& c) {
  using simt::DeviceArray;
  SCOPED_TRACE(testing::Message() << c.n << " elements; " << c.offsets.out << ", " << c.offsets.x << ", " << c.offsets.y
                                  << " before the arrays");
  const StreamOps<T>& reference = *stream_ops<T>(Backend::cpu);
  const std::vector<T> x = numbers<T>(c.n, 5), y = numbers<T>(c.n, 3);
  DeviceArray<T> device_x(x, c.offsets.x), device_y(y, c.offsets.y);
  for (const auto& [name, run] : maps<T>) {
    std::vector<T> expected(c.n);
    (reference.*run)({1, nullptr}, {expected.data(), x.data(), y.data(), T(3), c.n, 1, c.stores, nullptr, nullptr});
    DeviceArray<T> out(c.n, c.offsets.out);
    (ops.*run)({1, nullptr},
               {out.data(), device_x.data(), device_y.data(), T(3), c.n, c.iterations, c.stores, nullptr, nullptr});
    simt::succeed(cudaGetLastError());
    ASSERT_EQ(out.values(), expected) << name;
  }
  std::uint64_t bits = 0;
  double sum = 0;
  reference.read({1, nullptr}, {nullptr, x.data(), nullptr, T(0), c.n, c.iterations, c.stores, &bits, nullptr});
  reference.dot({1, nullptr}, {nullptr, x.data(), y.data(), T(0), c.n, c.iterations, c.stores, nullptr, &sum});
  DeviceArray<std::uint64_t> device_bits(1);
  DeviceArray<double> device_sum(1);
  ops.read({1, nullptr},
           {nullptr, device_x.data(), nullptr, T(0), c.n, c.iterations, c.stores, device_bits.data(), nullptr});
  ops.dot({1, nullptr},
          {nullptr, device_x.data(), device_y.data(), T(0), c.n, c.iterations, c.stores, nullptr, device_sum.data()});
  simt::succeed(cudaGetLastError());
  ASSERT_EQ(device_bits.values()[0], bits) << "read";
  ASSERT_EQ(device_sum.values()[0], sum) << "dot";
}

template <typename T>
void check_that_nothing_is_done(const StreamOps<T>& ops) {
  simt::DeviceArray<T> x(numbers<T>(100, 5)), out(numbers<T>(100, 3));
  ops.copy({1, nullptr}, {out.data(), x.data(), nullptr, 0, 100, 0, Stores::regular, nullptr, nullptr});
  EXPECT_EQ(out.values(), (numbers<T>(100, 3))) << "no iterations";
  simt::DeviceArray<std::uint64_t> bits(1);
  simt::DeviceArray<double> sum(1);
  StreamArgs<T> nothing;
  nothing.bits = bits.data();
  nothing.sum = sum.data();
  for (const auto run : {ops.read, ops.write, ops.copy, ops.scale, ops.add, ops.triad, ops.dot}) {
    run({1, nullptr}, nothing);
  }
  simt::succeed(cudaGetLastError());
  EXPECT_EQ(bits.values()[0], 0u);
  EXPECT_EQ(sum.values()[0], 0.0);
}

template <typename T>
void check_nan_payloads(const StreamOps<T>& ops) {
  std::vector<T> x(41);
  std::memset(x.data(), 0xFF, x.size() * sizeof(T));
  simt::DeviceArray<T> from(x), to(x.size());
  ops.copy({1, nullptr}, {to.data(), from.data(), nullptr, 0, x.size(), 1, Stores::regular, nullptr, nullptr});
  EXPECT_EQ(std::memcmp(to.values().data(), x.data(), x.size() * sizeof(T)), 0);
}

// A single changed bit anywhere must change what read gives.
template <typename T>
void check_that_read_sees_every_element(const StreamOps<T>& ops) {
  std::vector<T> x = numbers<T>(77, 5);
  const auto read = [&] {
    simt::DeviceArray<T> device(x, 1);
    simt::DeviceArray<std::uint64_t> bits(1);
    ops.read({1, nullptr}, {nullptr, device.data(), nullptr, 0, x.size(), 5, Stores::regular, bits.data(), nullptr});
    return bits.values()[0];
  };
  const std::uint64_t before = read();
  for (std::size_t i = 0; i < x.size(); ++i) {
    auto* byte = reinterpret_cast<unsigned char*>(&x[i]) + i % sizeof(T);
    *byte = static_cast<unsigned char>(*byte ^ (1u << i % 8));
    EXPECT_NE(read(), before) << "element " << i;
    *byte = static_cast<unsigned char>(*byte ^ (1u << i % 8));
  }
}

}  // namespace assay::kernels
