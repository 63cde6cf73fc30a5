// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Fleets: who is rejected when a few devices are the reference and all others are judged.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tests/aa_bench/cells.h"

namespace assay::aa_bench {

struct Fleet {
  std::string name;
  bool real = false, skewed = false;
  std::vector<std::vector<double>> log_times;  // [device][session], lower is better
  double spread() const;                       // scaled MAD between devices
};
// Real ones from `data` (the folder with pal_gpu_fleet/) where it exists, and synthetic ones of public sizes. Only
// healthy devices: within 4.5 robust standard deviations of the median.
std::vector<Fleet> make_fleets(const std::filesystem::path& data, std::uint64_t seed);

struct FleetCell {
  std::string fleet;
  bool real = false, skewed = false;
  double spread = 0;
  std::size_t references = 16;
  bool contaminated = false;  // a tenth of the references is 10 % slower
  double effect = 0;          // of the judged devices
  // Devices judged, and called bad or left undecided: ours without and with the class's session spread as a prior.
  std::size_t judged = 0, ours = 0, ours_unknown = 0, with_prior = 0, superbench = 0, five_percent = 0;
  double share(std::size_t count) const { return static_cast<double>(count) / static_cast<double>(judged); }
};
// 300 draws of references a cell with 1000 pairs, fewer with fewer.
std::vector<FleetCell> judge_fleets(const std::vector<Fleet>& fleets, const Settings& settings);

}  // namespace assay::aa_bench
