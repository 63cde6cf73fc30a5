// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// A bundle that came from elsewhere: the facts in it when the input begins like JSON, else the whole file; and what
// doctor makes of the facts.
#include "harness/doctor/bundle.h"
#include "harness/doctor/report.h"
#include "tests/fuzz/fuzz.h"

ASSAY_FUZZ(input) {
  using namespace assay::doctor;
  static const Knowledge knowledge(std::filesystem::path(ASSAY_SOURCE_DIR) / "results");
  static const std::vector<Check> checks = all_checks(knowledge);
  const Bundle bundle = !input.empty() && input[0] == '{' ? bundle_from_json(input) : read_bundle(input, "input");
  Report report{bundle.facts, knowledge, judge(checks_for(bundle, checks), {bundle.facts, knowledge})};
  report.verdict = verdict_of(report.answers, bundle.facts);
  to_console(report);
  to_markdown(report);
  to_json(report).dump();
}
