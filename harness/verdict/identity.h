// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Is a card what it says it is? What it claims (its driver's facts) against what it has shown by working. A fact that
// nobody measured is UNKNOWN, never a MATCH; so is every match of a simulated device, which is no card. What differs is
// a MISMATCH there, too, or forgeries could not be rehearsed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/base/outcome.h"
#include "harness/device/device.h"
#include "harness/device/shown_fact.h"

namespace assay {

struct IdentityLine {
  std::string fact;
  std::optional<double> claimed, shown;  // nullopt: not told, not measured
  Outcome outcome = Outcome::unknown;    // match, mismatch, unknown
  std::string reason;
};

// `f32_lanes`: what a multiprocessor of this capability has, by NVIDIA's documents. One line for each fact, also for
// those that this version doesn't measure.
std::vector<IdentityLine> judge_identity(const DeviceInfo& device, std::optional<double> f32_lanes,
                                         const std::vector<ShownFact>& shown);

}  // namespace assay
