// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// How many kernels launch.cuh has started in this process. Whoever times CUDA rows sees by it that a device had work at
// all: a row of the CPU in its place counts nothing.
#pragma once

#include <atomic>
#include <cstdint>

namespace assay::kernels {

inline std::atomic<std::uint64_t> launch_count{0};

inline std::uint64_t launches() { return launch_count.load(std::memory_order_relaxed); }

}  // namespace assay::kernels
