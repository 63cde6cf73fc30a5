// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// The JSON value used for everything that is written: keys keep the order in which they were set, so files read well
// and diff well. Records are read with simdjson (parent/record_reader.h), not with this.
#pragma once

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

namespace assay {

using Json = nlohmann::ordered_json;

// A number, or null where it is NaN or infinite: JSON has neither, and a missing value must not look like one.
inline Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }
inline Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }
// One line, invalid UTF-8 replaced: what a worker prints can be anything.
inline std::string line(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

// What is wrong with the JSON, in words of ours: the library's are about its own types and calls. Of text that is no
// JSON, the place and the reason as the library has them.
std::string reason_of(const Json::exception& problem);

}  // namespace assay
