// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
#include "harness/verdict/quantity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "harness/base/text.h"

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
  expect("9 ktok/s", 9e3, "token/s");
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

TEST(Quantity, TheUnitsThatAMessageNamesAreKnown) {
  const std::string text = known_units();
  for (const std::string& part : split(text.substr(0, text.find(", these")), ','))
    EXPECT_TRUE(unit_of(trim(part))) << part;
  for (const std::string& part : split(text.substr(text.find(';') + 1), ',')) EXPECT_TRUE(unit_of(trim(part))) << part;
}

TEST(Quantity, FloatingPointOperationsAreOperations) {
  EXPECT_TRUE(same_unit("FLOP/s", "op/s"));
  EXPECT_FALSE(same_unit("B/s", "bit/s"));
}

TEST(Quantity, OthersUnitsTellTheirDirection) {
  for (const char* unit : {"GB/s", "GBps", "Gbps", "TFLOPs", "TFLOPS", "GFlops", "tok/s", "mB/s", "GB/sec", "it/second",
                           "images/min", "requests per second", "QPS", "IOPS", "ops", "MHz", "foo/s", "fps"})
    EXPECT_EQ(direction_as_written(unit), Better::higher) << unit;
  for (const char* unit : {"s", "ms", "msec", "sec", "usec", "nsec", "seconds", "Seconds", "min", "minutes", "h",
                           "hours", "us/iter", "ns/op", "ms / step", "s per epoch", "microseconds", "\xce\xbcs"})
    EXPECT_EQ(direction_as_written(unit), Better::lower) << unit;
  for (const char* unit : {"", "W", "J", "B", "%", "foo", "foo/bar", "points", "hops", "errors/s", "page-faults/sec",
                           "J/s", "x", "/", "degC", "seconds_total"})
    EXPECT_FALSE(direction_as_written(unit)) << unit;
}

TEST(Quantity, RatesAreBetterHigherAndTimesLower) {
  for (const char* unit : {"B/s", "bit/s", "op/s", "FLOP/s", "Hz", "token/s", "B/cycle", "op/cycle"})
    EXPECT_EQ(usual_direction(unit), Better::higher) << unit;
  for (const char* unit : {"s", "cycle"}) EXPECT_EQ(usual_direction(unit), Better::lower) << unit;
  for (const char* unit : {"W", "J", "B", "%", "degC", "foo", "foo/s", "GB/s", ""})
    EXPECT_FALSE(usual_direction(unit)) << unit;
}

TEST(Quantity, WhatNoDeviceShowsIsAbsurd) {
  const std::vector<std::pair<double, const char*>> can_be{
      {3e12, "B/s"},  {3, "TB/s"},    {1, "op/s"},      {1e19, "FLOP/s"}, {80e-9, "s"}, {2.7, "us"},
      {700, "W"},     {1.98e9, "Hz"}, {8.1, "B/cycle"}, {300, "cycle"},   {65, "degC"}, {4000, "tok/s"},
      {12, "points"}, {8, "GPUs"},    {10, "%"},        {2.5, "token/s"}};
  for (const auto& [value, unit] : can_be) EXPECT_EQ(absurd(value, unit), "") << value << " " << unit;
  const std::vector<std::pair<double, const char*>> cannot{
      {1e200, "GB/s"},     {4.9e-324, "B/s"}, {1e-300, "GB/s"},   {1e-9, "B/s"},       {1e20, "B/s"},
      {900000, "s"},       {1e-290, "us"},    {1e-300, "points"}, {1e18, "count"},     {500, "degC"},
      {1e9, "W"},          {0, "B/s"},        {-3, "B/s"},        {std::nan(""), "s"}, {std::exp(-90), "B/s"},
      {std::exp(90), "s"}, {1e30, "%"},       {1e22, "op/s"},     {INFINITY, "x"},     {0, "x"}};
  for (const auto& [value, unit] : cannot) EXPECT_NE(absurd(value, unit), "") << value << " " << unit;
  EXPECT_EQ(absurd(900000, "s"), "900 ks is nothing that a device shows: it would be from 0.01 ns to 100 ks");
  EXPECT_LT(absurd(1e200, "GB/s").size(), 100);
}

}  // namespace
}  // namespace assay
