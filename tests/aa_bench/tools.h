// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Who judges, and what it is given: each tool with the design it is used with. Ours calls harness/stats, as the product
// does; the others are in peers.h.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "harness/stats/compare.h"
#include "tests/aa_bench/families.h"
#include "tests/aa_bench/peers.h"
#include "tests/aa_bench/random.h"

namespace assay::aa_bench {

struct Trial {
  Side before, after;
  double session_sd = 0;  // true standard deviation of a session's value in this family, for priors
};
struct Answer {
  Call call = Call::unknown;
  std::size_t sessions = 0;  // used a side
  double p = 1;              // of "the change is at most the margin"; ours only
  bool passes = false;       // exit code 0 would be given
};

Answer answer_of(const stats::Comparison& comparison);

struct Tool {
  std::string name;  // in JSON
  std::string what;  // for people
  Design design;
  double share = 1;  // of the pairs: slow tools get fewer
  std::function<Answer(const Trial&, Random&)> judge;
};

Tool ours();         // 5 sessions, margin 1 %, no prior
Tool ours_cycles();  // 8 sessions, margin 0.5 %, no prior, cycles instead of times
// Ours with other designs, with a prior from the class (right, half and a ninth of the truth), with a known epoch
// spread or control cases, and with sessions added until it is decided.
std::vector<Tool> variants();
std::vector<Tool> peers();

}  // namespace assay::aa_bench
