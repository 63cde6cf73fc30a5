// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Strict reading of TOML: every key is asked for by name, and `finish()` refuses what nobody asked for. Each error is
// an Error (exit 3) that starts with "FILE:LINE: " and names the key, the reason and what is allowed.
#pragma once

#include <toml++/toml.h>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace assay {

// The document, or an Error with the line of the syntax error. `file` is used in messages only.
toml::table parse_toml(const std::string& text, const std::string& file);

// A view of one table; the table outlives it.
class TomlTable {
 public:
  TomlTable(const toml::table& table, std::string file, std::string where = {});

  bool has(const std::string& key) const { return table_.contains(key); }
  // The value of `key`, nullopt when it isn't there; Error for another type or a value outside [least, most].
  std::optional<double> number(const std::string& key, double least, double most);
  std::optional<std::int64_t> integer(const std::string& key, std::int64_t least, std::int64_t most);
  std::optional<bool> boolean(const std::string& key);
  std::optional<std::string> text(const std::string& key);
  // A text that must be one of `words`.
  std::optional<std::string> word(const std::string& key, const std::vector<std::string>& words);
  std::optional<std::vector<std::string>> texts(const std::string& key);
  // One text, or a list of them.
  std::optional<std::vector<std::string>> one_or_more_texts(const std::string& key);
  // Error when the key isn't there.
  std::string required_text(const std::string& key);
  double required_number(const std::string& key, double least, double most);
  // Tables below: [key] and [[key]]; empty when there is none.
  std::optional<TomlTable> table(const std::string& key);
  std::vector<TomlTable> tables(const std::string& key);
  // All entries of a table of numbers or texts: facts = { cores = 8 }.
  std::map<std::string, double> numbers(const std::string& key);
  std::map<std::string, std::string> words_by_name(const std::string& key);

  // Error for the first key that was never asked for, with the nearest known one.
  void finish() const;
  // Throws "FILE:LINE: KEY: why"; the line is the key's, or the table's where the key is absent.
  [[noreturn]] void fail(const std::string& key, const std::string& why) const;

 private:
  const toml::node* find(const std::string& key);

  const toml::table& table_;
  std::string file_, where_;  // where_: "benchmark[1]", "" at the top
  std::set<std::string> asked_;
};

}  // namespace assay
