// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Text that others wrote (a worker, a file that can be edited) to Json.
#pragma once

#include <string_view>

#include "harness/base/json.h"

namespace assay {

// Whether brackets are nested deeper than any text of ours: parsing and writing such a value would overflow the stack.
inline bool too_deep(std::string_view text) {
  constexpr int deepest = 64;
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string && c == '\\') {
      ++i;
    } else if (c == '"') {
      in_string = !in_string;
    } else if (!in_string && (c == '[' || c == '{')) {
      if (++depth > deepest) return true;
    } else if (!in_string && (c == ']' || c == '}')) {
      --depth;
    }
  }
  return false;
}

class DeepJson : public Json::exception {
 public:
  DeepJson() : Json::exception(599, "its JSON is nested deeper than 64 levels") {}
};

// The only way from text that others wrote to Json. Json::exception for what is no JSON, or is nested more than 64
// deep; `discarded` instead, when `throwing` is false.
inline Json parse_json(std::string_view text, bool throwing = true) {
  if (!too_deep(text)) return Json::parse(text, nullptr, throwing);
  if (!throwing) return Json(Json::value_t::discarded);
  throw DeepJson();
}

}  // namespace assay
