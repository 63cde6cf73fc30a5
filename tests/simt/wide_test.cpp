// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// More than 2^32 elements: an index of 32 bits anywhere writes at the wrong place or not at all. The arrays are sparse,
// the grid has a thread for each item, and only blocks run that work around element 0, 2^31, 2^32 and at the end.
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "device_array.h"
#include "kernels/atomics.h"
#include "kernels/bits.h"
#include "kernels/compare.h"
#include "kernels/fill.h"
#include "kernels/gemm_bf16.h"
#include "kernels/march.h"
#include "kernels/philox.h"
#include "kernels/random.h"
#include "kernels/reduce.h"
#include "kernels/stream.h"
#include "kernels/transpose.h"
#include "runtime/rig.h"

namespace assay::kernels {
namespace {

using simt::DeviceArray;
using simt::SparseArray;

constexpr std::uint64_t n = (std::uint64_t{1} << 32) + 5001;
constexpr std::uint64_t places[] = {0, 1000, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x100000000, 0x100000001, n - 1};
constexpr std::uint64_t block_threads = 256;
constexpr Stream stream{5, 9};

// Items of the kernel (elements, packs of 16 bytes, ...) of `item` elements each, `depth` of them a thread, a grid
// apart. Lets the blocks run that have to do with `places`, and says which.
std::set<std::uint64_t> run_only_around_places(std::uint64_t item, std::uint64_t depth = 1,
                                               std::uint64_t more_items = 0) {
  const std::uint64_t items = n / item / depth + more_items;
  const std::uint64_t blocks = (items + block_threads - 1) / block_threads;
  std::set<std::uint64_t> numbers = {0};  // the first one also does what is left over
  for (const std::uint64_t place : places) numbers.insert(place / item % (blocks * block_threads) / block_threads);
  simt::run_only(numbers);
  return numbers;
}

class SimtWide : public testing::Test {
 protected:
  void SetUp() override {
    simt::reset();
    void* most = nullptr;
    if (cudaMalloc(&most, 16 * n) != cudaSuccess) {
      simt::reset();
      GTEST_SKIP() << "this system gives a program less than 192 GiB of addresses (vm.overcommit_memory, ulimit -v)";
    }
    cudaFree(most);
    simt::set_schedule(simt::Schedule::in_order);
    simt::set_processors(1 << 24);
  }
  void TearDown() override {
    simt::run_only({});
    simt::set_processors(2);
  }
};

TEST_F(SimtWide, Stream) {
  constexpr std::uint64_t item[] = {1, 4, 4}, depth[] = {1, 1, 4};
  SparseArray<float> x(n), y(n);
  for (const std::uint64_t i : places) {
    x.set(i, static_cast<float>(i % 1000 + 1));
    y.set(i, static_cast<float>(i % 900 + 1));
  }
  for (std::size_t v = 0; v < std::size(depth); ++v) {
    SparseArray<float> out(n);
    DeviceArray<std::uint64_t> bits(1);
    DeviceArray<double> sum(1);
    run_only_around_places(item[v], depth[v]);
    const StreamArgs<float> a{out.data(), x.data(), y.data(), 3, n, 1, Stores::regular, bits.data(), sum.data()};
    const StreamOps<float>& ops = *cuda_versions<StreamOps<float>>.first[v].ops;
    ops.triad({1, nullptr}, a);
    ops.read({1, nullptr}, a);
    ops.dot({1, nullptr}, a);
    simt::succeed(cudaGetLastError());
    std::uint32_t all_bits = 0;
    double products = 0;
    for (const std::uint64_t i : places) {
      EXPECT_EQ(out.get(i), x.get(i) + 3 * y.get(i)) << i << ", version " << v;
      all_bits += bits_of(x.get(i));
      products += static_cast<double>(x.get(i)) * y.get(i);
    }
    EXPECT_EQ(bits.values()[0], all_bits);
    EXPECT_EQ(sum.values()[0], products);
  }
}

// A block for each tile: 2048 elements where there are two arrays, 4096 for read.
TEST_F(SimtWide, StreamBulk) {
  SparseArray<float> x(n), y(n), out(n);
  std::uint32_t all_bits = 0;
  for (const std::uint64_t i : places) {
    x.set(i, static_cast<float>(i % 1000 + 1));
    y.set(i, static_cast<float>(i % 900 + 1));
    all_bits += bits_of(x.get(i));
  }
  DeviceArray<std::uint64_t> bits(1);
  const StreamOps<float>& ops = *cuda_versions<StreamOps<float>>.find(90)->ops;
  const auto run = [&](StreamFunction<float> run_it, std::uint64_t tile) {
    std::set<std::uint64_t> tiles;
    for (const std::uint64_t place : places) tiles.insert(place / tile);
    simt::run_only(tiles);
    run_it({1, nullptr}, {out.data(), x.data(), y.data(), 3, n, 1, Stores::regular, bits.data(), nullptr});
    simt::succeed(cudaGetLastError());
  };
  run(ops.triad, 2048);
  for (const std::uint64_t i : places) EXPECT_EQ(out.get(i), x.get(i) + 3 * y.get(i)) << i;
  run(ops.copy, 4096);
  for (const std::uint64_t i : places) EXPECT_EQ(out.get(i), x.get(i)) << i;
  run(ops.read, 4096);
  EXPECT_EQ(bits.values()[0], all_bits);
}

TEST_F(SimtWide, Fill) {
  for (std::size_t v = 0; v < cuda_versions<FillOps>.count; ++v) {
    SparseArray<std::uint32_t> buffer(n);
    run_only_around_places(v == 0 ? 1 : 4, 1, v == 0 ? 0 : 1);
    cuda_versions<FillOps>.first[v].ops->u32(buffer.data(), n, stream, {});
    simt::succeed(cudaGetLastError());
    for (const std::uint64_t i : places) EXPECT_EQ(buffer.get(i), u32_at(stream, i)) << i << ", version " << v;
  }
}

TEST_F(SimtWide, Compare) {
  for (std::size_t v = 0; v < cuda_versions<CompareOps>.count; ++v) {
    SparseArray<std::uint32_t> buffer(n);
    DeviceArray<MismatchReport> report(std::vector<MismatchReport>(1));
    const std::uint64_t item = v == 0 ? 1 : 4, of_block = item * block_threads;
    std::uint64_t compared = 0;  // by the blocks that run, and by no other
    for (const std::uint64_t block : run_only_around_places(item, 1, v)) {
      compared += std::min(of_block, n - block * of_block);
    }
    cuda_versions<FillOps>.first[v].ops->u32(buffer.data(), n, stream, {});  // what the same blocks look at
    for (const std::uint64_t i : places) buffer.set(i, ~u32_at(stream, i));
    cuda_versions<CompareOps>.first[v].ops->u32(buffer.data(), n, stream, report.data(), {});
    simt::succeed(cudaGetLastError());
    const MismatchReport found = report.values()[0];
    EXPECT_EQ(found.compared, compared);
    EXPECT_EQ(found.mismatches, std::size(places));
    for (std::size_t k = 0; k < std::size(places); ++k) EXPECT_EQ(found.first[k].index, places[k]) << "version " << v;
  }
}

TEST_F(SimtWide, March) {
  MarchStep step;
  step.writes = true;
  step.store.kind = MarchPattern::Kind::own_offset;
  for (const bool descending : {false, true}) {
    step.descending = descending;
    for (std::size_t v = 0; v < cuda_versions<MarchOps>.count; ++v) {
      const std::uint64_t item = v + 1;
      SparseArray<std::uint64_t> memory(n);
      DeviceArray<MismatchReport> report(std::vector<MismatchReport>(1));
      std::set<std::uint64_t> blocks = {0};
      for (const std::uint64_t i : places) {
        const std::uint64_t k = descending ? n / item - 1 - i / item : i / item;
        blocks.insert(k / block_threads);
      }
      simt::run_only(blocks);
      cuda_versions<MarchOps>.first[v].ops->step(memory.data(), n, step, 0, report.data(), {});
      simt::succeed(cudaGetLastError());
      for (const std::uint64_t i : places) EXPECT_EQ(memory.get(i), 8 * i) << i << ", version " << v;
    }
  }
}

TEST_F(SimtWide, Random) {
  SparseArray<std::uint64_t> data(n);
  std::uint64_t expected = 0;
  for (const std::uint64_t i : places) {
    data.set(i, mix64(i));
    expected += mix64(i);
  }
  for (std::size_t v = 0; v < cuda_versions<RandomOps>.count; ++v) {
    DeviceArray<std::uint64_t> sum(1);
    run_only_around_places(1, v == 0 ? 1 : 4, 1);
    cuda_versions<RandomOps>.first[v].ops->strided({1, nullptr}, data.data(), n, 1, 1, sum.data());
    simt::succeed(cudaGetLastError());
    EXPECT_EQ(sum.values()[0], expected) << "version " << v;
  }
}

// The tiles of the places, on each of the four levels; all others stay the zeros that their array is.
TEST_F(SimtWide, Reduce) {
  SparseArray<float> x(n);
  double sum = 0, most = 0;
  std::set<std::uint64_t> tiles;
  for (const std::uint64_t i : places) {
    const auto value = static_cast<float>(i % 1000 + 1);
    x.set(i, value);
    sum += value;
    most = std::max<double>(most, value);
    for (std::uint64_t k = i / reduce_tile, levels = 0; levels < 4; k /= reduce_tile, ++levels) tiles.insert(k);
  }
  DeviceArray<double> scratch(reduce_scratch(n)), result(1);
  simt::run_only(tiles);
  for (std::size_t v = 0; v < cuda_versions<ReduceOps<float>>.count; ++v) {
    const ReduceOps<float>& ops = *cuda_versions<ReduceOps<float>>.first[v].ops;
    for (const auto& [run, expected] : {std::pair(ops.sum, sum), std::pair(ops.maximum, most)}) {
      simt::succeed(cudaMemset(scratch.data(), 0, reduce_scratch(n) * sizeof(double)));
      run({1, nullptr}, {x.data(), n, scratch.data(), result.data()});
      simt::succeed(cudaGetLastError());
      EXPECT_EQ(result.values()[0], expected) << "version " << v;
    }
  }
}

TEST_F(SimtWide, Atomics) {
  constexpr std::size_t targets = 16;  // few enough for each version
  const std::set<std::uint64_t> blocks = run_only_around_places(1);
  std::vector<std::uint64_t> expected(targets);
  for (const std::uint64_t block : blocks) {
    for (std::uint64_t i = block * block_threads; i < std::min(n, (block + 1) * block_threads); ++i) {
      expected[i % targets] += i + 1;
    }
  }
  for (std::size_t v = 0; v < cuda_versions<AtomicsOps>.count; ++v) {
    DeviceArray<std::uint64_t> counters(std::vector<std::uint64_t>(targets, 0));
    cuda_versions<AtomicsOps>.first[v].ops->add({1, nullptr}, counters.data(), targets, n, 1);
    simt::succeed(cudaGetLastError());
    EXPECT_EQ(counters.values(), expected) << "version " << v;
  }
}

// 2^17 + 1 columns: from row 2^15 on words lie beyond 2^32.
TEST_F(SimtWide, Transpose) {
  constexpr std::uint64_t rows = 33000, columns = (1u << 17) + 1, side = 32, across = (columns + side - 1) / side;
  const std::uint64_t corner[][2] = {{0, 0}, {rows - 1, columns - 1}, {16384, 5}, {32768, 100}, {7, columns - 1}};
  for (std::size_t v = 0; v < cuda_versions<TransposeOps>.count; ++v) {
    SparseArray<std::uint32_t> in(rows * columns), out(rows * columns);
    std::set<std::uint64_t> squares;
    for (const auto& [r, c] : corner) {
      in.set(r * columns + c, static_cast<std::uint32_t>(r + c + 1));
      squares.insert(r / side * across + c / side);
    }
    simt::run_only(squares);
    cuda_versions<TransposeOps>.first[v].ops->u32({}, out.data(), in.data(), rows, columns);
    simt::succeed(cudaGetLastError());
    for (const auto& [r, c] : corner)
      EXPECT_EQ(out.get(c * rows + r), r + c + 1) << r << ", " << c << ", version " << v;
  }
}

// 2^28 + 5 rows of A, or columns of B, of 16 numbers: A or B and C have more than 2^32 elements. The first tile and the
// last.
class WideGemm {
 public:
  static constexpr std::uint64_t many = (std::uint64_t{1} << 28) + 5, k = 16;

  WideGemm() : few_(17 * k), large_(many * k) {
    for (std::size_t i = 0; i < few_.size(); ++i) few_[i] = bf16(i * i + 1);
    for (std::size_t p = 0; p < k; ++p) {
      large_.set((many - 1) * k + p, bf16(3 * p + 2));
      expected_ += from_bf16({few_[16 * k + p]}) * from_bf16({bf16(3 * p + 2)});
    }
  }
  // The first block and those with the last row, where A is the large one, and the last column, where B is.
  void check(const CudaVersion<GemmBf16Ops>& version, std::uint64_t last_of_tall, std::uint64_t last_of_wide) {
    SCOPED_TRACE(version.name);
    DeviceArray<std::uint16_t> few(few_);
    for (const bool tall : {true, false}) {
      SparseArray<float> c(many * 17);
      simt::run_only({0, tall ? last_of_tall : last_of_wide});
      ASSERT_TRUE(tall ? version.ops->run({}, {many, 17, k}, large_.data(), few.data(), c.data())
                       : version.ops->run({}, {17, many, k}, few.data(), large_.data(), c.data()));
      simt::succeed(cudaGetLastError());
      EXPECT_EQ(c.get(many * 17 - 1), expected_) << (tall ? "tall" : "wide");
      EXPECT_EQ(c.get(0), 0);
    }
  }

 private:
  static std::uint16_t bf16(std::uint64_t i) { return to_bf16(static_cast<float>(i % 11) - 5).bits; }

  std::vector<std::uint16_t> few_;
  SparseArray<std::uint16_t> large_;
  float expected_ = 0;  // of the last row of either
};

TEST_F(SimtWide, Gemm) {
  constexpr std::uint64_t tall_tile[] = {0, 32, 64, 128}, wide_tile[] = {0, 32, 64, 256};
  const CudaVersion<GemmBf16Ops>* const versions = cuda_versions<GemmBf16Ops>.first;
  WideGemm gemm;
  gemm.check(versions[0], (gemm.many * 17 - 1) / 256, (gemm.many * 17 - 1) / 256);
  for (std::size_t v = 1; v < std::size(tall_tile); ++v) {
    gemm.check(versions[v], (gemm.many - 1) / tall_tile[v], (gemm.many - 1) / wide_tile[v]);
  }
}

TEST_F(SimtWide, GemmHopper) {
  WideGemm gemm;
  for (const CudaVersion<GemmBf16Ops>& version : cuda_versions<GemmBf16Ops>) {
    if (version.from != 90) continue;
    gemm.check(version, (gemm.many - 1) / 128,
               (gemm.many - 1) / (std::string(version.name) == "tiles_128" ? 128 : 256));
  }
}

}  // namespace
}  // namespace assay::kernels
