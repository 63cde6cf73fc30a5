// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// One case from request to record: the Run that a benchmark receives, and what becomes of it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "harness/base/test_knobs.h"
#include "harness/benchmark.h"
#include "harness/device/accelerator.h"
#include "harness/protocol.h"
#include "harness/worker/link.h"
#include "harness/worker/memory.h"

namespace assay {

// The CPUs the process may use, read before any thread was pinned.
const std::vector<int>& worker_cpus();

// Runs a case of the registry on the device that `open` gives, null: on the CPU. Never throws for what the benchmark or the
// device does: an exception becomes an ERROR record.
Record run_case(const CaseRequest& request, const std::string& worker, MemoryPool& pool, Link& link,
                const std::function<Accelerator&()>& open = nullptr);

}  // namespace assay
