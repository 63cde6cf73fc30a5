// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See list_tables.h.
#include "harness/commands/list_tables.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "harness/base/error.h"
#include "harness/base/outcome.h"
#include "harness/base/text.h"
#include "harness/base/units.h"
#include "harness/report/parts.h"
#include "harness/verdict/baseline.h"
#include "harness/verdict/classes.h"
#include "harness/verdict/rules.h"

namespace assay {
namespace {

std::string quantity(const std::optional<double>& value, const char* unit) {
  return value ? format_quantity(*value, unit) : "-";
}

std::string operations(const GpuClass& gpu, const char* type) {
  const auto found = gpu.operations_per_second.find(type);
  return found == gpu.operations_per_second.end() ? "-" : format_quantity(found->second, "op/s");
}

Cells row_of(const GpuClass& gpu) {
  return {gpu.id,
          quantity(gpu.memory_bytes, "B"),
          quantity(gpu.memory_bytes_per_second, "B/s"),
          operations(gpu, "f64"),
          operations(gpu, "f32"),
          operations(gpu, "bf16"),
          quantity(gpu.power_w, "W"),
          find_baseline(gpu.id) ? "yes" : "no",
          plain(gpu.name)};
}

std::string asked_of(const Rule& rule) {
  std::vector<std::string> parts;
  if (rule.devices) parts.push_back(counted(*rule.devices, "device"));
  for (const Comparison& c : rule.require) parts.push_back(c.text);
  return join(parts, ", ");
}

// Whom it is for: classes, machine types, size of the node.
std::string whom(const Rule& rule) {
  std::vector<std::string> parts;
  if (!rule.classes.empty()) parts.push_back(join(rule.classes, ", "));
  if (!rule.shapes.empty()) parts.push_back("types " + join(rule.shapes, ", "));
  if (rule.node_devices) parts.push_back(fmt::format("nodes of {}", counted(*rule.node_devices, "device")));
  return parts.empty() ? "all" : join(parts, "; ");
}

void print_no_rules(const char* title, const std::vector<NoRule>& rows, std::ostream& out) {
  if (!rows.empty()) out << '\n' << title << '\n';
  for (const NoRule& row : rows) out << fmt::format("  {}: {}\n", plain(row.published), plain(row.reason));
}

int finish(std::ostream& out) {
  out.flush();
  if (!out) throw Error("cannot write to standard output");
  return exit_code::pass;
}

}  // namespace

int print_classes(const std::string& pattern, std::ostream& out) {
  const ClassTable table = read_class_table();
  const std::string holds = "*" + pattern + "*";
  std::vector<Cells> rows{{"class", "memory", "bandwidth", "f64", "f32", "bf16", "power", "baseline", "name"}};
  for (const GpuClass& gpu : table.classes())
    if (fnmatch(holds.c_str(), gpu.id.c_str(), FNM_CASEFOLD) == 0 ||
        fnmatch(holds.c_str(), gpu.name.c_str(), FNM_CASEFOLD) == 0)
      rows.push_back(row_of(gpu));
  if (rows.size() == 1)
    throw Error(
        fmt::format("no class of a GPU has '{}' in its name{}", shown(pattern), class_suggestion(pattern, table)));
  print_table(rows, {1, 2, 3, 4, 5, 6}, out);
  out << "Highest figures of the makers; their sources are in results/classes.csv\n";
  return finish(out);
}

int print_rules(const std::string& name_or_file, std::ostream& out) {
  const Contract contract = read_contract(name_or_file);
  out << plain(contract.name) << ": " << plain(contract.summary) << "\n\n";
  std::vector<Cells> rows{{"measurable", "requires", "of", "for"}};
  for (const Rule& rule : contract.rules)
    rows.push_back({rule.later ? "not yet" : "yes", plain(asked_of(rule)),
                    plain(rule.case_pattern.empty() ? "the node" : rule.case_pattern), plain(whom(rule))});
  print_table(rows, {}, out);
  print_no_rules("Quarantined: published, and can't be what was meant", contract.quarantined, out);
  print_no_rules("Left out: nothing that Assay measures on a device", contract.left_out, out);
  return finish(out);
}

}  // namespace assay
