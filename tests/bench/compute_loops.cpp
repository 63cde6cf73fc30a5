// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Loops over matrix products. `size` is n of n x n matrices (default 1152, as compute/gemm on few cores); rates are in
// operations (2 n^3 per product) per second.
#include <algorithm>
#include <memory>
#include <stdexcept>

#include "kernels/gemm.h"
#include "kernels/vendor_gemm.h"
#include "peer_loops.h"

namespace assay::bench {
namespace {

using kernels::Backend;
using kernels::Exec;
using kernels::GemmShape;
using kernels::VendorLibrary;
using kernels::VendorType;

GemmShape shape_of(const Setup& setup) {
  const std::size_t n = setup.size ? setup.size : 1152;
  return {n, n, n};
}

Loop own(const Setup& setup) {
  const GemmShape shape = shape_of(setup);
  const Exec exec{setup.threads, nullptr};
  const kernels::GemmOps& ops = *kernels::gemm_ops(Backend::cpu);
  const kernels::GemmVersion& best = ops.versions[ops.count - 1];
  const std::size_t bytes = shape.n * shape.n * sizeof(float);
  const auto a = std::make_shared<Array>(bytes, setup.threads), b = std::make_shared<Array>(bytes, setup.threads),
             c = std::make_shared<Array>(bytes, setup.threads),
             workspace = std::make_shared<Array>(best.workspace_bytes(exec, shape), setup.threads);
  const auto run = [=](std::uint64_t iterations) {
    for (std::uint64_t i = 0; i < iterations; ++i) {
      best.run(exec, shape, a->as<float>(), b->as<float>(), c->as<float>(), workspace->as<void>());
    }
  };
  return {run, kernels::gemm_flop(shape), "op/s", "kernels/gemm.cpp, packed"};
}

template <VendorLibrary library, VendorType type>
Loop vendor(const Setup& setup) {
  const GemmShape shape = shape_of(setup);
  auto made = make_vendor_gemm(Backend::cpu, library, type, shape, Exec{setup.threads, nullptr});
  if (made.gemm == nullptr) throw std::runtime_error(made.reason);
  const std::shared_ptr<kernels::VendorGemm> gemm = std::move(made.gemm);
  const kernels::VendorElementBytes bytes = kernels::vendor_element_bytes(type);
  const std::size_t elements = shape.n * shape.n;
  const auto a = std::make_shared<Array>(elements * bytes.a, setup.threads),
             b = std::make_shared<Array>(elements * bytes.b, setup.threads),
             c = std::make_shared<Array>(elements * bytes.c, setup.threads);
  const auto run = [=](std::uint64_t iterations) {
    for (std::uint64_t i = 0; i < iterations; ++i) {
      if (!gemm->run(a->as<void>(), b->as<void>(), c->as<void>())) throw std::runtime_error("the library failed");
    }
  };
  return {run, kernels::gemm_flop(shape), "op/s", kernels::vendor_version(library) + ", " + gemm->implementation()};
}

const AddItems added({{"gemm_own_f32", own},
                      {"gemm_openblas_f32", vendor<VendorLibrary::openblas, VendorType::f32>},
                      {"gemm_openblas_f64", vendor<VendorLibrary::openblas, VendorType::f64>},
                      {"gemm_onednn_f32", vendor<VendorLibrary::onednn, VendorType::f32>},
                      {"gemm_onednn_bf16", vendor<VendorLibrary::onednn, VendorType::bf16>},
                      {"gemm_onednn_int8", vendor<VendorLibrary::onednn, VendorType::int8>}});

}  // namespace
}  // namespace assay::bench
