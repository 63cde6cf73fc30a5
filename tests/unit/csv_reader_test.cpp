// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
#include "harness/base/csv_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/base/error.h"

namespace assay {
namespace {

using testing::HasSubstr;

enum Column : std::size_t { name, value, note };

// What reading all of it complains about; "" when nothing.
std::string problem(const std::string& text) {
  try {
    CsvReader reader("x.csv", text, {"name", "value"}, {"note"});
    while (reader.next()) {
      reader.text(name);
      reader.above_zero(value);
    }
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), 3);
    return e.what();
  }
  return {};
}

TEST(CsvReader, ReadsColumnsInAnyOrder) {
  const std::string text = "\xEF\xBB\xBFvalue,name\r\n1.5,a\r\n\r\n2e-3,\"b, \"\"c\"\"\"";
  CsvReader reader("x.csv", text, {"name", "value"}, {"note"});
  ASSERT_TRUE(reader.next());
  EXPECT_EQ(reader.line(), 2U);
  EXPECT_EQ(reader.text(name), "a");
  EXPECT_EQ(reader.above_zero(value), 1.5);
  EXPECT_EQ(reader.raw(note), "");
  ASSERT_TRUE(reader.next());
  EXPECT_EQ(reader.line(), 4U) << "an empty line is skipped, and counted";
  EXPECT_EQ(reader.text(name), "b, \"c\"");
  EXPECT_EQ(reader.above_zero(value), 2e-3);
  EXPECT_FALSE(reader.next());
}

TEST(CsvReader, ReadsQuotedHeadersAndEmptyOptionalFields) {
  const std::string text = "\"name\",\"value\",note\n\"\",1,\nx,18446744073709551615,ü";
  CsvReader reader("x.csv", text, {"name", "value"}, {"note"});
  ASSERT_TRUE(reader.next());
  EXPECT_EQ(reader.raw(name), "");
  ASSERT_TRUE(reader.next());
  EXPECT_EQ(reader.whole(value), 18446744073709551615U);
  EXPECT_EQ(reader.text(note), "ü");
}

TEST(CsvReader, EveryComplaintNamesFileLineAndColumn) {
  const std::string good = "name,value\n";
  for (const auto& [text, words] : std::vector<std::pair<std::string, std::string>>{
           {"", "x.csv line 1, column 1: the header is missing; it names the columns name,value"},
           {"name\n", "x.csv line 1, column value: this column is missing in the header"},
           {"name,valeu\n", "x.csv line 1, column 2 (valeu): there is no such column; did you mean value?"},
           {"name,value,name\n", "x.csv line 1, column 3 (name): this column is named twice"},
           {"name,value,\n", "x.csv line 1, column 3 (): there is no such column"},
           {good + "a\n", "x.csv line 2, column 2 (value): the line ends here, but the header has 2 columns"},
           {good + "a,1\na,1,2\n", "x.csv line 3, column 3: the header has only 2 columns"},
           {good + ",1\n", "x.csv line 2, column 1 (name): nothing is written here"},
           {good + "a,\n", "x.csv line 2, column 2 (value): nothing is written here"},
           {good + "a,1x\n", "column 2 (value): '1x' is no number"},
           {good + "a, 1\n", "column 2 (value): ' 1' is no number"},
           {good + "a,+1\n", "column 2 (value): '+1' is no number"},
           {good + "a,0x10\n", "column 2 (value): '0x10' is no number"},
           {good + "a,nan\n", "column 2 (value): 'nan' is no finite number"},
           {good + "a,-inf\n", "column 2 (value): '-inf' is no finite number"},
           {good + "a,1e999\n", "column 2 (value): '1e999' is beyond what a number can be"},
           {good + "a,0\n", "column 2 (value): '0' is not above 0"},
           {good + "a,-1\n", "column 2 (value): '-1' is not above 0"},
           {good + "\"a,1\n", "x.csv line 2, column 1 (name): a quote is not closed on this line"},
           {good + "a\"b\",1\n", "column 1 (name): 'a\"b\"' has a quote"},
           {good + "\"a\"b\"\",1\n", "has a quote where none belongs"},
           {good + "\"a\" ,1\n", "has a quote where none belongs"},
           {good + "a\x1b[2J,1\n", "column 1 (name): 'a\\x1b[2J' has a character that is no printable text"},
           {good + "\xff,1\n", "column 1 (name): '\\xff' has a character that is no printable text"},
           {good + "a,1\nb" + std::string(1, '\0') + ",1\n", "x.csv line 3, column 1: a NUL byte"},
           {good + std::string(100, 'a') + ",x\n", "'x' is no number"},
       }) {
    EXPECT_THAT(problem(text), HasSubstr(words)) << text;
  }
  EXPECT_EQ(problem(good + "a,1\n"), "");
}

TEST(CsvReader, WholeNumbers) {
  const std::string text = "name,value\na,1.0\n";
  CsvReader reader("x.csv", text, {"name", "value"});
  ASSERT_TRUE(reader.next());
  EXPECT_THROW(reader.whole(value), Error);
  EXPECT_THROW(reader.whole(name), Error);
}

}  // namespace
}  // namespace assay
