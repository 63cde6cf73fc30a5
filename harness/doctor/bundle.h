// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// What is known of a machine as a file for others: `assay doctor --bundle FILE.tar.gz`, read by `--from FILE`. Only
// fields of bundle_fields.h are in it, their texts in the forms of allowed_text.h; as JSON
// results/schema/bundle.v1.json. What a bundle can't say is never passed: a check that would say something else from
// the bundle than on the machine is written down as undecided, and is "could not know" for whoever reads it.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "harness/doctor/check.h"

namespace assay::doctor {

struct Bundle {
  std::string assay;  // the version that made it
  Facts facts;
  std::vector<std::string> undecided;  // ids of checks
};

// `results`: the folder of the tables.
Bundle make_bundle(const Case& one, const std::filesystem::path& results);
Json to_json(const Bundle& bundle);
// The file: facts.json, and the same as report.md for people.
std::string packed(const Bundle& bundle, const Knowledge& knowledge);

// Error (exit 3) in one sentence, which begins with `name`, for what is no bundle or has been tampered with.
Bundle read_bundle(std::string_view file, const std::string& name);
// Of facts.json; Error in words that go on after the name.
Bundle bundle_from_json(std::string_view text);
// The checks as they may answer for this bundle.
std::vector<Check> checks_for(const Bundle& bundle, std::vector<Check> checks);

// So many bytes of a file are looked at.
inline constexpr std::size_t most_bundle_bytes = std::size_t{4} << 20;

}  // namespace assay::doctor
