// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See text.h.
#include "harness/base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

namespace assay {
namespace {

// Levenshtein distance, one row at a time.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t above = row[j + 1];
      row[j + 1] = std::min({above + 1, row[j] + 1, diagonal + (a[i] == b[j] ? 0U : 1U)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

// Characters without a shape, which make two names look like one, or turn the direction of what follows: zero-width and
// bidirectional controls, separators of lines, joiners, fillers, variation selectors, tags, the byte order mark.
bool is_unseen(std::string_view character) {
  constexpr std::array<std::pair<char32_t, char32_t>, 13> unseen{{{0xad, 0xad},
                                                                  {0x34f, 0x34f},
                                                                  {0x61c, 0x61c},
                                                                  {0x115f, 0x1160},
                                                                  {0x17b4, 0x17b5},
                                                                  {0x180b, 0x180f},
                                                                  {0x200b, 0x200f},
                                                                  {0x2028, 0x202e},
                                                                  {0x2060, 0x206f},
                                                                  {0x3164, 0x3164},
                                                                  {0xfe00, 0xfe0f},
                                                                  {0xfeff, 0xfeff},
                                                                  {0xe0000, 0xe0fff}}};
  constexpr std::array<unsigned, 5> head{0, 0x7f, 0x1f, 0x0f, 0x07};  // what of the first byte belongs to the number
  char32_t number = static_cast<unsigned char>(character.front()) & head.at(character.size());
  for (const char c : character.substr(1)) number = (number << 6U) | (static_cast<unsigned char>(c) & 0x3fU);
  return std::any_of(unseen.begin(), unseen.end(),
                     [&](const auto& range) { return number >= range.first && number <= range.second; });
}

// How many bytes the printable character at the start of `text` has; 0: a control character, or no UTF-8.
std::size_t printable_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  const unsigned first = byte(0), second = byte(1);
  if (first < 0x80) return first >= 0x20 && first != 0x7f ? 1 : 0;
  const std::size_t length = first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xc0U) != 0x80) return 0;
  const bool control = first == 0xc2 && second < 0xa0;  // C1: what an escape sequence can also begin with
  const bool too_long = (first == 0xe0 && second < 0xa0) || (first == 0xf0 && second < 0x90);
  const bool no_character = (first == 0xed && second > 0x9f) || (first == 0xf4 && second > 0x8f);
  return control || too_long || no_character || length == 0 || is_unseen(text.substr(0, length)) ? 0 : length;
}

}  // namespace

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (std::size_t end; (end = text.find(separator, begin)) != std::string_view::npos; begin = end + 1)
    parts.emplace_back(text.substr(begin, end - begin));
  parts.emplace_back(text.substr(begin));
  return parts;
}

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
  std::string result;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) result += separator;
    result += parts[i];
  }
  return result;
}

std::string trim(std::string_view text) {
  constexpr std::string_view space = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(space);
  if (begin == std::string_view::npos) return {};
  return std::string(text.substr(begin, text.find_last_not_of(space) - begin + 1));
}

bool starts_with(std::string_view text, std::string_view prefix) { return text.substr(0, prefix.size()) == prefix; }

std::string plain(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = printable_length(text.substr(i));
    if (length == 0)
      result += fmt::format("\\x{:02x}", static_cast<unsigned>(static_cast<unsigned char>(text[i])));
    else
      result += text.substr(i, length);
    i += std::max<std::size_t>(1, length);
  }
  return result;
}

std::string shown(std::string_view text, std::size_t most) {
  if (text.size() <= most) return plain(text);
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xc0U) == 0x80) --most;  // not inside a character
  return plain(text.substr(0, most)) + "...";
}

std::vector<std::string> nearest(const std::string& wanted, const std::vector<std::string>& names, std::size_t count) {
  if (wanted.size() > longest_name) return {};
  std::vector<std::pair<std::size_t, std::string>> scored;
  for (const std::string& name : names) {
    const bool inside = wanted.size() >= 3 && name.find(wanted) != std::string::npos;
    const std::size_t score = inside ? 1 : distance(wanted, name);
    if (score <= std::max<std::size_t>(2, wanted.size() / 3)) scored.emplace_back(score, name);
  }
  const auto rank = [&](const auto& name) { return std::pair(name.first, !starts_with(name.second, wanted)); };
  std::stable_sort(scored.begin(), scored.end(), [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
  std::vector<std::string> result;
  for (const auto& [score, name] : scored)
    if (result.size() < count) result.push_back(name);
  return result;
}

std::string suggestion(const std::string& wanted, const std::vector<std::string>& names) {
  const std::vector<std::string> near = nearest(wanted, names);
  if (!near.empty()) {
    std::string text = "; did you mean ";
    for (std::size_t i = 0; i < near.size(); ++i)
      text += (i == 0 ? "" : i + 1 == near.size() ? " or " : ", ") + near[i];
    return text + "?";
  }
  return !names.empty() && names.size() <= 24 ? "; known: " + join(names, ", ") : "";
}

}  // namespace assay
