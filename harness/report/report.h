// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Reports: pure functions from a run folder's data to text. One file per format in this folder and one line in
// report.cpp.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "harness/parent/run_data.h"

namespace assay {

// "console", "csv", "json": what --format accepts.
std::vector<std::string> report_formats();
// Writes `runs` in `format`; UsageError for an unknown format.
void write_report(const std::vector<RunData>& runs, const std::string& format, std::ostream& out);

}  // namespace assay
