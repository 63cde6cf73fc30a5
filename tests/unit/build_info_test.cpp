// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
#include "harness/build_info.h"

#include <gtest/gtest.h>

#include <set>

namespace assay {
namespace {

TEST(BuildInfo, SaysWhatItWasBuiltFrom) {
  const BuildInfo& build = build_info();
  EXPECT_FALSE(build.version.empty());
  EXPECT_NE(build.compiler, "unknown");
  EXPECT_FALSE(build.build_type.empty());
}

TEST(BuildInfo, EveryFeatureIsExplainedOnce) {
  std::set<std::string> names;
  for (const BuildFeature& feature : build_info().features) {
    EXPECT_TRUE(names.insert(feature.name).second) << feature.name;
    EXPECT_FALSE(feature.text.empty()) << feature.name;
  }
  EXPECT_EQ(names.count("nvml"), 1U);
}

}  // namespace
}  // namespace assay
