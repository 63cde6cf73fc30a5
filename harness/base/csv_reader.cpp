// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See csv_reader.h. The library's own CSVReader knows its columns at compile time and can't say where in a line it
// stopped, so only its lines and its quotes are used. Traps of the library: a NUL byte ends a line for it, and text
// around a quote is let through; both are refused here first.
#include "harness/base/csv_reader.h"

#include <fmt/format.h>
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wstringop-truncation"  // it cuts names of files for its own messages, on purpose
#include <libfccp/csv.h>
#pragma GCC diagnostic pop

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

#include "harness/base/error.h"
#include "harness/base/text.h"

namespace assay {
namespace {

using Quotes = io::double_quote_escape<',', '"'>;

// No quote at all, or one at each end and only doubled ones between them.
bool well_quoted(std::string_view field) {
  if (field.find('"') == std::string_view::npos) return true;
  if (field.size() < 2 || field.front() != '"' || field.back() != '"') return false;
  const std::string_view inside = field.substr(1, field.size() - 2);
  for (std::size_t i = 0; i < inside.size(); ++i)
    if (inside[i] == '"' && (++i == inside.size() || inside[i] != '"')) return false;
  return true;
}

bool printable_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c < 0x7f; });
}

void refuse_nul(const std::string& name, std::string_view text) {
  const std::size_t at = text.find('\0');
  if (at == std::string_view::npos) return;
  throw Error(fmt::format("{} line {}, column 1: a NUL byte is on this line, so the file is no CSV text in UTF-8", name,
                          1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n')));
}

}  // namespace

CsvReader::CsvReader(std::string name, std::string_view text, const std::vector<std::string>& required,
                     const std::vector<std::string>& optional)
    : name_(std::move(name)), columns_(required) {
  columns_.insert(columns_.end(), optional.begin(), optional.end());
  fields_.resize(columns_.size());
  refuse_nul(name_, text);
  lines_ = std::make_unique<io::LineReader>(name_, text.data(), text.data() + text.size());
  read_header(required.size());
}

CsvReader::~CsvReader() = default;

void CsvReader::read_header(std::size_t required) {
  char* line = lines_->next_line();
  line_ = 1;
  if (line == nullptr || *line == '\0')
    throw Error(fmt::format("{} line 1, column 1: the header is missing; it names the columns {}", name_,
                            join({columns_.begin(), columns_.begin() + static_cast<std::ptrdiff_t>(required)}, ",")));
  // Until the columns are known, any number of them may come.
  positions_.resize(static_cast<std::size_t>(std::count(line, line + std::strlen(line), ',')) + 1);
  split_line(line);
  for (std::size_t i = 0; i < positions_.size(); ++i) {
    header_.emplace_back(positions_[i]);
    const auto found = std::find(columns_.begin(), columns_.end(), header_[i]);
    if (found == columns_.end())
      fail_at(i, fmt::format("there is no such column{}", suggestion(shown(header_[i]), columns_)));
    order_.push_back(static_cast<std::size_t>(found - columns_.begin()));
    if (std::find(order_.begin(), order_.end() - 1, order_.back()) != order_.end() - 1)
      fail_at(i, "this column is named twice");
  }
  for (std::size_t column = 0; column < required; ++column)
    if (std::find(order_.begin(), order_.end(), column) == order_.end())
      fail(column, "this column is missing in the header");
}

// Leaves the fields in positions_, which has as many places as the header.
void CsvReader::split_line(char* line) {
  std::size_t position = 0;
  for (char* begin = line; begin != nullptr; ++position) {
    if (position == positions_.size()) fail_at(position, fmt::format("the header has only {} columns", position));
    char* end = nullptr;
    try {
      end = begin + (Quotes::find_next_column_end(begin) - begin);
    } catch (const io::error::escaped_string_not_closed&) {
      fail_at(position, "a quote is not closed on this line; a field can't hold a line break");
    }
    char* const rest = *end == '\0' ? nullptr : end + 1;
    const std::string_view whole(begin, static_cast<std::size_t>(end - begin));
    if (!well_quoted(whole))
      fail_at(position, fmt::format("'{}' has a quote where none belongs; quote the whole field and double the quotes "
                                    "inside",
                                    shown(whole)));
    Quotes::unescape(begin, end);
    positions_[position] = {begin, static_cast<std::size_t>(end - begin)};
    begin = rest;
  }
  if (line_ == 1)
    positions_.resize(position);  // a quoted comma is no separator
  else if (position < positions_.size())
    fail_at(position, fmt::format("the line ends here, but the header has {} columns", positions_.size()));
}

bool CsvReader::next() {
  char* line = nullptr;
  do {
    line = lines_->next_line();
    if (line == nullptr) return false;
    ++line_;
  } while (*line == '\0');
  split_line(line);
  for (std::size_t i = 0; i < order_.size(); ++i) fields_[order_[i]] = positions_[i];
  return true;
}

std::string_view CsvReader::text(std::size_t column) const {
  const std::string_view field = fields_[column];
  if (field.empty()) fail(column, "nothing is written here");
  if (!printable_ascii(field) && plain(field) != field)
    fail(column, fmt::format("'{}' has a character that is no printable text in UTF-8", shown(field)));
  return field;
}

double CsvReader::number(std::size_t column) const {
  const std::string_view field = text(column);
  double value = 0;
  const auto [end, problem] = std::from_chars(field.data(), field.data() + field.size(), value);
  if (problem == std::errc::result_out_of_range)
    fail(column, fmt::format("'{}' is beyond what a number can be", shown(field)));
  if (problem != std::errc() || end != field.data() + field.size())
    fail(column, fmt::format("'{}' is no number", shown(field)));
  if (!std::isfinite(value)) fail(column, fmt::format("'{}' is no finite number", shown(field)));
  return value;
}

double CsvReader::above_zero(std::size_t column) const {
  const double value = number(column);
  if (!(value > 0)) fail(column, fmt::format("'{}' is not above 0", shown(fields_[column])));
  return value;
}

std::uint64_t CsvReader::whole(std::size_t column) const {
  const std::string_view field = text(column);
  std::uint64_t value = 0;
  const auto [end, problem] = std::from_chars(field.data(), field.data() + field.size(), value);
  if (problem != std::errc() || end != field.data() + field.size())
    fail(column, fmt::format("'{}' is no whole number from 0", shown(field)));
  return value;
}

void CsvReader::fail(std::size_t column, const std::string& what) const {
  const auto found = std::find(order_.begin(), order_.end(), column);
  if (found != order_.end()) fail_at(static_cast<std::size_t>(found - order_.begin()), what);
  throw Error(fmt::format("{} line {}, column {}: {}", name_, line_, columns_[column], what));
}

void CsvReader::fail_at(std::size_t position, const std::string& what) const {
  const std::string column = position < header_.size() ? fmt::format(" ({})", shown(header_[position])) : "";
  throw Error(fmt::format("{} line {}, column {}{}: {}", name_, line_, position + 1, column, shown(what, 600)));
}

}  // namespace assay
