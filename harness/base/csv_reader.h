// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// CSV with a header (RFC 4180), its columns in any order. Strict: what isn't understood is an Error that names file,
// line and column, never a guess. fast-cpp-csv-parser splits lines and takes quotes off.
// Traps: nothing is trimmed, so " 1" is no number; a field can't hold a line break; empty lines are skipped.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace io {
class LineReader;
}

namespace assay {

class CsvReader {
 public:
  // `name` is what complaints call the file. `text` is its content and must outlive the reader. Columns are numbered in
  // the order of `required`, then `optional`. Error for a header that lacks one of `required`, has one twice, or has
  // one that is neither.
  CsvReader(std::string name, std::string_view text, const std::vector<std::string>& required,
            const std::vector<std::string>& optional = {});
  ~CsvReader();
  CsvReader(const CsvReader&) = delete;
  CsvReader& operator=(const CsvReader&) = delete;

  // The next row; false at the end. Error for too few or too many fields, and for quotes that don't match.
  bool next();
  std::uint32_t line() const { return line_; }  // of the row, the header's is 1

  // A field as written; "" also for an optional column that the header doesn't have.
  std::string_view raw(std::size_t column) const { return fields_[column]; }
  // A field that must say something, in UTF-8 and without control characters.
  std::string_view text(std::size_t column) const;
  // A finite number above 0.
  double above_zero(std::size_t column) const;
  double number(std::size_t column) const;
  // A whole number from 0.
  std::uint64_t whole(std::size_t column) const;

  // "runs.csv line 7, column 11 (value): 'abc' is no number"
  [[noreturn]] void fail(std::size_t column, const std::string& what) const;

 private:
  void read_header(std::size_t required);
  void split_line(char* line);
  [[noreturn]] void fail_at(std::size_t position, const std::string& what) const;

  std::string name_;
  std::unique_ptr<io::LineReader> lines_;
  std::vector<std::string> columns_;         // required, then optional
  std::vector<std::string> header_;          // as written
  std::vector<std::size_t> order_;           // position in the file -> column
  std::vector<std::string_view> fields_;     // per column
  std::vector<std::string_view> positions_;  // per position in the file
  std::uint32_t line_ = 0;
};

}  // namespace assay
