// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Real measurements of machines on which nothing changed, from the public data sets, where they are on this machine.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tests/aa_bench/cells.h"

namespace assay::aa_bench {

struct RealRow {
  std::string data, tool;
  double effect = 0;  // put on the second half
  Tally tally;
};
// Kernel launches of one process (32 of each configuration): the first half against the second, and odd against even.
// Device sessions of a fleet: first three against last three, ours with the class's prior, unchanged and slowed. Ours
// must say of one process a side that it can't say.
std::vector<RealRow> judge_real(const std::filesystem::path& data, const Settings& settings);

}  // namespace assay::aa_bench
