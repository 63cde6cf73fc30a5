// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See profile.h.
#include "harness/parent/profile.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cstdlib>

#include "harness/base/error.h"
#include "harness/base/file.h"
#include "harness/base/parse.h"
#include "harness/base/text.h"
#include "harness/base/toml_table.h"

namespace assay {
namespace {

constexpr double longest_time_s = 86400;

void take(TomlTable& table, const char* key, double& value, double least = 0, double most = longest_time_s) {
  value = table.number(key, least, most).value_or(value);
}
template <class Integer>
void take_count(TomlTable& table, const char* key, Integer& value) {
  if (const auto count = table.integer(key, 1, 1'000'000)) value = static_cast<Integer>(*count);
}

void take_policy(TomlTable table, Policy& policy) {
  take(table, "block_s", policy.block_s, 1e-6);
  take(table, "warmup_min_s", policy.warmup_min_s);
  take(table, "warmup_max_s", policy.warmup_max_s);
  take(table, "measure_min_s", policy.measure_min_s);
  take(table, "measure_max_s", policy.measure_max_s);
  take_count(table, "samples_min", policy.samples_min);
  take_count(table, "samples_max", policy.samples_max);
  take(table, "relative_error", policy.relative_error, 0, 1);
  table.finish();
}

void take_cases(TomlTable table, Profile& profile) {
  profile.filters = table.texts("filter").value_or(profile.filters);
  profile.excludes = table.texts("exclude").value_or(profile.excludes);
  profile.budget_s = table.number("budget_s", 1e-3, 1e7);
  table.finish();
}

void take_patience(TomlTable table, Profile& profile) {
  take(table, "heartbeat_s", profile.patience.heartbeat_s, 0.01);
  take(table, "start_s", profile.patience.start_s, 0.01);
  take(table, "grace_s", profile.patience.grace_s, 0.01);
  take(table, "deadline_factor", profile.deadline_factor, 1, 1000);
  take(table, "deadline_extra_s", profile.deadline_extra_s);
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
  const toml::table document = parse_toml(read_file(file), file);
  TomlTable root(document, file);
  Profile profile;
  profile.name = name;
  profile.summary = root.required_text("summary");
  if (const auto sessions = root.integer("sessions", 1, 1000)) profile.sessions = static_cast<int>(*sessions);
  if (auto table = root.table("policy")) take_policy(*table, profile.policy);
  if (auto table = root.table("cases")) take_cases(*table, profile);
  if (auto table = root.table("patience")) take_patience(*table, profile);
  root.finish();
  check(profile, file);
  return profile;
}

double patience_scale() {
  const char* text = std::getenv("ASSAY_PATIENCE");
  if (text == nullptr) return 1;
  const std::optional<double> scale = only_number<double>(text);
  if (!scale || !(*scale >= 0.01 && *scale <= 1000))
    throw UsageError(fmt::format("ASSAY_PATIENCE is '{}'; it must be a number from 0.01 to 1000", text));
  return *scale;
}

}  // namespace assay
