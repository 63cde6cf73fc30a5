// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Which class a key means. The rows that say most about it count: PCI id with both subsystem ids, then with the
// subsystem device only, then the id alone. Among them memory and default power limit must not contradict; what is left
// must be one class.
#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <cmath>

#include "harness/base/text.h"
#include "harness/verdict/classes.h"

namespace assay {
namespace {

constexpr double gib = 1073741824.0;

// Visible memory is less than what is sold: ECC on GDDR takes 1/16, firmware some more. Sizes of one id differ by a
// third at least.
bool memory_fits(double bytes, double sold_gib) {
  const double ratio = bytes / (sold_gib * gib);
  return ratio > 0.88 && ratio < 1.04;
}

bool near(double a, double b) { return std::fabs(a / b - 1) < 0.03; }

// How much of the key a row names: 0 not this id, 1 the id, 2 also the subsystem device, 3 both.
int specificity(const Identity& row, const DeviceKey& key) {
  if (row.vendor != key.vendor || row.device != key.device) return 0;
  if (row.subdevice.empty() && row.subvendor.empty()) return 1;
  if (row.subdevice != key.subdevice) return 0;
  if (row.subvendor.empty()) return 2;
  return row.subvendor == key.subvendor ? 3 : 0;
}

std::vector<std::string> classes_in(const std::vector<const Identity*>& rows) {
  std::vector<std::string> ids;
  for (const Identity* row : rows)
    if (!row->class_id.empty() && std::find(ids.begin(), ids.end(), row->class_id) == ids.end())
      ids.push_back(row->class_id);
  return ids;
}

// A class whose power can be set within a range: any default limit in it is that class.
bool power_fits(const Identity& row, const GpuClass* limits, double watts) {
  if (!row.power_w) return true;
  const double most = limits != nullptr && limits->power_max_w ? *limits->power_max_w : *row.power_w;
  return near(watts, *row.power_w) || (watts >= *row.power_w && watts <= most * 1.01);
}

ClassMatch unknown(std::string reason, std::vector<std::string> candidates) {
  ClassMatch match;
  match.reason = std::move(reason);
  match.candidates = std::move(candidates);
  return match;
}

ClassMatch matched(const GpuClass& found, std::string reason) {
  ClassMatch match;
  match.outcome = Outcome::match;
  match.class_id = found.id;
  match.product = found.name;
  match.family = family_of(found.compute_capability);
  match.reason = std::move(reason);
  return match;
}

std::string id_text(const DeviceKey& key) {
  return fmt::format("{}:{}{}", key.vendor, key.device,
                     key.subdevice.empty() ? "" : fmt::format(" (subsystem {}:{})", key.subvendor, key.subdevice));
}

}  // namespace

ClassMatch ClassTable::match(const DeviceKey& key) const {
  if (key.device.empty()) return match_by_name(key);
  int best = 0;
  for (const Identity& row : identities_) best = std::max(best, specificity(row, key));
  if (best == 0) return unknown(fmt::format("no product with the PCI id {}:{} is known", key.vendor, key.device), {});
  std::vector<const Identity*> rows;
  for (const Identity& row : identities_)
    if (specificity(row, key) == best) rows.push_back(&row);
  // A row without a class names several products by one id: all of the id are candidates, and something must decide.
  const bool shared = classes_in(rows).empty();
  if (shared)
    for (const Identity& row : identities_)
      if (row.vendor == key.vendor && row.device == key.device && row.form_factor != "vgpu") rows.push_back(&row);
  const std::vector<std::string> possible = classes_in(rows);
  if (shared && !possible.empty() && !key.memory_bytes && !key.power_limit_w)
    return unknown(fmt::format("{} can be {}, among others; the memory size and the default power limit would decide",
                               id_text(key), join(possible, " or ")),
                   possible);

  std::vector<std::string> decided{best == 1 ? "PCI id" : "PCI id and subsystem"};
  const auto keep = [&](const char* what, bool known, auto fits) {
    std::vector<const Identity*> left;
    for (const Identity* row : rows)
      if (!known || fits(*row)) left.push_back(row);
    rows = std::move(left);
    if (known) decided.emplace_back(what);
    return !rows.empty();
  };
  if (!keep("form factor", !key.form_factor.empty(),
            [&](const Identity& row) { return row.form_factor.empty() || row.form_factor == key.form_factor; }))
    return unknown(fmt::format("{} is no card of the form factor {}", id_text(key), key.form_factor), possible);
  if (!keep("memory", key.memory_bytes.has_value(),
            [&](const Identity& row) { return !row.memory_gib || memory_fits(*key.memory_bytes, *row.memory_gib); }))
    return unknown(fmt::format("{} with {:.1f} GiB of memory is no known product: the id is that of {}", id_text(key),
                               *key.memory_bytes / gib, join(possible, " or ")),
                   possible);
  if (!keep("default power limit", key.power_limit_w.has_value(),
            [&](const Identity& row) { return power_fits(row, find(row.class_id), *key.power_limit_w); }))
    return unknown(fmt::format("{} with a default power limit of {:.0f} W is no known product: the id is that of {}",
                               id_text(key), *key.power_limit_w, join(possible, " or ")),
                   possible);
  const std::vector<std::string> left = classes_in(rows);
  if (left.size() != 1) {
    std::vector<std::string> missing;
    if (!key.memory_bytes) missing.emplace_back("the memory size");
    if (!key.power_limit_w) missing.emplace_back("the default power limit");
    return unknown(left.empty() ? fmt::format("{} has a name but no class: {}", id_text(key), rows.front()->product)
                                : fmt::format("{} can be {}{}", id_text(key), join(left, " or "),
                                              missing.empty() ? "" : "; " + join(missing, " and ") + " would decide"),
                   left);
  }
  const Identity& row =
      **std::find_if(rows.begin(), rows.end(), [](const Identity* r) { return !r->class_id.empty(); });
  ClassMatch match;
  match.outcome = Outcome::match;
  match.class_id = row.class_id;
  match.product = row.product;
  match.family = row.family.empty() ? family_of(row.compute_capability) : row.family;
  match.reason = "by " + join(decided, ", ");
  return match;
}

ClassMatch ClassTable::match_by_name(const DeviceKey& key) const {
  if (key.name.empty()) return unknown("the device tells neither a PCI id nor a name", {});
  if (const GpuClass* said = find(key.name))  // an imported file says it of its devices
    return matched(*said, "by what the file says: no PCI id is told");
  std::vector<std::string> ids;
  const GpuClass* last = nullptr;
  for (const GpuClass& c : classes_) {
    if (c.name_regex.empty() || !RE2::PartialMatch(key.name, c.name_regex)) continue;
    if (key.memory_bytes && c.memory_bytes && !memory_fits(*key.memory_bytes, *c.memory_bytes / gib)) continue;
    if (key.power_limit_w && c.power_w && !near(*key.power_limit_w, *c.power_w)) continue;
    ids.push_back(c.id);
    last = &c;
  }
  if (ids.size() != 1)
    return unknown(ids.empty()
                       ? fmt::format("no PCI id is told, and no class has the name '{}'", shown(key.name))
                       : fmt::format("no PCI id is told, and '{}' can be {}", shown(key.name), join(ids, " or ")),
                   ids);
  return matched(*last, "by name only: no PCI id is told");
}

}  // namespace assay
