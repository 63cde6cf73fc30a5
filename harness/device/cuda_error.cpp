// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See cuda_error.h. Trap: a kernel's error is told by whatever call comes next, so the call that an error names need not
// be the one that caused it; such an error is lasting, and its sentence says so.
#include "harness/device/cuda_error.h"

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace assay {
namespace {

// What a number means where CUDA's own text says too little to act on.
std::string_view meaning(cudaError_t error) {
  switch (static_cast<int>(error)) {
    case 2:
      return "another process may hold the device's memory";
    case 35:
      return "the driver is older than this worker's CUDA: update the driver, or use the worker for an older CUDA";
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

}  // namespace

std::string cuda_sentence(cudaError_t error, const char* call) {
  std::string text = fmt::format("{}: {} ({}): {}", name_of(call), cudaGetErrorName(error), static_cast<int>(error),
                                 cudaGetErrorString(error));
  if (const std::string_view more = meaning(error); !more.empty()) text += fmt::format("; {}", more);
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
  if (lasting) text += "; nothing works on the device in this process any more";
  throw DeviceError(text, static_cast<int>(error), lasting);
}

void check_launches(const char* what) { check_cuda(cudaGetLastError(), what); }

}  // namespace assay
