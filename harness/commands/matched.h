// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// A device and its class, as `assay baseline match` and `assay list` say it.
#pragma once

#include <string>

#include "harness/base/json.h"
#include "harness/verdict/classes.h"

namespace assay {

struct Matched {
  std::string id, name;  // of the device
  ClassMatch match;
};

Json to_json(const Matched& device);  // an item of `devices` in match.v1.json
// "it has a baseline", "it has no baseline here"; "" without a class.
std::string baseline_text(const ClassMatch& match);

}  // namespace assay
