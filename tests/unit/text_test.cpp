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

TEST(Text, OneIsNotMany) {
  EXPECT_EQ(counted(0, "metric"), "0 metrics");
  EXPECT_EQ(counted(1, "metric"), "1 metric");
  EXPECT_EQ(counted(2, "such device"), "2 such devices");
}

TEST(Text, PlainShowsWhatATerminalWouldObey) {
  EXPECT_EQ(plain(""), "");
  EXPECT_EQ(plain("copy 21.3 GB/s, 3 \\ 4"), "copy 21.3 GB/s, 3 \\ 4");
  EXPECT_EQ(plain("µs, 3 €, 𝛼"), "µs, 3 €, 𝛼");
  EXPECT_EQ(plain("GPU\xe2\x80\xae-1"), "GPU\\xe2\\x80\\xae-1") << "what follows it is shown from right to left";
  for (const char* unseen : {"\u00ad", "\u034f", "\u061c", "\u200b", "\u200d", "\u200f", "\u2028", "\u202a", "\u2060",
                             "\u2066", "\u2069", "\u3164", "\ufe0f", "\ufeff", "\U000e0041"})
    EXPECT_NE(plain(unseen), unseen) << plain(unseen);
  for (const char* seen : {"\u00a0", "\u00ae", "\u2010", "\u2030", "\u2070", "\u05d0", "\U0001f680"})
    EXPECT_EQ(plain(seen), seen);
  EXPECT_EQ(plain("\x1b[2J\r\n\t\x7f"), "\\x1b[2J\\x0d\\x0a\\x09\\x7f");
  EXPECT_EQ(plain(std::string("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(plain("\xc2\x9bK"), "\\xc2\\x9bK");                           // the 8-bit form of an escape sequence
  EXPECT_EQ(plain("\xff\xc2"), "\\xff\\xc2");                             // no UTF-8, and a cut character
  EXPECT_EQ(plain("\xc0\x9b\xe0\x82\x9b"), "\\xc0\\x9b\\xe0\\x82\\x9b");  // control characters in too many bytes
  EXPECT_EQ(plain("\xed\xa0\x80\xf4\x90\x80\x80"), "\\xed\\xa0\\x80\\xf4\\x90\\x80\\x80");
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

TEST(Text, NothingIsNearToALongText) {
  const std::string wanted(101, 'a'), name(100, 'a');
  EXPECT_TRUE(nearest(wanted, {name}).empty());
  EXPECT_EQ(nearest(wanted.substr(1), {name}).size(), 1);
}

TEST(Text, ShownIsShortAndCutsNoCharacter) {
  EXPECT_EQ(shown("short"), "short");
  EXPECT_EQ(shown(std::string(80, 'a')), std::string(80, 'a'));
  EXPECT_EQ(shown(std::string(81, 'a')), std::string(80, 'a') + "...");
  EXPECT_EQ(shown("aa\xc3\xa4"
                  "b",
                  3),
            "aa...");
  EXPECT_EQ(shown("a\x1b[2J", 2), "a\\x1b...");
}

}  // namespace
}  // namespace assay
