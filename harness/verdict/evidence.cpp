// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See evidence.h.
#include "harness/verdict/evidence.h"

#include <fmt/format.h>

#include "harness/base/text.h"

namespace assay {

std::string doubt_about(const Evidence& evidence) {
  if (evidence.sessions < 2)
    return fmt::format("{} can't tell what the next one gives: measure 2 or more",
                       counted(evidence.sessions, "session"));
  if (evidence.constant) return "every sample is the same: that is a constant, not a measurement";
  if (2 * evidence.disturbed > evidence.samples)
    return fmt::format("something else used the CPUs in {} of {}: measure again on a quiet machine", evidence.disturbed,
                       counted(evidence.samples, "sample"));
  return {};
}

}  // namespace assay
