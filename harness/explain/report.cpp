// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See report.h.
#include "harness/explain/report.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/base/outcome.h"
#include "harness/base/text.h"

namespace assay::explain {
namespace {

Json cause_json(const Cause& cause) { return {{"code", cause.code}, {"kind", cause.kind}, {"line", cause.line}}; }

Json finding_json(const Finding& finding, const std::string& input) {
  Json consequences = Json::array(), quotes = Json::array();
  for (const Cause& cause : finding.consequences) consequences.push_back(cause_json(cause));
  for (const Quote& quote : finding.quotes) quotes.push_back({{"line", quote.line}, {"text", quote.text}});
  return {{"input", input},
          {"pci", finding.device},
          {"first_cause", cause_json(finding.first)},
          {"count", finding.count},
          {"consequences", consequences},
          {"layer", finding.layer},
          {"severity", finding.severity},
          {"action", finding.action},
          {"confidence", finding.confidence},
          {"meaning", finding.meaning},
          {"source", text_or_null(finding.source)},
          {"lines", quotes}};
}

std::string name_of(const Cause& cause) {
  return cause.code == "-" ? cause.kind : fmt::format("{} {}", cause.kind, cause.code);
}

}  // namespace

int exit_code_of(const std::vector<Explanation>& explanations) {
  std::vector<Finding> all;
  for (const Explanation& explanation : explanations)
    all.insert(all.end(), explanation.diagnosis.findings.begin(), explanation.diagnosis.findings.end());
  return exit_code_of(all);
}

Json to_json(const std::vector<Explanation>& explanations) {
  Json inputs = Json::array(), devices = Json::array();
  for (const Explanation& explanation : explanations) {
    inputs.push_back({{"name", plain(explanation.input)},
                      {"bytes", explanation.bytes},
                      {"lines", explanation.lines},
                      {"format", text_or_null(explanation.format)},
                      {"notes", explanation.notes}});
    for (const Finding& finding : explanation.diagnosis.findings)
      devices.push_back(finding_json(finding, plain(explanation.input)));
  }
  return {{"schema", "assay.explain.v1"},
          {"exit_code", exit_code_of(explanations)},
          {"inputs", inputs},
          {"devices", devices}};
}

std::string headline(const Finding& finding) {
  return fmt::format("{}: {} ({}, {}); {}", finding.device == "-" ? "no device" : finding.device,
                     name_of(finding.first), finding.layer, finding.severity, finding.action);
}

std::string to_text(const Explanation& explanation) {
  std::string text = fmt::format("{}  {}{}\n", plain(explanation.input), counted(explanation.lines, "line"),
                                 explanation.format.empty() ? "" : ", " + explanation.format);
  for (const std::string& note : explanation.notes) text += "  note         " + note + "\n";
  std::size_t quiet = 0;
  for (const Finding& finding : explanation.diagnosis.findings) {
    if (finding.first.kind == "none" && explanation.diagnosis.findings.front().first.kind != "none") {
      ++quiet;
      continue;
    }
    text += fmt::format("\n{}\n", finding.device == "-" ? "no device named" : finding.device);
    text += fmt::format("  first cause  {}{}{}\n", name_of(finding.first),
                        finding.first.line == 0 ? "" : fmt::format(", line {}", finding.first.line),
                        finding.count > 1 ? fmt::format(", {} times", finding.count) : "");
    text += fmt::format("  meaning      {}\n", finding.meaning);
    text += fmt::format("  blame        {}; severity {}; confidence {}\n", finding.layer, finding.severity,
                        finding.confidence);
    text += fmt::format("  do           {}\n", finding.action);
    if (!finding.consequences.empty()) {
      std::vector<std::string> names;
      for (const Cause& cause : finding.consequences)
        names.push_back(fmt::format("{} (line {})", name_of(cause), cause.line));
      text += fmt::format("  followed by  {}\n", join(names, ", "));
    }
    for (const Quote& quote : finding.quotes) text += fmt::format("  {:>11}: {}\n", quote.line, quote.text);
  }
  if (quiet > 0) text += fmt::format("\n{} without a fault\n", counted(quiet, "other device"));
  return text;
}

}  // namespace assay::explain
