// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Compiles and links if and only if kernels/vendor_gemm.cpp can use the oneDNN that CMake found.
#include <oneapi/dnnl/dnnl.hpp>

#if DNNL_CPU_RUNTIME != DNNL_RUNTIME_OMP
#error "this oneDNN does not use OpenMP"
#endif

int main() {
  const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  const dnnl::memory::desc matrix({1, 1}, dnnl::memory::data_type::f32, dnnl::memory::format_tag::ab);
#if DNNL_VERSION_MAJOR >= 3
  const dnnl::matmul::primitive_desc plan(engine, matrix, matrix, matrix, dnnl::primitive_attr());
#else
  const dnnl::matmul::primitive_desc plan(dnnl::matmul::desc(matrix, matrix, matrix), dnnl::primitive_attr(), engine);
#endif
  return dnnl_version()->major == DNNL_VERSION_MAJOR && plan.impl_info_str() != nullptr ? 0 : 1;
}
