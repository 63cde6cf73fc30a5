// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// JSON as it goes to a terminal or into a file for others: invalid UTF-8 is replaced, and the control characters that
// JSON allows inside of texts (DEL, C1) are escaped like all others.
#pragma once

#include <string>

#include "harness/base/json.h"

namespace assay {

std::string printed(const Json& json, int indent);

}  // namespace assay
