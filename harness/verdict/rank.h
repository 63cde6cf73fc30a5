// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// The order in which verdicts are shown and told: what is worst comes first, as worst() has it.
#pragma once

#include "harness/base/outcome.h"

namespace assay {

// 0 for what is worst: exit code 1 before 3 before 2 before 0.
inline int rank(Outcome outcome) {
  const int c = code(outcome);
  return c == exit_code::fail ? 0 : c == exit_code::error ? 1 : c == exit_code::inconclusive ? 2 : 3;
}

}  // namespace assay
