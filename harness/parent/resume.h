// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// May a run be continued? Only by the same programs, on the same machine, with the same plan: otherwise its records
// would not be measurements of one thing.
#pragma once

#include <filesystem>
#include <vector>

#include "harness/parent/devices.h"
#include "harness/parent/plan.h"

namespace assay {

// Error (exit 3) naming what has changed since the run began: plan.json, a worker's program, a device (identity,
// driver, facts), the test variables. The memory that is available may differ.
void refuse_if_changed(const std::filesystem::path& folder, const Plan& plan, const std::vector<FoundDevice>& devices);

}  // namespace assay
