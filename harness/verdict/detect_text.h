// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Inside of the detectors: what their files share.
#pragma once

#include <string>
#include <vector>

#include "harness/verdict/detect.h"

namespace assay {

// "cuda:0+cuda:1"
std::string set_name(const std::vector<std::string>& device_set);
// A finding with the place of a record.
Finding finding_at(const Record& record);

}  // namespace assay
