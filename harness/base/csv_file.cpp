// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See csv_file.h.
#include "harness/base/csv_file.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/base/error.h"
#include "harness/base/file.h"
#include "harness/base/text.h"

namespace assay {

CsvFile::CsvFile(const std::filesystem::path& path, const std::vector<std::string>& needed,
                 const std::vector<std::string>& optional, Others others)
    : content_(read_file(path)), names_(needed) {
  std::vector<std::string> known = optional;
  const auto named = [&](const std::vector<std::string>& list, const std::string& name) {
    return std::find(list.begin(), list.end(), name) != list.end();
  };
  // What is in the header and isn't wanted becomes an optional column that nobody asks for.
  if (others == Others::skipped)
    for (const std::string& part : split(trim(content_.substr(0, content_.find('\n'))), ','))
      if (!named(needed, part) && !named(known, part)) known.push_back(part);
  names_.insert(names_.end(), known.begin(), known.end());
  reader_.emplace(path.string(), content_, needed, known);
}

std::size_t CsvFile::index(std::string_view column) const {
  const auto found = std::find(names_.begin(), names_.end(), column);
  if (found == names_.end()) throw Error(fmt::format("nobody named the column '{}'", column));
  return static_cast<std::size_t>(found - names_.begin());
}

std::string CsvFile::text(std::string_view column) const {
  return reader_->raw(index(column)).empty() ? "" : required_text(column);
}

std::string CsvFile::required_text(std::string_view column) const { return std::string(reader_->text(index(column))); }

std::optional<double> CsvFile::number(std::string_view column) const {
  return reader_->raw(index(column)).empty() ? std::nullopt : std::optional(required_number(column));
}

double CsvFile::required_number(std::string_view column) const { return reader_->number(index(column)); }

void CsvFile::fail(std::string_view column, const std::string& why) const { reader_->fail(index(column), why); }

std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos && trim(text) == text) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c == '\n' || c == '\r' ? ' ' : c;
  }
  return quoted + '"';
}

}  // namespace assay
