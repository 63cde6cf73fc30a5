// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See profile.h.
#include "harness/parent/profile.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>
#include <type_traits>

#include "harness/base/error.h"
#include "harness/base/file.h"
#include "harness/base/text.h"

namespace assay {
namespace {

// Takes keys out of one table by name; what nobody asked for is unknown.
class Table {
 public:
  Table(const toml::table* table, std::string where, std::string file)
      : table_(table), where_(std::move(where)), file_(std::move(file)) {}

  template <class T>
  void take(const char* key, T& value, double at_least = 0) {
    const toml::node* node = find(key);
    if (node == nullptr) return;
    if constexpr (std::is_same_v<T, std::string>) {
      const auto text = node->value_exact<std::string>();
      if (!text) wrong(key, "must be text");
      value = *text;
    } else {
      const auto number = node->value<double>();
      if (!number || node->is_boolean() || !(*number >= at_least))
        wrong(key, fmt::format("must be a number >= {}", at_least));
      if (std::is_integral_v<T> && !node->is_integer()) wrong(key, "must be a whole number");
      value = static_cast<T>(*number);
    }
  }
  void take(const char* key, std::optional<double>& value) {
    if (find(key) == nullptr) return;
    value = 0;
    take(key, *value, 1e-3);
  }
  void take(const char* key, std::vector<std::string>& values) {
    const toml::node* node = find(key);
    if (node == nullptr) return;
    if (!node->is_array()) wrong(key, "must be a list of texts");
    for (const toml::node& item : *node->as_array()) {
      const auto text = item.value_exact<std::string>();
      if (!text) wrong(key, "must be a list of texts");
      values.push_back(*text);
    }
  }
  const toml::table* table(const char* key) {
    const toml::node* node = find(key);
    if (node != nullptr && !node->is_table()) wrong(key, "must be a table");
    return node == nullptr ? nullptr : node->as_table();
  }
  // After all takes.
  void finish() const {
    if (table_ == nullptr) return;
    for (const auto& [key, node] : *table_) {
      const std::string name(key.str());
      if (std::find(known_.begin(), known_.end(), name) == known_.end())
        throw Error(fmt::format("{} has the unknown key '{}{}'{}", file_, where_, name, suggestion(name, known_)));
    }
  }

 private:
  const toml::node* find(const char* key) {
    known_.emplace_back(key);
    return table_ == nullptr ? nullptr : table_->get(key);
  }
  [[noreturn]] void wrong(const char* key, const std::string& what) const {
    throw Error(fmt::format("{}: '{}{}' {}", file_, where_, key, what));
  }
  const toml::table* table_;
  std::string where_, file_;
  std::vector<std::string> known_;
};

void take_policy(Table table, Policy& policy) {
  table.take("block_s", policy.block_s, 1e-6);
  table.take("warmup_min_s", policy.warmup_min_s);
  table.take("warmup_max_s", policy.warmup_max_s);
  table.take("measure_min_s", policy.measure_min_s);
  table.take("measure_max_s", policy.measure_max_s);
  table.take("samples_min", policy.samples_min, 1);
  table.take("samples_max", policy.samples_max, 1);
  table.take("relative_error", policy.relative_error);
  table.finish();
}

void check(const Profile& profile, const std::string& file) {
  const Policy& p = profile.policy;
  if (p.warmup_max_s < p.warmup_min_s) throw Error(file + ": warmup_max_s is less than warmup_min_s");
  if (p.measure_max_s < p.measure_min_s) throw Error(file + ": measure_max_s is less than measure_min_s");
  if (p.samples_max < p.samples_min) throw Error(file + ": samples_max is less than samples_min");
}

}  // namespace

std::filesystem::path profile_folder() {
  const char* folder = std::getenv("ASSAY_PROFILE_DIR");
  return folder != nullptr && *folder != '\0' ? std::filesystem::path(folder) : program_folder() / "profiles";
}

std::vector<std::string> profile_names() {
  std::error_code failed;
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(profile_folder(), failed))
    if (entry.path().extension() == ".toml") names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

Profile read_profile(const std::string& name) {
  const std::vector<std::string> names = profile_names();
  if (names.empty())
    throw Error(
        fmt::format("there are no profiles in {}; ASSAY_PROFILE_DIR names another folder", profile_folder().string()));
  if (std::find(names.begin(), names.end(), name) == names.end())
    throw UsageError(fmt::format("there is no profile '{}'{}", name, suggestion(name, names)));
  const std::string file = (profile_folder() / (name + ".toml")).string();
  toml::table root;
  try {
    root = toml::parse(read_file(file), file);
  } catch (const toml::parse_error& problem) {
    throw Error(fmt::format("{} line {}: {}", file, problem.source().begin.line, problem.description()));
  }
  Profile profile;
  profile.name = name;
  Table top(&root, "", file);
  top.take("summary", profile.summary);
  top.take("sessions", profile.sessions, 1);
  take_policy({top.table("policy"), "policy.", file}, profile.policy);
  Table cases(top.table("cases"), "cases.", file);
  cases.take("filter", profile.filters);
  cases.take("exclude", profile.excludes);
  cases.take("budget_s", profile.budget_s);
  cases.finish();
  Table patience(top.table("patience"), "patience.", file);
  patience.take("heartbeat_s", profile.patience.heartbeat_s, 0.01);
  patience.take("start_s", profile.patience.start_s, 0.01);
  patience.take("grace_s", profile.patience.grace_s, 0.01);
  patience.take("deadline_factor", profile.deadline_factor, 1);
  patience.take("deadline_extra_s", profile.deadline_extra_s);
  patience.finish();
  top.finish();
  check(profile, file);
  return profile;
}

double patience_scale() {
  const char* text = std::getenv("ASSAY_PATIENCE");
  if (text == nullptr) return 1;
  char* end = nullptr;
  const double scale = std::strtod(text, &end);
  if (end == text || *end != '\0' || !(scale >= 0.01 && scale <= 1000))
    throw UsageError(fmt::format("ASSAY_PATIENCE is '{}'; it must be a number from 0.01 to 1000", text));
  return scale;
}

}  // namespace assay
