// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// See printed_json.h.
#include "harness/base/printed_json.h"

#include <fmt/format.h>

namespace assay {

std::string printed(const Json& json, int indent) {
  const std::string text = json.dump(indent, ' ', false, Json::error_handler_t::replace);
  const auto byte = [&](std::size_t at) { return at < text.size() ? static_cast<unsigned char>(text[at]) : 0U; };
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool c1 = byte(i) == 0xc2 && byte(i + 1) < 0xa0;
    if (c1 || byte(i) == 0x7f)
      result += fmt::format("\\u{:04x}", byte(c1 ? ++i : i));
    else
      result += text[i];
  }
  return result;
}

}  // namespace assay
