// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// CUDA's way of failing becomes DeviceError. Every call of the runtime library in harness/device/cuda_* stands inside
// ASSAY_CUDA(...), so that no failure gets lost and each names its call.
#pragma once

#include <cuda_runtime.h>

#include <string>

#include "harness/device/accelerator.h"

namespace assay {

// Throws for an error; `call` is its source text: "cudaMalloc(&memory, bytes)".
void check_cuda(cudaError_t error, const char* call);

// "cudaMalloc: cudaErrorMemoryAllocation (2): out of memory; ...", of a call's source text and its error.
std::string cuda_sentence(cudaError_t error, const char* call);

// The error that every call of this process gives back from now on, in words; empty: there is none.
std::string cuda_loss();

// What a launch left behind, since rows of the tables return nothing: throws for it, with `what` as the call.
void check_launches(const char* what);

#define ASSAY_CUDA(call) ::assay::check_cuda((call), #call)

}  // namespace assay
