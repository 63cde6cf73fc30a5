// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// OpenBLAS and oneDNN as rows. Traps: OpenBLAS chooses its kernels by CPU model and falls back to its oldest ones for a
// model newer than itself (a factor of 4 to 5; OPENBLAS_CORETYPE overrules it), and its thread limit is set when it is
// built; oneDNN has no bf16 on CPUs without AVX512-BF16, and is silently wrong in int8 without VNNI (see the header).

#include "kernels/vendor_gemm.h"

#include <climits>
#include <cstring>
#include <vector>

#ifdef ASSAY_HAVE_OPENBLAS
#include <cblas.h>
#endif
#ifdef ASSAY_HAVE_ONEDNN
#include <omp.h>

#include <oneapi/dnnl/dnnl.hpp>
#endif

namespace assay::kernels {
namespace {

VendorGemmResult no_row(std::string reason) { return {nullptr, std::move(reason)}; }

#ifdef ASSAY_HAVE_OPENBLAS
class OpenBlasGemm : public VendorGemm {
 public:
  OpenBlasGemm(VendorType type, GemmShape shape, int threads)
      : type_(type),
        m_(static_cast<blasint>(shape.m)),
        n_(static_cast<blasint>(shape.n)),
        k_(static_cast<blasint>(shape.k)) {
    openblas_set_num_threads(threads);
    threads_ = openblas_get_num_threads();
  }

  bool run(const void* a, const void* b, void* c) override {
    if (type_ == VendorType::f32) {
      cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m_, n_, k_, 1.0F, static_cast<const float*>(a), k_,
                  static_cast<const float*>(b), n_, 0.0F, static_cast<float*>(c), n_);
    } else {
      cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m_, n_, k_, 1.0, static_cast<const double*>(a), k_,
                  static_cast<const double*>(b), n_, 0.0, static_cast<double*>(c), n_);
    }
    return true;  // the interface reports wrong arguments only, and there are none
  }

  std::string implementation() const override { return openblas_get_corename(); }
  int threads() const override { return threads_; }

 private:
  VendorType type_;
  blasint m_, n_, k_;
  int threads_ = 0;
};
#endif

VendorGemmResult make_openblas([[maybe_unused]] VendorType type, [[maybe_unused]] GemmShape shape,
                               [[maybe_unused]] const Exec& exec) {
#ifdef ASSAY_HAVE_OPENBLAS
  if (type != VendorType::f32 && type != VendorType::f64) return no_row("OpenBLAS multiplies f32 and f64 only");
  if (shape.m > INT_MAX || shape.n > INT_MAX || shape.k > INT_MAX) return no_row("OpenBLAS sizes end at 2^31 - 1");
  return {std::make_unique<OpenBlasGemm>(type, shape, exec.threads), {}};
#else
  return no_row("this build has no OpenBLAS");
#endif
}

#ifdef ASSAY_HAVE_ONEDNN
dnnl::memory::desc matrix(std::size_t rows, std::size_t columns, dnnl::memory::data_type type) {
  return {{static_cast<dnnl::memory::dim>(rows), static_cast<dnnl::memory::dim>(columns)},
          type,
          dnnl::memory::format_tag::ab};
}

// Plain row-major operands, as a program has them: what the library repacks is part of its time.
class OneDnnGemm : public VendorGemm {
 public:
  OneDnnGemm(VendorType type, GemmShape shape, int threads) : threads_(threads) {
    using Data = dnnl::memory::data_type;
    const Data in = type == VendorType::f32 ? Data::f32 : type == VendorType::bf16 ? Data::bf16 : Data::u8;
    const auto a = matrix(shape.m, shape.k, in);
    const auto b = matrix(shape.k, shape.n, type == VendorType::int8 ? Data::s8 : in);
    const auto c = matrix(shape.m, shape.n, type == VendorType::int8 ? Data::s32 : Data::f32);
    omp_set_num_threads(threads_);  // oneDNN plans for the thread count that it sees when the primitive is made
    dnnl::primitive_attr own_scratchpad;
    own_scratchpad.set_scratchpad_mode(dnnl::scratchpad_mode::user);  // so that run() allocates nothing
#if DNNL_VERSION_MAJOR >= 3
    const dnnl::matmul::primitive_desc plan(engine_, a, b, c, own_scratchpad);
#else
    const dnnl::matmul::primitive_desc plan(dnnl::matmul::desc(a, b, c), own_scratchpad, engine_);
#endif
    implementation_ = plan.impl_info_str();
    a_ = dnnl::memory(a, engine_, nullptr);
    b_ = dnnl::memory(b, engine_, nullptr);
    c_ = dnnl::memory(c, engine_, nullptr);
    scratchpad_ = dnnl::memory(plan.scratchpad_desc(), engine_);
    matmul_ = dnnl::matmul(plan);
  }

  // The C interface: the C++ one builds a map and a vector for each call, and throws.
  bool run(const void* a, const void* b, void* c) override {
    omp_set_num_threads(threads_);
    const bool bound = dnnl_memory_set_data_handle(a_.get(), const_cast<void*>(a)) == dnnl_success &&
                       dnnl_memory_set_data_handle(b_.get(), const_cast<void*>(b)) == dnnl_success &&
                       dnnl_memory_set_data_handle(c_.get(), c) == dnnl_success;
    const dnnl_exec_arg_t arguments[] = {{DNNL_ARG_SRC, a_.get()},
                                         {DNNL_ARG_WEIGHTS, b_.get()},
                                         {DNNL_ARG_DST, c_.get()},
                                         {DNNL_ARG_SCRATCHPAD, scratchpad_.get()}};
    return bound && dnnl_primitive_execute(matmul_.get(), stream_.get(), 4, arguments) == dnnl_success &&
           dnnl_stream_wait(stream_.get()) == dnnl_success;
  }

  std::string implementation() const override { return implementation_; }
  int threads() const override { return threads_; }

 private:
  int threads_;
  dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream_{engine_};
  std::string implementation_;
  dnnl::memory a_, b_, c_, scratchpad_;
  dnnl::matmul matmul_;
};
#endif

[[maybe_unused]] const char* type_name(VendorType type) {
  constexpr const char* names[] = {"f32", "f64", "bf16", "int8"};
  return names[static_cast<int>(type)];
}

VendorGemmResult make_onednn([[maybe_unused]] VendorType type, [[maybe_unused]] GemmShape shape,
                             [[maybe_unused]] const Exec& exec) {
#ifdef ASSAY_HAVE_ONEDNN
  if (type == VendorType::f64) return no_row("oneDNN has no f64 matrix multiplication on CPUs");
  try {
    return {std::make_unique<OneDnnGemm>(type, shape, exec.threads), {}};
  } catch (const dnnl::error& error) {
    const bool missing = error.status == dnnl_unimplemented;
    return no_row(
        vendor_version(VendorLibrary::onednn) + " has no " + type_name(type) + " matrix multiplication here: " +
        (missing && type == VendorType::bf16 ? "this CPU has neither AVX512-BF16 nor the AVX-512 that stands in for it"
                                             : error.what()));
  }
#else
  return no_row("this build has no oneDNN");
#endif
}

}  // namespace

VendorGemmResult make_vendor_gemm(Backend backend, VendorLibrary library, VendorType type, GemmShape shape,
                                  const Exec& exec) {
  if (backend != Backend::cpu) return no_row("this build has no such library for the device");
  return library == VendorLibrary::openblas ? make_openblas(type, shape, exec) : make_onednn(type, shape, exec);
}

std::string vendor_version(VendorLibrary library) {
  if (library == VendorLibrary::openblas) {
#ifdef ASSAY_HAVE_OPENBLAS
    const std::string config = openblas_get_config();  // "OpenBLAS 0.3.21 NO_LAPACKE ..."
    return config.substr(0, config.find(' ', config.find(' ') + 1));
#endif
  } else {
#ifdef ASSAY_HAVE_ONEDNN
    const dnnl_version_t* v = dnnl_version();
    return "oneDNN " + std::to_string(v->major) + "." + std::to_string(v->minor) + "." + std::to_string(v->patch);
#endif
  }
  return {};
}

std::string vendor_warning([[maybe_unused]] VendorLibrary library) {
#if defined(ASSAY_HAVE_OPENBLAS) && (defined(__x86_64__) || defined(__i386__)) && defined(__GNUC__)
  if (library != VendorLibrary::openblas) return {};
  const std::string core = openblas_get_corename();
  const auto one_of = [&](std::initializer_list<const char*> names) {
    for (const char* name : names) {
      if (core == name) return true;
    }
    return false;
  };
  const bool wide = one_of({"SkylakeX", "Cooperlake", "SapphireRapids"});
  const std::string runs = "OpenBLAS runs its " + core + " kernels, ";
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && !wide) {
    return runs + "though this CPU has AVX-512: set OPENBLAS_CORETYPE=SkylakeX to see the difference";
  }
  if (__builtin_cpu_supports("avx2") && !wide && !one_of({"Haswell", "Zen"})) {
    return runs + "though this CPU has AVX2: set OPENBLAS_CORETYPE=Haswell to see the difference";
  }
#endif
  return {};
}

bool int8_full_range_is_exact(Backend backend, const Exec& exec) {
  constexpr std::size_t n = 64;
  const auto made = make_vendor_gemm(backend, VendorLibrary::onednn, VendorType::int8, {n, n, n}, exec);
  if (made.gemm == nullptr) return false;
  const std::vector<std::uint8_t> a(n * n, 255);
  for (const int factor : {127, -128}) {
    const std::vector<std::int8_t> b(n * n, static_cast<std::int8_t>(factor));
    std::vector<std::int32_t> c(n * n, 0);
    if (!made.gemm->run(a.data(), b.data(), c.data())) return false;
    for (const std::int32_t value : c) {
      if (value != 255 * factor * static_cast<int>(n)) return false;
    }
  }
  return true;
}

}  // namespace assay::kernels
