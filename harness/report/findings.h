// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// What the detectors (verdict/detect.h) found inside the runs of a report, as text and as JSON, and what they need of a
// run folder: its devices, its host, and the temperatures of telemetry.jsonl. Findings never change the outcome of a
// report: it says how the measuring went; accept, compare and stress judge the machine.
#pragma once

#include <ostream>

#include "harness/base/json.h"
#include "harness/parent/run_data.h"
#include "harness/verdict/detect.h"

namespace assay {

void begin_run(Detector& detector, const RunData& run);
// The section "In the series"; with `name_runs` each finding names its run. Always says what could not be examined.
void print_findings(const Detections& found, bool name_runs, std::ostream& out);
// findings[], series_examined, series_too_short, ...
Json to_json(const Detections& found);

}  // namespace assay
