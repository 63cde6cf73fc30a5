// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// The result of a comparison as a table for people, as JSON (schema results/schema/compare.v1.json), and as Markdown
// for a pull request.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "harness/verdict/compare.h"

namespace assay {

// "console", "json", "markdown"
std::vector<std::string> comparison_formats();
// UsageError for another format.
void write_comparison(const CompareResult& result, const std::string& format, std::ostream& out);

}  // namespace assay
