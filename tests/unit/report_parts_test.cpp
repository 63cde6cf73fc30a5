// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <sstream>

#include "harness/report/parts.h"

namespace assay {
namespace {

TEST(ReportParts, ColumnsAreAsWideAsATerminalShowsThem) {
  std::ostringstream out;
  print_table({{"a", "2.70 \xc2\xb5s", "why"}, {"long", "1 s", "a reason"}, {"b", "-", ""}}, {1}, out);
  EXPECT_EQ(out.str(),
            "a     2.70 \xc2\xb5s  why\n"
            "long      1 s  a reason\n"
            "b           -\n");
}

TEST(ReportParts, ALongLastColumnGoesOnBelowItself) {
  std::ostringstream out;
  const std::string half = "as many words as fit into fifty characters of it,";
  print_table({{"a", half + " and the rest"}, {"b", "short"}}, {}, out, 20);
  EXPECT_EQ(out.str(), "a  " + half + "\n   and the rest\nb  short\n");
}

TEST(ReportParts, ACellEndsWhereItEnds) {
  EXPECT_EQ(cell("a|b||c"), "a\\|b\\|\\|c");
  EXPECT_EQ(cell("a\nb"), "a\\\\x0ab");
  EXPECT_EQ(cell("<b>`[x]"), "&lt;b>\\`\\[x]");
}

TEST(ReportParts, AnUnrealRunSaysWhy) {
  const auto said = [](bool simulated, const std::map<std::string, std::string>& knobs) {
    std::ostringstream out;
    print_unreal(simulated, knobs, out);
    return out.str();
  };
  EXPECT_EQ(said(false, {}), "");
  EXPECT_EQ(said(true, {}), "SIMULATED: no number here comes from hardware\n");
  EXPECT_EQ(said(false, {{"A", "1"}, {"B", "2"}}),
            "TEST KNOBS ACTIVE: A=1, B=2; these numbers can't be judged as real\n");
}

}  // namespace
}  // namespace assay
