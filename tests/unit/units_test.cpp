// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Durations and sizes as users type them, and quantities as people read them.
#include "harness/base/units.h"

#include <gtest/gtest.h>

#include <cmath>

#include "harness/base/error.h"

namespace assay {
namespace {

TEST(Duration, EveryUnit) {
  EXPECT_DOUBLE_EQ(parse_duration_s("250ms"), 0.25);
  EXPECT_DOUBLE_EQ(parse_duration_s("30s"), 30);
  EXPECT_DOUBLE_EQ(parse_duration_s("2min"), 120);
  EXPECT_DOUBLE_EQ(parse_duration_s("30m"), 1800);
  EXPECT_DOUBLE_EQ(parse_duration_s("1.5h"), 5400);
  EXPECT_DOUBLE_EQ(parse_duration_s("1d"), 86400);
}

TEST(Duration, EverythingElseIsWrongUsage) {
  for (const char* text : {"", "5", "min", "-3s", "3 weeks", "3s4", "nan", "nans", "inf s", "1e999s", "1e308d", "0x10s",
                           "-0s", "s3", "3S"})
    EXPECT_THROW(parse_duration_s(text), UsageError) << text;
}

TEST(Bytes, DecimalAndBinary) {
  EXPECT_EQ(parse_bytes("1024"), 1024U);
  EXPECT_EQ(parse_bytes("64MiB"), 64U << 20);
  EXPECT_EQ(parse_bytes("2GB"), 2000000000U);
  EXPECT_EQ(parse_bytes("1.5KiB"), 1536U);
  for (const char* text : {"", "-1", "2 GB", "GB", "2gb", "1e30B"}) EXPECT_THROW(parse_bytes(text), UsageError) << text;
}

TEST(Quantity, ThreeDigitsAndAFittingPrefix) {
  EXPECT_EQ(format_quantity(23.44e9, "B/s"), "23.4 GB/s");
  EXPECT_EQ(format_quantity(81.2e-9, "s"), "81.2 ns");
  EXPECT_EQ(format_quantity(1.5e12, "FLOP/s"), "1.50 TFLOP/s");
  EXPECT_EQ(format_quantity(999.96e6, "B/s"), "1.00 GB/s");
  EXPECT_EQ(format_quantity(123456, "B/s"), "123 kB/s");
  EXPECT_EQ(format_quantity(0, "B/s"), "0 B/s");
  EXPECT_EQ(format_quantity(8.125, "B/cycle"), "8.12 B/cycle");
  EXPECT_EQ(format_quantity(std::nan(""), "s"), "-");
  EXPECT_EQ(format_quantity(0.93, "1"), "0.93");
  EXPECT_EQ(format_quantity(1e209, "B/s"), "1e+194 PB/s");
  EXPECT_EQ(format_quantity(1e-296, "s"), "1e-287 ns");
  EXPECT_EQ(format_quantity(1e200, "%"), "1e+200 %");
}

TEST(Quantity, DurationsAndBytesForPeople) {
  EXPECT_EQ(format_duration(0.25), "250 ms");
  EXPECT_EQ(format_duration(4.2), "4.2 s");
  EXPECT_EQ(format_duration(83), "1 min 23 s");
  EXPECT_EQ(format_duration(3660), "1 h 1 min");
  EXPECT_EQ(format_bytes(512), "512 B");
  EXPECT_EQ(format_bytes(1.5 * 1073741824), "1.5 GiB");
}

TEST(Units, PercentagesArePrintedAsPeopleWriteThem) {
  for (const auto& [share, text] : std::vector<std::pair<double, const char*>>{{0, "0 %"},
                                                                               {0.00031, "0.031 %"},
                                                                               {1e-7, "below 0.01 %"},
                                                                               {-0.031, "3.1 %"},
                                                                               {0.52, "52 %"},
                                                                               {0.994, "99 %"},
                                                                               {0.9951, "100 %"},
                                                                               {1, "100 %"},
                                                                               {52.4, "5240 %"},
                                                                               {std::nan(""), "-"}})
    EXPECT_EQ(format_percent(share), text) << share;
  for (const auto& [share, text] : std::vector<std::pair<double, const char*>>{{0, "0.00 %"},
                                                                               {-0.0, "0.00 %"},
                                                                               {-0.00004, "0.00 %"},
                                                                               {0.0001, "+0.01 %"},
                                                                               {-0.031, "-3.10 %"},
                                                                               {0.99996, "+100 %"},
                                                                               {3.4, "+340 %"},
                                                                               {std::nan(""), "-"}})
    EXPECT_EQ(format_change(share), text) << share;
}

}  // namespace
}  // namespace assay
