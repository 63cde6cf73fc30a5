// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// A CSV file on disk, its columns asked for by name; strict as csv_reader.h is. An empty cell is "not known".
//
//   CsvFile file(path, {"class", "unit"});                        // both needed, others refused
//   CsvFile file(path, {"class"}, {"note"}, CsvFile::Others::skipped);
//   while (file.next()) use(file.text("class"), file.required_number("n"));
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/csv_reader.h"

namespace assay {

class CsvFile {
 public:
  enum class Others { refused, skipped };  // columns that nobody named

  // Error (exit 3) for a file that can't be read, and for its header.
  CsvFile(const std::filesystem::path& path, const std::vector<std::string>& needed,
          const std::vector<std::string>& optional = {}, Others others = Others::refused);

  // The next row; false at the end.
  bool next() { return reader_->next(); }
  // Line of the row in the file; the header is line 1.
  std::uint64_t line() const { return reader_->line(); }
  // The cell; "" also where an optional column isn't in the header.
  std::string text(std::string_view column) const;
  // Error for an empty cell.
  std::string required_text(std::string_view column) const;
  // A finite number; nullopt for an empty cell, Error for anything else.
  std::optional<double> number(std::string_view column) const;
  double required_number(std::string_view column) const;
  // Throws an Error with file, line and column.
  [[noreturn]] void fail(std::string_view column, const std::string& why) const;

 private:
  std::size_t index(std::string_view column) const;

  std::string content_;
  std::vector<std::string> names_;
  std::optional<CsvReader> reader_;
};

// A cell as it is written: in double quotes where it needs them.
std::string csv_cell(const std::string& text);

}  // namespace assay
