// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// The page of a model (harness/model/model.h), for people and as JSON (schema results/schema/model.v1.json). Both begin
// by saying that it is a model.
#pragma once

#include <ostream>

#include "harness/base/json.h"
#include "harness/model/model.h"

namespace assay {

void print_model(const model::Page& page, std::ostream& out);
Json to_json(const model::Page& page);

}  // namespace assay
