// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// An explanation for people and as JSON (results/schema/explain.v1.json).
#pragma once

#include <string>
#include <vector>

#include "harness/base/json.h"
#include "harness/explain/explain.h"

namespace assay::explain {

Json to_json(const std::vector<Explanation>& explanations);
std::string to_text(const Explanation& explanation);
// One line for --follow.
std::string headline(const Finding& finding);
int exit_code_of(const std::vector<Explanation>& explanations);

}  // namespace assay::explain
