// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// The result of an acceptance as a table for people, as JSON (schema results/schema/accept.v1.json), and as Markdown.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "harness/verdict/accept.h"

namespace assay {

// "console", "json", "markdown"
std::vector<std::string> acceptance_formats();
// UsageError for another format.
void write_acceptance(const AcceptResult& result, const std::string& format, std::ostream& out);

}  // namespace assay
