// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// One case from request to record: the Run that a benchmark receives, and what becomes of it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "harness/benchmark.h"
#include "harness/protocol.h"
#include "harness/worker/link.h"
#include "harness/worker/memory.h"

namespace assay {

// ASSAY_TEST_* of the environment, for tests: CORRUPT=BENCHMARK flips a bit of that benchmark's outputs before they are
// verified, SLOWDOWN=1.03 lengthens timed work. Whatever is set is written into every record.
struct TestKnobs {
  std::string corrupt;
  double slowdown = 1;
  std::map<std::string, std::string> as_text() const;
};
// Error for a SLOWDOWN that is no number from 1 to 100.
TestKnobs test_knobs();

// The CPUs the process may use, read before any thread was pinned.
const std::vector<int>& worker_cpus();

// Runs a case of the registry on the CPU. Never throws for what the benchmark does: an exception becomes an ERROR
// record.
Record run_case(const CaseRequest& request, const std::string& worker, MemoryPool& pool, Link& link);

}  // namespace assay
