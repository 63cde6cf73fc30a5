// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// The schedules of this rig, in a file of their own: tests/ptx links another one.
#include <iterator>

#include "rig.h"

namespace assay::simt {
namespace {

constexpr Schedule four[] = {Schedule::in_order, Schedule::reverse, Schedule::random, Schedule::priority};

}  // namespace

const Schedules all_schedules = {four, std::size(four)};

}  // namespace assay::simt
