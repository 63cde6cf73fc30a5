// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Reports: functions from a run folder to text. One file per format in this folder and one line in report.cpp.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "harness/base/outcome.h"
#include "harness/parent/run_data.h"

namespace assay {

// "console", "csv", "json": what --format accepts.
std::vector<std::string> report_formats();
// UsageError with the nearest names for a format that isn't one of them.
void check_report_format(const std::string& format);
// Writes `runs` in `format` and returns the outcome of the worst run, which is also the last word of the console report
// and `outcome` in JSON. Records are read here, in constant memory for CSV. UsageError for an unknown format.
Outcome write_report(const std::vector<RunData>& runs, const std::string& format, std::ostream& out);

}  // namespace assay
