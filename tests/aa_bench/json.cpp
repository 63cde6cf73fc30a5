// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See report.h.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "tests/aa_bench/report.h"

namespace assay::aa_bench {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const Scores& scores, bool all_names) {
  Json json = Json::object();
  for (const std::string& name : score_names()) {
    const auto at = scores.find(name);
    if (at != scores.end())
      json[name] = at->second.value;
    else if (all_names)
      json[name] = nullptr;
  }
  return json;
}

Json json_of(const Tally& t) {
  return {{"pairs", t.pairs},     {"worse", t.worse},   {"better", t.better},
          {"changed", t.changed}, {"passes", t.passes}, {"unknown", t.unknown}};
}

Json json_of(const Suites& s) { return {{"suites", s.suites}, {"any", s.any}, {"adjusted", s.adjusted}}; }

Json json_of(const Goal& goal) {
  Json json = {{"score", goal.score}, {goal.at_most ? "at_most" : "at_least", goal.bar}};
  if (goal.got) json.update({{"value", goal.got->value}, {"where", goal.got->where}, {"trials", goal.got->trials}});
  if (goal.bound) json["bound"] = *goal.bound;
  json["met"] = goal.met();
  return json;
}

Json json_of(const FleetCell& c) {
  return {{"fleet", c.fleet},
          {"real", c.real},
          {"skewed", c.skewed},
          {"spread", c.spread},
          {"references", c.references},
          {"contaminated", c.contaminated},
          {"effect", c.effect},
          {"judged", c.judged},
          {"assay", c.ours},
          {"assay_unknown", c.ours_unknown},
          {"assay_prior", c.with_prior},
          {"superbench", c.superbench},
          {"five_percent", c.five_percent}};
}

Json json_of(const SeriesCell& c) {
  return {{"rho", c.noise.rho},
          {"sd", c.noise.sd},
          {"warm_up", c.warm_up},
          {"fault", word(c.fault)},
          {"size", c.size},
          {"runs", c.runs},
          {"assay", c.ours},
          {"assay_early", c.early},
          {"assay_unwatched", c.unwatched},
          {"textbook_cusum", c.textbook},
          {"last_below_first", c.last_first}};
}

Json json_of(const RealRow& r) {
  Json json = {{"data", r.data}, {"tool", r.tool}, {"effect", r.effect}};
  json.update(json_of(r.tally));
  return json;
}

// Counts by family and effect in percent.
Json json_of(const Cells& cells) {
  Json json;
  for (std::size_t f = 0; f < families.size(); ++f)
    for (double effect : effects)
      json[std::string(families[f].name)][fmt::format("{:g}", 100 * effect)] = json_of(cells.at(f, effect));
  return json;
}

template <class T>
Json list_of(const std::vector<T>& values) {
  Json json = Json::array();
  for (const T& value : values) json.push_back(json_of(value));
  return json;
}

}  // namespace

std::string as_json(const Results& results) {
  const std::vector<ToolScores> scores = scores_of(results);
  Json json = {{"seed", results.settings.seed}, {"pairs", results.settings.pairs}};
  for (const ToolScores& tool : scores) json["tools"][tool.tool.name] = json_of(tool.scores, true);
  json["goals"] = list_of(goals_of(scores, results.settings));
  for (const Cells& cells : results.variants) json["variants"][cells.tool.name] = json_of(variant_scores(cells), false);
  for (const auto* list : {&results.tools, &results.variants})
    for (const Cells& cells : *list) json["cells"][cells.tool.name] = json_of(cells);
  for (const auto& [tool, suites] : results.suites) json["suites"][tool] = json_of(suites);
  if (results.suites_with_epoch) json["suites"]["assay_with_epoch"] = json_of(*results.suites_with_epoch);
  json["fleets"] = list_of(results.fleets);
  json["inrun"] = list_of(results.series);
  json["real"] = list_of(results.real);
  return json.dump(1) + "\n";
}

}  // namespace assay::aa_bench
