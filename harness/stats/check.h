// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// What every function here does with input that is no data: an Error with one sentence. A NaN never goes in, so it
// never comes out as if it were a number. Too few values are another matter: they are expected, and each header says
// how "not enough" is answered (nullopt).
#pragma once

#include <fmt/core.h>

#include <span>
#include <string>
#include <utility>

namespace assay::stats {

// Throws an Error "WHAT needs finite numbers; value 3 of 10 is nan".
void require_finite(std::span<const double> values, const char* what);
[[noreturn]] void refuse(const char* what, const std::string& rule);
// Throws an Error "WHAT: RULE" unless it holds; the rule is formatted only then.
template <class... Args>
void require(bool holds, const char* what, fmt::format_string<Args...> rule, Args&&... args) {
  if (!holds) refuse(what, fmt::format(rule, std::forward<Args>(args)...));
}

}  // namespace assay::stats
