// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// CUDA devices: what they are, and one opened for use. No CUDA header here.
// Facts, each one number: capability (10 x major + minor), wgmma (1: has these instructions), multiprocessors,
// threads_per_multiprocessor, memory_bytes, available_bytes, cache.l2_bytes, shared_bytes_per_block,
// shared_bytes_per_multiprocessor, clock_hz, memory_clock_hz and memory_bus_bits (where the driver tells them), ecc_on,
// integrated, copy_engines, cluster_launch, driver_cuda_version, runtime_cuda_version (1000 x major + 10 x minor),
// has_code (0: this worker was built without code for the device).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "harness/device/accelerator.h"

namespace assay {

// `kind`: "cuda", or "simt" where the runtime library is the stand-in of tests/simt: ids are then simt:0, and all that
// comes of them is simulated. DeviceError where there is no driver, an old one, or no device.
std::vector<DeviceInfo> cuda_devices(const std::string& kind);
// "13.0": the CUDA that this program was made with.
std::string cuda_built_with();
// The device `number` of that list, made the current one.
std::unique_ptr<Accelerator> open_cuda_device(const std::string& kind, int number);

}  // namespace assay
