// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Small text helpers: splitting, joining, showing what others wrote, and the "did you mean" of every usage error.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

std::vector<std::string> split(std::string_view text, char separator);
std::string join(const std::vector<std::string>& parts, std::string_view separator);
std::string trim(std::string_view text);
bool starts_with(std::string_view text, std::string_view prefix);
// "1 metric", "2 metrics": `what` in the singular, of a word that takes an s.
template <class Count>
std::string counted(Count count, std::string_view what) {
  return std::to_string(count).append(" ").append(what).append(count == 1 ? "" : "s");
}
// Text from outside (a worker, a file) as it may be shown on a terminal: control characters, escape sequences and
// whatever isn't UTF-8 become "\xNN", so that it can neither move the cursor nor begin a line of its own.
std::string plain(std::string_view text);
// The same for a message: no more than `most` bytes of it, then "...". What a file says can be megabytes long.
inline constexpr std::size_t most_shown = 80;
std::string shown(std::string_view text, std::size_t most = most_shown);

// The `count` names nearest to `wanted` by edit distance (a name that contains it counts as near); far ones are left
// out. Nothing is near to more than `longest_name` characters, which are no slip of the pen.
inline constexpr std::size_t longest_name = 100;
std::vector<std::string> nearest(const std::string& wanted, const std::vector<std::string>& names,
                                 std::size_t count = 3);
// "; did you mean A, B or C?", or "; known: A, B, C" when nothing is near and the list is short, else "".
std::string suggestion(const std::string& wanted, const std::vector<std::string>& names);

}  // namespace assay
