// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// What is different around two runs besides the numbers, and whether they may be compared at all. Unlike things are not
// compared, unless the difference is what is being tested: then it is named (`--changed kernel`). Every fact of
// run.json's environment and build, of the devices and of the plan counts; what this file doesn't know stops a
// comparison too (area "other"), and only what can't matter (free memory, load) is left out.
#pragma once

#include <string>
#include <vector>

#include "harness/base/json.h"

namespace assay {

// Begins the text of a fact that has several values on one side: it is like nothing, not even itself.
inline constexpr const char* mixed_prefix = "mixed: ";

struct EnvironmentChange {
  std::string area;  // what --changed takes
  std::string name;  // "environment.kernel.release"
  std::string before, after;
  bool named = false;    // by --changed: it is what is tested
  bool refuses = false;  // and isn't named
};

// "assay", "build", "clocks", "cpus", "driver", ...: sorted.
const std::vector<std::string>& change_areas();

// `before` and `after`: objects {"environment": .., "build": .., "workers": .., "plan": .., "device": {fact: {identity:
// value}}} as commands/side_reader.h makes them. `changed`: areas that are under test. UsageError for an area that
// isn't one. A device that only one of them has is one change ("devices"), whatever is told of it.
std::vector<EnvironmentChange> environment_changes(const Json& before, const Json& after,
                                                   const std::vector<std::string>& changed);

// "unlike things: kernel.release (6.1 before, 6.6 after) differ"; "" when the runs may be compared.
std::string unlike(const std::vector<EnvironmentChange>& changes);
// The areas in which they differ without being named, sorted.
std::vector<std::string> unlike_areas(const std::vector<EnvironmentChange>& changes);
// The same as unlike() with what to do about it: all that --changed would have to name, also what it names already.
std::string refusal(const std::vector<EnvironmentChange>& changes);

}  // namespace assay
