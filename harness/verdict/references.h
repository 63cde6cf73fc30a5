// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// The four references of accept.h, each on its own. Limits are held against the interval of the device's own sessions:
// PASS when all of it is inside, FAIL when none is, else INCONCLUSIVE.
#pragma once

#include <optional>
#include <vector>

#include "harness/verdict/accept.h"

namespace assay {

// Mean of the sessions' log values.
double mean_log(const std::vector<stats::Session>& sessions);

Reference against_physical_limit(const AcceptedMetric& m, const std::optional<double>& bound);

// What the device's class can do at most, for records that carry no limit of their own (imported ones).
std::optional<double> limit_of_class(const AcceptedMetric& m, const AcceptedDevice* device);

// The class's tolerance limit on both axes. PROVISIONAL by fewer than 8 devices.
Reference against_class(const SideMetric& metric, const AcceptedMetric& m, const AcceptedDevice* device,
                        const AcceptSettings& settings);

// The devices of its class in this run, on both axes. Who stands out was seen once, and that is INCONCLUSIVE; FAIL
// takes two of two: it stands out in the first half of its sessions and in the second, measured apart.
Reference against_peers(const Side& side, const AcceptedMetric& m, const std::vector<AcceptedDevice>& devices);

// What the device itself gave before (`history` may be null): the tolerance limit of its earlier sessions, with the
// same coverage and confidence as a class's, never closer than the floor, on either axis: sessions of a few boots don't
// tell what the next boot changes. PROVISIONAL by fewer than 8 sessions, UNKNOWN by fewer than 3.
Reference against_history(const SideMetric& metric, const AcceptedMetric& m, const Side* history,
                          const AcceptSettings& settings);

}  // namespace assay
