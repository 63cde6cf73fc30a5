// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See list_judges.h.
#include "harness/commands/list_judges.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "harness/base/error.h"
#include "harness/base/text.h"
#include "harness/verdict/baseline.h"
#include "harness/verdict/rules.h"

namespace assay {
namespace {

ListedBaseline listed_baseline(const std::filesystem::path& path, const ClassTable& table) {
  ListedBaseline listed;
  listed.class_id = path.stem().string();
  listed.path = path.string();
  try {
    const Baseline baseline = read_baseline(path, table);
    listed.metrics = baseline.rows.size();
    for (const BaselineRow& row : baseline.rows) {
      listed.devices = std::max(listed.devices, row.devices);
      if (row.provisional) ++listed.provisional;
    }
  } catch (const Error& problem) {
    listed.problem = problem.what();
  }
  return listed;
}

ListedPack listed_pack(const std::string& name) {
  ListedPack listed;
  listed.name = name;
  try {
    const Contract pack = read_contract(name);
    listed.summary = pack.summary;
    listed.rules = pack.rules.size();
    listed.quarantined = pack.quarantined.size();
    std::set<std::string> classes;
    for (const Rule& rule : pack.rules) {
      if (!rule.later && !rule.require.empty()) ++listed.measurable;
      classes.insert(rule.classes.begin(), rule.classes.end());
    }
    listed.classes.assign(classes.begin(), classes.end());
  } catch (const Error& problem) {
    listed.problem = problem.what();
  }
  return listed;
}

std::string about(const ListedBaseline& b) {
  if (!b.problem.empty()) return "ERROR: " + b.problem;
  const std::string status = b.provisional == 0           ? "REFERENCE"
                             : b.provisional == b.metrics ? "PROVISIONAL"
                                                          : fmt::format("{} of them PROVISIONAL", b.provisional);
  return fmt::format("{} of {}, {}", counted(b.metrics, "metric"), counted(b.devices, "device"), status);
}

std::string about(const ListedPack& p) {
  if (!p.problem.empty()) return "ERROR: " + p.problem;
  constexpr std::size_t most = 3;
  std::vector<std::string> some = p.classes;
  if (some.size() > most) some.resize(most);
  const std::string more = p.classes.size() > most ? fmt::format(" and {} more", p.classes.size() - most) : "";
  return fmt::format("{:>3} rules, {:>2} measurable by this version, {:>2} quarantined  {}{}", p.rules, p.measurable,
                     p.quarantined, p.summary, some.empty() ? "" : fmt::format(" (for {}{})", join(some, ", "), more));
}

// "  rules      aws    8 rules": the first line has the title, those below it don't.
void print_lines(std::string title, const std::vector<std::pair<std::string, std::string>>& lines, std::ostream& out) {
  std::size_t width = 0;
  for (const auto& [name, text] : lines) width = std::max(width, plain(name).size());
  for (const auto& [name, text] : lines) {
    out << fmt::format("  {:<9}  {:<{}}  {}\n", title, plain(name), width, plain(text));
    title.clear();
  }
  if (lines.empty()) out << fmt::format("  {:<9}  none\n", title);
}

}  // namespace

ListedJudges gather_judges(const std::vector<DeviceInfo>& devices) {
  ListedJudges judges;
  std::optional<ClassTable> table;
  try {
    table = read_class_table();
    judges.gpu_classes = table->classes().size();
    judges.identities = table->identities().size();
  } catch (const Error& problem) {
    judges.problem = problem.what();
  }
  for (const DeviceInfo& device : devices) {
    Matched& matched = judges.matches.emplace_back(Matched{device.id, device.name, {}});
    if (table)
      matched.match = class_of(device, *table);
    else
      matched.match.reason = judges.problem;
  }
  for (const std::filesystem::path& path : baseline_files()) {
    if (table)
      judges.baselines.push_back(listed_baseline(path, *table));
    else
      judges.baselines.push_back({path.stem().string(), path.string(), 0, 0, 0, judges.problem});
  }
  for (const std::string& name : pack_names()) judges.packs.push_back(listed_pack(name));
  return judges;
}

Json to_json(const ListedJudges& judges) {
  Json matches = Json::array(), baselines = Json::array(), rules = Json::array();
  for (const Matched& device : judges.matches) matches.push_back(to_json(device));
  for (const ListedBaseline& b : judges.baselines)
    baselines.push_back({{"class", b.class_id},
                         {"file", b.path},
                         {"devices", b.devices},
                         {"metrics", b.metrics},
                         {"provisional", b.provisional},
                         {"problem", text_or_null(b.problem)}});
  for (const ListedPack& p : judges.packs)
    rules.push_back({{"name", p.name},
                     {"summary", p.summary},
                     {"rules", p.rules},
                     {"measurable", p.measurable},
                     {"classes", p.classes},
                     {"quarantined", p.quarantined},
                     {"problem", text_or_null(p.problem)}});
  return {{"gpu_classes", judges.gpu_classes},
          {"identities", judges.identities},
          {"problem", text_or_null(judges.problem)},
          {"matches", matches},
          {"baselines", baselines},
          {"rules", rules}};
}

void print_judges(const ListedJudges& judges, std::ostream& out) {
  out << "\nReferences (assay accept --baseline FILE --rules NAME)\n";
  std::vector<std::pair<std::string, std::string>> lines;
  out << fmt::format("  classes    {}\n", judges.problem.empty()
                                              ? fmt::format("{} of GPUs, by {} PCI identities; a CPU's by its facts",
                                                            judges.gpu_classes, judges.identities)
                                              : "ERROR: " + plain(judges.problem));
  for (const ListedBaseline& baseline : judges.baselines) lines.emplace_back(baseline.class_id, about(baseline));
  print_lines("baselines", lines, out);
  lines.clear();
  for (const ListedPack& pack : judges.packs) lines.emplace_back(pack.name, about(pack));
  print_lines("rules", lines, out);
}

}  // namespace assay
