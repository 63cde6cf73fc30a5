// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// `assay explain`: lines, sections of nvidia-smi, tables, JSON; fed in pieces, which must give the same as in one.
#include "harness/explain/explain.h"
#include "harness/explain/report.h"
#include "tests/fuzz/fuzz.h"

using assay::explain::Explanation;
using assay::explain::Reader;
using assay::explain::Rules;

namespace {

Explanation explained(Rules& rules, std::string_view text, std::size_t piece) {
  Reader reader(rules, "fuzz");
  for (std::size_t at = 0; at < text.size(); at += piece) reader.feed(text.substr(at, piece));
  return reader.finish();
}

}  // namespace

ASSAY_FUZZ(input) {
  static Rules rules(ASSAY_SOURCE_DIR "/results/explain");
  const Explanation whole = explained(rules, input, input.size() + 1);
  assay::explain::to_text(whole);
  const std::string json = assay::explain::to_json({whole}).dump(-1, ' ', false, assay::Json::error_handler_t::replace);
  if (input.size() < 200) {
    const Explanation pieces = explained(rules, input, 1 + input.size() % 7);
    if (assay::explain::to_json({pieces}).dump(-1, ' ', false, assay::Json::error_handler_t::replace) != json)
      std::abort();
  }
}
