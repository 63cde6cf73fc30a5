// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See classes.h: the tables, and what devices tell. The decision itself is in class_match.cpp.
#include "harness/verdict/classes.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <set>

#include "harness/base/csv_file.h"
#include "harness/base/error.h"
#include "harness/base/file.h"
#include "harness/base/text.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

constexpr double mib = 1048576.0;

// Names of types as our cases have them, and their columns.
const std::vector<std::pair<const char*, const char*>>& rate_columns() {
  static const std::vector<std::pair<const char*, const char*>> columns{
      {"f64", "fp64_tflop_per_s"},
      {"f64_tensor", "fp64_tensor_tflop_per_s"},
      {"f32", "fp32_tflop_per_s"},
      {"tf32", "tf32_tensor_tflop_per_s"},
      {"f16", "fp16_tensor_fp32_sum_tflop_per_s"},
      {"f16_f16_sum", "fp16_tensor_fp16_sum_tflop_per_s"},
      {"bf16", "bf16_tensor_tflop_per_s"},
      {"fp8", "fp8_tensor_tflop_per_s"},
      {"int8", "int8_tensor_top_per_s"},
      {"fp4", "fp4_tensor_tflop_per_s"}};
  return columns;
}

std::optional<double> scaled(const CsvFile& file, const char* column, double factor) {
  const std::optional<double> value = file.number(column);
  if (value && !(*value > 0)) file.fail(column, "must be more than 0; leave it empty where it isn't known");
  return value ? std::optional(*value * factor) : std::nullopt;
}

GpuClass read_class(const CsvFile& file) {
  GpuClass c;
  c.id = file.required_text("class");
  c.name = file.required_text("name");
  c.name_regex = file.text("nvml_name_regex");
  c.form_factor = file.text("form_factor");
  c.compute_capability = file.required_text("compute_capability");
  if (family_of(c.compute_capability).empty()) file.fail("compute_capability", "is not of the form 9.0");
  c.multiprocessors = scaled(file, "sm_count", 1);
  c.l2_bytes = scaled(file, "l2_mib", mib);
  c.clock_hz = scaled(file, "boost_mhz", 1e6);
  c.tensor_clock_hz = scaled(file, "tensor_mhz", 1e6);
  c.memory_bytes = scaled(file, "memory_gb", 1024 * mib);
  if (const auto visible = scaled(file, "nvml_memory_mib", mib)) c.memory_bytes = visible;
  c.memory_bytes_per_second = scaled(file, "memory_gb_per_s", 1e9);
  c.power_w = scaled(file, "power_w", 1);
  c.power_max_w = scaled(file, "power_max_w", 1);
  c.host_link = file.text("host_link");
  c.host_link_bytes_per_second = scaled(file, "host_link_gb_per_s", 1e9);
  c.nvlink_generation = static_cast<int>(file.number("nvlink_generation").value_or(0));
  c.nvlink_links = scaled(file, "nvlink_links", 1);
  c.nvlink_bytes_per_second = scaled(file, "nvlink_gb_per_s", 1e9);
  c.nvlink_gpus = static_cast<int>(file.number("nvlink_gpus").value_or(0));
  for (const auto& [type, column] : rate_columns())
    if (const auto rate = scaled(file, column, 1e12)) c.operations_per_second[type] = *rate;
  c.notes = file.text("notes");
  c.source = file.required_text("source");
  return c;
}

std::vector<GpuClass> read_classes(const fs::path& path) {
  std::vector<std::string> columns{"class",
                                   "name",
                                   "nvml_name_regex",
                                   "form_factor",
                                   "compute_capability",
                                   "sm_count",
                                   "base_mhz",
                                   "boost_mhz",
                                   "tensor_mhz",
                                   "memory_gb",
                                   "nvml_memory_mib",
                                   "memory_type",
                                   "memory_bus_bits",
                                   "memory_gb_per_s",
                                   "l2_mib",
                                   "power_w",
                                   "power_max_w",
                                   "host_link",
                                   "host_link_gb_per_s",
                                   "nvlink_generation",
                                   "nvlink_links",
                                   "nvlink_gb_per_s",
                                   "nvlink_gpus",
                                   "sparsity_doubles",
                                   "notes",
                                   "source"};
  for (const auto& [type, column] : rate_columns()) columns.emplace_back(column);
  CsvFile file(path, columns);
  std::vector<GpuClass> classes;
  std::set<std::string> seen;
  while (file.next()) {
    classes.push_back(read_class(file));
    if (!seen.insert(classes.back().id).second) file.fail("class", classes.back().id + " is there twice");
  }
  return classes;
}

std::string hex_id(const CsvFile& file, const char* column, bool needed) {
  const std::string text = needed ? file.required_text(column) : file.text(column);
  if (text.find_first_not_of("0123456789abcdef") != std::string::npos || (!text.empty() && text.size() != 4))
    file.fail(column, fmt::format("'{}' is not four lower-case hexadecimal digits", shown(text)));
  return text;
}

std::vector<Identity> read_identities(const fs::path& path) {
  CsvFile file(path, {"pci_vendor", "pci_device", "pci_subvendor", "pci_subdevice", "product", "class", "family",
                      "compute_capability", "form_factor", "memory_gib", "power_w", "notes", "source"});
  std::vector<Identity> identities;
  while (file.next()) {
    Identity i;
    i.vendor = hex_id(file, "pci_vendor", true);
    i.device = hex_id(file, "pci_device", true);
    i.subvendor = hex_id(file, "pci_subvendor", false);
    i.subdevice = hex_id(file, "pci_subdevice", false);
    i.product = file.required_text("product");
    i.class_id = file.text("class");
    i.family = file.text("family");
    i.compute_capability = file.text("compute_capability");
    i.form_factor = file.text("form_factor");
    i.memory_gib = scaled(file, "memory_gib", 1);
    i.power_w = scaled(file, "power_w", 1);
    i.notes = file.text("notes");
    identities.push_back(std::move(i));
  }
  return identities;
}

std::string label(const DeviceInfo& device, const char* name) {
  const auto found = device.labels.find(name);
  return found == device.labels.end() ? "" : found->second;
}

std::optional<double> fact(const DeviceInfo& device, const char* name) {
  const auto found = device.facts.find(name);
  return found == device.facts.end() || !(found->second > 0) ? std::nullopt : std::optional(found->second);
}

// Lower-case letters, digits and hyphens: part of a file name.
std::string slug(const std::string& text) {
  std::string result;
  for (const unsigned char c : text)
    if (std::isalnum(c) != 0) result += static_cast<char>(std::tolower(c));
  return result;
}

// What was built in, from what the kernel leaves over: rounded up to the next eighth of a power of two, so
// that 7.7, 15.6 and 503 GiB are 8, 16 and 512.
double installed_gib(double bytes) {
  const double gib = bytes / (1024 * mib);
  const double step = std::exp2(std::floor(std::log2(gib)) - 3);
  return std::ceil(gib / step) * step;
}

}  // namespace

fs::path results_folder() {
  const char* folder = std::getenv("ASSAY_RESULTS_DIR");
  return folder != nullptr && *folder != '\0' ? fs::path(folder) : program_folder() / "results";
}

ClassTable read_class_table(const fs::path& folder) {
  return ClassTable(folder / "classes.csv", folder / "identities.csv");
}

ClassTable::ClassTable(const fs::path& classes, const fs::path& identities)
    : classes_(read_classes(classes)), identities_(read_identities(identities)) {
  for (const auto& [path, empty] : {std::pair(classes, classes_.empty()), std::pair(identities, identities_.empty())})
    if (empty)
      throw Error(fmt::format("{} has no row below its header, so nothing could be judged by it", path.string()));
}

const GpuClass* ClassTable::find(const std::string& id) const {
  const auto found = std::find_if(classes_.begin(), classes_.end(), [&](const GpuClass& c) { return c.id == id; });
  return found == classes_.end() ? nullptr : &*found;
}

std::vector<std::string> ClassTable::ids() const {
  std::set<std::string> ids;
  for (const GpuClass& c : classes_) ids.insert(c.id);
  for (const Identity& i : identities_)
    if (!i.class_id.empty()) ids.insert(i.class_id);
  return {ids.begin(), ids.end()};
}

bool ClassTable::knows(const std::string& id) const {
  return !id.empty() &&
         (find(id) != nullptr || std::any_of(identities_.begin(), identities_.end(),
                                             [&](const Identity& identity) { return identity.class_id == id; }));
}

std::string family_of(const std::string& compute_capability) {
  const std::size_t dot = compute_capability.find('.');
  const std::string digits = "0123456789";
  if (dot == std::string::npos || dot == 0 || dot > 3 || compute_capability.size() != dot + 2 ||
      compute_capability.find_first_not_of(digits + ".") != std::string::npos || compute_capability[dot + 1] == '.')
    return {};
  const int number = std::atoi(compute_capability.c_str()) * 10 + (compute_capability[dot + 1] - '0');
  struct Range {
    int from;
    const char* family;
  };
  static constexpr Range ranges[] = {{130, "after blackwell"}, {100, "blackwell"}, {90, "hopper"}, {89, "ada"},
                                     {80, "ampere"},           {75, "turing"},     {70, "volta"},  {60, "pascal"}};
  for (const Range& range : ranges)
    if (number >= range.from) return range.family;
  return "before pascal";
}

DeviceKey key_of(const DeviceInfo& device) {
  DeviceKey key;
  const auto take = [&](const char* name, std::string& first, std::string& second) {
    const std::vector<std::string> parts = split(label(device, name), ':');
    if (parts.size() == 2) first = parts[0], second = parts[1];
  };
  take("pci_id", key.vendor, key.device);
  take("subsystem", key.subvendor, key.subdevice);
  key.form_factor = label(device, "form_factor");
  key.name = device.name;
  key.memory_bytes = fact(device, "memory_bytes");
  key.power_limit_w = fact(device, "default_power_limit_w");
  return key;
}

std::string to_text(const Modes& modes) {
  std::vector<std::string> parts;
  for (const auto& [name, value] : modes) parts.push_back(name + "=" + value);
  return join(parts, ";");
}

Modes modes_of(const DeviceInfo& device) {
  Modes modes;
  for (const char* name : {"ecc", "mig", "confidential_computing", "power_profile", "fabric"})
    if (const std::string value = label(device, name); !value.empty()) modes[name] = value;
  const auto limit = fact(device, "power_limit_w"), usual = fact(device, "default_power_limit_w");
  if (limit && usual && std::fabs(*limit / *usual - 1) > 0.01) modes["power_limit"] = fmt::format("{:.0f} W", *limit);
  return modes;
}

std::string cpu_class(const DeviceInfo& device) {
  const auto memory = fact(device, "memory_bytes"), cores = fact(device, "cores");
  const std::string arm = label(device, "CPU implementer");
  const std::string vendor = slug(arm.empty() ? label(device, "vendor_id") : "arm" + arm);
  std::string model;
  if (arm.empty() && device.facts.count("cpu_family") > 0 && device.facts.count("cpu_model") > 0)
    model = fmt::format("{:.0f}-{:.0f}-{}", device.fact("cpu_family"), device.fact("cpu_model"),
                        slug(label(device, "stepping")));
  else
    model = slug(label(device, "CPU part"));
  if (vendor.empty() || model.empty() || !memory || !cores) return {};
  return fmt::format("cpu-{}-{}-c{:.0f}-{:g}gib-{}", vendor, model, *cores, installed_gib(*memory),
                     label(device, "hypervisor") == "yes" ? "vm" : "metal");
}

ClassMatch class_of(const DeviceInfo& device, const ClassTable& table) {
  ClassMatch match;
  if (device.kind == "cpu") {
    match.class_id = cpu_class(device);
    match.outcome = match.class_id.empty() ? Outcome::unknown : Outcome::match;
    match.product = device.name;
    match.reason = match.class_id.empty()
                       ? "the CPU tells too little: family, model and stepping, cores and memory are needed"
                       : "by CPUID family, model and stepping, cores, memory and hypervisor";
  } else if (device.simulated) {
    match.class_id = label(device, "class");
    match.outcome = match.class_id.empty() ? Outcome::unknown : Outcome::match;
    match.product = device.name;
    match.reason = match.class_id.empty() ? "it is simulated, and nothing names a class" : "as its scenario says (simulated)";
  } else {
    match = table.match(key_of(device));
  }
  match.modes = modes_of(device);
  return match;
}

bool is_class_name(const std::string& id, const ClassTable& table) {
  static const RE2 cpu("cpu-[a-z0-9]+-([0-9]+-[0-9]+-)?[a-z0-9]+-c[0-9]+-[0-9.]+gib-(vm|metal)");
  return table.knows(id) || RE2::FullMatch(id, cpu);
}

std::string class_suggestion(const std::string& id, const ClassTable& table) {
  if (starts_with(id, "cpu")) return "; a CPU's is written in full: cpu-genuineintel-6-207-2-c2-8gib-vm";
  std::string folded = id;  // "H100 SXM"
  for (char& c : folded)
    c = c == ' ' || c == '-' ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return suggestion(folded, table.ids());
}

}  // namespace assay
