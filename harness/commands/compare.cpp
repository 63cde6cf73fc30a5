// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// assay compare BEFORE AFTER: is it still what it was? Two finished runs are one look, so the whole error is spent on
// it; adding sessions until the answer stands is `assay run --against`.
#include "harness/verdict/compare.h"

#include <fmt/format.h>

#include <fstream>
#include <iostream>

#include "harness/base/error.h"
#include "harness/base/text.h"
#include "harness/commands/output.h"
#include "harness/commands/side_reader.h"
#include "harness/options.h"
#include "harness/report/compare.h"

namespace assay {

int command_compare(const CompareOptions& options) {
  CompareSettings settings;
  for (const std::string& margin : options.margins) add_margin(margin, settings);
  const ReadSide before = read_side("BEFORE", options.before), after = read_side("AFTER", options.after);
  for (const ReadSide* side : {&before, &after})
    for (const std::string& warning : side->warnings) fmt::print(stderr, "warning: {}\n", plain(warning));
  const CompareResult result = compare(
      before.side, after.side, environment_changes(before.environment, after.environment, options.changed), settings);
  write_output(options.output, [&](std::ostream& out) { write_comparison(result, options.format, out); });
  return code(result.verdict);
}

}  // namespace assay
