// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Shared memory of the block that runs: all __shared__ variables of the program, which are its thread-local ones
// (types.h), and the dynamic part, which ends at a page that can't be touched.
#pragma once

#include <cstddef>
#include <string>

namespace assay::simt {

inline constexpr std::size_t most_dynamic_shared = 232448;  // 227 KiB: what a block of an H100 can ask for

void spoil_shared(std::size_t dynamic_bytes);
void* dynamic_shared();
// Is p in shared memory? Then which byte of all_shared_bytes() it is.
bool shared_index(const void* p, std::size_t* index);
std::size_t all_shared_bytes();
// Empty, or what was written around the dynamic part.
std::string shared_damage();

}  // namespace assay::simt
