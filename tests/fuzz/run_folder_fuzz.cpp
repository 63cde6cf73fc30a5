// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// A run folder that came from elsewhere: plan, records, events and run.json, in this order, and all reports of it.
#include <sstream>

#include "harness/report/report.h"
#include "tests/fuzz/fuzz.h"

ASSAY_FUZZ(input) {
  static const char* const names[] = {"plan.json", "records.jsonl", "events.jsonl", "run.json"};
  const std::vector<std::string> parts = assay::fuzz::parts_of(input);
  for (std::size_t i = 0; i < std::size(names); ++i) {
    if (i < parts.size()) {
      assay::fuzz::write(names[i], parts[i]);
    } else {
      std::filesystem::remove(assay::fuzz::folder() / names[i]);
    }
  }
  const assay::RunData run = assay::read_run(assay::fuzz::folder());
  for (const std::string& format : assay::report_formats()) {
    std::ostringstream out;
    assay::fuzz::read_or_refuse([&] { assay::write_report({run}, format, out); });
  }
}
