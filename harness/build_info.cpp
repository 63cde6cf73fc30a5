// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See build_info.h. The macros come from harness/CMakeLists.txt.
#include "harness/build_info.h"

#include "harness/base/text.h"

namespace assay {
namespace {

std::string compiler() {
#if defined(__clang__)
  return "clang " __clang_version__;
#elif defined(__GNUC__)
  return "g++ " __VERSION__;
#else
  return "unknown";
#endif
}

std::string architecture() {
#if defined(__x86_64__)
  return "x86_64";
#elif defined(__aarch64__)
  return "aarch64";
#else
  return "other";
#endif
}

BuildInfo gather() {
  BuildInfo info{ASSAY_VERSION, ASSAY_COMMIT, compiler(), ASSAY_BUILD_TYPE, architecture(), {}};
  for (const std::string& row : split(ASSAY_FEATURES, '\n')) {
    const std::vector<std::string> parts = split(row, '|');
    if (parts.size() == 3) info.features.push_back({parts[0], parts[1] == "on", parts[2]});
  }
  return info;
}

}  // namespace

const BuildInfo& build_info() {
  static const BuildInfo info = gather();
  return info;
}

}  // namespace assay
