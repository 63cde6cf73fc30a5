// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See shown_fact.h.
#include "harness/device/shown_fact.h"

namespace assay {

Json to_json(const ShownFact& fact) {
  return {{"name", fact.name}, {"value", fact.value ? number(*fact.value) : Json(nullptr)}, {"how", fact.how}};
}

ShownFact shown_fact_from_json(const Json& json) {
  ShownFact fact{json.at("name"), std::nullopt, json.at("how")};
  if (!json.at("value").is_null()) fact.value = json.at("value").get<double>();
  return fact;
}

}  // namespace assay
