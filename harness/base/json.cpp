// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See json.h. The numbers and the sentences are those of nlohmann::json's documentation of its exceptions.
#include "harness/base/json.h"

#include <fmt/format.h>

#include <string_view>

namespace assay {
namespace {

// What stands in `text` behind the last `before`, up to `end`.
std::string_view behind(std::string_view text, std::string_view before, std::string_view end) {
  const std::size_t at = text.rfind(before);
  if (at == std::string_view::npos) return "?";
  text.remove_prefix(at + before.size());
  return text.substr(0, text.find(end));
}

}  // namespace

std::string reason_of(const Json::exception& problem) {
  const std::string_view text = problem.what();
  const std::size_t name = text.find("] ");  // "[json.exception.type_error.304] cannot use at() with array"
  const std::string_view said = name == std::string_view::npos ? text : text.substr(name + 2);
  switch (problem.id) {
    case 302:  // "type must be string, but is number"
      return fmt::format("it has a value of the kind '{}' where one of the kind '{}' belongs",
                         behind(said, "but is ", "\n"), behind(said, "must be ", ","));
    case 304:  // "cannot use at() with array"
    case 305:
    case 306:
      return fmt::format("it has a value of the kind '{}' where an object belongs", behind(said, "with ", "\n"));
    case 403:  // "key 'seed' not found"
      return fmt::format("the field {} is missing", behind(said, "key ", " not found"));
    default:
      return std::string(said);
  }
}

}  // namespace assay
