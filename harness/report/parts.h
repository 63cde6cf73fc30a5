// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Inside of the reports: what those of runs, of comparisons and of acceptances are made of.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <ostream>
#include <string>
#include <type_traits>
#include <vector>

#include "harness/base/json.h"
#include "harness/base/outcome.h"
#include "harness/verdict/side.h"

namespace assay {

using Cells = std::vector<std::string>;
// A table whose columns are as wide as their widest cell, in characters of a terminal. All rows have as many cells, and
// the last column is as it comes, or goes on below itself where a line would be longer than `most` characters. `right`:
// which columns are aligned to the right.
inline constexpr std::size_t unlimited = static_cast<std::size_t>(-1), console_width = 160;
void print_table(const std::vector<Cells>& rows, const std::vector<std::size_t>& right, std::ostream& out,
                 std::size_t most = unlimited);
// With spaces behind the text, or before it, up to so many characters.
std::string padded(const std::string& text, std::size_t to, bool right);

// For numbers of no real machine, a line for each reason why; nothing for those of one.
void print_unreal(bool simulated, const std::map<std::string, std::string>& knobs, std::ostream& out);
// "bandwidth", "bandwidth 64KiB": with the point of a sweep; "-" for a case without a value.
std::string metric_name(const SideKey& key);
// Text in Markdown, also in a cell of a table, as it stands: no table, markup or HTML of its own.
std::string cell(const std::string& text);
// "FAIL (exit code 1)"
std::string last_line(Outcome outcome);
template <class T>
Json or_null(const std::optional<T>& value) {
  if (!value) return nullptr;
  if constexpr (std::is_floating_point_v<T>) return number(*value);
  return Json(*value);
}

}  // namespace assay
