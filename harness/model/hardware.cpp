// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See hardware.h.
#include "harness/model/hardware.h"

#include <algorithm>

#include "harness/base/csv_file.h"

namespace assay::model {
namespace {

namespace fs = std::filesystem;

double positive(const CsvFile& file, const char* column) {
  const double value = file.required_number(column);
  if (!(value > 0)) file.fail(column, "must be more than 0");
  return value;
}

std::optional<double> positive_or_none(const CsvFile& file, const char* column) {
  const std::optional<double> value = file.number(column);
  if (value && !(*value > 0)) file.fail(column, "must be more than 0; leave it empty where it isn't known");
  return value;
}

std::vector<Multiprocessor> read_multiprocessors(const fs::path& path) {
  static const std::vector<std::string> types{"f32", "f64", "f16x2", "bf16x2", "i32", "rcp"};
  std::vector<std::string> columns{"compute_capability",
                                   "threads",
                                   "blocks",
                                   "registers",
                                   "registers_of_a_thread",
                                   "shared_bytes",
                                   "shared_bytes_of_a_block",
                                   "shared_bytes_reserved",
                                   "schedulers",
                                   "shared_bytes_per_cycle",
                                   "source"};
  columns.insert(columns.end(), types.begin(), types.end());
  CsvFile file(path, columns);
  std::vector<Multiprocessor> all;
  while (file.next()) {
    Multiprocessor& m = all.emplace_back();
    m.compute_capability = file.required_text("compute_capability");
    if (family_of(m.compute_capability).empty()) file.fail("compute_capability", "is not of the form 9.0");
    if (std::count_if(all.begin(), all.end(),
                      [&](const auto& a) { return a.compute_capability == m.compute_capability; }) > 1)
      file.fail("compute_capability", m.compute_capability + " is there twice");
    m.threads = positive(file, "threads");
    m.blocks = positive(file, "blocks");
    m.registers = positive(file, "registers");
    m.registers_of_a_thread = positive(file, "registers_of_a_thread");
    m.shared_bytes = positive(file, "shared_bytes");
    m.shared_bytes_of_a_block = positive(file, "shared_bytes_of_a_block");
    m.shared_bytes_reserved = file.required_number("shared_bytes_reserved");
    m.schedulers = positive(file, "schedulers");
    m.shared_bytes_per_cycle = positive_or_none(file, "shared_bytes_per_cycle");
    for (const std::string& type : types)
      if (const auto lanes = positive_or_none(file, type.c_str())) m.lanes[type] = *lanes;
    m.source = file.required_text("source");
  }
  return all;
}

std::vector<Fact> read_facts(const fs::path& path) {
  CsvFile file(path, {"of", "what", "value", "unit", "clock_mhz", "conditions", "source"});
  std::vector<Fact> all;
  while (file.next()) {
    Fact& f = all.emplace_back();
    f.of = file.required_text("of");
    f.what = file.required_text("what");
    f.value = positive(file, "value");
    f.unit = file.required_text("unit");
    if (const auto clock = positive_or_none(file, "clock_mhz")) f.clock_hz = *clock * 1e6;
    f.conditions = file.text("conditions");
    f.source = file.required_text("source");
  }
  return all;
}

std::vector<Band> read_bands(const fs::path& path) {
  CsvFile file(path, {"benchmark", "operation", "type", "class", "unit", "min", "median", "max", "figures", "sources",
                      "above_limit", "source"});
  std::vector<Band> all;
  while (file.next()) {
    Band& b = all.emplace_back();
    b.benchmark = file.required_text("benchmark");
    b.operation = file.text("operation");
    b.type = file.text("type");
    b.class_id = file.required_text("class");
    b.unit = file.required_text("unit");
    if (b.unit != "B/s" && b.unit != "FLOP/s") file.fail("unit", "is B/s or FLOP/s");
    b.min = positive(file, "min");
    b.median = positive(file, "median");
    b.max = positive(file, "max");
    if (b.min > b.median || b.median > b.max) file.fail("median", "lies between min and max");
    b.figures = static_cast<int>(positive(file, "figures"));
    b.sources = static_cast<int>(positive(file, "sources"));
    b.above_limit = file.text("above_limit");
    b.source = file.required_text("source");
  }
  return all;
}

}  // namespace

std::optional<double> Fact::seconds() const {
  if (unit == "ns") return value * 1e-9;
  if (unit == "cycle" && clock_hz) return value / *clock_hz;
  return std::nullopt;
}

Hardware::Hardware(const fs::path& folder)
    : multiprocessors_(read_multiprocessors(folder / "capabilities.csv")),
      facts_(read_facts(folder / "facts.csv")),
      bands_(read_bands(folder / "published.csv")) {}

const Multiprocessor* Hardware::multiprocessor(const std::string& compute_capability) const {
  const auto found = std::find_if(multiprocessors_.begin(), multiprocessors_.end(),
                                  [&](const Multiprocessor& m) { return m.compute_capability == compute_capability; });
  return found == multiprocessors_.end() ? nullptr : &*found;
}

const Fact* Hardware::fact(const std::string& what, const GpuClass& gpu, const ClassTable& classes) const {
  const auto closeness = [&](const Fact& f) {
    if (f.of == gpu.id) return 3;
    if (f.of == gpu.compute_capability) return 2;
    const GpuClass* other = classes.find(f.of);
    return other != nullptr && other->compute_capability == gpu.compute_capability ? 1 : 0;
  };
  const Fact* best = nullptr;
  int nearest = 0;
  for (const Fact& f : facts_) {
    if (f.what != what) continue;
    const int near = closeness(f);
    if (near > nearest || (near == nearest && near > 0 && f.value > best->value)) {
      best = &f;
      nearest = near;
    }
  }
  return best;
}

std::vector<Band> Hardware::bands_of(const std::string& benchmark, const std::string& class_id) const {
  std::vector<Band> result;
  for (const Band& b : bands_)
    if (b.benchmark == benchmark && b.class_id == class_id) result.push_back(b);
  return result;
}

}  // namespace assay::model
