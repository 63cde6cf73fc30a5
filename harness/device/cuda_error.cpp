// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See cuda_error.h. Trap: a kernel's error is told by whatever call comes next, so the call that an error names need
// not be the one that caused it; such an error is lasting, and its sentence says so.
#include "harness/device/cuda_error.h"

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace assay {
namespace {

// "12.4" of 12040
std::string version_text(int number) { return fmt::format("{}.{}", number / 1000, number % 1000 / 10); }

// Error 35, which is also what the runtime library says where there is no driver at all. Any driver of the same major
// version runs what was made with a later minor one.
std::string too_old() {
  int driver = 0, runtime = 0;
  cudaDriverGetVersion(&driver);
  cudaRuntimeGetVersion(&runtime);
  if (driver == 0) return "there is no NVIDIA driver here: libcuda.so.1 can't be loaded";
  return fmt::format(
      "the driver knows CUDA {} and this worker needs {} or newer: update the driver, or use the worker for an "
      "older CUDA",
      version_text(driver), version_text(runtime / 1000 * 1000));
}

// What a number means where CUDA's own text says too little to act on.
std::string meaning(cudaError_t error) {
  switch (static_cast<int>(error)) {
    case 2:
      return "another process may hold the device's memory";
    case 34:
      return "libcuda.so.1 is the toolkit's stub, not the driver's: take its folder out of the loader's path";
    case 35:
      return too_old();
    case 46:
      return "another process has the device for itself, or it fell off the bus";
    case 100:
      return "the driver sees no GPU: hidden by CUDA_VISIBLE_DEVICES, or not there";
    case 209:
      return "this build has no machine code for this device";
    case 214:
      return "a memory error that ECC can't correct: the device's memory is damaged";
    case 217:
      return "these two devices can't reach each other's memory";
    case 700:
    case 716:
      return "a kernel reached outside of its memory: a fault of the kernel, or of the device";
    case 702:
      return "a kernel took longer than the driver allows";
    case 719:
      return "a kernel failed";
    case 802:
      return "the NVSwitch fabric isn't ready: is the fabric manager running?";
    case 999:
      return "the device is lost, or the driver is broken: the kernel log tells more";
    default:
      return {};
  }
}

// "cudaMalloc(&memory, bytes)" -> "cudaMalloc"
std::string name_of(std::string_view call) {
  std::string name(call.substr(0, call.find('(')));
  return name;
}

// Whether there is a device to be lost.
bool is_without_device(int number) { return number == 34 || number == 35 || number == 100; }

}  // namespace

std::string cuda_sentence(cudaError_t error, const char* call) {
  std::string text = fmt::format("{}: {} ({}): {}", name_of(call), cudaGetErrorName(error), static_cast<int>(error),
                                 cudaGetErrorString(error));
  if (const std::string more = meaning(error); !more.empty()) text += fmt::format("; {}", more);
  return text;
}

std::string cuda_loss() {
  cudaGetLastError();
  const cudaError_t error = cudaDeviceSynchronize();
  return error == cudaSuccess ? "" : cuda_sentence(error, "cudaDeviceSynchronize");
}

void check_cuda(cudaError_t error, const char* call) {
  if (error == cudaSuccess) return;
  std::string text = cuda_sentence(error, call);
  const bool lasting = !cuda_loss().empty();
  if (lasting && !is_without_device(static_cast<int>(error)))
    text += "; nothing works on the device in this process any more";
  throw DeviceError(text, static_cast<int>(error), lasting);
}

void check_launches(const char* what) { check_cuda(cudaGetLastError(), what); }

}  // namespace assay
