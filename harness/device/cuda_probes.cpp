// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See cuda_probes.h. Trap: without waiting for it neither memory nor an error of a kernel is real yet, so `kernel` only
// says that it could be started, and `synchronise` that all of its results are right.
#include "harness/device/cuda_probes.h"

#include <cuda_runtime.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "harness/device/cuda_error.h"
#include "kernels/fill.h"
#include "kernels/gemm_bf16.h"

namespace assay {
namespace {

constexpr std::size_t elements = std::size_t{1} << 16;
constexpr kernels::GemmShape shape{96, 80, 64};

enum class Step { context, allocation, kernel, synchronise };

// Memory that is given back whatever happens.
struct Memory {
  explicit Memory(std::size_t bytes) { ASSAY_CUDA(cudaMalloc(&at, bytes)); }
  ~Memory() { cudaFree(at); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  void* at = nullptr;
};

int capability_of(int number) {
  int major = 0, minor = 0;
  ASSAY_CUDA(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, number));
  ASSAY_CUDA(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, number));
  return 10 * major + minor;
}

void must(bool holds, const std::string& otherwise) {
  if (!holds) throw Error(otherwise);
}

// At least one: what was tried on no device has shown nothing.
int count() {
  int devices = 0;
  ASSAY_CUDA(cudaGetDeviceCount(&devices));  // the first call: it loads the driver's library and starts it
  must(devices > 0, "the driver has started and sees no device");
  return devices;
}

template <class Ops>
const Ops& must_have(const Ops* ops, int number) {
  must(ops != nullptr, "this build has no code for capability " + kernels::cuda_capability_text(capability_of(number)));
  return *ops;
}

template <class T>
void compare(const std::vector<T>& got, const std::vector<T>& expected) {
  const auto wrong = std::mismatch(got.begin(), got.end(), expected.begin());
  must(wrong.first == got.end(), fmt::format("wrong result: element {} of {}", wrong.first - got.begin(), got.size()));
}

void open(int number) {
  ASSAY_CUDA(cudaSetDevice(number));
  ASSAY_CUDA(cudaFree(nullptr));  // makes the context, where it isn't there yet
}

void fill(int number, Step last) {
  open(number);
  if (last == Step::context) return;
  const Memory memory(elements * sizeof(std::uint32_t));
  if (last == Step::allocation) return;
  const kernels::FillOps& ops = must_have(kernels::fill_ops(kernels::Backend::cuda, capability_of(number)), number);
  const kernels::Stream numbers{1, 2};
  ops.u32(static_cast<std::uint32_t*>(memory.at), elements, numbers, {});
  check_launches("launch of a kernel");
  if (last == Step::kernel) return;
  ASSAY_CUDA(cudaDeviceSynchronize());
  std::vector<std::uint32_t> got(elements), expected(elements);
  ASSAY_CUDA(cudaMemcpy(got.data(), memory.at, elements * sizeof got[0], cudaMemcpyDeviceToHost));
  kernels::fill_ops(kernels::Backend::cpu)->u32(expected.data(), elements, numbers, {});
  compare(got, expected);
}

// bf16 is the upper half of a float; small whole numbers are exact in it, and so is their product.
std::uint16_t bf16_of(float value) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return static_cast<std::uint16_t>(bits >> 16);
}

void multiply(int number) {
  open(number);
  const auto element = [](std::size_t row, std::size_t k) { return static_cast<int>((row * 7 + k * 3) % 5) - 2; };
  std::vector<std::uint16_t> a(shape.m * shape.k), b(shape.n * shape.k);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = bf16_of(static_cast<float>(element(i / shape.k, i % shape.k)));
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = bf16_of(static_cast<float>(element(i / shape.k + 1, i % shape.k)));
  const std::size_t c_elements = shape.m * shape.n;
  const Memory on_a(a.size() * 2), on_b(b.size() * 2), on_c(c_elements * sizeof(float));
  ASSAY_CUDA(cudaMemcpy(on_a.at, a.data(), a.size() * 2, cudaMemcpyHostToDevice));
  ASSAY_CUDA(cudaMemcpy(on_b.at, b.data(), b.size() * 2, cudaMemcpyHostToDevice));
  ASSAY_CUDA(cudaMemset(on_c.at, 0xA5, c_elements * sizeof(float)));
  const auto& ops = must_have(kernels::gemm_bf16_ops(kernels::Backend::cuda, capability_of(number)), number);
  const bool taken = ops.run({}, shape, static_cast<std::uint16_t*>(on_a.at), static_cast<std::uint16_t*>(on_b.at),
                             static_cast<float*>(on_c.at));
  must(taken, "the product of bf16 numbers can't take these sizes");
  check_launches("launch of a product of bf16 numbers");
  std::vector<float> c(c_elements), expected(c_elements);
  ASSAY_CUDA(cudaMemcpy(c.data(), on_c.at, c_elements * sizeof(float), cudaMemcpyDeviceToHost));
  for (std::size_t i = 0; i < c_elements; ++i)
    for (std::size_t k = 0; k < shape.k; ++k)
      expected[i] += static_cast<float>(element(i / shape.n, k) * element(i % shape.n + 1, k));
  compare(c, expected);
}

// On each device; an error says on which.
std::string each(const std::string& kind, const std::string& what, const std::function<void(int)>& act) {
  const int devices = count();
  for (int number = 0; number < devices; ++number) try {
      act(number);
    } catch (const Error& problem) {
      throw Error(fmt::format("{}:{}: {}", kind, number, problem.what()));
    }
  return fmt::format("{} on {} {}", what, devices, devices == 1 ? "device" : "devices");
}

}  // namespace

std::vector<CudaProbe> cuda_probes(const std::string& kind) {
  const auto filled = [kind](const char* what, Step last) {
    return [=] { return each(kind, what, [last](int number) { fill(number, last); }); };
  };
  const auto started = [] {
    const int devices = count();
    return fmt::format("the driver starts and sees {} {}", devices, devices == 1 ? "device" : "devices");
  };
  const std::string product = fmt::format("a product of bf16 numbers, {} elements compared", shape.m * shape.n);
  return {{"init", started},
          {"context", filled("a context", Step::context)},
          {"allocation", filled("memory", Step::allocation)},
          {"kernel", filled("a kernel was started", Step::kernel)},
          {"synchronise", filled("a kernel ended, 65536 elements compared", Step::synchronise)},
          {"product_bf16", [=] { return each(kind, product, multiply); }}};
}

}  // namespace assay
