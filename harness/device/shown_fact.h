// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// What a device shows of itself by working, as a worker measures it for `assay identify` and the parent judges it.
#pragma once

#include <optional>
#include <string>

#include "harness/base/json.h"

namespace assay {

// The names, and what their values are:
//   multiprocessors      different ones that were seen
//   f32_lanes            multiply-adds of f32 in a cycle of a multiprocessor
//   memory_tested_bytes  that were written, all of them before the first was read again
//   memory_wrong_bytes   of these, what came back otherwise: broken, or the same memory under two addresses
struct ShownFact {
  std::string name;
  std::optional<double> value;  // nullopt: it was not measured
  std::string how;              // in which way, or why not
};

Json to_json(const ShownFact& fact);
ShownFact shown_fact_from_json(const Json& json);

}  // namespace assay
