// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Plays one case of a scenario on a virtual clock and writes the record that a real worker would have written: same
// phases, same rules for warm-up and stopping (stop_rule.h), proof of work that agrees with the samples, both axes.
// Ten minutes of virtual time take milliseconds, unless the scenario paces them (`real_time_factor`).
// Trap: times in such a record are virtual; only `started_at` and `go_ns` are the machine's. It is marked simulated,
// and nothing that judges may take it for a measurement.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "harness/device/scenario.h"
#include "harness/protocol.h"
#include "harness/record.h"
#include "harness/worker/link.h"

namespace assay {

// What surrounds the playing of a case.
struct FakeStage {
  // Called when the phase of a scripted fault begins. A fault that kills or stops the process doesn't return; the
  // others are done by play() itself.
  std::function<void(const FakeFault& fault)> strike = nullptr;
  std::uint64_t cases_before = 0;  // in this process: what `leak_bytes` is multiplied with
  double slowdown = 1;             // ASSAY_TEST_SLOWDOWN
  std::string corrupt;             // ASSAY_TEST_CORRUPT: benchmark or case whose output gets a wrong bit
  std::map<std::string, std::string> test_knobs;
};

// Error for a case or device that the scenario doesn't have; what goes wrong later is in the record.
Record play(const Scenario& scenario, const CaseRequest& request, Link& link, const FakeStage& stage);

}  // namespace assay
