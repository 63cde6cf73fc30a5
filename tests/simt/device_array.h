// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// An array on the device for a test, and CUDA calls that must succeed. `offset` elements before it put it off the
// 256-byte boundary where an allocation begins; they must stay as they are.
#pragma once

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <vector>

#include "kernels/backend.h"

namespace assay::simt {

inline void succeed(cudaError_t error) { ASSERT_EQ(error, cudaSuccess) << cudaGetErrorString(error); }

// Of a family all of whose versions stand in one file. The table's own choice depends on which devices' machine code
// was linked: tests of it are called Table*, and are left out where that is not everything (tests/ptx/README.md).
template <class Ops>
const Ops* last_version() {
  const auto& versions = kernels::cuda_versions<Ops>;
  return versions.count != 0 ? versions.first[versions.count - 1].ops : nullptr;
}

template <class T>
class DeviceArray {
 public:
  explicit DeviceArray(std::size_t n, std::size_t offset = 0) : n_(n), offset_(offset) {
    succeed(cudaMalloc(&memory_, (n + offset) * sizeof(T)));
    before_.resize(offset);
    read(memory_, &before_);
  }
  explicit DeviceArray(const std::vector<T>& values, std::size_t offset = 0) : DeviceArray(values.size(), offset) {
    succeed(cudaMemcpy(data(), values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
  }
  ~DeviceArray() { cudaFree(memory_); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

  T* data() { return n_ + offset_ != 0 ? memory_ + offset_ : nullptr; }
  // Waits for the kernels before it.
  std::vector<T> values() {
    succeed(cudaDeviceSynchronize());
    std::vector<T> before(offset_), result(n_);
    read(memory_, &before);
    read(data(), &result);
    EXPECT_TRUE(before.empty() || std::memcmp(before.data(), before_.data(), offset_ * sizeof(T)) == 0)
        << "a write before the array";
    return result;
  }

 private:
  static void read(const T* from, std::vector<T>* to) {
    succeed(cudaMemcpy(to->data(), from, to->size() * sizeof(T), cudaMemcpyDeviceToHost));
  }
  T* memory_ = nullptr;
  std::size_t n_, offset_;
  std::vector<T> before_;
};

// An array that is too large to fill: zeros, and single elements that a test looks at.
template <class T>
class SparseArray {
 public:
  explicit SparseArray(std::size_t n) { succeed(cudaMalloc(&memory_, n * sizeof(T))); }
  ~SparseArray() { cudaFree(memory_); }
  SparseArray(const SparseArray&) = delete;
  SparseArray& operator=(const SparseArray&) = delete;

  T* data() { return memory_; }
  T get(std::size_t i) const {
    T value{};
    succeed(cudaMemcpy(&value, memory_ + i, sizeof value, cudaMemcpyDeviceToHost));
    return value;
  }
  void set(std::size_t i, T value) { succeed(cudaMemcpy(memory_ + i, &value, sizeof value, cudaMemcpyHostToDevice)); }

 private:
  T* memory_ = nullptr;
};

}  // namespace assay::simt
