// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Numbers in text that others wrote (/proc, /sys, variables, command lines). Unlike std::stod they never throw, and
// unlike strtod they don't ask the locale what a decimal point is.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>

namespace assay {

// The number at the beginning of `text`, whatever follows; `rest`, when given, is what follows. Leading blanks are
// skipped, a '+' is not taken. nullopt for no number, and for one that doesn't fit into T.
template <class T>
std::optional<T> leading_number(std::string_view text, std::string_view* rest = nullptr) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return std::nullopt;
  T value{};
  const auto [end, problem] = std::from_chars(text.data() + begin, text.data() + text.size(), value);
  if (problem != std::errc()) return std::nullopt;
  if (rest != nullptr) *rest = text.substr(static_cast<std::size_t>(end - text.data()));
  return value;
}

// `text` as a number and nothing else.
template <class T>
std::optional<T> only_number(std::string_view text) {
  std::string_view rest;
  const std::optional<T> value = leading_number<T>(text, &rest);
  return rest.empty() ? value : std::nullopt;
}

}  // namespace assay
