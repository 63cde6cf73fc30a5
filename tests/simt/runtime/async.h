// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// What goes on beside the threads of a block on 9.0: bulk copies (bulk.cpp) that end at mbarriers (mbarrier.cpp) or in
// groups, and products of warpgroups (wgmma.cpp). Each takes effect as late as it may: a load when no thread can go on
// without it, a store or a product when its thread waits for it; in random schedules some at once instead.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "accesses.h"
#include "grid.h"

namespace assay::simt {

// For block.cpp. A block begins; it ends, and the text says what was still under way that must not be.
void forget_asynchronous(unsigned threads);
std::string finish_asynchronous();
bool has_copies();                // loads that are under way
void finish_one_copy();           // by a thread that waits
std::string describe_barriers();  // that somebody may wait for, behind the text of a deadlock

// The parts.
void forget_barriers();
void forget_bulk(unsigned threads);
std::string finish_bulk();
void forget_products();
std::string finish_products();

// Which byte of the shared memory of the block that runs p is, if it's there.
bool shared_at(const void* p, std::size_t* index);
// From now on clocks count: for a block that runs alone.
void use_clocks(Where where);
// An operation that the running thread begins.
Operation operation_of(unsigned who, std::uint32_t clock, Where where);

// A load into shared memory counts for the current phase of an mbarrier: its engine and clock. And its end.
Operation begin_load(void* barrier, Where where);
void end_load(void* barrier, std::size_t bytes, const Operation& operation);

}  // namespace assay::simt
