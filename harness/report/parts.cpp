// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See parts.h.
#include "harness/report/parts.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/base/text.h"

namespace assay {
namespace {

// Characters that a terminal shows, for text in UTF-8.
std::size_t shown_width(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

// In lines of at most `most` characters, broken between words; a longer word has a line of its own.
std::vector<std::string> wrapped(const std::string& text, std::size_t most) {
  std::vector<std::string> lines{""};
  for (const std::string& word : split(text, ' ')) {
    std::string& line = lines.back();
    if (!line.empty() && shown_width(line) + 1 + shown_width(word) > most)
      lines.push_back(word);
    else
      line += (line.empty() ? "" : " ") + word;
  }
  return lines;
}

}  // namespace

std::string padded(const std::string& text, std::size_t to, bool right) {
  const std::string space(to > shown_width(text) ? to - shown_width(text) : 0, ' ');
  return right ? space + text : text + space;
}

void print_table(const std::vector<Cells>& rows, const std::vector<std::size_t>& right, std::ostream& out,
                 std::size_t most) {
  constexpr std::size_t least = 50;  // of the last column
  std::vector<std::size_t> widths;
  for (const Cells& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], shown_width(row[i]));
  }
  std::size_t before_last = 0;
  for (std::size_t i = 0; i + 1 < widths.size(); ++i) before_last += widths[i] + 2;
  const std::size_t room = most == unlimited ? most : std::max(least, most - std::min(most, before_last));
  for (Cells row : rows) {
    std::vector<std::string> lines{row.back()};
    if (shown_width(row.back()) > room) lines = wrapped(row.back(), room);
    row.back() = lines.front();
    std::string text;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const bool to_the_right = std::find(right.begin(), right.end(), i) != right.end();
      text += (i == 0 ? "" : "  ") + padded(row[i], widths[i], to_the_right);
    }
    out << text.substr(0, text.find_last_not_of(' ') + 1) << '\n';
    for (std::size_t i = 1; i < lines.size(); ++i) out << std::string(before_last, ' ') << lines[i] << '\n';
  }
}

void print_unreal(bool simulated, const std::map<std::string, std::string>& knobs, std::ostream& out) {
  if (simulated) out << "SIMULATED: no number here comes from hardware\n";
  if (knobs.empty()) return;
  std::vector<std::string> parts;
  for (const auto& [name, value] : knobs) parts.push_back(plain(name + "=" + value));
  out << "TEST KNOBS ACTIVE: " << join(parts, ", ") << "; these numbers can't be judged as real\n";
}

std::string metric_name(const SideKey& key) {
  std::string name = key.metric.empty() ? "-" : key.metric;
  if (!key.series.empty()) name += " " + key.series;
  return plain(name);
}

std::string last_line(Outcome outcome) { return fmt::format("{} (exit code {})", word(outcome), code(outcome)); }

std::string cell(const std::string& text) {
  std::string safe;
  for (const char c : plain(text)) {
    if (c == '<') {
      safe += "&lt;";
      continue;
    }
    if (c == '|' || c == '`' || c == '[' || c == '\\') safe += '\\';
    safe += c;
  }
  return safe;
}

}  // namespace assay
