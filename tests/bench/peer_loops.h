// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Plain loops around kernels and library calls, with no harness: what scripts/bench_peers compares with other programs
// and with the harness. To add one: write `Loop prepare(const Setup&)` in a file of this folder and name it in a
// `const AddItems added({{"name", prepare}, ...});` - there is no list to edit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <vector>

namespace assay::bench {

struct Setup {
  int threads = 1;
  std::size_t size = 0;  // what the item makes of it: bytes per array, rows of a matrix
};

// A prepared loop. Only `run` is timed; it owns its buffers through what it captures.
struct Loop {
  std::function<void(std::uint64_t iterations)> run;
  double work_per_iteration = 0;  // in `unit` times seconds: bytes for B/s, operations for flop/s
  std::string unit;
  std::string note;  // what a library chose: its version and code path
};

struct Item {
  std::string name;
  Loop (*prepare)(const Setup&);
};

std::vector<Item>& items();

struct AddItems {
  AddItems(std::initializer_list<Item> more) { items().insert(items().end(), more); }
};

// Memory on huge pages where they can be had, touched first by the thread that will use it, filled with small values.
class Array {
 public:
  Array(std::size_t bytes, int threads);
  ~Array();
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;
  template <typename T>
  T* as() const {
    return static_cast<T*>(memory_);
  }

 private:
  void* memory_;
};

}  // namespace assay::bench
