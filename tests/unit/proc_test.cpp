// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
#include "harness/base/proc.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/base/parse.h"
#include "tests/unit/small_root.h"

namespace assay {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Parse, LeadingAndOnlyNumbers) {
  std::string_view rest;
  EXPECT_EQ(leading_number<double>("48K", &rest), 48.0);
  EXPECT_EQ(rest, "K");
  EXPECT_EQ(leading_number<double>("  2.5 GHz"), 2.5);
  EXPECT_EQ(only_number<int>("12"), 12);
  EXPECT_EQ(only_number<int>("-1"), -1);
  for (const char* text : {"", " ", "K48", "+1", "12 ", "12K", "99999999999"})
    EXPECT_EQ(only_number<int>(text), std::nullopt) << text;
  EXPECT_EQ(leading_number<std::uint64_t>("-1"), std::nullopt);
}

TEST(Proc, NumberOfALine) {
  const char* text = "inactive_file_x 1\ninactive_file 4096\nMemAvailable:   17 kB\nempty\nlast:";
  EXPECT_EQ(number_of(text, "inactive_file"), 4096U);
  EXPECT_EQ(number_of(text, "MemAvailable"), 17U);
  for (const char* key : {"inactive", "empty", "last", "absent"}) EXPECT_EQ(number_of(text, key), std::nullopt) << key;
}

TEST(Proc, FilesOfAnotherRoot) {
  const SmallRoot root({{"proc/meminfo", "MemTotal: 8 kB\n"}, {"odd", "many\n"}, {"khz", " 2000000\nmore\n"}});
  EXPECT_EQ(meminfo_bytes("MemTotal", root.path()), 8192U);
  EXPECT_EQ(meminfo_bytes("MemFree", root.path()), std::nullopt);
  EXPECT_EQ(number_in(root.path() / "khz"), 2e6);
  EXPECT_EQ(number_in(root.path() / "odd"), std::nullopt);
  EXPECT_EQ(number_in(root.path() / "absent"), std::nullopt);
  EXPECT_EQ(first_line(root.path() / "khz"), "2000000");
}

TEST(Proc, TicksOfSomeCpus) {
  const SmallRoot root({{"proc/stat",
                         "cpu  100 0 10 800 50 1 2 7 0 0\ncpu0 40 1 5 400 25 0 1 3 0 0\ncpu1 60 0 5 400 25 1 1 4 9 9\n"
                         "cpu10 1 1 1 1 1 1 1 1 1 1\nintr 5\n"}});
  const CpuTicks one = cpu_ticks({0}, root.path()), two = cpu_ticks({0, 1}, root.path());
  EXPECT_EQ(one.busy, 47U);
  EXPECT_EQ(one.idle, 425U);
  EXPECT_EQ(one.steal, 3U);
  EXPECT_EQ(two.busy, 114U);
  EXPECT_EQ(two.steal, 7U);
  EXPECT_EQ(cpu_ticks({5}, root.path()).busy, 113U) << "not listed: all of the machine";
  EXPECT_EQ(cpu_ticks({0}, root.path() / "nowhere").busy, 0U);
}

TEST(Proc, CpuLists) {
  EXPECT_THAT(cpu_list("0-3,8\n"), ElementsAre(0, 1, 2, 3, 8));
  EXPECT_THAT(cpu_list("5"), ElementsAre(5));
  for (const char* text : {"", "x", "3-", "-3", "0-99999999", "1-2-3"}) EXPECT_THAT(cpu_list(text), IsEmpty()) << text;
  EXPECT_THAT(cpu_list("1,oops,2"), ElementsAre(1));
}

}  // namespace
}  // namespace assay
