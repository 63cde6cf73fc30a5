// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// What a worker met on the devices. Of another machine it stands in DIR/.assay/probes.json, as facts_json.cpp writes
// it.
#include "harness/base/parse_json.h"
#include "harness/doctor/facts.h"

namespace assay::doctor {
namespace {

std::optional<std::vector<ProbeResult>> parse_probes(const std::string& text) try {
  std::vector<ProbeResult> probes;
  for (const Json& one : parse_json(text))
    probes.push_back({one.at("name"), one.at("outcome"), one.at("worker"), one.at("call"), one.at("detail"),
                      one.at("code"), one.at("simulated")});
  return probes;
} catch (const Json::exception&) {
  return std::nullopt;
}

}  // namespace

void gather_probes(const Root& root, const GatherOptions& options, Facts& facts) {
  if (!root.is_this_machine())
    facts.probes = root.text("/.assay/probes.json").as(parse_probes);
  else if (options.probe && (facts.has_gpu() || options.probe_without_gpu))
    facts.probes = options.probe();
  facts.probes.source = "workers";
}

}  // namespace assay::doctor
