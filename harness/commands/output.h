// SPDX-FileCopyrightText: The Assay developers
// SPDX-License-Identifier: Apache-2.0
//
// Where a verb's answer goes: standard output, or the file of -o.
#pragma once

#include <functional>
#include <ostream>
#include <string>

namespace assay {

// Calls `write` on standard output for "", else on a new file at `path`. A file that is there is never overwritten (a
// pipe or a terminal will do), and what was written before a failure is removed. Error (exit 3) with the reason.
void write_output(const std::string& path, const std::function<void(std::ostream&)>& write);

}  // namespace assay
