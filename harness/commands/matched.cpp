// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See matched.h.
#include "harness/commands/matched.h"

#include "harness/verdict/baseline.h"

namespace assay {

Json to_json(const Matched& device) {
  const auto baseline = find_baseline(device.match.class_id);
  return {{"device", device.id},
          {"name", device.name},
          {"verdict", word(device.match.outcome)},
          {"class", text_or_null(device.match.class_id)},
          {"product", text_or_null(device.match.product)},
          {"family", text_or_null(device.match.family)},
          {"candidates", device.match.candidates},
          {"modes", device.match.modes},
          {"baseline", baseline ? Json(baseline->string()) : Json(nullptr)},
          {"reason", device.match.reason}};
}

std::string baseline_text(const ClassMatch& match) {
  if (match.outcome != Outcome::match) return "";
  return find_baseline(match.class_id) ? "it has a baseline" : "it has no baseline here";
}

}  // namespace assay
