// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
#include "harness/base/csv_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "harness/base/error.h"

namespace assay {
namespace {

using testing::HasSubstr;

class CsvFileTest : public testing::Test {
 protected:
  std::filesystem::path write(const std::string& text) const {
    std::ofstream(path_) << text;
    return path_;
  }
  ~CsvFileTest() override { std::filesystem::remove(path_); }
  // What reading `text` with columns a (needed), n (optional) says.
  std::string complaint(const std::string& text) const {
    try {
      CsvFile file(write(text), {"a"}, {"n"});
      while (file.next()) {
        file.required_text("a");
        file.number("n");
      }
    } catch (const Error& problem) {
      EXPECT_EQ(problem.code(), exit_code::error);
      return problem.what();
    }
    return {};
  }
  const std::filesystem::path path_ =
      std::filesystem::temp_directory_path() / ("assay-csv-" + std::to_string(getpid()) + ".csv");
};

TEST_F(CsvFileTest, ReadsColumnsByNameInAnyOrder) {
  CsvFile file(write("n,a\n1e-3,\"x, \"\"y\"\"\"\r\n,z\n"), {"a"}, {"n", "m"});
  ASSERT_TRUE(file.next());
  EXPECT_EQ(file.line(), 2);
  EXPECT_EQ(file.text("a"), "x, \"y\"");
  EXPECT_EQ(file.required_number("n"), 1e-3);
  EXPECT_EQ(file.text("m"), "");
  EXPECT_EQ(file.number("m"), std::nullopt);
  ASSERT_TRUE(file.next());
  EXPECT_EQ(file.line(), 3);
  EXPECT_EQ(file.number("n"), std::nullopt);
  EXPECT_THROW(file.required_number("n"), Error);
  EXPECT_THROW(file.text("nobody"), Error);
  EXPECT_FALSE(file.next());
}

TEST_F(CsvFileTest, OtherColumnsAreRefusedOrSkipped) {
  EXPECT_THAT(complaint("a,nn\nx,1\n"), HasSubstr("line 1, column 2 (nn): there is no such column"));
  CsvFile file(write("b,a\r\n1,2\r\n"), {"a"}, {}, CsvFile::Others::skipped);
  ASSERT_TRUE(file.next());
  EXPECT_EQ(file.text("a"), "2");
}

TEST_F(CsvFileTest, ComplaintsNameFileLineAndColumn) {
  EXPECT_THAT(complaint("a,n\nx,1\ny,z\n"), HasSubstr(path_.string() + " line 3, column 2 (n): 'z' is no number"));
  EXPECT_THAT(complaint("a,n\n,1\n"), HasSubstr("line 2, column 1 (a): nothing is written here"));
  EXPECT_THAT(complaint("n\n1\n"), HasSubstr("this column is missing"));
  EXPECT_THAT(complaint(""), HasSubstr("the header is missing"));
  CsvFile file(write("a\nx\n"), {"a"});
  ASSERT_TRUE(file.next());
  try {
    file.fail("a", "is odd");
  } catch (const Error& problem) {
    EXPECT_EQ(problem.what(), path_.string() + " line 2, column 1 (a): is odd");
  }
  EXPECT_THROW(CsvFile("/nowhere/x.csv", {"a"}), Error);
  EXPECT_THROW(CsvFile("/tmp", {"a"}), Error);
}

TEST(CsvCell, QuotesWhereNeeded) {
  EXPECT_EQ(csv_cell("plain text"), "plain text");
  EXPECT_EQ(csv_cell("a, b"), "\"a, b\"");
  EXPECT_EQ(csv_cell("a \"b\""), "\"a \"\"b\"\"\"");
  EXPECT_EQ(csv_cell("two\nlines"), "\"two lines\"");
  EXPECT_EQ(csv_cell(" x"), "\" x\"");
}

}  // namespace
}  // namespace assay
