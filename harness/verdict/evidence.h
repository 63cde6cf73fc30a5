// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// What a value stands on, and whether that is enough to pass a machine on it: by a reference, or by a contract.
#pragma once

#include <cstddef>
#include <string>

namespace assay {

struct Evidence {
  std::size_t sessions = 0;
  bool constant = false;                   // all of them are the same, and their samples too (stats::is_constant)
  std::size_t samples = 0, disturbed = 0;  // of all sessions; disturbed: something else used the CPUs
};

// Why nothing is passed on it, whatever the value; "" when nothing speaks against it. Then there are two sessions or
// more, and they have an interval.
std::string doubt_about(const Evidence& evidence);

}  // namespace assay
