// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// What moved everything at once. Two sides of an upgrade can't be interleaved, so whatever an epoch does (another boot,
// other pages) is in each metric; only cases of known cycle count, which nobody tunes, can show it. Their common change
// is never taken off a verdict in silence: a machine that got slower as a whole is slower. It decides one thing: a
// metric that REGRESSED is not to blame when it lost no more than they did.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/verdict/compare.h"

namespace assay {

// Is it one of the cases whose change tells what happened to everything? One core's arithmetic, and a copy.
bool is_control(const std::string& case_name);

// Mean change of the control cases per second, of all devices or of `device`. Where they disagree by more than their
// own errors allow, its error grows with that (Birge 1932). nullopt: none has an estimate.
std::optional<ControlShift> control_shift(const std::vector<MetricVerdict>& verdicts, const std::string& device = {});

// REGRESSED becomes INCONCLUSIVE where at least two control cases of the device slowed down, and beyond their change
// the metric lost less than its margin for certain (NO_REGRESSION by stats::compare with the shift taken off). Not the
// control cases themselves, whose word stands, and not what a lower clock explains: that is a fault to be told. Returns
// the sentence about the machine as a whole, "" when no metric was concerned. Never makes a verdict a pass.
std::string tell_common_changes(std::vector<MetricVerdict>& verdicts, const Side& before, const Side& after,
                                const CompareSettings& settings);

}  // namespace assay
