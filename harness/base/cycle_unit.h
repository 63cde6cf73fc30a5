// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace assay {

// The unit of the same quantity counted in cycles: "B/s" -> "B/cycle", "s" -> "cycle"; "" where a clock makes no sense.
inline std::string cycle_unit_of(const std::string& unit) {
  if (unit == "s") return "cycle";
  return unit.size() > 2 && unit.substr(unit.size() - 2) == "/s" ? unit.substr(0, unit.size() - 1) + "cycle" : "";
}

}  // namespace assay
