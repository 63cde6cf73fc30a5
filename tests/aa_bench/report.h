// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// The experiment as tables for people and as JSON. Neither holds a time or a number of threads: the same seed gives the
// same bytes.
#pragma once

#include <string>

#include "tests/aa_bench/scores.h"

namespace assay::aa_bench {

std::string as_tables(const Results& results);
std::string as_json(const Results& results);

}  // namespace assay::aa_bench
