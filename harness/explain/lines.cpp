// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See lines.h.
#include "harness/explain/lines.h"

#include <algorithm>
#include <cstring>

#include "harness/base/text.h"

namespace assay::explain {

void Lines::feed(std::string_view bytes) {
  while (!bytes.empty()) {
    const void* end = std::memchr(bytes.data(), '\n', bytes.size());
    const std::size_t size =
        end == nullptr ? bytes.size() : static_cast<std::size_t>(static_cast<const char*>(end) - bytes.data());
    if (rest_.empty() && end != nullptr && size <= longest) {  // the usual case: nothing is copied
      line(bytes.substr(0, size));
    } else {
      std::string_view part = bytes.substr(0, size);
      while (rest_.size() + part.size() > longest) {
        const std::size_t take = longest - rest_.size();
        rest_.append(part.substr(0, take));
        part.remove_prefix(take);
        if (!in_long_line_) ++number_, ++split_;
        in_long_line_ = true;
        piece(rest_);
        rest_.erase(0, longest - overlap);
      }
      rest_.append(part);
      if (end != nullptr) end_line();
    }
    bytes.remove_prefix(std::min(size + 1, bytes.size()));
  }
}

void Lines::finish() {
  if (!rest_.empty() || in_long_line_) end_line();
  if (!cell_.empty()) end_cell();
  sections_.finish(number_);
}

void Lines::end_line() {
  std::string last;
  last.swap(rest_);
  if (in_long_line_)
    piece(last);
  else
    line(last);
  in_long_line_ = false;
  last.clear();
  rest_.swap(last);  // keeps its memory
}

void Lines::line(std::string_view text) {
  ++number_;
  piece(text);
}

void Lines::piece(std::string_view text) {
  if (!text.empty() && text.back() == '\r') text.remove_suffix(1);
  sections_.line(text, number_);
  if (table_row(text)) return;
  const std::size_t first = text.find_first_not_of(" \t");
  if (first != std::string_view::npos && (text[first] == '{' || text[first] == '[') && text.size() > 200 &&
      text.find("\":") != std::string_view::npos)
    json(text);
  else
    sink_(text, number_);
}

void Lines::json(std::string_view text) {
  std::size_t begin = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '\\')
      ++i;
    else if (c == '"')
      quoted = !quoted;
    else if (!quoted && (c == ',' || c == '{' || c == '}' || c == '[' || c == ']')) {
      if (i > begin + 3) sink_(text.substr(begin, i - begin), number_);
      begin = i + 1;
    }
  }
  if (begin < text.size()) sink_(text.substr(begin), number_);
}

// "| Warning                   | GPU 0 Thermal violations totaling 13.3 second  |", and rows below whose first cell is
// empty. Cells are cut at their width, in the middle of words, so they are joined as they are.
bool Lines::table_row(std::string_view text) {
  if (text.size() < 8 || text.front() != '|') {
    if (!cell_.empty()) end_cell();
    return false;
  }
  const std::size_t second = text.find('|', 1), third = text.find('|', second + 1);
  if (second == std::string_view::npos || third != text.size() - 1 || second < 12) {
    if (!cell_.empty()) end_cell();
    return false;
  }
  const std::string name = trim(text.substr(1, second - 1));
  std::string_view content = text.substr(second + 1, third - second - 1);
  if (!content.empty()) content.remove_prefix(1);
  content = content.substr(0, content.find_last_not_of(' ') + 1);
  const bool continues = name.empty() && !cell_.empty() && !starts_with(content, "Fail") &&
                         !starts_with(content, "Pass") && !starts_with(content, "Skip") &&
                         !starts_with(content, "Warn");
  if (!continues) {
    if (!cell_.empty()) end_cell();
    if (!name.empty()) cell_name_ = name;
    cell_ = "dcgm: " + cell_name_ + ": ";
    cell_number_ = number_;
  }
  if (cell_.size() < 4096) cell_.append(content);
  return true;
}

void Lines::end_cell() {
  std::string cell;
  cell.swap(cell_);
  sink_(cell, cell_number_);
}

}  // namespace assay::explain
