// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// The gates between "a worker said so" and "it was measured". Pure functions; the word of a run comes from coverage.h.
#pragma once

#include <string>
#include <vector>

#include "harness/manifest.h"
#include "harness/record.h"

namespace assay {

// What a MEASURED record lacks as proof of work ("elements_compared is 0"); "" when it is complete. `declared` are the
// metrics that its benchmark owes.
std::string missing_proof(const Record& record, const std::vector<Metric>& declared);

// Applies the gates to a record from a worker: MEASURED with mismatches becomes FAIL, without proof of work ERROR, with
// a metric beyond its physical limit INVALID. Never makes a record better.
void apply_gates(Record& record, const std::vector<Metric>& declared);

}  // namespace assay
