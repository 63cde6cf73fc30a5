// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// results/models/conflicts.csv, which the pages of `assay list --model` show: accesses of warps to shared memory, the
// wavefronts that they took and how many of these were conflicts of banks, counted here on small data. A row that is
// not as counted fails and is shown as it must be. Not counted: atomics, what wgmma reads, and fragments of wmma, whose
// lanes hold what the rig chose.
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "device_array.h"
#include "gemm_numbers.h"
#include "kernels/reduce.h"
#include "kernels/shared.h"
#include "kernels/stream.h"
#include "kernels/transpose.h"
#include "runtime/rig.h"

namespace assay::simt {
namespace {

struct Counted {
  std::string file, kernel, operation, how;
  std::function<void()> run;
};

template <class Ops>
const Ops* version(const char* name) {
  const auto& all = kernels::cuda_versions<Ops>;
  for (std::size_t v = 0; v < all.count; ++v)
    if (std::string(all.first[v].name) == name) return all.first[v].ops;
  ADD_FAILURE() << "no version " << name;
  return nullptr;
}

template <class T, class Function>
void transpose(const char* name, Function kernels::TransposeOps::*function) {
  constexpr std::size_t side = 64;
  DeviceArray<T> in(std::vector<T>(side * side, 1)), out(side * side);
  (version<kernels::TransposeOps>(name)->*function)({}, out.data(), in.data(), side, side);
  succeed(cudaDeviceSynchronize());
}

void shared(const char* name, unsigned stride) {
  DeviceArray<std::uint32_t> in(std::vector<std::uint32_t>(kernels::shared_words, 1)), sums(kernels::shared_lanes);
  version<kernels::SharedOps>(name)->read({1, nullptr}, in.data(), stride, 8, 1, sums.data());
  succeed(cudaDeviceSynchronize());
}

template <class T, class Function>
void reduce(const char* name, Function kernels::ReduceOps<T>::*function) {
  constexpr std::size_t n = 4096;
  DeviceArray<T> x(std::vector<T>(n, 1));
  DeviceArray<double> scratch(kernels::reduce_scratch(n)), result(1);
  (version<kernels::ReduceOps<T>>(name)->*function)({}, {x.data(), n, scratch.data(), result.data()});
  succeed(cudaDeviceSynchronize());
}

void fold(const char* name, bool reads) {
  constexpr std::size_t n = 4096;
  DeviceArray<double> x(std::vector<double>(n, 1)), sum(1);
  DeviceArray<std::uint64_t> bits(1);
  kernels::StreamArgs<double> a;
  a.x = a.y = x.data();
  a.n = n;
  a.stores = kernels::Stores::non_temporal;
  a.sum = sum.data();
  a.bits = bits.data();
  const kernels::StreamOps<double>& ops = *version<kernels::StreamOps<double>>(name);
  (reads ? ops.read : ops.dot)({}, a);
  succeed(cudaDeviceSynchronize());
}

void gemm(const char* name) { GemmNumbers({128, 256, 64}).check(*version<kernels::GemmBf16Ops>(name)); }

std::vector<Counted> runs() {
  using Transpose = kernels::TransposeOps;
  const auto wide = [](const char* name) { transpose<std::uint64_t>(name, &Transpose::u64); };
  const auto narrow = [](const char* name) { transpose<std::uint32_t>(name, &Transpose::u32); };
  std::vector<Counted> all{{"transpose.cu", "transpose_tiled<0*unsigned>", "", "64 x 64", [=] { narrow("tiled"); }},
                           {"transpose.cu", "transpose_tiled<0*u64>", "", "64 x 64", [=] { wide("tiled"); }},
                           {"transpose.cu", "transpose_tiled<1*unsigned>", "", "64 x 64", [=] { narrow("padded"); }},
                           {"transpose.cu", "transpose_tiled<1*u64>", "", "64 x 64", [=] { wide("padded"); }},
                           {"gemm.cu", "multiply_tiled", "", "128 x 256 x 64", [] { gemm("tiled"); }},
                           {"gemm.cu", "multiply_pipeline<true>", "", "128 x 256 x 64", [] { gemm("pipeline"); }}};
  for (const unsigned stride : {1u, 2u, 8u, 32u, 33u})
    for (const char* name : {"modulo", "unrolled"})
      all.push_back({"shared.cu", std::string("read_") + name, "stride:" + std::to_string(stride), "8 reads of a lane",
                     [=] { shared(name, stride); }});
  using Reduce = kernels::ReduceOps<double>;
  for (const char* name : {"shared", "shuffle", "vector"}) {
    const std::string kernel = std::string("reduce_tiles_of<*") + name + "*>", how = "4096 of f64";
    all.push_back({"reduce.cu", kernel, "sum", how, [=] { reduce<double>(name, &Reduce::sum); }});
    all.push_back({"reduce.cu", kernel, "maximum", how, [=] { reduce<double>(name, &Reduce::maximum); }});
  }
  for (const bool reads : {false, true}) {
    const char* operation = reads ? "read" : "dot";
    all.push_back({"stream.cu", "fold_scalar*", operation, "4096 of f64", [=] { fold("scalar", reads); }});
    all.push_back({"stream.cu", "fold_vector*", operation, "4096 of f64", [=] { fold("deep", reads); }});
  }
  return all;
}

std::string row_of(const Counted& c) {
  count_bank_conflicts(true);
  c.run();
  std::uint64_t accesses = 0, wavefronts = 0, conflicts = 0;
  for (const BankConflicts& line : bank_conflicts()) {
    accesses += line.accesses;
    wavefronts += line.wavefronts;
    conflicts += line.conflicts;
  }
  count_bank_conflicts(false);
  EXPECT_GT(accesses, 0u) << c.kernel << ": nothing was counted";
  return c.file + "," + c.kernel + "," + c.operation + "," + std::to_string(accesses) + "," + std::to_string(wavefronts) + "," +
         std::to_string(conflicts) + ",tests/simt: " + c.how;
}

TEST(SimtConflicts, AreThoseOfTheTable) {
  const std::string path = ASSAY_SOURCE_DIR "/results/models/conflicts.csv";
  std::ifstream file(path);
  std::set<std::string> rows;
  for (std::string row; std::getline(file, row);) rows.insert(row);
  EXPECT_EQ(rows.erase("file,kernel,operation,accesses,wavefronts,conflicts,how"), 1u) << path;
  reset();
  set_schedule(Schedule::in_order);
  for (const Counted& c : runs()) {
    const std::string row = row_of(c);
    EXPECT_EQ(rows.erase(row), 1u) << path << " must have this row:\n" << row;
  }
  for (const std::string& row : rows) ADD_FAILURE() << path << " has a row that nothing here counts:\n" << row;
}

}  // namespace
}  // namespace assay::simt
