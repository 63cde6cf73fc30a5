// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
#include "harness/base/text.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

using Texts = std::vector<std::string>;

TEST(Text, SplitKeepsEmptyParts) {
  EXPECT_EQ(split("a,,b,", ','), (Texts{"a", "", "b", ""}));
  EXPECT_EQ(split("", ','), (Texts{""}));
}

TEST(Text, JoinAndTrim) {
  EXPECT_EQ(join({"a", "b"}, ", "), "a, b");
  EXPECT_EQ(join({}, ", "), "");
  EXPECT_EQ(trim(" \t a b\r\n"), "a b");
  EXPECT_EQ(trim(" \n"), "");
}

TEST(Text, NearestByDistanceAndByPart) {
  const Texts names{"memory/stream", "memory/latency", "compute/fma", "compute/gemm"};
  EXPECT_EQ(nearest("memory/straem", names), (Texts{"memory/stream"}));
  EXPECT_EQ(nearest("gemm", names), (Texts{"compute/gemm"}));
  EXPECT_TRUE(nearest("qqqq", names).empty());
}

TEST(Text, SuggestionReadsAsASentence) {
  EXPECT_EQ(suggestion("quik", {"quick", "standard"}), "; did you mean quick?");
  EXPECT_EQ(suggestion("zzz", {"quick", "standard"}), "; known: quick, standard");
  EXPECT_EQ(suggestion("zzz", {}), "");
}

}  // namespace
}  // namespace assay
