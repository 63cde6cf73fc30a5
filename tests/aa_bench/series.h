// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// In-run series: 600 s of log throughput at 1 Hz, with and without a fault, and who notices.
#pragma once

#include <string_view>
#include <vector>

#include "tests/aa_bench/cells.h"

namespace assay::aa_bench {

enum class Fault {
  none,
  step,      // from 300 s on
  burst,     // 300..330 s
  decay,     // linear from 120 s to the end
  saw_tooth  // 10 of every 30 s from 200 s on
};
struct SeriesNoise {
  double rho = 0, sd = 0;
  bool in_goal = true;  // rho up to 0.8 and sd up to 0.5 %
};
std::vector<double> make_series(const SeriesNoise& noise, bool warm_up, Fault fault, double size, Random& random);

struct SeriesCell {
  SeriesNoise noise;
  bool warm_up = false;
  Fault fault = Fault::none;
  double size = 0;
  std::size_t runs = 0;
  std::size_t ours = 0, early = 0, unwatched = 0;  // alarms; of them before the fault; runs that could not be watched
  std::size_t textbook = 0, last_first = 0;
};
std::string_view word(Fault fault);
// settings.pairs / 2 runs a cell.
std::vector<SeriesCell> judge_series(const Settings& settings);

}  // namespace assay::aa_bench
