// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// What this binary was built from and with; compiled in, so that every record and report can say it.
#pragma once

#include <string>
#include <vector>

namespace assay {

struct BuildFeature {
  std::string name;  // "openblas"
  bool on;
  std::string text;  // what it is for, and the package that brings it
};

struct BuildInfo {
  std::string version;   // "0.1.0"
  std::string commit;    // git describe at configure time, "" outside a repository
  std::string compiler;  // "g++ 12.2.0"
  std::string build_type;
  std::string architecture;  // "x86_64"
  std::vector<BuildFeature> features;
};

const BuildInfo& build_info();

}  // namespace assay
