// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
#include "harness/verdict/quantity.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

void expect(const char* text, double value, const char* unit) {
  const auto quantity = parse_quantity(text);
  ASSERT_TRUE(quantity) << text;
  EXPECT_DOUBLE_EQ(quantity->value, value) << text;
  EXPECT_EQ(quantity->unit, unit) << text;
}

TEST(Quantity, ReadsNumbersWithUnits) {
  expect("3.9 TB/s", 3.9e12, "B/s");
  expect("48GB/s", 48e9, "B/s");
  expect("400 Gbit/s", 400e9, "bit/s");
  expect("400 Gb/s", 400e9, "bit/s");
  expect("1.5 GiB/s", 1.5 * 1073741824, "B/s");
  expect("67 TFLOP/s", 67e12, "op/s");
  expect("67 TFLOPS", 67e12, "op/s");
  expect("1.2 POPS", 1.2e15, "op/s");
  expect("2.7 us", 2.7e-6, "s");
  expect("2.7 \xc2\xb5s", 2.7e-6, "s");
  expect("3 %", 3, "%");
  expect("64 B/cycle", 64, "B/cycle");
  expect(" 700 W ", 700, "W");
}

TEST(Quantity, RefusesWhatIsNone) {
  for (const char* text :
       {"", "48", "GB/s", "48 GB/x", "48 XB/s", "1 2 GB/s", "0x10 W", "nan W", "inf W", "48 GB/s now"})
    EXPECT_FALSE(parse_quantity(text)) << text;
}

TEST(Quantity, FloatingPointOperationsAreOperations) {
  EXPECT_TRUE(same_unit("FLOP/s", "op/s"));
  EXPECT_FALSE(same_unit("B/s", "bit/s"));
}

TEST(Quantity, RatesAreBetterHigherAndTimesLower) {
  for (const char* unit : {"B/s", "bit/s", "op/s", "FLOP/s", "Hz", "token/s", "B/cycle", "op/cycle"})
    EXPECT_EQ(usual_direction(unit), Better::higher) << unit;
  for (const char* unit : {"s", "cycle"}) EXPECT_EQ(usual_direction(unit), Better::lower) << unit;
  for (const char* unit : {"W", "J", "B", "%", "degC", "foo", "foo/s", "GB/s", ""})
    EXPECT_FALSE(usual_direction(unit)) << unit;
}

}  // namespace
}  // namespace assay
