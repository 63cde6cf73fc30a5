// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// CUDA's way of failing becomes DeviceError. Every call of the runtime library in harness/device/cuda_* stands inside
// ASSAY_CUDA(...), so that no failure gets lost and each names its call.
#pragma once

#include <cuda_runtime.h>

#include "harness/device/accelerator.h"

namespace assay {

// Throws for an error; `call` is its source text: "cudaMalloc(&memory, bytes)".
void check_cuda(cudaError_t error, const char* call);

// What a launch left behind, since rows of the tables return nothing: throws for it, with `what` as the call.
void check_launches(const char* what);

#define ASSAY_CUDA(call) ::assay::check_cuda((call), #call)

}  // namespace assay
