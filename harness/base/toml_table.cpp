// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See toml_table.h.
#include "harness/base/toml_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "harness/base/error.h"
#include "harness/base/text.h"

namespace assay {
namespace {

constexpr std::size_t most_bytes = 1024 * 1024;  // a hundred times the longest that anybody wrote
constexpr int deepest = 32;                      // brackets inside brackets, and parts of a dotted key

// Where a text in quotes that begins at `at` ends: behind its last quote, or at the end of `text`.
std::size_t after_quotes(std::string_view text, std::size_t at) {
  const char quote = text[at];
  const bool lines = text.substr(at, 3) == std::string(3, quote);
  const std::string end(lines ? 3 : 1, quote);
  for (at += end.size(); at < text.size(); ++at) {
    if (text.substr(at, end.size()) == end) return at + end.size();
    if (quote == '"' && text[at] == '\\') ++at;
    if (!lines && at < text.size() && text[at] == '\n') return at;  // never closed: the parser says so
  }
  return text.size();
}

// The parser calls itself for each level and ends on the stack's last page: what is too deep never reaches it.
void refuse_depth(std::string_view text, const std::string& file) {
  int line = 1, brackets = 0, parts = 1;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '"' || c == '\'') {
      const std::size_t end = after_quotes(text, at);
      line += static_cast<int>(std::count(text.begin() + at, text.begin() + end, '\n'));
      at = end;
      continue;
    }
    if (c == '#') {
      at = std::min(text.find('\n', at), text.size());
      continue;
    }
    if (c == '\n') ++line;
    if (c == '[' || c == '{') ++brackets;
    if (c == ']' || c == '}') brackets = std::max(0, brackets - 1);
    if (c == '.') ++parts;
    if (c == '\n' || c == '=' || c == ',' || c == '[' || c == ']' || c == '{' || c == '}') parts = 1;
    if (brackets > deepest || parts > deepest)
      throw Error(fmt::format("{}:{}: more than {} {}; nothing that Assay reads is that deep", file, line, deepest,
                              parts > deepest ? "parts of a key are joined by dots" : "brackets are open"));
    ++at;
  }
}

}  // namespace

toml::table parse_toml(const std::string& text, const std::string& file) {
  if (text.size() > most_bytes)
    throw Error(
        fmt::format("{}:1: has {} bytes; what Assay reads as TOML has at most {}", file, text.size(), most_bytes));
  refuse_depth(text, file);
  try {
    return toml::parse(text, file);
  } catch (const toml::parse_error& e) {
    throw Error(fmt::format("{}:{}: {}", file, e.source().begin.line, shown(e.description(), 200)));
  }
}

TomlTable::TomlTable(const toml::table& table, std::string file, std::string where)
    : table_(table), file_(std::move(file)), where_(std::move(where)) {}

void TomlTable::fail(const std::string& key, const std::string& why) const {
  const toml::node* node = table_.get(key);
  const auto line = node != nullptr ? node->source().begin.line : table_.source().begin.line;
  throw Error(fmt::format("{}:{}: {}{}{}: {}", file_, line == 0 ? 1 : line, where_, where_.empty() ? "" : ".",
                          shown(key), shown(why, 600)));
}

const toml::node* TomlTable::find(const std::string& key) {
  asked_.insert(key);
  return table_.get(key);
}

std::optional<double> TomlTable::number(const std::string& key, double least, double most) {
  const toml::node* node = find(key);
  if (node == nullptr) return std::nullopt;
  if (!node->is_number()) fail(key, "a number is needed");
  const double value = *node->value<double>();
  if (!(value >= least && value <= most)) fail(key, fmt::format("{} is not between {} and {}", value, least, most));
  return value;
}

std::optional<std::int64_t> TomlTable::integer(const std::string& key, std::int64_t least, std::int64_t most) {
  const toml::node* node = find(key);
  if (node == nullptr) return std::nullopt;
  if (!node->is_integer()) fail(key, "a whole number is needed");
  const std::int64_t value = node->as_integer()->get();
  if (value < least || value > most) fail(key, fmt::format("{} is not between {} and {}", value, least, most));
  return value;
}

std::optional<bool> TomlTable::boolean(const std::string& key) {
  const toml::node* node = find(key);
  if (node == nullptr) return std::nullopt;
  if (!node->is_boolean()) fail(key, "true or false is needed");
  return node->as_boolean()->get();
}

std::optional<std::string> TomlTable::text(const std::string& key) {
  const toml::node* node = find(key);
  if (node == nullptr) return std::nullopt;
  if (!node->is_string()) fail(key, "a text in quotes is needed");
  return node->as_string()->get();
}

std::optional<std::string> TomlTable::word(const std::string& key, const std::vector<std::string>& words) {
  std::optional<std::string> value = text(key);
  if (value) {
    bool known = false;
    for (const std::string& w : words) known = known || w == *value;
    if (!known) fail(key, fmt::format("'{}' is not a known word{}", shown(*value), suggestion(*value, words)));
  }
  return value;
}

std::optional<std::vector<std::string>> TomlTable::texts(const std::string& key) {
  const toml::node* node = find(key);
  if (node == nullptr) return std::nullopt;
  if (!node->is_array()) fail(key, "a list of texts is needed");
  std::vector<std::string> values;
  for (const toml::node& element : *node->as_array()) {
    if (!element.is_string()) fail(key, "a list of texts is needed");
    values.push_back(element.as_string()->get());
  }
  return values;
}

std::optional<std::vector<std::string>> TomlTable::one_or_more_texts(const std::string& key) {
  const toml::node* node = find(key);
  if (node != nullptr && node->is_string()) return std::vector<std::string>{node->as_string()->get()};
  return texts(key);
}

std::string TomlTable::required_text(const std::string& key) {
  const std::optional<std::string> value = text(key);
  if (!value || value->empty()) fail(key, "is missing; a text is needed here");
  return *value;
}

double TomlTable::required_number(const std::string& key, double least, double most) {
  const std::optional<double> value = number(key, least, most);
  if (!value) fail(key, "is missing; a number is needed here");
  return *value;
}

std::optional<TomlTable> TomlTable::table(const std::string& key) {
  const toml::node* node = find(key);
  if (node == nullptr) return std::nullopt;
  if (!node->is_table()) fail(key, fmt::format("a table is needed: [{}]", key));
  return TomlTable(*node->as_table(), file_, where_.empty() ? key : where_ + "." + key);
}

std::vector<TomlTable> TomlTable::tables(const std::string& key) {
  std::vector<TomlTable> result;
  const toml::node* node = find(key);
  if (node == nullptr) return result;
  if (!node->is_array()) fail(key, fmt::format("a list of tables is needed: [[{}]]", key));
  for (const toml::node& element : *node->as_array()) {
    if (!element.is_table()) fail(key, fmt::format("a list of tables is needed: [[{}]]", key));
    const std::string name = fmt::format("{} #{}", key, result.size() + 1);
    result.emplace_back(*element.as_table(), file_, where_.empty() ? name : where_ + "." + name);
  }
  return result;
}

std::map<std::string, double> TomlTable::numbers(const std::string& key) {
  std::map<std::string, double> result;
  if (std::optional<TomlTable> below = table(key))
    for (const auto& [name, node] : below->table_) {
      const std::string text(name.str());
      result[text] = *below->number(text, -1e300, 1e300);
    }
  return result;
}

std::map<std::string, std::string> TomlTable::words_by_name(const std::string& key) {
  std::map<std::string, std::string> result;
  if (std::optional<TomlTable> below = table(key))
    for (const auto& [name, node] : below->table_) {
      const std::string text(name.str());
      result[text] = *below->text(text);
    }
  return result;
}

void TomlTable::finish() const {
  for (const auto& [name, node] : table_) {
    const std::string key(name.str());
    if (asked_.count(key) == 0)
      fail(key, "is not a known key" + suggestion(key, std::vector<std::string>(asked_.begin(), asked_.end())));
  }
}

}  // namespace assay
