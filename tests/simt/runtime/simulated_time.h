// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// The clock of the simulated device: it counts accesses and matrix products, so that what an event or %globaltimer
// tells grows with the work, is the same each time, and owes nothing to the speed of the host. It says nothing about a
// GPU.
#pragma once

#include <cstdint>

namespace assay::simt {

// 2 GHz, so that whoever takes one clock for the other is seen.
inline constexpr std::uint64_t cycles_per_ns = 2;
inline constexpr std::uint64_t access_ns = 4, launch_ns = 500, look_ns = 20;
// A matrix product of m x n x k numbers takes m x n x (bytes of k) / this: 4 for the smallest, 16 x 8 x 32 bytes.
inline constexpr std::uint64_t product_bytes_per_ns = 1024;

inline std::uint64_t simulated_ns = 1'000'000'000;  // never 0, which may mean "not told"

}  // namespace assay::simt
