// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// May a run be continued? Only by the same programs, on the same machine, with the same plan: otherwise its records
// would not be measurements of one thing.
#pragma once

#include <filesystem>
#include <vector>

#include "harness/parent/coverage.h"
#include "harness/parent/devices.h"
#include "harness/parent/plan.h"
#include "harness/parent/run_data.h"

namespace assay {

// Error (exit 3) naming what has changed since the run began: assay itself, the kernel or the machine, a worker's
// program or manifest, a device (identity, driver, facts, scenario), the test variables. The memory that is available
// may differ. That plan.json is still the same, read_run has checked.
void refuse_if_changed(const std::filesystem::path& folder, const Plan& plan, const std::vector<FoundDevice>& devices);

// Error when run.json, or the run's last event, counts other records than there are: some were taken away or changed
// after it was written.
void refuse_if_records_changed(const RunData& run, const CoverageCounts& counts);

}  // namespace assay
