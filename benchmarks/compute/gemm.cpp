// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// compute/gemm: square matrix multiplication C = A B, row major: own kernels (kernels/gemm.cpp: naive, blocked, packed)
// and what the vendors' libraries make of this CPU (OpenBLAS, oneDNN). On a device: own kernels for bf16 with sums in f32
// (kernels/gemm_bf16.h: B by columns), with matrices that fill four times its last cache: version:own is the best that its
// capability has (fact `kernel.gemm_bf16`), the others are the steps to it, each by its name in kernels/gemm*.cu, so that what
// lies between two of them is what that step is worth.
//
// Result: `throughput`, operations per second, higher is better. Formula: 2 n^3 per product. n grows with the threads
// (facts `n`, `implementation`, `library`); it is no power of two, where unpacked kernels lose their caches to
// conflicts. Limit for f32 and f64: cores x FLOP per cycle of the CPU model (kernels/cpu_peak.h) x the highest clock
// seen beside the samples. None for bf16 and int8: units differ within a model. Traps: OpenBLAS falls back to very old
// code on a CPU that it doesn't know (fact `warning`): then the number shows the library and not the machine. int8
// saturates on CPUs without VNNI (fact `int8_full_range`); u8 stays below 128 there.
//
// Verified: all of C, exactly, against O(n^2) arithmetic. A is the outer product u v of odd integers, B is random odd
// integers, so C[i][j] = u[i] w[j] with w = v B, computed in 64-bit integers from the generator (not from the buffers).
// All partial sums are exact in every type, whatever the order of summation, so any wrong element of C differs from
// its expectation; a kernel that pairs wrong rows and columns is wrong almost everywhere, for neither u, v nor B
// repeats.
#include "kernels/gemm.h"

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "harness/benchmark.h"
#include "kernels/bits.h"
#include "kernels/cpu_peak.h"
#include "kernels/fill.h"
#include "kernels/gemm_bf16.h"
#include "kernels/philox.h"
#include "kernels/vendor_gemm.h"

namespace {

using namespace assay;
using kernels::Bf16;
using kernels::VendorLibrary;
using kernels::VendorType;

template <class T>
T element(std::int32_t value) {
  if constexpr (std::is_same_v<T, Bf16>) {
    return kernels::to_bf16(static_cast<float>(value));
  } else {
    return static_cast<T>(value);
  }
}

// The inputs as integers. Magnitudes: below 2^(u_bits - 1) and so on; int8 has u, v > 0, because its A is unsigned.
struct Integers {
  kernels::Stream u_stream, v_stream, b_stream;
  int u_bits, v_bits, b_bits;
  bool positive_a;

  std::int32_t u(std::size_t i) const { return of(u32_at(u_stream, i), u_bits); }
  std::int32_t v(std::size_t p) const { return of(u32_at(v_stream, p), v_bits); }
  std::int32_t b(std::uint32_t word) const { return kernels::odd_of(word, b_bits); }

 private:
  std::int32_t of(std::uint32_t word, int bits) const {
    const std::int32_t value = kernels::odd_of(word, bits);
    return positive_a && value < 0 ? -value : value;
  }
};

// Calls use(p, j, b) for every element of the n x n matrix B with p in rows, j in order; n is a multiple of 4.
template <class Use>
void for_each_b(const Integers& integers, std::size_t n, kernels::Range rows, Use&& use) {
  for (std::size_t p = rows.begin; p < rows.end; ++p) {
    for (std::size_t j = 0; j < n; j += 4) {
      const kernels::PhiloxCounter words = block_at(integers.b_stream, (p * n + j) / 4);
      for (std::size_t i = 0; i < 4; ++i) use(p, j + i, integers.b(words.word[i]));
    }
  }
}

// w[j] = sum over p of v[p] B[p][j], each thread some rows, then added up.
std::vector<std::int64_t> row_sums(const Integers& integers, std::size_t n, int threads) {
  std::vector<std::int64_t> w(n, 0);
#pragma omp parallel num_threads(threads)
  {
    std::vector<std::int64_t> mine(n, 0);
    std::int64_t v = 0;
    std::size_t row = n;
    for_each_b(integers, n, kernels::share(n, omp_get_thread_num(), omp_get_num_threads(), 1),
               [&](std::size_t p, std::size_t j, std::int32_t b) {
                 if (p != row) v = integers.v(row = p);
                 mine[j] += v * b;
               });
#pragma omp critical
    for (std::size_t j = 0; j < n; ++j) w[j] += mine[j];
  }
  return w;
}

template <class A, class B>
void fill(const Integers& integers, std::size_t n, Buffer<A> a, Buffer<B> b, int threads) {
#pragma omp parallel num_threads(threads)
  {
    const kernels::Range rows = kernels::share(n, omp_get_thread_num(), omp_get_num_threads(), 1);
    std::vector<std::int32_t> v(n);
    for (std::size_t p = 0; p < n; ++p) v[p] = integers.v(p);
    for (std::size_t i = rows.begin; i < rows.end; ++i) {
      const std::int32_t u = integers.u(i);
      for (std::size_t p = 0; p < n; ++p) a[i * n + p] = element<A>(u * v[p]);
    }
    for_each_b(integers, n, rows,
               [&](std::size_t p, std::size_t j, std::int32_t value) { b[p * n + j] = element<B>(value); });
  }
}

// type_share: what a type can do in a cycle, as share of f32.
void limit_by_pipes(Run& run, double type_share) {
  const kernels::TeamPeak peak = kernels::team_peak(run.device().facts, run.device().labels, run.threads());
  run.limit_per_cycle("throughput", peak.f32_flop_per_cycle * type_share, peak.flop_source);
}

// Rows of the matrices: enough work for each thread, and little enough that a sample holds several products.
std::size_t rows_of(const std::string& version, int threads) {
  if (version == "naive") return 288;
  if (version == "blocked") return 576;
  std::size_t n = 1152;
  for (int enough_for = 2; enough_for < threads; enough_for *= 8) n *= 2;
  return n;
}

// The version under test, ready to be called.
struct Product {
  std::size_t workspace_bytes = 0;
  std::function<void(const void* a, const void* b, void* c, void* workspace)> run;
};

// Of the CPU; null: there is none of this name.
const kernels::GemmVersion* own_version(const std::string& name) {
  const kernels::GemmOps& ops = *kernels::gemm_ops(kernels::Backend::cpu);
  const auto* end = ops.versions + ops.count;
  const auto* found = std::find_if(ops.versions, end, [&](const kernels::GemmVersion& v) { return v.name == name; });
  return found == end ? nullptr : found;
}

Product own_product(Run& run, std::size_t n) {
  const kernels::GemmVersion* version = own_version(run.param("version"));
  const kernels::GemmShape shape{n, n, n};
  run.fact("library", "none, own kernel");
  return {version->workspace_bytes(run.exec(), shape),
          [=, exec = run.exec()](const void* a, const void* b, void* c, void* workspace) {
            version->run(exec, shape, static_cast<const float*>(a), static_cast<const float*>(b),
                         static_cast<float*>(c), workspace);
          }};
}

Product vendor_product(Run& run, VendorLibrary library, VendorType type, std::size_t n) {
  kernels::VendorGemmResult made = make_vendor_gemm(kernels::Backend::cpu, library, type, {n, n, n}, run.exec());
  if (made.gemm == nullptr) run.skip(made.reason);
  run.fact("library", kernels::vendor_version(library));
  run.fact("implementation", made.gemm->implementation());
  run.fact("library_threads", std::to_string(made.gemm->threads()));
  const std::string warning = kernels::vendor_warning(library);
  if (!warning.empty()) run.fact("warning", warning);
  const std::shared_ptr<kernels::VendorGemm> gemm = std::move(made.gemm);
  return {0, [gemm](const void* a, const void* b, void* c, void*) {
            if (!gemm->run(a, b, c)) throw std::runtime_error("the library reported an error while multiplying");
          }};
}

template <class A, class B, class C>
void multiply(Run& run, std::size_t n, const Integers& integers, const Product& product) {
  run.need_memory(n * n * (sizeof(A) + sizeof(B) + sizeof(C)) + product.workspace_bytes);
  const Buffer<A> a = run.buffer<A>(n * n);
  const Buffer<B> b = run.buffer<B>(n * n);
  const Buffer<C> c = run.buffer<C>(n * n);
  const Buffer<std::uint8_t> workspace = run.buffer<std::uint8_t>(product.workspace_bytes);
  fill<A, B>(integers, n, a, b, run.threads());

  const double operations = kernels::gemm_flop({n, n, n});
  run.operations_per_iteration(operations, "2 x n^3");
  run.bytes_per_iteration(static_cast<double>(n * n * (sizeof(A) + sizeof(B) + sizeof(C))), "A, B and C once");
  run.before_measuring([&] { kernels::spoil(c.data(), c.size_bytes(), run.exec()); });
  run.measure([&](std::uint64_t iterations) {
    for (std::uint64_t i = 0; i < iterations; ++i) product.run(a.data(), b.data(), c.data(), workspace.data());
  });
  run.rate("throughput", operations);

  const std::vector<std::int64_t> w = row_sums(integers, n, run.threads());
  run.verify(Check<C>{"C", c, [&](std::size_t first, std::span<C> out) {
                        std::int64_t u = 0;
                        std::size_t row = n;
                        for (std::size_t k = 0; k < out.size(); ++k) {
                          const std::size_t i = (first + k) / n, j = (first + k) % n;
                          if (i != row) u = integers.u(row = i);
                          out[k] = static_cast<C>(u * w[j]);
                        }
                      }});
}

// Row by row of B by columns: w[j] = sum over p of v[p] b(word of element j n + p).
std::vector<std::int64_t> column_sums(const Integers& integers, std::size_t n, int threads) {
  std::vector<std::int64_t> w(n, 0), v(n);
  for (std::size_t p = 0; p < n; ++p) v[p] = integers.v(p);
#pragma omp parallel for num_threads(threads) schedule(static)
  for (std::size_t j = 0; j < n; ++j) {
    kernels::for_each_word(integers.b_stream, j * n, n, [&](std::size_t i, std::uint32_t word) {
      w[j] += v[i - j * n] * integers.b(word);
    });
  }
  return w;
}

// A multiple of every tile, so that n^2 x (2 + 2 + 4) bytes fill the working set.
std::size_t rows_on_device(Run& run) {
  const double words = static_cast<double>(run.working_set_bytes("dram")) / 8;
  return std::max<std::size_t>(1, static_cast<std::size_t>(std::sqrt(words)) / 256) * 256;
}

void run_on_device(Run& run) {
  const std::string& version = run.param("version");
  const kernels::GemmBf16Ops& ops = version == "own" ? run.rows("gemm_bf16", kernels::gemm_bf16_ops)
                                                     : run.version<kernels::GemmBf16Ops>("gemm_bf16", version);
  const std::size_t n = rows_on_device(run);
  const kernels::GemmShape shape{n, n, n};
  const Integers integers{{run.seed(0), 0}, {run.seed(1), 0}, {run.seed(2), 0}, 4, 4, 5, false};
  run.fact("n", std::to_string(n));
  run.fact("library", "none, own kernel");
  run.need_memory(n * n * 8);
  const Buffer<std::uint16_t> a = run.buffer<std::uint16_t>(n * n), b = run.buffer<std::uint16_t>(n * n);
  const Buffer<float> c = run.buffer<float>(n * n);
  std::vector<std::int32_t> u(n), v(n);
  for (std::size_t i = 0; i < n; ++i) u[i] = integers.u(i), v[i] = integers.v(i);
  run.set(a, [&](std::size_t first, std::span<std::uint16_t> out) {
    for (std::size_t k = 0; k < out.size(); ++k) out[k] = element<Bf16>(u[(first + k) / n] * v[(first + k) % n]).bits;
  });
  run.set(b, [&](std::size_t first, std::span<std::uint16_t> out) {
    kernels::for_each_word(integers.b_stream, first, out.size(), [&](std::size_t i, std::uint32_t word) {
      out[i - first] = element<Bf16>(integers.b(word)).bits;
    });
  });
  run.data("A = u v, odd integers below 8 in u and v, B odd below 16, either sign");
  if (!ops.supports(shape, a.data(), b.data(), c.data())) run.skip("this row can't multiply matrices of this size");

  const double operations = kernels::gemm_flop(shape);
  run.operations_per_iteration(operations, "2 x n^3");
  run.bytes_per_iteration(8.0 * static_cast<double>(n * n), "A, B and C once");
  run.before_measuring([&] { run.spoil(c); });
  run.measure([&](std::uint64_t iterations) {
    for (std::uint64_t i = 0; i < iterations; ++i)
      if (!ops.run(run.exec(), shape, a.data(), b.data(), c.data()))
        throw std::runtime_error("this row refused a product of matrices that it says it can multiply");
  });
  run.rate("throughput", operations);
  run.limit("throughput", {std::nullopt, "none", "no attribute of a device tells its tensor cores"});

  const std::vector<std::int64_t> w = column_sums(integers, n, run.threads());
  run.verify(Check<float>{"C", c, [&](std::size_t first, std::span<float> out) {
                            for (std::size_t k = 0; k < out.size(); ++k)
                              out[k] = static_cast<float>(u[(first + k) / n] * w[(first + k) % n]);
                          }});
}

void run_gemm(Run& run) {
  if (!run.on_cpu()) return run_on_device(run);
  const std::string &version = run.param("version"), &type = run.param("type");
  const std::size_t n = rows_of(version, run.threads());
  run.fact("n", std::to_string(n));
  const kernels::Stream u{run.seed(0), 0}, v{run.seed(1), 0}, b{run.seed(2), 0};
  const bool openblas = version == "openblas", vendor = openblas || version == "onednn";
  const VendorLibrary library = openblas ? VendorLibrary::openblas : VendorLibrary::onednn;
  const Limit no_limit{std::nullopt, "none", "the units for " + type + " differ within a CPU model"};

  // Bits of u, v, b are such that n x |u v b| stays exact: below 2^24 in f32 and bf16, 2^53 in f64, 2^31 in int8.
  if (type == "f32") {
    run.data("A = u v, odd integers below 8 in u and v, B odd below 16, either sign");
    const Product product = vendor ? vendor_product(run, library, VendorType::f32, n) : own_product(run, n);
    multiply<float, float, float>(run, n, {u, v, b, 4, 4, 5, false}, product);
    limit_by_pipes(run, 1);
  } else if (type == "f64") {
    run.data("A = u v, odd integers below 128 in u and v, B odd below 32768, either sign");
    const Product product = vendor_product(run, library, VendorType::f64, n);
    multiply<double, double, double>(run, n, {u, v, b, 8, 8, 16, false}, product);
    limit_by_pipes(run, 0.5);
  } else if (type == "bf16") {
    run.data("A = u v, odd integers below 8 in u and v, B odd below 16, either sign");
    const Product product = vendor_product(run, library, VendorType::bf16, n);
    multiply<Bf16, Bf16, float>(run, n, {u, v, b, 4, 4, 5, false}, product);
    run.limit("throughput", no_limit);
  } else {
    const Product product = vendor_product(run, library, VendorType::int8, n);
    const bool full = kernels::int8_full_range_is_exact(kernels::Backend::cpu, run.exec());
    run.fact("int8_full_range", full ? "exact" : "saturates: silently wrong, so u8 stays below 128 here");
    run.data(full ? "A = u v, odd integers below 16 in u and v, B odd below 128, either sign"
                  : "A = u v, odd integers below 16 in u and below 8 in v, B odd below 128, either sign");
    multiply<std::uint8_t, std::int8_t, std::int32_t>(run, n, {u, v, b, 5, full ? 5 : 4, 8, true}, product);
    run.limit("throughput", no_limit);
  }
}

bool exists(const Params& params) {
  const std::string &version = params["version"], &type = params["type"];
  if (!params.on_cpu())
    return type == "bf16" && (version == "own" || kernels::cuda_versions<kernels::GemmBf16Ops>.knows(version.c_str()));
  if (version == "openblas") return type == "f32" || type == "f64";
  if (version == "onednn") return type != "f64";
  return type == "f32" && own_version(version) != nullptr;
}

// "build..." is a fact that no device has: unmet wherever it is asked for.
std::vector<Need> needs_of(const Params& params) {
  const std::string& version = params["version"];
  if (version == "tiles_128" || version == "tiles_256")
    return {{"wgmma", 1, "its instructions are those of 9.0 alone"}};
  if (version == "wmma" || version == "pipeline")
    return {{"capability", 80, "tensor cores multiply bf16 from 8.0 on"}};
  if (!params.on_cpu()) return {};
#ifndef ASSAY_HAVE_OPENBLAS
  if (params["version"] == "openblas") return {{"build.openblas", 1, "this build has no OpenBLAS"}};
#endif
#ifndef ASSAY_HAVE_ONEDNN
  if (params["version"] == "onednn") return {{"build.onednn", 1, "this build has no oneDNN"}};
#endif
  if (params["type"] != "bf16") return {};
#if defined(__aarch64__)
  return {{"cpu.bf16", 1, "oneDNN multiplies bf16 at speed with the CPU's BF16 instructions"}};
#else
  return {{"cpu.avx512_bf16", 1, "oneDNN multiplies bf16 at speed with AVX512-BF16"}};
#endif
}

int rank_of(const Params& params) {
  if (!params.on_cpu()) return params["version"] == "own" ? 11 : 70;  // the steps to it, where there is time for them
  const bool vendor = params["version"] == "openblas" || params["version"] == "onednn";
  if (params["threads"] != "all") return params["version"] == "packed" ? 40 : 45;
  if (params["version"] == "openblas") return params["type"] == "f32" ? 11 : 21;
  return vendor ? 22 : params["version"] == "packed" ? 30 : 60;
}

const Benchmark gemm_benchmark{
    .name = "compute/gemm",
    .summary = "matrix multiplication: own kernels from naive to best, OpenBLAS, oneDNN",
    .devices = {"cpu", "cuda"},
    .params = {{"version", {"naive", "blocked", "packed", "openblas", "onednn", "tiled", "wmma", "pipeline", "tiles_128",
                            "tiles_256", "own"}},
               {"type", {"f32", "f64", "bf16", "int8"}},
               {"threads", {"one", "all"}, kernels::Backend::cpu}},
    .metrics = {{"throughput", "op/s", Better::higher, "arithmetic operations per second: 2 n^3 for each product"}},
    .exists = exists,
    .needs = needs_of,
    .rank = rank_of,
    .setup_s = 0.1,
    .run = run_gemm,
};
REGISTER_BENCHMARK(gemm_benchmark);

}  // namespace
