// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Small text helpers: splitting, joining, showing what others wrote, and the "did you mean" of every usage error.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace assay {

std::vector<std::string> split(std::string_view text, char separator);
std::string join(const std::vector<std::string>& parts, std::string_view separator);
std::string trim(std::string_view text);
bool starts_with(std::string_view text, std::string_view prefix);
// Text from outside (a worker, a file) as it may be shown on a terminal: control characters, escape sequences and
// whatever isn't UTF-8 become "\xNN", so that it can neither move the cursor nor begin a line of its own.
std::string plain(std::string_view text);

// The `count` names nearest to `wanted` by edit distance (a name that contains it counts as near); far ones are left
// out.
std::vector<std::string> nearest(const std::string& wanted, const std::vector<std::string>& names,
                                 std::size_t count = 3);
// "; did you mean A, B or C?", or "; known: A, B, C" when nothing is near and the list is short, else "".
std::string suggestion(const std::string& wanted, const std::vector<std::string>& names);

}  // namespace assay
