// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Shared memory: all __shared__ variables of the program, which are its thread-local ones (types.h), and the dynamic
// part, which ends at a page that can't be touched. Blocks that run together have a slot each. The thread-local
// variables are those of the selected slot's block, and a copy of them stands for each other one: there they are found
// by the blocks of a cluster, which can't run at the same time anyway.
#pragma once

#include <cstddef>
#include <string>

namespace assay::simt {

inline constexpr std::size_t most_dynamic_shared = 232448;  // 227 KiB: what a block of an H100 can ask for

// Spoilt memory for the slots below `slots`.
void begin_shared(unsigned slots, std::size_t dynamic_bytes);
void select_shared(unsigned slot);
void* dynamic_shared();  // of the selected slot
// Is p in shared memory? Then whose, and which byte of all_shared_bytes() it is.
bool shared_index(const void* p, unsigned* slot, std::size_t* index);
// Where the same byte of another block is now.
const void* shared_in_slot(unsigned slot, std::size_t index);
std::size_t all_shared_bytes();  // of a block
// Empty, or what was written around the dynamic part.
std::string shared_damage();

}  // namespace assay::simt
