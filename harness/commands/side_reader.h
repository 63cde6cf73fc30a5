// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// From run folders (or files that `assay import` reads) to one side of a comparison.
#pragma once

#include <string>
#include <vector>

#include "harness/base/json.h"
#include "harness/verdict/side.h"

namespace assay {

struct ReadSide {
  Side side;
  Json environment;                   // for environment_changes()
  std::vector<std::string> warnings;  // a damaged last line, a run that was cut
};

// Several paths are several boots of the same machine. Error (exit 3) for a path that is neither a run nor a file that
// can be imported, for a run that is damaged, and for runs that differ among themselves in what must be equal; `name`
// is "BEFORE" or "AFTER".
ReadSide read_side(const std::string& name, const std::vector<std::string>& paths);

}  // namespace assay
